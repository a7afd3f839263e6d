import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import { packLayer } from '../sandbox/image/layer';

/**
 * Returns the files of a folder as a compressed archive, in which they are in the folder `root`. Equal files
 * give equal bytes.
 */
export async function archiveOf(folder: string, root: string): Promise<Buffer> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  const files = await Promise.all(
    paths.map(async (path) => ({
      path: join('/', root, relative(folder, path)),
      content: await readFile(path),
    })),
  );
  // zlib does not write the time into the header.
  return gzipSync((await packLayer(files)).tar, { level: 9 });
}
