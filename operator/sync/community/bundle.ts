import { gzipSync } from 'node:zlib';
import { INSTALLED_PACKED_SIZE } from '../../base/limits';
import { RepositoryRefused } from './errors';
import type { RepositoryPackage } from './repository-package';

/** Bytes of a part: a Secret holds 1 MiB. */
const PART_SIZE = 900 * 1024;

/**
 * The files as the installer's script reads them: a line of JSON with paths and sizes, then the contents, compressed and cut
 * into parts.
 *
 * @throws RepositoryRefused they are too large to be sent through the API server
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
