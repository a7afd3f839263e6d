import { systemClock } from '../../operator/base/clock';

// Pauses in milliseconds.
const FIRST_PAUSE = 200;
const LONGEST_PAUSE = 5000;

/** Sleeps; returns `false` when the signal was aborted before or during the sleep. */
export async function pause(milliseconds: number, signal: AbortSignal): Promise<boolean> {
  try {
    await systemClock.sleep(milliseconds, signal);
    return true;
  } catch (error) {
    if (!signal.aborted) throw error;
    return false;
  }
}

/** The backoff after a number of failures: 200 ms, 400 ms, … 5 s. */
export function pauseAfter(failures: number): number {
  return Math.min(FIRST_PAUSE * 2 ** failures, LONGEST_PAUSE);
}
