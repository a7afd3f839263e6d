import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { cached, contentKey } from './cache';
import { runCommand } from './command';
import { providePython } from './python';
import { errorLine, SandboxError } from './sandbox-error';

/**
 * Lints, types and formats the programs in Python that run in the hub's image (operator/sync/hub-workload/scripts). Where its tools cannot
 * be had, it says so and succeeds: a machine without PyPI can check everything else.
 */

const TOOLS = ['ruff==0.17.6', 'mypy==2.4.1', 'types-PyYAML==6.0.12.20261113'];
const scripts = join(__dirname, '..', 'operator', 'sync', 'hub-workload', 'scripts');

/** Folder of the programs. */
async function provideTools(): Promise<string> {
  const report = () => undefined;
  const { uv, interpreter } = await providePython(report);
  const folder = await cached(
    'python-lint',
    contentKey([...TOOLS, interpreter]),
    async (partial, logFile) => {
      const run = (...args: string[]) =>
        runCommand({ step: 'Installing the linters of Python', command: [uv, ...args], logFile });
      const venv = join(partial, 'venv');
      await run('venv', '--relocatable', '--python', interpreter, venv);
      await run('pip', 'install', '--python', join(venv, 'bin', 'python'), ...TOOLS);
    },
  );
  return join(folder, 'venv', 'bin');
}

async function main(): Promise<number> {
  const bin = await provideTools().catch((error: unknown) => {
    if (!(error instanceof SandboxError) || !error.isOfMachine) throw error;
    console.log(`skipped: lint of Python: ${errorLine(error)}`);
    return undefined;
  });
  if (bin === undefined) return 0;
  const names = (await readdir(scripts)).filter((name) => name.endsWith('.py'));
  const checks = [
    ['ruff', 'check', '--no-cache', '--quiet', '.'],
    ['ruff', 'format', '--no-cache', '--check', '--quiet', '.'],
    // One at a time: each is a program of its own. The packages of the hub are not installed here.
    ...names.map((name) => [
      'mypy',
      ...[
        '--strict',
        '--ignore-missing-imports',
        '--allow-untyped-calls',
        '--no-error-summary',
        '--cache-dir=/dev/null',
        name,
      ],
    ]),
  ];
  let failed = 0;
  for (const [program, ...args] of checks as [string, ...string[]][]) {
    await promisify(execFile)(join(bin, program), args, { cwd: scripts }).catch(
      ({ stdout, stderr }: { readonly stdout?: string; readonly stderr?: string }) => {
        failed += 1;
        console.log(`${program} ${args.join(' ')}\n${stdout ?? ''}${stderr ?? ''}`);
      },
    );
  }
  return failed === 0 ? 0 : 1;
}

void main().then((code) => {
  process.exitCode = code;
});
