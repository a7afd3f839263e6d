import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { createGunzip } from 'node:zlib';
import { extract } from 'tar-stream';
import { messageOf } from '../../operator/base/errors';
import { isObject } from '../../operator/base/is-object';
import { CommandError } from '../command-error';
import { Sorting, type Source } from './sorting';

/** Bytes of the description of a backup. */
const LARGEST_DESCRIPTION = 1024 * 1024;

const ENCRYPTED =
  'is encrypted: download it without encryption (Settings, System, Backups; the menu of the backup), or name a copy of the folder /config';

/**
 * Reads a backup of Home Assistant: a tar with backup.json and homeassistant.tar.gz, which has the folder /config as `data/`. Nothing is
 * unpacked to the disk.
 *
 * @throws CommandError
 */
export async function readBackup(path: string): Promise<Source> {
  const sorting = new Sorting();
  let isFound = false;
  try {
    await eachEntry(createReadStream(path), async (name, size, content) => {
      if (name === 'backup.json' && size <= LARGEST_DESCRIPTION) {
        const description: unknown = JSON.parse((await buffer(content)).toString());
        if (isObject(description) && description['protected'] === true)
          throw new CommandError(`${path} ${ENCRYPTED}`);
      } else if (/^homeassistant\.tar(\.gz)?$/.test(name)) {
        isFound = true;
        await readConfig(name.endsWith('.gz') ? gunzipped(content) : content, sorting);
      }
    });
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(`cannot read ${path} as a backup of Home Assistant: ${messageOf(error)}`);
  }
  if (!isFound)
    throw new CommandError(
      `${path} has no homeassistant.tar.gz: name a backup that has the settings, or a copy of the folder /config`,
    );
  if (!sorting.has('configuration.yaml'))
    throw new CommandError(`${path} has no data/configuration.yaml: is it a backup of Home Assistant?`);
  return sorting.source('folder');
}

function gunzipped(content: Readable): Readable {
  const unzipped = createGunzip();
  content.on('error', (error) => unzipped.destroy(error));
  return content.pipe(unzipped);
}

/** The folders that are not entered, by path, so that each is looked at once. */
async function readConfig(content: Readable, sorting: Sorting): Promise<void> {
  const entered = new Map<string, boolean>([['', true]]);
  const enters = (folder: string): boolean => {
    const known = entered.get(folder);
    if (known !== undefined) return known;
    const above = folder.includes('/') ? folder.slice(0, folder.lastIndexOf('/')) : '';
    const answer = enters(above) && sorting.enters(folder);
    entered.set(folder, answer);
    return answer;
  };
  await eachEntry(content, async (name, size, file) => {
    const path = name.replace(/^(\.\/)?data\//, '');
    if (path === name || path.split('/').includes('..')) return;
    const folder = path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '';
    if (enters(folder)) await sorting.add(path, size, () => buffer(file));
  });
}

/** Files of an archive; links and devices are left out. */
async function eachEntry(
  content: Readable,
  take: (name: string, size: number, content: Readable) => Promise<void>,
): Promise<void> {
  const entries = extract();
  content.on('error', (error) => entries.destroy(error));
  content.pipe(entries);
  for await (const entry of entries) {
    const { name, type, size = 0 } = entry.header;
    if (type === 'file') await take(name.replace(/^\.\//, ''), size, entry as unknown as Readable);
    entry.resume();
  }
}
