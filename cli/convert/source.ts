import { lstat, readdir, readFile, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { messageOf } from '../../operator/base/errors';
import { CommandError } from '../command-error';
import { readBackup } from './backup';
import { Sorting, type Source } from './sorting';

/**
 * Reads a copy of the folder /config of a hub, one file of it, or a backup. Links in the folder are not followed.
 *
 * @param output folder with the result of a former conversion, which may be in the copy
 * @throws CommandError
 */
export async function readSource(path: string, output: string): Promise<Source> {
  const stats = await stat(path).catch((error: unknown) => {
    throw new CommandError(`cannot read ${path}: ${messageOf(error)}`);
  });
  if (stats.isDirectory()) return readFolder(path, resolve(output));
  if (!stats.isFile()) throw new CommandError(`${path} is neither a file nor a folder: name one of the two`);
  if (/\.(tar|tar\.gz|tgz)$/.test(path)) return readBackup(path);
  const sorting = new Sorting();
  await sorting.add(basename(path), stats.size, () => readFile(path));
  return sorting.source('file');
}

async function readFolder(folder: string, output: string): Promise<Source> {
  const sorting = new Sorting();
  const walk = async (below: string): Promise<void> => {
    const entries = await readdir(join(folder, below), { withFileTypes: true });
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = below === '' ? entry.name : `${below}/${entry.name}`;
      if (entry.isDirectory()) {
        if (resolve(folder, path) !== output && sorting.enters(path)) await walk(path);
      } else if (entry.isFile()) {
        const { size } = await lstat(join(folder, path));
        await sorting.add(path, size, () => readFile(join(folder, path)));
      } else sorting.leave(path, 'it is a link or a device, which is not followed: copy the file itself');
    }
  };
  try {
    await walk('');
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(`cannot read ${folder}: ${messageOf(error)}`);
  }
  if (!sorting.has('configuration.yaml') && !sorting.has('automations.yaml'))
    throw new CommandError(
      `${folder} has neither configuration.yaml nor automations.yaml: name a copy of the folder /config of the hub`,
    );
  return sorting.source('folder');
}
