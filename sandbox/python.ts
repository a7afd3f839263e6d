import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cached, contentKey } from './cache';
import { runCommand } from './command';
import { goBinary } from './go-build';
import { sourceKey } from './go-module';
import type { Report } from './progress';

const run = promisify(execFile);

// Home Assistant 2026.11 rejects older versions, and some wheels do not exist for newer ones.
const SUPPORTED_VERSIONS = '>=3.14.2,<3.15';
const IS_SUPPORTED = [
  'import sys, sysconfig',
  'assert (3, 14, 2) <= sys.version_info < (3, 15)',
  // few packages have wheels for a free-threaded Python
  'assert not sysconfig.get_config_var("Py_GIL_DISABLED")',
  'print(sys.executable)',
].join('\n');

const UV_VERSION = '0.13.8';

/** A Python interpreter and the package installer `uv`. */
export interface Python {
  /** Paths of the programs, or their names on PATH. */
  readonly interpreter: string;
  readonly uv: string;
}

/**
 * Returns an installed Python and `uv`, or else a portable CPython from the Go module proxy and `uv` from
 * PyPI.
 * @param portable requires a Python that also runs on another machine, even if this machine has a Python
 */
export async function providePython(report: Report, { portable = false } = {}): Promise<Python> {
  const uv = (await succeeds('uv', ['--version'])) ? 'uv' : undefined;
  const installed = portable ? undefined : await installedInterpreter(uv);
  const interpreter = installed ?? (await portableInterpreter(report));
  return { interpreter, uv: uv ?? (await installUv(interpreter, report)) };
}

async function installedInterpreter(uv: string | undefined): Promise<string | undefined> {
  return (uv && (await uvInterpreter(uv))) ?? pathInterpreter(uv === undefined);
}

/**
 * Returns an interpreter that `uv` finds. Downloads of interpreters are off, because their source (GitHub) is
 * often unreachable.
 */
async function uvInterpreter(uv: string): Promise<string | undefined> {
  return succeeds(uv, ['python', 'find', '--no-python-downloads', '--system', SUPPORTED_VERSIONS]);
}

async function pathInterpreter(mustHavePip: boolean): Promise<string | undefined> {
  const probe = mustHavePip ? `import pip\n${IS_SUPPORTED}` : IS_SUPPORTED;
  return (await succeeds('python3.14', ['-c', probe])) ?? (await succeeds('python3', ['-c', probe]));
}

/** Returns the trimmed output, or undefined when the program is missing or fails. */
async function succeeds(program: string, args: readonly string[]): Promise<string | undefined> {
  return run(program, args).then(
    ({ stdout }) => stdout.trim(),
    () => undefined,
  );
}

async function portableInterpreter(report: Report): Promise<string> {
  const unpack = await goBinary('python', 'the portable Python', report);
  const folder = await cached('cpython', await sourceKey('python'), async (partial, logFile) => {
    report('unpacking the portable Python');
    await runCommand({
      step: 'Unpacking the portable Python',
      command: [unpack, join(partial, 'python')],
      logFile,
    });
  });
  return join(folder, 'python', 'bin', 'python3');
}

async function installUv(interpreter: string, report: Report): Promise<string> {
  const folder = await cached('uv', contentKey([UV_VERSION, interpreter]), async (partial, logFile) => {
    report('downloading the Python package installer uv (17 MB)');
    await runCommand({
      step: 'Downloading uv from PyPI',
      command: [interpreter, '-m', 'pip', 'install', '--target', partial, `uv==${UV_VERSION}`],
      // pip warns when it runs as root; with --target the warning does not apply.
      env: { PIP_ROOT_USER_ACTION: 'ignore', PIP_DISABLE_PIP_VERSION_CHECK: '1' },
      logFile,
    });
  });
  return join(folder, 'bin', 'uv');
}
