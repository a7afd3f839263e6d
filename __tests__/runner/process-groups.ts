import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process';
import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/**
 * Milliseconds after a signal until programs that still run are killed. jest stops its clusters in that time.
 */
const GRACE = 20_000;
const POLL = 50;

/** Process ids of the running programs. Each program leads its own process group. */
const groups = new Set<number>();
let isEnding = false;

/**
 * Starts a program in its own process group. A signal that ends this process also ends the whole group, even
 * where only this process receives it, as from `kill` or a CI. Otherwise jest and its workers would continue.
 */
export function spawnGroup(program: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  const child = spawn(program, args, { ...options, detached: true });
  const { pid } = child;
  if (pid !== undefined) groups.add(pid);
  child.on('close', () => {
    if (pid !== undefined && !isEnding) groups.delete(pid);
  });
  return child;
}

/** Whether a signal has arrived, after which nothing more is started. */
export const isInterrupted = (): boolean => isEnding;

/**
 * Makes SIGINT, SIGTERM and SIGHUP end the process groups, then this process with the exit code that shells
 * use for the signal.
 */
export function endGroupsWithThis(): void {
  for (const signal of SIGNALS) process.on(signal, () => void endWith(signal));
}

async function endWith(signal: (typeof SIGNALS)[number]): Promise<void> {
  if (isEnding) return;
  isEnding = true;
  for (const group of groups) send(group, signal);
  const deadline = Date.now() + GRACE;
  while ([...groups].some((group) => send(group, 0)) && Date.now() < deadline) await sleep(POLL);
  for (const group of groups) send(group, 'SIGKILL');
  process.exit(128 + constants.signals[signal]);
}

/** @returns whether the group has a process */
function send(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-group, signal);
  } catch {
    return false;
  }
}
