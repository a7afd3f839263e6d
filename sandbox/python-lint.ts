import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { cached, contentKey } from './cache';
import { runCommand } from './command';
import { providePython } from './python';
import { errorLine, SandboxError } from './sandbox-error';

/**
 * Lints, type-checks and formats the Python programs that run in the hub's image or with its packages. Where
 * the tools cannot be installed, the command says so and succeeds, so that a machine without PyPI can check
 * everything else.
 */

const TOOLS = ['ruff==0.17.6', 'mypy==2.4.1', 'types-PyYAML==6.0.12.20261113'];
const repository = join(__dirname, '..');

interface Folder {
  readonly path: string;
  /** Whether the files are modules of one program. Otherwise each file is a program. */
  readonly isOneProgram: boolean;
}

const FOLDERS: readonly Folder[] = [
  { path: join('operator', 'sync', 'hub-pod', 'scripts'), isOneProgram: false },
  { path: join('cli', 'test', 'runner'), isOneProgram: true },
];

/** Installs the tools when the cache has none. Returns their folder. */
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
  const failures = await Promise.all(FOLDERS.map((folder) => check(bin, folder)));
  return failures.includes(true) ? 1 : 0;
}

/** Whether a tool finds something in the folder. The findings are printed. */
async function check(bin: string, { path, isOneProgram }: Folder): Promise<boolean> {
  const cwd = join(repository, path);
  const names = (await readdir(cwd)).filter((name) => name.endsWith('.py'));
  const programs = isOneProgram ? [names] : names.map((name) => [name]);
  const checks: readonly (readonly [program: string, ...args: string[]])[] = [
    ['ruff', 'check', '--no-cache', '--quiet', '.'],
    ['ruff', 'format', '--no-cache', '--check', '--quiet', '.'],
    // mypy cannot import the packages of the hub, which are not installed here.
    ...programs.map((files): [string, ...string[]] => [
      'mypy',
      ...[
        '--strict',
        '--ignore-missing-imports',
        '--allow-untyped-calls',
        '--no-error-summary',
        '--cache-dir=/dev/null',
      ],
      ...files,
    ]),
  ];
  let hasFailed = false;
  for (const [program, ...args] of checks) {
    await promisify(execFile)(join(bin, program), args, { cwd }).catch(
      ({ stdout, stderr }: { readonly stdout?: string; readonly stderr?: string }) => {
        hasFailed = true;
        console.log(`${path}: ${program} ${args.join(' ')}\n${stdout ?? ''}${stderr ?? ''}`);
      },
    );
  }
  return hasFailed;
}

void main().then((code) => {
  process.exitCode = code;
});
