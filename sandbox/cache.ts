import { createHash } from 'node:crypto';
import {
  access,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

// The holder of a lock touches the lock file each second. An untouched lock belongs to a process that was
// killed or is very busy, or to a machine that slept. After a sleep two processes may build the same entry,
// which only costs time.
const HEARTBEAT_INTERVAL = 1_000; // milliseconds
const STALE_AFTER = 5_000; // for a lock whose process has ended
const STALE_AFTER_SLEEP = 120_000; // for a lock whose process still runs
const POLL_INTERVAL = 250;

/** The folder of builds and downloads, kept between starts. `HUB_OPERATOR_CACHE` overrides it. */
export function cacheRoot(): string {
  const userCache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  return process.env['HUB_OPERATOR_CACHE'] || join(userCache, 'hub-operator');
}

/** A key of everything that an entry is built from: the first 12 hexadecimal digits of its SHA-256. */
export function contentKey(parts: readonly (string | Buffer)[]): string {
  const hash = createHash('sha256');
  // The length in front of each part makes ('ab', 'c') and ('a', 'bc') differ.
  for (const part of parts) hash.update(`${part.length}:`).update(part);
  return hash.digest('hex').slice(0, 12);
}

/**
 * Returns the folder `<cache>/<name>-<key>`; `build` fills it when it does not exist. It appears complete or not at
 * all: it is built under another name and renamed at the end. Of several processes one builds and the others wait;
 * `onWait` is called while they do. The build writes its output to `logFile`, which is empty at its start and is kept,
 * also after a failure.
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
      // The previous holder of the lock may only have slept, and may have finished first.
      if (!(await exists(entry))) await rename(partial, entry);
    } finally {
      await rm(partial, { recursive: true, force: true });
    }
  });
  return entry;
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** Only the holder of the lock builds, so any partial folder belongs to a killed process. */
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
  // The time is taken before the lock is read: if this process is stopped in between, the lock must not look
  // stale.
  const now = Date.now();
  try {
    await writeFile(path, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  // when the lock was just released, the next attempt takes it
  const held = await stat(path).catch(() => undefined);
  if (held === undefined) return false;
  const pid = Number(await readFile(path, 'utf8').catch(() => ''));
  if (now - held.mtimeMs > (isAlive(pid) ? STALE_AFTER_SLEEP : STALE_AFTER)) await rm(path, { force: true });
  return false;
}

/** @param pid 0 or NaN when the lock has just been made or removed */
function isAlive(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function touch(path: string): Promise<void> {
  const now = new Date();
  // fails when another process took the lock over: see STALE_AFTER
  await utimes(path, now, now).catch(() => undefined);
}
