import type { Logger } from '../base/log';
import type { EventSpec } from './event-spec';
import type { Outcome, Waiting } from './outcome';
import type { CustomResource } from '../kinds/resource';

/**
 * The part of a reconcile that differs between kinds: a function of the resource to an outcome. It never accesses the
 * queue, writes no status, never sleeps and catches only errors that it handles. An error that it throws is retried
 * with backoff.
 */
export interface SyncModule<R extends CustomResource> {
  /** Makes the observed state equal the desired one with the fewest writes. Must be idempotent. */
  sync(resource: R, context: ReconcileContext): Promise<Outcome>;
  /**
   * Removes the resource's object from the hub. Best effort: the finalizer is released even if it fails, unless
   * {@link lostWithoutRemoval} says otherwise. Returns events
   * about objects that could not be removed, or `waiting` while the removal is in progress, which is written to status if
   * it has status fields, or `HAND_OVER` to leave the object to the successor. A kind without it has no finalizer.
   *
   * @param successor the next resource with the same object, which has nothing of its own in the hub
   */
  remove?(resource: R, context: ReconcileContext, successor?: R): Promise<Removed>;
  /**
   * What cannot be had back once the finalizer is released and {@link remove} has failed, in words: then the deletion waits.
   */
  readonly lostWithoutRemoval?: string;
  /** Called as soon as a resource with the finalizer is seen to be deleted, also while it is reconciled. */
  announceDeletion?(resource: R): void;
  /** Ends what runs for a resource that is suspended or in dry-run before its next request. Called at each of its reconciles. */
  hold?(resource: R): void;
}

/** The object stays in the hub and belongs to the successor (rules.md, "Ownership of objects in the hub"). */
export const HAND_OVER = 'HandOver';

/** What came of a removal. */
export type Removed = readonly EventSpec[] | Waiting | typeof HAND_OVER;

/** The context of one reconcile of one resource. */
export interface ReconcileContext {
  /** Aborted at the time limit of the reconcile and when this process may no longer write. */
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** A full reconcile was requested (`reconcile-requested-at`): cached answers of the hub are not used. */
  readonly forced: boolean;
  /** Report the writes without executing them (`dry-run`). */
  readonly dryRun: boolean;
}
