import { MIN_WRITE_INTERVAL, RESYNC } from '../../base/limits';

/** How often in a row an automation was switched off again that is to be off, and when it last was (monotonic clock). */
export interface SwitchOffs {
  readonly count: number;
  readonly at: number;
}

interface Counted {
  switchOffs?: SwitchOffs;
}

/** Corrections count together within this time (milliseconds): later, a person may just make the same change again. */
const WINDOW = 3_600_000;

export function countSwitchOff(counted: Counted, now: number): void {
  counted.switchOffs = { count: countOf(counted, now) + 1, at: now };
}

/**
 * Milliseconds until it may be switched off again. Something in the hub may switch it on each time, and the two would take
 * turns for ever: the pauses double.
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
