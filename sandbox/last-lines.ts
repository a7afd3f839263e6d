import { open } from 'node:fs/promises';

/** Bytes at the end of a file that are read for its last lines. */
const TAIL = 64 * 1_024;

/** The last lines of a file of any size, at most `most`; of a longer one than 64 KiB its end. */
export async function lastLines(file: string, most: number): Promise<string[]> {
  const handle = await open(file);
  try {
    const { size } = await handle.stat();
    const length = Math.min(size, TAIL);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, size - length);
    return buffer.toString('utf8', 0, bytesRead).trimEnd().split('\n').slice(-most);
  } finally {
    await handle.close();
  }
}
