import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { tether } from '../../sandbox/tether';

/**
 * Runs a script of an init container with the hub's own Python. A failed script is a result, not an error.
 */
export async function runPython(
  script: string,
  ...args: readonly string[]
): Promise<{ readonly code: number; readonly output: string }> {
  const python = join(process.env['HUB_SANDBOX_VENV']!, 'bin', 'python3');
  const forkServer = process.env['HUB_SANDBOX_FORK_SERVER'];
  const flags = forkServer === undefined ? [] : ['--fork-server', forkServer];
  const command = [...flags, '--', python, '-I', '-c', script, ...args];
  return promisify(execFile)(await tether(), command, { maxBuffer: 2 ** 24 }).then(
    ({ stdout, stderr }) => ({ code: 0, output: stdout + stderr }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({
      code,
      output: stdout + stderr,
    }),
  );
}
