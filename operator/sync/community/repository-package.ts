import { createHash } from 'node:crypto';

/** The files of a repository that are installed, checked and unpacked in memory. */
export interface RepositoryPackage {
  /** Folder or file below `/config`, such as `custom_components/name`. */
  readonly target: string;
  /** The target is the one file; else it is a folder. */
  readonly isFile: boolean;
  /** By path below the target; of a single file by its name. */
  readonly files: ReadonlyMap<string, Buffer>;
  /** The names that the hub knows it by: a domain, names of themes, a URL, a name. */
  readonly provides: readonly string[];
}

/**
 * `sha256:<hex>` of the files: of the lines `<sha256>  <path>` that `sha256sum` prints, sorted by the bytes of the path. It does
 * not depend on how the code host packs an archive, which changes.
 */
export function digestOf(files: ReadonlyMap<string, Buffer>): string {
  const lines = [...files]
    .map(([path, content]) => ({ path: Buffer.from(path), line: `${sha256(content)}  ${path}\n` }))
    .sort((a, b) => Buffer.compare(a.path, b.path))
    .map(({ line }) => line);
  return `sha256:${sha256(lines.join(''))}`;
}

const sha256 = (content: Buffer | string): string => createHash('sha256').update(content).digest('hex');
