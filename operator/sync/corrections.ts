// Corrections of drift that did not last: somebody or the hub itself undoes each of them.

/** Differences that were corrected and came back. */
export interface Correction {
  /** The payload and the differences. */
  readonly key: string;
  /** Corrections of just these in a row. */
  readonly count: number;
  /** Of the last one, on the monotonic clock. */
  readonly at: number;
}

/** A resource whose corrections are counted. */
export interface Corrected {
  correction?: Correction | undefined;
}

/** After so many corrections that did not last, the operator stops writing. */
export const MAX_EQUAL_CORRECTIONS = 3;

/** Corrections count together within this time (milliseconds): later, a person may just make the same change again. */
const CORRECTION_WINDOW = 3_600_000;

export function countCorrection(cached: Corrected, key: string, now: number): void {
  cached.correction = { key, count: correctionsOf(cached, key, now) + 1, at: now };
}

/** How often these differences were corrected in vain of late. */
export function correctionsOf({ correction }: Corrected, key: string, now: number): number {
  const counts = correction?.key === key && now - correction.at < CORRECTION_WINDOW;
  return counts ? correction.count : 0;
}
