import { readFile } from 'node:fs/promises';
import { arch, platform } from 'node:os';
import { join } from 'node:path';
import { cached, contentKey } from '../cache';
import { runCommand } from '../command';
import { goEnvironment } from '../go-module';
import type { Report } from '../progress';

/**
 * The folder of a separate Go module. All of CoreDNS would include the code of cloud providers, which takes
 * minutes to compile, and the control plane must not depend on its packages.
 */
const MODULE = join(__dirname, 'dns');

/** Path of CoreDNS with the plugins that the cluster needs, built when the cache has none. */
export async function nameServer(report: Report): Promise<string> {
  const sources = ['go.mod', 'go.sum', 'main.go'].map((name) => readFile(join(MODULE, name)));
  const key = contentKey([platform(), arch(), ...(await Promise.all(sources))]);
  const folder = await cached('coredns', key, async (partial, logFile) => {
    report('compiling (first start only)');
    // The flags are those of the control plane, so that shared packages are compiled once.
    const flags = ['-trimpath', '-buildvcs=false', '-gcflags=all=-dwarf=false', '-ldflags=-s -w'];
    await runCommand({
      step: 'Building CoreDNS',
      command: ['go', 'build', ...flags, '-o', join(partial, 'coredns'), '.'],
      cwd: MODULE,
      env: goEnvironment,
      logFile,
    });
  });
  return join(folder, 'coredns');
}
