import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { pack, type Pack } from 'tar-stream';

/** A file of an image. It belongs to root. */
export interface ImageFile {
  /** Absolute. */
  readonly path: string;
  readonly content: Buffer | string;
  /** Default: readable by all. */
  readonly mode?: number;
}

/** `Tar`: its bytes, or the file that has them, for a layer that is larger than memory should hold. */
export interface Layer<Tar = Buffer | LayerFile> {
  readonly tar: Tar;
  /** `sha256:…` of the tar. */
  readonly digest: string;
}

interface LayerFile {
  readonly path: string;
  /** In bytes. */
  readonly size: number;
}

const DIRECTORY_MODE = 0o755;
const FILE_MODE = 0o644;
/** Equal files give equal bytes, whenever they are packed. */
const TIME = new Date(0);

/** Packs files, and the directories above them. */
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

/** The layer of a tar that is a file. */
export async function layerOf(path: string): Promise<Layer<LayerFile>> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  const { size } = await stat(path);
  return { tar: { path, size }, digest: `sha256:${hash.digest('hex')}` };
}

export const digestOf = (content: Buffer | string): string =>
  `sha256:${createHash('sha256').update(content).digest('hex')}`;

/** The digits of a digest. */
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
