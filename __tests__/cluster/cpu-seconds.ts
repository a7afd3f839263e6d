import { readFile } from 'node:fs/promises';

/** Returns the seconds of CPU that a process has used so far (Linux). */
export async function cpuSeconds(pid: number): Promise<number> {
  return secondsIn(await readFile(`/proc/${pid}/stat`, 'utf8'), 11);
}

/** Returns the seconds of CPU of all ended children of this process, including their own children (Linux). */
export async function cpuSecondsOfEnded(): Promise<number> {
  return secondsIn(await readFile('/proc/self/stat', 'utf8'), 13);
}

/** @param first index of the user time after the name of the program; the system time follows */
function secondsIn(stat: string, first: number): number {
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(first, first + 2);
  return (Number(user) + Number(system)) / 100;
}
