import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { INSTALLED_PACKED_SIZE } from '../../base/limits';
import { RepositoryRefused } from './errors';

/** The files that a repository installs, checked and unpacked in memory. */
export interface RepositoryPackage {
  /** Folder or file below `/config`, such as `custom_components/name`. */
  readonly target: string;
  /** True if the target is a single file, false if it is a folder. */
  readonly isFile: boolean;
  /** Contents by the path below the target. For a single file, the key is its name. */
  readonly files: ReadonlyMap<string, Buffer>;
  /** The names by which the hub knows the files: a domain, names of themes, a URL, or the name of a file. */
  readonly provides: readonly string[];
}

/**
 * Digest of the files, as `sha256:<hex>`: the hash of the lines `<sha256>  <path>` that `sha256sum` prints,
 * sorted by the bytes of the path. In contrast to a hash of the archive, it does not change when the code
 * host packs archives differently.
 */
export function digestOf(files: ReadonlyMap<string, Buffer>): string {
  const lines = [...files]
    .map(([path, content]) => ({ path: Buffer.from(path), line: `${sha256(content)}  ${path}\n` }))
    .sort((a, b) => Buffer.compare(a.path, b.path))
    .map(({ line }) => line);
  return `sha256:${sha256(lines.join(''))}`;
}

const sha256 = (content: Buffer | string): string => createHash('sha256').update(content).digest('hex');

/** Bytes of a part: a Secret holds at most 1 MiB. */
const PART_SIZE = 900 * 1024;

/**
 * The files in the format of the installer's script: a line of JSON with paths and sizes, then the contents,
 * compressed and split into parts.
 *
 * @throws RepositoryRefused the files are too large to be sent through the API server
 */
export function bundleOf({ files }: RepositoryPackage): readonly Buffer[] {
  const listed = [...files].map(([path, content]) => [path, content.length]);
  const packed = gzipSync(Buffer.concat([Buffer.from(`${JSON.stringify(listed)}\n`), ...files.values()]));
  if (packed.length > INSTALLED_PACKED_SIZE)
    throw new RepositoryRefused(
      `The files to install have more than ${INSTALLED_PACKED_SIZE / 1024 / 1024} MiB compressed, which is not accepted.`,
    );
  const parts: Buffer[] = [];
  for (let start = 0; start < packed.length; start += PART_SIZE)
    parts.push(packed.subarray(start, start + PART_SIZE));
  return parts;
}
