import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { type FileHandle, lstat, open, readFile, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { messageOf } from '../../operator/base/errors';
import { CommandError } from '../command-error';

/**
 * The text of a file; undefined if the file does not exist.
 *
 * @throws CommandError the path is not a regular file, or the file is not text
 */
export async function readText(path: string): Promise<string | undefined> {
  const stats = await statsOf(path);
  if (!stats) return undefined;
  const bytes = await failing(path, 'read', readFile(path));
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new CommandError(`${path} is not in UTF-8: store it in this encoding first`);
  }
}

/** Paths of new files that are being written, before each takes the place of a former one. */
const unfinished = new Set<string>();

/** Removes what {@link replaceFile} is writing. Only for a process that ends now. */
export function removeUnfinished(): void {
  for (const path of unfinished) rmSync(path, { force: true });
}

/**
 * Writes a file, so that after a crash at any time it has either its former text or the new one. Its mode is
 * preserved.
 *
 * @param former text of the file when it was read; undefined if the file did not exist
 * @throws CommandError the file was changed since it was read, or cannot be written
 */
export async function replaceFile(path: string, former: string | undefined, text: string): Promise<void> {
  const stats = await statsOf(path);
  const fresh = join(dirname(path), `.${basename(path)}.${randomUUID()}`);
  if (unfinished.size === 0) process.on('exit', removeUnfinished);
  unfinished.add(fresh);
  try {
    const file = await failing(path, 'write', open(fresh, 'wx', stats?.mode));
    try {
      await failing(path, 'write', fill(file, text, stats));
    } finally {
      await file.close();
    }
    if ((await readText(path)) !== former)
      throw new CommandError(`${path} was changed by someone else just now: nothing is written, try again`);
    await failing(path, 'write', rename(fresh, path));
  } finally {
    await rm(fresh, { force: true });
    unfinished.delete(fresh);
    if (unfinished.size === 0) process.off('exit', removeUnfinished);
  }
}

async function fill(
  file: FileHandle,
  text: string,
  stats: { readonly mode: number; readonly uid: number; readonly gid: number } | undefined,
): Promise<void> {
  await file.writeFile(text);
  if (stats) {
    // Only root may give a file to its former owner. For other users the owner does not change.
    await file.chown(stats.uid, stats.gid).catch(() => undefined);
    await file.chmod(stats.mode & 0o7777);
  }
  await file.sync();
}

/** @throws CommandError the path is a link, or not a regular file */
async function statsOf(path: string) {
  const stats = await lstat(path).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw cannot('read', path, error);
  });
  if (stats?.isSymbolicLink())
    throw new CommandError(`${path} is a symbolic link, which is not followed: name the file itself`);
  if (stats && !stats.isFile()) throw new CommandError(`${path} is no file`);
  return stats;
}

async function failing<T>(path: string, verb: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw cannot(verb, path, error);
  }
}

const cannot = (verb: string, path: string, error: unknown): CommandError =>
  new CommandError(`cannot ${verb} ${path}: ${messageOf(error)}`);
