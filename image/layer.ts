import { createHash } from 'node:crypto';
import { dirname } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { pack, type Pack } from 'tar-stream';

/** A file of an image. It belongs to root. */
export interface ImageFile {
  /** Absolute. */
  readonly path: string;
  readonly content: Buffer | string;
  /** Default: everybody may read it. */
  readonly mode?: number;
}

export interface Layer {
  readonly tar: Buffer;
  /** `sha256:…` of the tar. */
  readonly digest: string;
}

const DIRECTORY_MODE = 0o755;
const FILE_MODE = 0o644;
/** The same files give the same bytes, whenever they are packed. */
const TIME = new Date(0);

/** Packs files, and the directories above them. */
export async function packLayer(files: readonly ImageFile[]): Promise<Layer> {
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

export const digestOf = (content: Buffer | string): string =>
  `sha256:${createHash('sha256').update(content).digest('hex')}`;

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
