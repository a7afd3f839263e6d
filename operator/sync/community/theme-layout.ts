import { type BoundedTasks, runTwice } from '../../base/bounded-task';
import { type Archive, readSelected, select, shown } from './archive';
import { assertSize, type Hints } from './json-files';
import { RepositoryRefused } from './errors';
import type { RepositoryPackage } from './repository-package';
import { themeTask } from './theme-names';

/** Maximum number of bytes of a file that is parsed. */
const LARGEST_THEME = 512 * 1024;

/** Maximum number of themes of a repository, since their names are in the status. */
const MOST_THEMES = 500;

/** @throws RepositoryRefused the repository has no themes */
export async function theme(
  archive: Archive,
  hints: Hints,
  name: string,
  texts: BoundedTasks,
): Promise<RepositoryPackage> {
  const folder = hints.contentInRoot ? '' : 'themes/';
  const accepts = (path: string) => path.endsWith('.yaml') && (folder !== '' || !path.includes('/'));
  const files = await readSelected(archive, select(archive, folder, accepts));
  if (files.size === 0)
    throw new RepositoryRefused(
      `The repository has no file *.yaml ${folder === '' ? 'at its root' : 'in themes/'}, which a theme needs.`,
    );
  const names = new Set<string>();
  for (const [path, content] of files) {
    for (const each of await themesIn(content, folder + path, texts)) names.add(each);
    if (names.size > MOST_THEMES)
      throw new RepositoryRefused(
        `The repository has more than ${MOST_THEMES} themes up to the file ${shown(folder + path)}, which is not accepted.`,
      );
  }
  return { target: `themes/${name}`, isFile: false, files, provides: [...names].sort() };
}

/** @throws RepositoryRefused */
async function themesIn(content: Buffer, path: string, texts: BoundedTasks): Promise<readonly string[]> {
  assertSize(path, content.length, LARGEST_THEME);
  const read = await runTwice(texts, themeTask, content.toString(), 'community repositories');
  const problem =
    read.type === 'ended'
      ? `takes more ${read.exceeded} to read than its length allows.`
      : 'problem' in read.output
        ? read.output.problem
        : undefined;
  if (read.type === 'done' && 'names' in read.output) return read.output.names;
  throw new RepositoryRefused(`The file ${shown(path)} ${problem}`);
}
