import { createHash } from 'node:crypto';
import { access, mkdir, mkdtemp, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

// A holder touches its lock each second. One that does not was killed; or the machine slept, and then two build the same
// thing in folders of their own, which costs time and nothing else.
const HEARTBEAT_INTERVAL = 1_000; // milliseconds
const STALE_AFTER = 5_000;
const POLL_INTERVAL = 250;

/** Where everything that is slow to get is kept between starts. `HUB_OPERATOR_CACHE` overrides it. */
export function cacheRoot(): string {
  const userCache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  return process.env['HUB_OPERATOR_CACHE'] || join(userCache, 'hub-operator');
}

/** A short key of everything that an entry is made from: other content, other entry. */
export function contentKey(parts: readonly (string | Buffer)[]): string {
  const hash = createHash('sha256');
  // With its length before it, ('ab', 'c') and ('a', 'bc') differ.
  for (const part of parts) hash.update(`${part.length}:`).update(part);
  return hash.digest('hex').slice(0, 12);
}

/**
 * The folder `<cache>/<name>-<key>`, which `build` fills when it is not there yet. It appears whole or not at all: it is
 * built beside under another name and renamed at the end. Of runs beside each other one builds and the others wait. What the
 * build prints belongs in `logFile`, which is new and stays, above all when the build fails.
 */
export async function cached(
  name: string,
  key: string,
  build: (folder: string, logFile: string) => Promise<void>,
  onWait: () => void = () => {},
): Promise<string> {
  const entry = join(cacheRoot(), `${name}-${key}`);
  if (await exists(entry)) return entry;
  await mkdir(cacheRoot(), { recursive: true });
  await withLock(`${entry}.lock`, onWait, async () => {
    if (await exists(entry)) return;
    await removeAbandoned(entry);
    const logFile = join(cacheRoot(), 'logs', `${name}.log`);
    await rm(logFile, { force: true });
    const partial = await mkdtemp(`${entry}.partial-`);
    try {
      await build(partial, logFile);
      // After a lock was taken over from a run that only slept, that run may have been first.
      if (!(await exists(entry))) await rename(partial, entry);
    } finally {
      await rm(partial, { recursive: true, force: true });
    }
  });
  return entry;
}

export async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** Whoever holds the lock is the only one who builds, so what lies there half built belongs to a killed run. */
async function removeAbandoned(entry: string): Promise<void> {
  const prefix = `${basename(entry)}.partial-`;
  const names = await readdir(dirname(entry));
  const abandoned = names.filter((name) => name.startsWith(prefix));
  await Promise.all(
    abandoned.map((name) => rm(join(dirname(entry), name), { recursive: true, force: true })),
  );
}

async function withLock(path: string, onWait: () => void, work: () => Promise<void>): Promise<void> {
  while (!(await takeLock(path))) {
    onWait();
    await sleep(POLL_INTERVAL);
  }
  const heartbeat = setInterval(() => void touch(path), HEARTBEAT_INTERVAL);
  try {
    await work();
  } finally {
    clearInterval(heartbeat);
    await rm(path, { force: true });
  }
}

async function takeLock(path: string): Promise<boolean> {
  try {
    await writeFile(path, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const held = await stat(path).catch(() => undefined); // gone in between: the next attempt gets it
  if (held !== undefined && Date.now() - held.mtimeMs > STALE_AFTER) await rm(path, { force: true });
  return false;
}

async function touch(path: string): Promise<void> {
  const now = new Date();
  await utimes(path, now, now).catch(() => undefined); // taken over after a sleep of the machine: see STALE_AFTER
}
