import { open } from 'node:fs/promises';

/** Number of bytes at the end of a file in which its last lines are searched. */
const TAIL = 64 * 1_024;

/** Returns at most `most` lines from the end of a file of any size. Only the last 64 KiB are read. */
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
