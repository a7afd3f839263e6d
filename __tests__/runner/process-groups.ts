import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process';
import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** Milliseconds until programs that a signal has not ended are killed: jest takes its clusters down. */
const GRACE = 20_000;
const POLL = 50;

/** The pids of the programs that run; each leads a process group of its own. */
const groups = new Set<number>();
let isEnding = false;

/**
 * Starts a program in a process group of its own. A signal that ends this process ends the whole group as well, also where only this process
 * gets it, as from `kill` or a CI: jest and its workers would go on otherwise.
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

/** Whether a signal has come: nothing more is to be started. */
export const isInterrupted = (): boolean => isEnding;

/** Has SIGINT, SIGTERM and SIGHUP end the groups, then this process with the exit code of shells for the signal. */
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
