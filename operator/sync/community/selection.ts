import { INSTALLED_FILES, INSTALLED_SIZE } from '../../base/limits';
import { type Archive, type ArchiveEntry, shown } from './archive';
import { RepositoryRefused } from './errors';

/** Files of an archive by the path that they get below the target. */
export type Selection = ReadonlyMap<string, ArchiveEntry>;

/**
 * The files below a folder of an archive. `folder` is empty for the root, or ends with a slash.
 *
 * @param accepts whether a file is installed, by its path below the folder
 * @throws RepositoryRefused a link, or paths that a file system could take for each other
 */
export function select(archive: Archive, folder: string, accepts: (path: string) => boolean): Selection {
  const selected = new Map<string, ArchiveEntry>();
  for (const entry of archive.entries) {
    // A link above the folder would stand for the folder itself.
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

/** Unpacks the selected files. @throws RepositoryRefused one is damaged */
export async function readSelected(
  archive: Archive,
  selection: Selection,
): Promise<ReadonlyMap<string, Buffer>> {
  const files = new Map<string, Buffer>();
  for (const [path, entry] of selection) files.set(path, await archive.read(entry));
  return files;
}

/** Names that differ only in case or in their Unicode form are one file on some volumes. */
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

/** `a/b/c.py`: `a` and `a/b` */
function foldersOf(path: string): string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}
