import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { pack, type Pack } from 'tar-stream';

/** A file of an image. Its owner is root. */
export interface ImageFile {
  /** Absolute path in the image. */
  readonly path: string;
  readonly content: Buffer | string;
  /** Permission bits. Default: readable by all. */
  readonly mode?: number;
}

/**
 * A layer of an image. `Tar` is either the bytes of the archive, or the path of a file with them when the
 * layer is too large for memory.
 */
export interface Layer<Tar = Buffer | LayerFile> {
  readonly tar: Tar;
  /** Digest of the tar archive: `sha256:…`. */
  readonly digest: string;
}

interface LayerFile {
  readonly path: string;
  /** Size in bytes. */
  readonly size: number;
}

const DIRECTORY_MODE = 0o755;
const FILE_MODE = 0o644;
/** Modification time of all files: equal files give equal archives at any time. */
const TIME = new Date(0);

/** Packs files and their parent directories into a layer. */
export async function packLayer(files: readonly ImageFile[]): Promise<Layer<Buffer>> {
  const tar = pack();
  const packed = buffer(tar);
  const owner = { uid: 0, gid: 0, mtime: TIME };
  for (const path of directoriesOf(files))
    tar.entry({ ...owner, name: `${path.slice(1)}/`, type: 'directory', mode: DIRECTORY_MODE });
  for (const { path, content, mode = FILE_MODE } of sorted(files))
    await add(tar, { ...owner, name: path.slice(1), mode }, content);
  tar.finalize();
  const bytes = await packed;
  return { tar: bytes, digest: digestOf(bytes) };
}

/** Describes a layer whose tar archive is a file. */
export async function layerOf(path: string): Promise<Layer<LayerFile>> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  const { size } = await stat(path);
  return { tar: { path, size }, digest: `sha256:${hash.digest('hex')}` };
}

export const digestOf = (content: Buffer | string): string =>
  `sha256:${createHash('sha256').update(content).digest('hex')}`;

/** Returns the hexadecimal digits of a digest. */
export const hexOf = (digest: string): string => digest.replace(/^sha256:/, '');

function directoriesOf(files: readonly ImageFile[]): string[] {
  const found = new Set<string>();
  for (const { path } of files)
    for (let above = dirname(path); above !== '/'; above = dirname(above)) found.add(above);
  return [...found].sort();
}

const sorted = (files: readonly ImageFile[]): ImageFile[] =>
  [...files].sort((a, b) => (a.path < b.path ? -1 : 1));

function add(tar: Pack, header: Parameters<Pack['entry']>[0], content: Buffer | string): Promise<void> {
  return new Promise((resolve, reject) => {
    tar.entry(header, content as Buffer, (error) => (error ? reject(error) : resolve()));
  });
}
