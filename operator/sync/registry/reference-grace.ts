import type { Clock } from '../../base/clock';
import type { Outcome } from '../../runtime/outcome';
import type { ReconcileContext } from '../../runtime/sync-module';
import type { CachedEntry } from './entry-contexts';
import type { Unresolved } from './locate-entry';

/** Milliseconds until a missing entry is reported, counted from the last change of the missing entries. */
const REFERENCE_GRACE = 2_000;

/**
 * The outcome of a resource whose references are missing. Floors, labels and areas are often applied together
 * with the resources that refer to them. A reference that appears soon is not reported, since every
 * appearance would cause another write of status.
 */
export function whileMissing(
  { outcome, missing }: Unresolved,
  cached: CachedEntry,
  clock: Clock,
  { forced, dryRun }: ReconcileContext,
): Outcome {
  const now = clock.monotonic();
  const key = missing.join('\n');
  if (cached.waiting?.missing !== key) cached.waiting = { missing: key, since: now };
  const after = cached.waiting.since + REFERENCE_GRACE - now;
  if (after <= 0 || forced || dryRun) return outcome;
  return { ...outcome, after, priority: 'resync', unreported: true };
}
