import { buffer } from 'node:stream/consumers';
import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl';
import { messageOf } from '../../base/errors';
import {
  ARCHIVE_ENTRIES,
  ARCHIVE_RATIO,
  ARCHIVE_UNPACKED_SIZE,
  INSTALLED_FILES,
  INSTALLED_SIZE,
} from '../../base/limits';
import { RepositoryRefused } from './errors';
import { truncate } from '../../base/truncate';

/** The type of an archive's entry. `other` is a device, a socket or a named pipe. */
type EntryType = 'file' | 'folder' | 'link' | 'other';

interface ArchiveEntry {
  /**
   * Path without the root folder that contains the whole repository, such as
   * `custom_components/name/manifest.json`.
   */
  readonly path: string;
  readonly type: EntryType;
  /** Size in bytes according to the archive. Reading more or fewer bytes fails. */
  readonly size: number;
}

/** An archive whose list of entries has been checked. Nothing has been unpacked. */
export interface Archive {
  readonly entries: readonly ArchiveEntry[];
  /** @throws RepositoryRefused the entry is damaged, or larger than the archive says */
  read(entry: ArchiveEntry): Promise<Buffer>;
}

/** Longest path in an archive, and longest part of one, in bytes: the limits of file systems. */
const LONGEST_PATH = 1_024;
const LONGEST_NAME = 255;

/** Below this size the compression ratio does not matter: even a file of zeros cannot be a zip bomb. */
const SMALL_FILE = 1024 * 1024;

/**
 * Reads the list of entries of a zip archive. An archive may be malicious, so all limits are checked before
 * anything is unpacked (rules.md, "Community repositories").
 *
 * @param hasRoot whether a single folder at the root contains everything, as code hosts pack a repository
 * @throws RepositoryRefused the content is no such archive, exceeds a limit, or has an entry that no
 * repository has
 */
export async function readArchive(content: Buffer, hasRoot = true): Promise<Archive> {
  const zip = await unreadable('The archive cannot be read', () =>
    // A name with a backslash is rejected, not interpreted as a path.
    fromBufferPromise(content, { strictFileNames: true, validateEntrySizes: true, autoClose: false }),
  );
  if (zip.entryCount > ARCHIVE_ENTRIES)
    throw new RepositoryRefused(
      `The archive has ${zip.entryCount} entries, and at most ${ARCHIVE_ENTRIES} are accepted.`,
    );
  const listed = await unreadable('The archive cannot be read', () => list(zip));
  const root = hasRoot ? rootOf(listed) : '';
  const stored = new Map<ArchiveEntry, Entry>();
  for (const entry of listed) {
    const path = entry.fileName.slice(root.length).replace(/\/$/, '');
    if (path === '') continue;
    const checked = { path, type: typeOf(entry), size: entry.uncompressedSize };
    if (checked.type === 'other')
      throw new RepositoryRefused(`The archive has ${shown(path)}, which is neither a file nor a folder.`);
    stored.set(checked, entry);
  }
  return {
    entries: [...stored.keys()],
    read: (entry) =>
      unreadable(`The file ${shown(entry.path)} in the archive is damaged`, async () =>
        buffer(await zip.openReadStreamPromise(stored.get(entry)!)),
      ),
  };
}

async function list(zip: ZipFile): Promise<readonly Entry[]> {
  const entries: Entry[] = [];
  let total = 0;
  for await (const entry of zip.eachEntry()) {
    assertPath(entry.fileName);
    const { compressedSize, uncompressedSize } = entry;
    total += uncompressedSize;
    if (total > ARCHIVE_UNPACKED_SIZE)
      throw new RepositoryRefused(
        `The files in the archive have more than ${ARCHIVE_UNPACKED_SIZE / 1024 / 1024} MiB together, which is not accepted.`,
      );
    if (uncompressedSize > SMALL_FILE && uncompressedSize > compressedSize * ARCHIVE_RATIO)
      throw new RepositoryRefused(
        `The file ${shown(entry.fileName)} unpacks to more than ${ARCHIVE_RATIO} times its size, which is not accepted.`,
      );
    if (entry.isEncrypted())
      throw new RepositoryRefused(`The file ${shown(entry.fileName)} in the archive is encrypted.`);
    entries.push(entry);
  }
  return entries;
}

/**
 * Checks a path in addition to yauzl, which already rejects absolute paths, drive letters, backslashes and
 * `..`.
 *
 * @throws RepositoryRefused
 */
function assertPath(path: string): void {
  const parts = path.replace(/\/$/, '').split('/');
  const isPlain = parts.every((part) => part !== '' && part !== '.' && part !== '..');
  const isPrintable = !/[\u0000-\u001f\u007f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufffd]/.test(path);
  const fits =
    Buffer.byteLength(path) <= LONGEST_PATH && parts.every((part) => Buffer.byteLength(part) <= LONGEST_NAME);
  if (!isPlain || !isPrintable || !fits)
    throw new RepositoryRefused(`The archive has the path ${shown(path)}, which is not accepted.`);
}

/**
 * The root folder that contains everything, with a slash at its end.
 *
 * @throws RepositoryRefused
 */
function rootOf(entries: readonly Entry[]): string {
  const roots = new Set(entries.map(({ fileName }) => fileName.slice(0, fileName.indexOf('/') + 1)));
  const [root = ''] = roots;
  if (roots.size === 1 && root !== '') return root;
  throw new RepositoryRefused(
    'The archive does not have one folder at its root that contains the repository: check that the code host serves archives as GitHub does.',
  );
}

const UNIX = 3;
const FILE_TYPE = 0o170000;
const TYPES: Readonly<Record<number, EntryType>> = { 0o100000: 'file', 0o040000: 'folder', 0o120000: 'link' };

/**
 * The type of an entry, from the mode that a Unix program stores. An archive from another system has only
 * files and folders.
 */
function typeOf({ externalFileAttributes, fileName, versionMadeBy }: Entry): EntryType {
  const mode = versionMadeBy >>> 8 === UNIX ? (externalFileAttributes >>> 16) & FILE_TYPE : 0;
  const named = fileName.endsWith('/') ? 'folder' : 'file';
  const type = mode === 0 ? named : TYPES[mode];
  return type === named || type === 'link' ? type : 'other';
}

async function unreadable<T>(what: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof RepositoryRefused) throw error;
    throw new RepositoryRefused(`${what}: ${messageOf(error)}.`);
  }
}

/** A path of an archive in a message: escaped and truncated. */
export function shown(path: string): string {
  return JSON.stringify(truncate(path, 120));
}

/** Files of an archive, by their path below the target. */
type Selection = ReadonlyMap<string, ArchiveEntry>;

/**
 * The files below a folder of an archive. `folder` is empty for the root, or ends with a slash.
 *
 * @param accepts decides whether a file is installed, by its path below the folder
 * @throws RepositoryRefused a link, or two paths that some file systems treat as the same
 */
export function select(archive: Archive, folder: string, accepts: (path: string) => boolean): Selection {
  const selected = new Map<string, ArchiveEntry>();
  for (const entry of archive.entries) {
    // A link above the folder could replace the folder itself.
    const isAbove = folder.startsWith(`${entry.path}/`);
    const path = entry.path.slice(folder.length);
    const isBelow = entry.path.startsWith(folder) && accepts(path);
    if (entry.type === 'link' && (isAbove || isBelow))
      throw new RepositoryRefused(
        `The archive has the link ${shown(entry.path)}, and links are not installed.`,
      );
    if (entry.type !== 'file' || !isBelow) continue;
    if (selected.has(path))
      throw new RepositoryRefused(`The archive has the file ${shown(entry.path)} twice.`);
    selected.set(path, entry);
  }
  assertDistinct([...selected.keys()]);
  assertSize(selected);
  return selected;
}

/**
 * Unpacks the selected files.
 *
 * @throws RepositoryRefused a file is damaged
 */
export async function readSelected(archive: Archive, selection: Selection) {
  const files = new Map<string, Buffer>();
  for (const [path, entry] of selection) files.set(path, await archive.read(entry));
  return files;
}

/**
 * Checks for names that differ only in case or in their Unicode form, which are the same file on some
 * volumes.
 *
 * @throws RepositoryRefused
 */
function assertDistinct(paths: readonly string[]): void {
  const files = new Map(paths.map((path) => [fold(path), path]));
  const known = new Map<string, string>();
  for (const path of paths) {
    for (const part of [...foldersOf(path), path]) {
      const other = known.get(fold(part)) ?? part;
      if (other !== part)
        throw new RepositoryRefused(
          `The archive has ${shown(other)} and ${shown(part)}, which are the same on some volumes.`,
        );
      known.set(fold(part), part);
      if (part !== path && files.has(fold(part)))
        throw new RepositoryRefused(`The archive has ${shown(part)} as a file and as a folder.`);
    }
  }
}

function assertSize(selected: Selection): void {
  if (selected.size > INSTALLED_FILES)
    throw new RepositoryRefused(
      `The repository would install ${selected.size} files, and at most ${INSTALLED_FILES} are accepted.`,
    );
  const size = [...selected.values()].reduce((sum, entry) => sum + entry.size, 0);
  if (size > INSTALLED_SIZE)
    throw new RepositoryRefused(
      `The files to install have more than ${INSTALLED_SIZE / 1024 / 1024} MiB, which is not accepted.`,
    );
}

const fold = (path: string): string => path.normalize('NFKC').toLowerCase().normalize('NFKC');

/** The folders of a path: `a` and `a/b` for `a/b/c.py`. */
function foldersOf(path: string): string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}
