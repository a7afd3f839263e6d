import { crc32, deflateRawSync } from 'node:zlib';

/** An entry of a zip archive, as a hostile program would write it as well. */
export interface ZipEntry {
  /** As it is stored; a folder ends with a slash. */
  readonly name: string;
  readonly content?: string | Buffer;
  /** Unix mode with the type of the file. Default: of a file, or of a folder. */
  readonly mode?: number;
  /** Bytes that the archive claims the entry to have. Default: the truth. */
  readonly claimedSize?: number;
  readonly flags?: number;
}

export const LINK = 0o120777;
export const DEVICE = 0o020666;
export const NAMED_PIPE = 0o010666;

/** A zip archive with exactly these entries. */
export function zip(entries: readonly ZipEntry[]): Buffer {
  const local: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  for (const entry of entries) {
    const { name, flags = 0x800, mode = name.endsWith('/') ? 0o040755 : 0o100644 } = entry;
    const content = Buffer.from(entry.content ?? '');
    const packed = deflateRawSync(content);
    const path = Buffer.from(name);
    const fixed = Buffer.alloc(26);
    fixed.writeUInt16LE(20, 0);
    fixed.writeUInt16LE(flags, 2);
    fixed.writeUInt16LE(8, 4); // deflate
    fixed.writeUInt32LE(crc(content), 10);
    fixed.writeUInt32LE(packed.length, 14);
    fixed.writeUInt32LE(entry.claimedSize ?? content.length, 18);
    fixed.writeUInt16LE(path.length, 22);
    const attributes = Buffer.alloc(14);
    attributes.writeUInt32LE((mode << 16) >>> 0, 6);
    attributes.writeUInt32LE(offset, 10);
    local.push(signature(0x04034b50), fixed, path, packed);
    central.push(signature(0x02014b50), version(), fixed, attributes, path);
    offset += 4 + fixed.length + path.length + packed.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(entries.length, 4);
  end.writeUInt16LE(entries.length, 6);
  end.writeUInt32LE(directory.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...local, directory, signature(0x06054b50), end]);
}

/** An archive as a code host makes it: all files are in one folder. */
export function repositoryZip(files: Readonly<Record<string, string | Buffer>>, root = 'name-v1'): Buffer {
  const entries = Object.entries(files).map(([path, content]) => ({ name: `${root}/${path}`, content }));
  return zip([{ name: `${root}/` }, ...entries]);
}

/** "Made by": Unix. */
function version(): Buffer {
  const made = Buffer.alloc(2);
  made.writeUInt16LE((3 << 8) | 20);
  return made;
}

function signature(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

const crc = (content: Buffer): number => crc32(content);
