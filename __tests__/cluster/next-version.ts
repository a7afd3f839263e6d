import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { imageDirectory } from '../../sandbox/node/images';
import { sandboxDirectory } from '.';
import { HUB_VERSION } from './home';

/** A replacement in one file of Home Assistant. */
export interface Patch {
  /** Path of the file below `homeassistant/`. */
  readonly file: string;
  /** The text of which the first occurrence is replaced. */
  readonly from: string | RegExp;
  readonly to: string;
}

/** Returns the text of a file of the installed Home Assistant. */
export async function sourceOfHub(file: string): Promise<string> {
  const { library } = await installedHub();
  return readFile(join(library, 'homeassistant', file), 'utf8');
}

/** Returns the folder of the installed Home Assistant, and the path of its packages. */
async function installedHub(): Promise<{ venv: string; packages: string; library: string }> {
  const venv = process.env['HUB_SANDBOX_VENV']!;
  const [python = ''] = await readdir(join(venv, 'lib'));
  const packages = join('lib', python, 'site-packages');
  return { venv, packages, library: join(venv, packages) };
}

/**
 * Gives the pods of an image a different version of Home Assistant: the installed one with these
 * replacements. The image must have a name that no other test uses, since all tests share one node.
 * @param version such as `2026.12.0`; also the tag of the image
 */
export async function addVersion(image: string, version: string, patches: readonly Patch[]): Promise<void> {
  const { venv, packages: path, library: former } = await installedHub();
  const place = imageDirectory(join(sandboxDirectory(), 'node'), `${image}:${version}`);
  const partial = `${place}.partial`;
  const packages = join(partial, path);
  await mkdir(packages, { recursive: true });
  for (const part of ['bin', 'pyvenv.cfg'])
    await cp(join(venv, part), join(partial, part), { recursive: true, verbatimSymlinks: true });
  // The copy keeps modification times, so that the compiled files stay valid.
  await promisify(execFile)('cp', ['-a', join(former, 'homeassistant'), packages]);
  const metadata = (of: string) => join(packages, `homeassistant-${of}.dist-info`);
  await cp(join(former, `homeassistant-${HUB_VERSION}.dist-info`), metadata(version), { recursive: true });
  // All other packages are those of the installed version.
  await writeFile(join(packages, 'others.pth'), `${former}\n`);
  await replace(
    join(metadata(version), 'METADATA'),
    `\nVersion: ${HUB_VERSION}\n`,
    `\nVersion: ${version}\n`,
  );
  const ownVersion = { file: 'const.py', from: '{__short_version__}.{PATCH_VERSION}"', to: `${version}"` };
  for (const { file, from, to } of [ownVersion, ...patches])
    await replace(join(packages, 'homeassistant', file), from, to);
  await rename(partial, place);
}

async function replace(path: string, from: string | RegExp, to: string): Promise<void> {
  const text = await readFile(path, 'utf8');
  const replaced = text.replace(from, () => to);
  if (replaced === text) throw new Error(`${path} does not contain ${String(from)}`);
  await writeFile(path, replaced);
}
