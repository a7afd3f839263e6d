import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';

/** Helm refuses a chart whose files are of 1970. */
const TIME = new Date('2000-01-01T00:00:00Z');

/** The files of a folder as a compressed archive, below the folder `root` in it. Equal files give equal bytes. */
export async function archiveOf(folder: string, root: string): Promise<Buffer> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1));
  const tar = pack();
  const packed = buffer(tar);
  for (const name of files.sort())
    tar.entry({ name: `${root}/${name}`, mode: 0o644, mtime: TIME }, await readFile(join(folder, name)));
  tar.finalize();
  // zlib writes no time into the header.
  return gzipSync(await packed, { level: 9 });
}
