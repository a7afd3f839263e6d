import { mkdir, readdir, readFile, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive } from '../run-directory';

const PREFIX = 'hub-operator-node';
const ROOT = '/sys/fs/cgroup';

// How often the removal of a cgroup is tried: the kernel frees a killed process's cgroup only after a moment.
const ATTEMPTS = 600;
const RETRY_PAUSE = 100; // milliseconds

/**
 * Makes the cgroup for the pods of a node that this process runs, and removes the cgroups of processes that
 * have ended.
 */
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

/** Removes the cgroups of nodes whose process has ended. */
export async function removeOldCgroups(): Promise<void> {
  for (const root of await hierarchies())
    for (const name of await readdir(root)) {
      const [, pid] = new RegExp(`^${PREFIX}-(\\d+)$`).exec(name) ?? [];
      if (pid !== undefined && !isAlive(Number(pid))) await removeTree(join(root, name));
    }
}

/** Removes the cgroup in all hierarchies. No process may run in it. */
export async function removeCgroup(name: string): Promise<void> {
  for (const root of await hierarchies()) await removeTree(join(root, name));
}

/** Returns the controllers among `names` that this machine does not offer. */
export async function missingControllers(names: readonly string[]): Promise<string[]> {
  const all = await cgroupMounts();
  const present = all.some(({ path, type }) => path === ROOT && type === 'cgroup2')
    ? (await readFile(join(ROOT, 'cgroup.controllers'), 'utf8')).trim().split(' ')
    : all.filter(({ type }) => type === 'cgroup').flatMap(({ options }) => options.split(','));
  return names.filter((name) => !present.includes(name));
}

/** The folders where cgroups are mounted: one for version 2, one for each controller for version 1. */
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
    if (!entries) return; // the cgroup is gone
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
