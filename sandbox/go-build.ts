import { join } from 'node:path';
import { cached } from './cache';
import { runCommand } from './command';
import { buildArguments, goEnvironment, goModule, sourceKey } from './go-module';
import type { Report } from './progress';

/**
 * Returns the path of the binary of `cmd/<command>` in one of our Go modules, built when the cache has none.
 * Go prints no progress, but it names each package that it compiles, and `go list` gives the number of
 * packages.
 */
export async function goBinary(
  command: string,
  title: string,
  report: Report,
  module = goModule,
): Promise<string> {
  const folder = await cached(
    command,
    await sourceKey(command, module),
    async (partial, logFile) => {
      const go = (step: string, args: readonly string[], onLine: (line: string) => void) =>
        runCommand({ step, command: ['go', ...args], cwd: module, env: goEnvironment, logFile, onLine });

      report('resolving Go modules');
      let downloads = 0;
      const packages = await go(
        `Downloading the Go modules of ${title}`,
        ['list', '-deps', `./cmd/${command}`],
        (line) => {
          if (line.startsWith('go: downloading ')) report(`downloading Go modules: ${++downloads}`);
        },
      );
      const total = packages.trimEnd().split('\n').length;

      let compiled = 0;
      await go(`Building ${title}`, await buildArguments(command, join(partial, command), module), (line) => {
        if (!line.includes(' '))
          report(`compiling (first start only): ${++compiled} of at most ${total} packages`);
      });
    },
    () => report('waiting for another process that is building it'),
  );
  return join(folder, command);
}
