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

export function resultOf(outcome: Outcome): Result {
  const { after, type } = outcome;
  if (type === 'Stalled') return { type: 'stalled', ...(after !== undefined && { after }) };
  if (after === undefined) return { type: 'resync' };
  return { type: 'requeue', after, priority: (type === 'Waiting' && outcome.priority) || 'change' };
}
