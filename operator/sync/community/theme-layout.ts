import { load, YAMLException } from 'js-yaml';
import { isObject } from '../../base/is-object';
import { type Archive, readSelected, select, shown } from './archive';
import { assertSize, type Hints } from './json-files';
import { RepositoryRefused } from './errors';
import type { RepositoryPackage } from './repository-package';

/** Bytes of a file that is parsed. */
const LARGEST_THEME = 512 * 1024;

/** Themes of a repository, and characters of a name: they are in the status. */
const MOST_THEMES = 500;
const LONGEST_THEME_NAME = 200;

/** @throws RepositoryRefused it has no themes */
export async function theme(archive: Archive, hints: Hints, name: string): Promise<RepositoryPackage> {
  const folder = hints.contentInRoot ? '' : 'themes/';
  const accepts = (path: string) => path.endsWith('.yaml') && (folder !== '' || !path.includes('/'));
  const files = await readSelected(archive, select(archive, folder, accepts));
  if (files.size === 0)
    throw new RepositoryRefused(
      `The repository has no file *.yaml ${folder === '' ? 'at its root' : 'in themes/'}, which a theme needs.`,
    );
  const names = new Set<string>();
  for (const [path, content] of files) {
    for (const each of themesIn(content, folder + path)) names.add(each);
    if (names.size > MOST_THEMES)
      throw new RepositoryRefused(
        `The repository has more than ${MOST_THEMES} themes up to the file ${shown(folder + path)}, which is not accepted.`,
      );
  }
  return { target: `themes/${name}`, isFile: false, files, provides: [...names].sort() };
}

/** A file has its themes by name. */
function themesIn(content: Buffer, path: string): string[] {
  assertSize(path, content.length, LARGEST_THEME);
  let themes: unknown;
  try {
    themes = load(content.toString());
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    throw new RepositoryRefused(
      `The file ${shown(path)} is not valid YAML: ${error.message.split('\n')[0]}.`,
    );
  }
  if (!isObject(themes) || Object.keys(themes).length === 0 || !Object.values(themes).every(isObject))
    throw new RepositoryRefused(`The file ${shown(path)} is not a map of themes by their names.`);
  const names = Object.keys(themes);
  const long = names.find(({ length }) => length > LONGEST_THEME_NAME);
  if (long !== undefined)
    throw new RepositoryRefused(
      `The file ${shown(path)} has a theme whose name has ${long.length} characters, and at most ${LONGEST_THEME_NAME} are accepted.`,
    );
  return names;
}
