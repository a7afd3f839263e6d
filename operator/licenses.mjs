import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * The licenses of the packages in a bundle, which require that their text is distributed with it.
 *
 * @param inputs paths of the bundle's source files
 * @returns text with a section for each package
 * @throws Error a package states no license
 */
export async function licensesOf(inputs) {
  const folders = new Set(
    inputs.map((path) => /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(path)?.[0]).filter(Boolean),
  );
  const sections = await Promise.all([...folders].map(licenseOf));
  return sections.sort().join('\n\n');
}

async function licenseOf(folder) {
  const { name, version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  const files = (await readdir(folder)).filter((each) => /^(licen[cs]e|notice)/i.test(each)).sort();
  if (files.length === 0 && !license) throw new Error(`cannot find the license of ${name}: it states none`);
  const texts = await Promise.all(files.map((each) => readFile(join(folder, each), 'utf8')));
  return [`${name} ${version} (${license ?? 'see below'})`, ...texts.map((text) => text.trim())].join('\n\n');
}
