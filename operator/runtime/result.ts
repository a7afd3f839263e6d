import type { Outcome } from './outcome';
import type { Priority } from './priority';

/**
 * The result of a reconcile, which determines the time of the next one. A change of the resource causes one
 * sooner.
 */
export type Result =
  /** The resource no longer exists. */
  | { readonly type: 'gone' }
  /** Done. The next reconcile is the resync. */
  | { readonly type: 'resync' }
  /** Done or waiting. The next reconcile follows after `after` milliseconds. */
  | { readonly type: 'requeue'; readonly after: number; readonly priority: Priority }
  /**
   * A retry does not help. The next reconcile follows after `after` milliseconds, or is the resync if `after`
   * is absent.
   */
  | { readonly type: 'stalled'; readonly after?: number }
  /** Failed. Retried with exponential backoff, not before `atLeast` milliseconds (`Retry-After` of the API server). */
  | { readonly type: 'retry'; readonly error: Error; readonly atLeast: number };

/**
 * Milliseconds until a step is tried again that status does not record: the cluster has an older definition without its
 * field, or the resource has just been deleted. Without a pause, the same step would be repeated for ever.
 */
const UNRECORDED_STEP_PAUSE = 1_000;

/** @param isRecorded whether status has changed with the outcome */
export function resultOf(outcome: Outcome, isRecorded = true): Result {
  const { type } = outcome;
  const after = outcome.after === 0 && !isRecorded ? UNRECORDED_STEP_PAUSE : outcome.after;
  if (type === 'Stalled') return { type: 'stalled', ...(after !== undefined && { after }) };
  if (after === undefined) return { type: 'resync' };
  return { type: 'requeue', after, priority: (type === 'Waiting' && outcome.priority) || 'change' };
}
