import { MIN_WRITE_INTERVAL, RESYNC } from '../../base/limits';

/**
 * The number of successive corrections that switched off an automation, and the monotonic time of the last
 * one.
 */
export interface SwitchOffs {
  readonly count: number;
  readonly at: number;
}

interface Counted {
  switchOffs?: SwitchOffs;
}

/**
 * Milliseconds within which corrections are counted together. After a longer time, a user may have made the
 * same change again.
 */
const WINDOW = 3_600_000;

export function countSwitchOff(counted: Counted, now: number): void {
  counted.switchOffs = { count: countOf(counted, now) + 1, at: now };
}

/**
 * Milliseconds until an automation may be switched off again. If something in the hub switches it on each
 * time, the two would alternate forever, so the pauses double.
 */
export function switchOffPause(counted: Counted, now: number): number {
  const count = countOf(counted, now);
  if (count === 0) return 0;
  const pause = Math.min(MIN_WRITE_INTERVAL * 2 ** (count - 1), RESYNC / 2);
  return Math.max(0, counted.switchOffs!.at + pause - now);
}

function countOf({ switchOffs }: Counted, now: number): number {
  return switchOffs && now - switchOffs.at < WINDOW ? switchOffs.count : 0;
}
