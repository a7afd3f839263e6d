import type { Logger } from '../log';
import type { EventSpec } from './event-spec';
import type { Outcome, Waiting } from './outcome';
import type { CustomResource } from '../kinds/resource';

/**
 * The part of a reconcile that differs between kinds: a function of the resource to an outcome. It never touches the
 * queue, writes no status, never sleeps and catches only errors that it knows. What it throws is retried with backoff.
 */
export interface SyncModule<R extends CustomResource> {
  /** Makes the observed state equal the desired one, with the fewest writes. It is repeated: it must be idempotent. */
  sync(resource: R, context: ReconcileContext): Promise<Outcome>;
  /**
   * Removes the resource's object from the hub. Best effort: the finalizer is released whatever happens. Returns events
   * (what could not be removed), or `waiting` while the removal is in progress. A kind without it has no finalizer.
   */
  remove?(resource: R, context: ReconcileContext): Promise<readonly EventSpec[] | Waiting>;
}

/** The context of one reconcile of one resource. */
export interface ReconcileContext {
  /** Aborted at the time limit of the reconcile, and when this process may not write any more. */
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** A full reconcile was requested (`reconcile-requested-at`): cached answers of the hub are not used. */
  readonly forced: boolean;
  /** Compute and report what would be written; write nothing (`dry-run`). */
  readonly dryRun: boolean;
}
