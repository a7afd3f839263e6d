import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { imageDirectory } from '../../sandbox/node/images';
import { sandboxDirectory } from '.';
import { HUB_VERSION } from './home';

/** A replacement in one file of Home Assistant. */
export interface Patch {
  /** Below `homeassistant/`. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/**
 * Gives the pods of an image another version of Home Assistant: the installed one, with these replacements. The name of the image
 * is one of the test, since all tests have one node.
 *
 * @param version such as `2026.12.0`; also the tag of the image
 */
export async function addVersion(image: string, version: string, patches: readonly Patch[]): Promise<void> {
  const installed = process.env['HUB_SANDBOX_VENV']!;
  const place = imageDirectory(join(sandboxDirectory(), 'node'), `${image}:${version}`);
  const partial = `${place}.partial`;
  const [python = ''] = await readdir(join(installed, 'lib'));
  const [former, packages] = [installed, partial].map((venv) => join(venv, 'lib', python, 'site-packages'));
  await mkdir(packages!, { recursive: true });
  for (const part of ['bin', 'pyvenv.cfg'])
    await cp(join(installed, part), join(partial, part), { recursive: true, verbatimSymlinks: true });
  // The dates of the files count: compiled ones stay valid.
  await promisify(execFile)('cp', ['-a', join(former!, 'homeassistant'), packages!]);
  const metadata = (of: string) => join(packages!, `homeassistant-${of}.dist-info`);
  await cp(join(former!, `homeassistant-${HUB_VERSION}.dist-info`), metadata(version), { recursive: true });
  // All other packages are those of the installed one.
  await writeFile(join(packages!, 'others.pth'), `${former}\n`);
  await replace(
    join(metadata(version), 'METADATA'),
    `\nVersion: ${HUB_VERSION}\n`,
    `\nVersion: ${version}\n`,
  );
  const ownVersion = { file: 'const.py', from: '{__short_version__}.{PATCH_VERSION}"', to: `${version}"` };
  for (const { file, from, to } of [ownVersion, ...patches])
    await replace(join(packages!, 'homeassistant', file), from, to);
  await rename(partial, place);
}

async function replace(path: string, from: string, to: string): Promise<void> {
  const text = await readFile(path, 'utf8');
  if (!text.includes(from)) throw new Error(`${path} does not contain ${from}`);
  await writeFile(path, text.replace(from, to));
}
