import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Where runs keep their data and logs, outside git. */
export const runsDirectory = join(__dirname, '..', '.sandbox');

/** A fresh folder for a run of this process; what killed runs and failed ones left is removed. */
export async function makeRunDirectory(): Promise<string> {
  await mkdir(runsDirectory, { recursive: true });
  for (const name of await readdir(runsDirectory)) {
    const [, pid] = /^run-(\d+)-/.exec(name) ?? [];
    if (pid !== undefined && !isAlive(Number(pid))) await rm(join(runsDirectory, name), { recursive: true, force: true });
  }
  return mkdtemp(join(runsDirectory, `run-${process.pid}-`));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'; // another person's, but alive
  }
}
