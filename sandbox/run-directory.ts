import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** The folder of the runs' data and logs, ignored by git. `HUB_OPERATOR_RUNS` overrides it. */
export function runsDirectory(): string {
  return process.env['HUB_OPERATOR_RUNS'] || join(__dirname, '..', '.sandbox');
}

/** Creates a folder for a run of this process and removes the folders of processes that have ended. */
export async function makeRunDirectory(): Promise<string> {
  const runs = runsDirectory();
  await mkdir(runs, { recursive: true });
  for (const name of await readdir(runs)) {
    const [, pid] = /^run-(\d+)-/.exec(name) ?? [];
    if (pid !== undefined && !isAlive(Number(pid)))
      await rm(join(runs, name), { recursive: true, force: true });
  }
  return mkdtemp(join(runs, `run-${process.pid}-`));
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'; // a process of another user
  }
}
