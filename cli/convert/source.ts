import { lstat, readdir, readFile, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { messageOf } from '../../operator/base/errors';
import { CommandError } from '../command-error';
import { readBackup } from './backup';
import { NOT_FOLLOWED, Sorting, type Source } from './sorting';

/**
 * Reads a copy of a hub's folder /config, a single file of it, or a backup. Links in the folder are not
 * followed.
 *
 * @param output folder with the result of a previous conversion, which may be inside the copy
 * @throws CommandError
 */
export async function readSource(path: string, output: string): Promise<Source> {
  const stats = await stat(path).catch((error: unknown) => {
    throw new CommandError(`cannot read ${path}: ${messageOf(error)}`);
  });
  if (stats.isDirectory()) {
    const folder = await realpath(path);
    const former = await realOf(resolve(output));
    await assertOwnFolder(folder, former, output);
    return readFolder(path, folder, former);
  }
  if (!stats.isFile()) throw new CommandError(`${path} is neither a file nor a folder: name one of the two`);
  if (/\.(tar|tar\.gz|tgz)$/.test(path)) return readBackup(path);
  const sorting = new Sorting();
  await sorting.add(basename(path), stats.size, () => readFile(path));
  return sorting.source('file');
}

/** The path with links resolved, even if the last folders do not exist yet. */
async function realOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    return dirname(path) === path ? path : join(await realOf(dirname(path)), basename(path));
  }
}

/** Checks that a previous result inside the copy is in a folder without other files. @throws CommandError */
async function assertOwnFolder(folder: string, former: string, output: string): Promise<void> {
  if (former !== folder && !former.startsWith(folder + sep)) return;
  const names = former === folder ? undefined : await readdir(former).catch(() => []);
  if (names?.length === 0 || names?.includes('kustomization.yaml')) return;
  throw new CommandError(
    `--to ${output} is a folder of the copy, which is not changed: name a new folder, or one outside of it`,
  );
}

/**
 * Reads the files of a folder.
 *
 * @param named path of the folder as the user wrote it
 * @param folder path with links resolved
 * @param former folder with the result of a previous conversion, with links resolved
 */
async function readFolder(named: string, folder: string, former: string): Promise<Source> {
  const sorting = new Sorting();
  const walk = async (below: string): Promise<void> => {
    const entries = await readdir(join(folder, below), { withFileTypes: true });
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = below === '' ? entry.name : `${below}/${entry.name}`;
      if (entry.isDirectory()) {
        if (join(folder, path) !== former && sorting.enters(path)) await walk(path);
      } else if (entry.isFile()) {
        const { size } = await lstat(join(folder, path));
        await sorting.add(path, size, () => readFile(join(folder, path)));
      } else sorting.leave(path, NOT_FOLLOWED);
    }
  };
  try {
    await walk('');
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(`cannot read ${named}: ${messageOf(error)}`);
  }
  if (!sorting.has('configuration.yaml') && !sorting.has('automations.yaml'))
    throw new CommandError(
      `${named} has neither configuration.yaml nor automations.yaml: name a copy of the folder /config of the hub`,
    );
  return sorting.source('folder');
}
