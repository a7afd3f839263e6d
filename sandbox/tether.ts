import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cached } from './cache';
import { SandboxError, stepError } from './sandbox-error';
import { buildArguments, goEnvironment, goModule, sourceKey } from './go-module';

let binary: Promise<string> | undefined;

/** Returns the path of the program `tether` (go/cmd/tether), under which every other process of a sandbox runs. */
export function tether(): Promise<string> {
  binary ??= build();
  return binary;
}

async function build(): Promise<string> {
  const folder = await cached('tether', await sourceKey('tether'), async (partial) => {
    // The build of tether is the only process that does not run under tether. It takes seconds, because
    // tether uses only the standard library.
    await promisify(execFile)('go', await buildArguments('tether', join(partial, 'tether')), {
      cwd: goModule,
      env: { ...process.env, ...goEnvironment },
    }).catch((error: NodeJS.ErrnoException & { stderr?: string }) => {
      throw error.code === 'ENOENT' ? noGo() : stepError('Building tether with Go', error.stderr ?? '');
    });
  });
  return join(folder, 'tether');
}

function noGo(): SandboxError {
  return new SandboxError(
    'Go is not installed: the command `go` was not found.',
    'Install Go 1.26 or newer from https://go.dev/dl/ and check that `go version` works in this terminal.',
    {},
    true,
  );
}
