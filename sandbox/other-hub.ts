import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** What another version of Home Assistant than the pinned one needs, to be installed and to run in the sandbox. */

/**
 * Pins of older versions that have no wheel for the sandbox's Python, which has no compiler; these are the first releases
 * that have one.
 */
export const RAISED_PINS: readonly string[] = ['lru-dict>=1.4.0', 'fnv-hash-fast>=2.0.1'];

/** Prints the requirements of the integrations of the installed hub. */
export const requirementsProgram = join(__dirname, 'hub-requirements.py');

/**
 * Writes the files for `uv pip install --requirements --constraints`, with the versions that this hub names itself.
 *
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

/** What a hub does not name, it does not need, but for {@link OF_NO_INTEGRATION}. */
function ownPins(pinned: readonly string[], own: readonly string[], without: readonly string[]): string[] {
  const others = pinned.filter((line) => OF_NO_INTEGRATION.includes(nameOf(line)));
  return withoutRaised([...own, ...others]).filter((line) => !without.includes(nameOf(line)));
}

function withoutRaised(lines: readonly string[]): string[] {
  const raised = RAISED_PINS.map(nameOf);
  return lines.filter((line) => !raised.includes(nameOf(line)));
}

/** `PyNaCl==1.6.0` → `pynacl`; empty for a comment. */
function nameOf(requirement: string): string {
  return (/^[\w.-]+/.exec(requirement)?.[0] ?? '').toLowerCase();
}

/** Without their own pins, integrations find the raised packages: a hub in the sandbox installs none itself. */
export async function raisePinsOfIntegrations(sitePackages: string): Promise<void> {
  const components = join(sitePackages, 'homeassistant', 'components');
  for (const each of await readdir(components, { withFileTypes: true })) {
    if (!each.isDirectory()) continue;
    const manifest = join(components, each.name, 'manifest.json');
    if (!existsSync(manifest)) continue;
    const text = await readFile(manifest, 'utf8');
    const raised = withRaisedPins(text);
    if (raised === text) continue;
    await rm(manifest); // a hard link into the cache of uv
    await writeFile(manifest, raised);
  }
}

/** The text of a manifest, with {@link RAISED_PINS} instead of its own. */
export function withRaisedPins(manifest: string): string {
  return manifest.replace(/"([\w-]+)==[^"]+"/g, (pin, name: string) => {
    const raised = RAISED_PINS.find((each) => nameOf(each) === name.toLowerCase());
    return raised === undefined ? pin : `"${raised}"`;
  });
}

/** Hubs before 2026.8 do not read their port from the variable SETUP_PORT, and all hubs of a sandbox have one address. */
export async function readPortFromEnvironment(sitePackages: string): Promise<void> {
  const file = join(sitePackages, 'homeassistant', 'const.py');
  const port = '__import__("os").environ.get("SETUP_PORT", "8123")';
  const text = await readFile(file, 'utf8');
  await rm(file); // a hard link into the cache of uv
  await writeFile(file, text.replace('SERVER_PORT: Final = 8123', `SERVER_PORT: Final = int(${port})`));
}
