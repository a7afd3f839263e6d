import type { Clock } from '../../base/clock';
import type { Outcome } from '../../runtime/outcome';
import type { ReconcileContext } from '../../runtime/sync-module';
import type { CachedEntry } from './entry-contexts';
import type { Unresolved } from './locate-entry';

/** A missing entry is reported after this time (milliseconds) in which no other missing entry has appeared. */
const REFERENCE_GRACE = 2_000;

/**
 * The outcome of a resource whose references are missing. Floors, labels and areas are often applied together with what refers to them: a
 * reference that is about to appear is not reported, which would be a write of status for each thing that appears.
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
