import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Installs and runs versions of Home Assistant other than the pinned one in the sandbox. */

/**
 * Requirements that replace pins of older versions of the hub. The pinned versions have no wheel for the
 * sandbox's Python, and there is no compiler; these are the first releases with a wheel.
 */
export const RAISED_PINS: readonly string[] = ['lru-dict>=1.4.0', 'fnv-hash-fast>=2.0.1'];

/** Prints the requirements of the integrations of the installed hub. */
export const requirementsProgram = join(__dirname, 'hub-requirements.py');

/**
 * Writes the files for `uv pip install --requirements --constraints`, with the versions that the installed
 * hub itself names.
 * @param pinned the text of hub-requirements.txt
 * @param without names of packages that are not installed
 */
export async function ownRequirements(
  venv: string,
  { pinned, constraints, without }: { pinned: string; constraints: string; without: readonly string[] },
): Promise<{ requirements: string; constraints: string }> {
  const lines = pinned.split('\n').filter((line) => /^\w/.test(line));
  const names = lines.map(nameOf);
  const program = promisify(execFile)(join(venv, 'bin', 'python'), [requirementsProgram, ...names]);
  const own = (await program).stdout.trim().split('\n');
  const files = { requirements: join(venv, 'requirements.txt'), constraints: join(venv, 'constraints.txt') };
  await writeFile(files.requirements, ownPins(lines, own, without).join('\n'));
  await writeFile(
    files.constraints,
    withoutRaised((await readFile(constraints, 'utf8')).split('\n')).join('\n'),
  );
  return files;
}

/** Packages that no manifest of an integration names. */
const OF_NO_INTEGRATION = ['colorlog', 'psycopg2-binary'];

/**
 * Returns the requirements that the hub names, and those of {@link OF_NO_INTEGRATION}. The hub needs no other
 * packages.
 */
function ownPins(pinned: readonly string[], own: readonly string[], without: readonly string[]): string[] {
  const others = pinned.filter((line) => OF_NO_INTEGRATION.includes(nameOf(line)));
  return withoutRaised([...own, ...others]).filter((line) => !without.includes(nameOf(line)));
}

function withoutRaised(lines: readonly string[]): string[] {
  const raised = RAISED_PINS.map(nameOf);
  return lines.filter((line) => !raised.includes(nameOf(line)));
}

/** Returns the name of a package: `PyNaCl==1.6.0` → `pynacl`. Empty for a comment. */
function nameOf(requirement: string): string {
  return (/^[\w.-]+/.exec(requirement)?.[0] ?? '').toLowerCase();
}

/**
 * Replaces pins in the manifests of integrations, so that integrations accept the newer packages. A hub in
 * the sandbox installs no packages.
 */
export async function raisePinsOfIntegrations(sitePackages: string): Promise<void> {
  const components = join(sitePackages, 'homeassistant', 'components');
  for (const each of await readdir(components, { withFileTypes: true })) {
    if (!each.isDirectory()) continue;
    const manifest = join(components, each.name, 'manifest.json');
    if (!existsSync(manifest)) continue;
    const text = await readFile(manifest, 'utf8');
    const raised = withRaisedPins(text);
    if (raised === text) continue;
    await rm(manifest); // the file is a hard link into the cache of uv
    await writeFile(manifest, raised);
  }
}

/** Returns the text of a manifest with {@link RAISED_PINS} instead of its own pins. */
export function withRaisedPins(manifest: string): string {
  return manifest.replace(/"([\w-]+)==[^"]+"/g, (pin, name: string) => {
    const raised = RAISED_PINS.find((each) => nameOf(each) === name.toLowerCase());
    return raised === undefined ? pin : `"${raised}"`;
  });
}

/**
 * Patches the hub to read its port from the variable SETUP_PORT. Hubs before 2026.8 do not, and all hubs of a
 * sandbox share one address.
 */
export async function readPortFromEnvironment(sitePackages: string): Promise<void> {
  const file = join(sitePackages, 'homeassistant', 'const.py');
  const port = '__import__("os").environ.get("SETUP_PORT", "8123")';
  const text = await readFile(file, 'utf8');
  await rm(file); // the file is a hard link into the cache of uv
  await writeFile(file, text.replace('SERVER_PORT: Final = 8123', `SERVER_PORT: Final = int(${port})`));
}
