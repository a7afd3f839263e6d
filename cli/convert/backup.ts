import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { createGunzip } from 'node:zlib';
import { extract } from 'tar-stream';
import { messageOf } from '../../operator/base/errors';
import { isObject } from '../../operator/base/is-object';
import { CommandError } from '../command-error';
import { NOT_FOLLOWED, Sorting, type Source } from './sorting';

/** Bytes of the file backup.json that describes a backup. */
const LARGEST_DESCRIPTION = 1024 * 1024;

const ENCRYPTED =
  'is encrypted: download it without encryption (Settings, System, Backups; the menu of the backup), or name a copy of the folder /config';

/**
 * Reads a backup of Home Assistant: a tar with backup.json and homeassistant.tar.gz, which contains the
 * folder /config as `data/`; or only the inner archive. Nothing is unpacked to disk.
 *
 * @throws CommandError
 */
export async function readBackup(path: string): Promise<Source> {
  const sorting = new Sorting();
  let isFound = false;
  try {
    // Checked first, in a separate pass: backup.json may be the last entry.
    await assertReadable(path);
    const config = new ConfigOfBackup(sorting);
    await eachEntry(opened(path), async (name, size, content, isFile) => {
      const isArchive = isFile && /^homeassistant\.tar(\.gz)?$/.test(name);
      if (isArchive) await eachEntry(name.endsWith('.gz') ? gunzipped(content) : content, config.take);
      else await config.take(name, size, content, isFile);
      isFound ||= isArchive || name.startsWith('data/');
    });
  } catch (error) {
    if (error instanceof CommandError) throw error;
    const { code } = error as { readonly code?: unknown };
    const cause =
      code === 'Z_DATA_ERROR' ? `it is damaged or encrypted (${messageOf(error)})` : messageOf(error);
    throw new CommandError(`cannot read ${path} as a backup of Home Assistant: ${cause}`);
  }
  if (!isFound)
    throw new CommandError(
      `${path} has no homeassistant.tar.gz: name a backup that has the settings, or a copy of the folder /config`,
    );
  if (!sorting.has('configuration.yaml'))
    throw new CommandError(`${path} has no data/configuration.yaml: is it a backup of Home Assistant?`);
  return sorting.source('folder');
}

/** @throws CommandError the backup is encrypted */
const assertReadable = (path: string): Promise<void> =>
  eachEntry(opened(path), async (name, size, content) => {
    if (name !== 'backup.json' || size > LARGEST_DESCRIPTION) return;
    const description: unknown = JSON.parse((await buffer(content)).toString());
    if (isObject(description) && description['protected'] === true)
      throw new CommandError(`${path} ${ENCRYPTED}`);
  });

const opened = (path: string): Readable =>
  path.endsWith('.tar') ? createReadStream(path) : gunzipped(createReadStream(path));

function gunzipped(content: Readable): Readable {
  const unzipped = createGunzip();
  content.on('error', (error) => unzipped.destroy(error));
  return content.pipe(unzipped);
}

/** Passes the files below `data/` to the sorting. */
class ConfigOfBackup {
  /** Whether a folder is to be read, by path, so that each folder is judged once. */
  private readonly entered = new Map<string, boolean>([['', true]]);

  constructor(private readonly sorting: Sorting) {}

  readonly take = async (name: string, size: number, file: Readable, isFile: boolean): Promise<void> => {
    const path = name.replace(/^data\//, '');
    if (path === name || path.split('/').includes('..')) return;
    if (!this.enters(folderOf(path))) return;
    if (isFile) await this.sorting.add(path, size, () => buffer(file));
    else this.sorting.leave(path, NOT_FOLLOWED);
  };

  private enters(folder: string): boolean {
    const known = this.entered.get(folder);
    if (known !== undefined) return known;
    const answer = this.enters(folderOf(folder)) && this.sorting.enters(folder);
    this.entered.set(folder, answer);
    return answer;
  }
}

/** The folder of a path in an archive. The empty text stands for the top of the archive. */
const folderOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')));

/** Calls `take` for each entry of an archive except folders. `isFile` is false for links and devices. */
async function eachEntry(
  content: Readable,
  take: (name: string, size: number, content: Readable, isFile: boolean) => Promise<void>,
): Promise<void> {
  const entries = extract();
  content.on('error', (error) => entries.destroy(error));
  content.pipe(entries);
  for await (const entry of entries) {
    const { name, type, size = 0 } = entry.header;
    const path = name.replace(/^\.\//, '');
    if (type !== 'directory') await take(path, size, entry as unknown as Readable, type === 'file');
    entry.resume();
  }
}
