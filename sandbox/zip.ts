import { crc32, deflateRawSync } from 'node:zlib';

/** An entry of a zip archive. Entries that only a hostile program would write are possible. */
export interface ZipEntry {
  /** The name as stored in the archive. The name of a folder ends with a slash. */
  readonly name: string;
  readonly content?: string | Buffer;
  /** Unix mode including the file type. Default: that of a plain file, or of a folder. */
  readonly mode?: number;
  /** Size in bytes that the archive claims for the entry. Default: the true size. */
  readonly claimedSize?: number;
  readonly flags?: number;
}

export const LINK = 0o120777;
export const DEVICE = 0o020666;
export const NAMED_PIPE = 0o010666;

/** Makes a zip archive with exactly these entries. */
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
    fixed.writeUInt16LE(8, 4); // compression method: deflate
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

/** Makes an archive like those of a code host, with all files in one folder. */
export function repositoryZip(files: Readonly<Record<string, string | Buffer>>, root = 'name-v1'): Buffer {
  const entries = Object.entries(files).map(([path, content]) => ({ name: `${root}/${path}`, content }));
  return zip([{ name: `${root}/` }, ...entries]);
}

/** Returns the field "version made by", which says that the entry has Unix modes. */
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
