import { mkdir, mkdtemp, readdir, readlink, rm, stat, utimes } from 'node:fs/promises';
import { basename, join } from 'node:path';

/** The folder of the runs' data and logs, ignored by git. `HUB_OPERATOR_RUNS` overrides it. */
export function runsDirectory(): string {
  return process.env['HUB_OPERATOR_RUNS'] || join(__dirname, '..', '.sandbox');
}

// In milliseconds.
const SIGN_OF_LIFE_INTERVAL = 600_000;
/**
 * A run that shows no sign of life for this long has ended. The limit leaves time for a machine that sleeps
 * overnight. In milliseconds.
 */
const LONGEST_SILENCE = 86_400_000;

/**
 * The name of a run's folder and of its run file: `run-<pid>-<PID namespace>-…`. A name without a namespace
 * belongs to the namespace of this process.
 */
const NAME = /^run-(\d+)-(?:(\d+)-)?/;

/**
 * Creates a folder for a run of this process and removes the folders and run files of processes that have ended.
 *
 * @param space the PID namespace of this process
 */
export async function makeRunDirectory(space?: string): Promise<string> {
  const runs = runsDirectory();
  const own = space ?? (await processSpace());
  await mkdir(runs, { recursive: true });
  for (const name of await readdir(runs))
    if (NAME.test(name) && !(await goesOn(name.replace(/\.json.*$/, ''), own)))
      await rm(join(runs, name), { recursive: true, force: true });
  const directory = await mkdtemp(join(runs, `run-${process.pid}-${own}-`));
  setInterval(() => void touch(directory), SIGN_OF_LIFE_INTERVAL).unref();
  return directory;
}

/**
 * Whether a run is still in progress. A container and its host may share this checkout and do not see each
 * other's processes, so a run in another PID namespace is judged by the modification time of its folder.
 * @param directory the folder of the run, as any process names it
 * @param space the PID namespace of this process
 */
export async function goesOn(directory: string, space?: string): Promise<boolean> {
  const own = space ?? (await processSpace());
  const name = basename(directory);
  const [, pid, of = own] = NAME.exec(name) ?? [];
  return pid !== undefined && of === own ? isAlive(Number(pid)) : wasSeen(join(runsDirectory(), name));
}

/** Returns the number of the PID namespace of this process, or 0 where the system has none. */
async function processSpace(): Promise<string> {
  const link = await readlink('/proc/self/ns/pid').catch(() => '');
  return /\d+/.exec(link)?.[0] ?? '0';
}

async function wasSeen(path: string): Promise<boolean> {
  const folder = await stat(path).catch(() => undefined); // undefined when the run has removed the folder
  return folder !== undefined && Date.now() - folder.mtimeMs < LONGEST_SILENCE;
}

async function touch(path: string): Promise<void> {
  const now = new Date();
  // fails when the folder was removed at the end of the run
  await utimes(path, now, now).catch(() => undefined);
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'; // the process of another user
  }
}
