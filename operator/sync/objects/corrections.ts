// Counts corrections of drift that were reverted in the hub, by a person or by the hub itself.

/** Differences that were corrected and came back. */
export interface Correction {
  /** The desired values and the differences: a changed spec is sent at once. */
  readonly key: string;
  /** Number of corrections of these differences in a row. */
  readonly count: number;
  /** The time of the last one, by the monotonic clock. */
  readonly at: number;
}

/** A resource whose corrections are counted. */
export interface Corrected {
  correction?: Correction | undefined;
}

/** After so many corrections that were reverted, the operator stops writing. */
export const MAX_EQUAL_CORRECTIONS = 3;

/** Milliseconds within which corrections are counted together: later, a person may have made the same change again. */
const CORRECTION_WINDOW = 3_600_000;

/** Milliseconds after which a correction counts as successful. */
const CORRECTION_LASTED = 10_000;

/** Nothing differs: a correction that has lasted is not counted with later ones. */
export function clearCorrection(cached: Corrected, now: number): void {
  if (cached.correction && now - cached.correction.at > CORRECTION_LASTED) cached.correction = undefined;
}

export function countCorrection(cached: Corrected, key: string, now: number): void {
  cached.correction = { key, count: correctionsOf(cached, key, now) + 1, at: now };
}

/** The number of recent corrections of these differences that were reverted. */
export function correctionsOf({ correction }: Corrected, key: string, now: number): number {
  const counts = correction?.key === key && now - correction.at < CORRECTION_WINDOW;
  return counts ? correction.count : 0;
}
