import { mkdir, readdir, readFile, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive } from '../run-directory';

const PREFIX = 'hub-operator-node';
const ROOT = '/sys/fs/cgroup';

// The kernel removes the cgroup of a killed process a moment later.
const ATTEMPTS = 600;
const RETRY_PAUSE = 100; // milliseconds

/** Makes the cgroup under which the pods of a node of this process run, and removes those of processes that have ended. */
export async function makeCgroup(): Promise<string> {
  await removeOldCgroups();
  const name = `${PREFIX}-${process.pid}`;
  try {
    for (const root of await hierarchies()) await mkdir(join(root, name), { recursive: true });
  } catch (error) {
    await removeCgroup(name);
    throw error;
  }
  return name;
}

/** Removes those of processes that have ended. */
export async function removeOldCgroups(): Promise<void> {
  for (const root of await hierarchies())
    for (const name of await readdir(root)) {
      const [, pid] = new RegExp(`^${PREFIX}-(\\d+)$`).exec(name) ?? [];
      if (pid !== undefined && !isAlive(Number(pid))) await removeTree(join(root, name));
    }
}

/** Removes it in all hierarchies. No process may run in it. */
export async function removeCgroup(name: string): Promise<void> {
  for (const root of await hierarchies()) await removeTree(join(root, name));
}

/** The controllers among `names` that this machine does not offer. */
export async function missingControllers(names: readonly string[]): Promise<string[]> {
  const all = await cgroupMounts();
  const present = all.some(({ path, type }) => path === ROOT && type === 'cgroup2')
    ? (await readFile(join(ROOT, 'cgroup.controllers'), 'utf8')).trim().split(' ')
    : all.filter(({ type }) => type === 'cgroup').flatMap(({ options }) => options.split(','));
  return names.filter((name) => !present.includes(name));
}

/** Where cgroups are mounted: one folder for version 2, one for each controller for version 1. */
const hierarchies = async (): Promise<string[]> => (await cgroupMounts()).map(({ path }) => path);

async function cgroupMounts() {
  const mounts = await readFile('/proc/self/mounts', 'utf8');
  return mounts
    .split('\n')
    .map((line) => {
      const [, path = '', type = '', options = ''] = line.split(' ');
      return { path, type, options };
    })
    .filter(({ path, type }) => (type === 'cgroup' || type === 'cgroup2') && path.startsWith(ROOT));
}

async function removeTree(path: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const entries = await readdir(path, { withFileTypes: true }).catch(() => undefined);
    if (!entries) return; // gone
    for (const entry of entries) if (entry.isDirectory()) await removeTree(join(path, entry.name));
    try {
      await rmdir(path);
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
      if (attempt === ATTEMPTS) throw error;
      await sleep(RETRY_PAUSE);
    }
  }
}
