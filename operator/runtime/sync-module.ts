import type { Logger } from '../base/log';
import type { EventSpec } from './event-spec';
import type { Outcome, Waiting } from './outcome';
import type { CustomResource } from '../kinds/resource';

/**
 * The kind-specific part of a reconcile: a function from a resource to an outcome. It must not access the
 * queue, write status or sleep, and catches only errors that it handles. An error that it throws is retried
 * with backoff.
 */
export interface SyncModule<R extends CustomResource> {
  /** Makes the observed state equal the desired one with the fewest writes. Must be idempotent. */
  sync(resource: R, context: ReconcileContext): Promise<Outcome>;
  /**
   * Removes the resource's object from the hub. Best effort: the finalizer is released even if the removal
   * fails, unless {@link lostWithoutRemoval} is set. A kind without this method has no finalizer.
   *
   * @param successor the next resource with the same object, which has no other object in the hub
   * @returns events about objects that could not be removed; `waiting` while the removal is in progress,
   * which is written to status if it has status fields; or `HAND_OVER` to leave the object to the successor
   */
  remove?(resource: R, context: ReconcileContext, successor?: R): Promise<Removed>;
  /**
   * The data that would be lost if the finalizer were released after {@link remove} failed, in words. If this
   * is set, the deletion waits.
   */
  readonly lostWithoutRemoval?: string;
  /** Called as soon as a resource with the finalizer is being deleted, even during a reconcile of it. */
  announceDeletion?(resource: R): void;
  /**
   * Stops operations for a resource that is suspended or in dry-run, before their next request to the hub.
   * Called at each reconcile of such a resource.
   */
  hold?(resource: R): void;
}

/**
 * The result of a removal that leaves the object in the hub to the successor (rules.md, "Ownership of objects
 * in the hub").
 */
export const HAND_OVER = 'HandOver';

/** The result of a removal. */
export type Removed = readonly EventSpec[] | Waiting | typeof HAND_OVER;

/** The context of one reconcile of one resource. */
export interface ReconcileContext {
  /** Aborted at the time limit of the reconcile and when this process may no longer write. */
  readonly signal: AbortSignal;
  readonly log: Logger;
  /**
   * Whether a full reconcile was requested (`reconcile-requested-at`): cached answers of the hub are then not
   * used.
   */
  readonly forced: boolean;
  /** Whether to report writes without executing them (`dry-run`). */
  readonly dryRun: boolean;
}
