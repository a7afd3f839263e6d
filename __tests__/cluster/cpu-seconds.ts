import { readFile } from 'node:fs/promises';

/** Seconds of CPU that a process has used so far (Linux). */
export async function cpuSeconds(pid: number): Promise<number> {
  return secondsIn(await readFile(`/proc/${pid}/stat`, 'utf8'), 11);
}

/** Seconds of CPU of all processes that this one has started and seen end, with those that they started (Linux). */
export async function cpuSecondsOfEnded(): Promise<number> {
  return secondsIn(await readFile('/proc/self/stat', 'utf8'), 13);
}

/** @param first place of the time of the user after the name of the program, before that of the kernel */
function secondsIn(stat: string, first: number): number {
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(first, first + 2);
  return (Number(user) + Number(system)) / 100;
}
