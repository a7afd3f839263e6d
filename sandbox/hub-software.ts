import { readFile, writeFile } from 'node:fs/promises';
import { arch, platform } from 'node:os';
import { join } from 'node:path';
import { cached, contentKey } from './cache';
import { runCommand } from './command';
import {
  ownRequirements,
  raisePinsOfIntegrations,
  RAISED_PINS,
  readPortFromEnvironment,
  requirementsProgram,
} from './other-hub';
import type { Report } from './progress';
import { providePython, type Python } from './python';

export interface HubSoftware {
  /** The virtual environment's folder. */
  readonly venv: string;
  readonly python: string;
  readonly hass: string;
  /** Home Assistant's version. */
  readonly version: string;
  /** Whether the hub may run as a fork of a process that has imported its modules (hub-modules.ts). */
  readonly isForkable: boolean;
}

/** The version that the sandbox and all tests run. */
export const NEWEST_HUB = '2026.11.0';
/** The newest version, unless HUB names another one that PyPI has (`make test HUB=2025.11.0`). */
export const HUB_VERSION = process.env['HUB'] || NEWEST_HUB;
const isPinned = HUB_VERSION === NEWEST_HUB;
const requirementsFile = join(__dirname, 'hub-requirements.txt');

// Stubs of packages that need a C++ compiler and that no test uses. They must be importable: without them the
// hub answers every request for its services with 500.
const STUBS = {
  'pymicro_vad.py': 'class MicroVad: ...\n',
  'pyspeex_noise.py': 'class AudioProcessor: ...\n',
} as const;

/**
 * Returns Home Assistant with the dependencies to run offline, installed from PyPI when the cache has none.
 * @param options.portable also installs a Python that runs on another machine
 */
export async function provideHubSoftware(
  report: Report,
  options: { readonly portable?: boolean } = {},
): Promise<HubSoftware> {
  const { interpreter, uv } = await providePython(report, options);
  const requirements = await readFile(requirementsFile);
  // A virtual environment links to its interpreter, so each interpreter has an environment of its own.
  const key = contentKey([
    ...[platform(), arch(), interpreter, HUB_VERSION, requirements, JSON.stringify(STUBS)],
    ...(isPinned
      ? []
      : await Promise.all(
          [requirementsProgram, require.resolve('./other-hub')].map((file) => readFile(file)),
        )),
  ]);
  const venv = await cached(
    'hub',
    key,
    (partial, logFile) => install(partial, { uv, interpreter, logFile, report }),
    () => report('waiting for another process that is installing it'),
  );
  const bin = join(venv, 'bin');
  return {
    venv,
    python: join(bin, 'python'),
    hass: join(bin, 'hass'),
    version: HUB_VERSION,
    isForkable: isPinned,
  };
}

async function install(
  venv: string,
  { uv, interpreter, logFile, report }: Python & { logFile: string; report: Report },
): Promise<void> {
  const run = (step: string, args: readonly string[]) =>
    runCommand({ step, command: [uv, ...args], logFile, onLine: downloadProgress(report) });

  // Relocatable, because the cache renames the folder when it is complete.
  await run('Creating a Python environment', [
    'venv',
    '--relocatable',
    '--allow-existing',
    '--python',
    interpreter,
    venv,
  ]);
  const sitePackages = join(venv, 'lib', 'python3.14', 'site-packages');
  const installInto = ['pip', 'install', '--python', join(venv, 'bin', 'python')];
  if (!isPinned) {
    const overrides = join(venv, 'overrides.txt');
    await writeFile(overrides, RAISED_PINS.join('\n'));
    installInto.push('--overrides', overrides);
  }
  report(`resolving the dependencies of Home Assistant ${HUB_VERSION}`);
  await run(`Installing Home Assistant ${HUB_VERSION}`, [...installInto, `homeassistant==${HUB_VERSION}`]);
  report('resolving the dependencies of its integrations');
  const files = await requirementsFor(venv, sitePackages);
  await run("Installing the packages of Home Assistant's integrations", [
    ...installInto,
    ...['--constraints', files.constraints, '--requirements', files.requirements],
  ]);
  for (const [name, source] of Object.entries(STUBS)) await writeFile(join(sitePackages, name), source);
  if (isPinned) return;
  await readPortFromEnvironment(sitePackages);
  await raisePinsOfIntegrations(sitePackages);
}

/** The files that name the packages of the integrations and their versions; another hub than the pinned one has its own. */
async function requirementsFor(venv: string, sitePackages: string) {
  const files = {
    requirements: requirementsFile,
    constraints: join(sitePackages, 'homeassistant', 'package_constraints.txt'),
  };
  if (isPinned) return files;
  const pinned = await readFile(requirementsFile, 'utf8');
  const without = Object.keys(STUBS).map((name) => name.replace('.py', '').replaceAll('_', '-'));
  return ownRequirements(venv, { ...files, pinned, without });
}

/** `uv` prints the name and size of each larger package when its download begins, and its name when it has ended. */
function downloadProgress(report: Report): (line: string) => void {
  const sizes = new Map<string, number>();
  let done = 0;
  return (line) => {
    const [, verb, name, size] = /^\s*(Downloading|Downloaded) (\S+)(?: \(([\d.]+)MiB\))?/.exec(line) ?? [];
    if (name === undefined) return;
    if (verb === 'Downloading') sizes.set(name, Number(size ?? 0));
    else done += sizes.get(name) ?? 0;
    const known = [...sizes.values()].reduce((sum, each) => sum + each, 0);
    report(`downloading from PyPI: ${done.toFixed(0)} of ${known.toFixed(0)} MB (${name})`);
  };
}
