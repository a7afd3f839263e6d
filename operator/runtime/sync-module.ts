import type { Logger } from '../log';
import type { EventSpec } from './event-spec';
import type { Outcome, Waiting } from './outcome';
import type { CustomResource } from '../kinds/resource';

/**
 * What a kind does: the wish in, an outcome out. It never touches the queue, writes no status, never sleeps and never
 * catches what it cannot name; what it throws is tried again with backoff.
 */
export interface SyncModule<R extends CustomResource> {
  /** Makes the world be as `resource` says, by the least that is needed; must give the same result on every pass. */
  sync(resource: R, context: ReconcileContext): Promise<Outcome>;
  /**
   * Removes what the resource stands for. Best effort: the finalizer goes whatever happens. Answers with what is
   * worth telling (what could not be removed), or that it is still under way. A kind without it has no finalizer.
   */
  remove?(resource: R, context: ReconcileContext): Promise<readonly EventSpec[] | Waiting>;
}

/** One pass over one resource. */
export interface ReconcileContext {
  /** Aborted when the pass has taken too long, or the operator stops working. */
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** Somebody asked for a full pass (`reconcile-requested-at`): remembered answers do not count. */
  readonly forced: boolean;
  /** Say what would be sent, send nothing (`dry-run`). */
  readonly dryRun: boolean;
}
