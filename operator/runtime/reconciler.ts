import { type Clock, timestamp } from '../clock';
import { DeadlineExceeded, withDeadline } from '../deadline';
import { errorOf } from '../errors';
import type { Condition } from '../kinds/condition';
import type { CustomResource } from '../kinds/resource';
import { RECONCILE_TIMEOUT, RESYNC, RESYNC_JITTER } from '../limits';
import type { Logger } from '../log';
import { NameConflict, ObjectRejected } from './apply';
import { conditionOf, conditionsAfter, conditionsAfterError, conditionsWhileSuspended } from './conditions';
import type { EventSpec, EventRecorder } from './events';
import type { Finalizer } from './finalizer';
import { type ObjectKey, objectKeyOf, parseObjectKey } from './object-key';
import type { ResourceType } from './objects';
import { type Outcome, stalled, waiting } from './outcome';
import { StatusWriter } from './status';
import type { ReconcileContext, SyncModule } from './sync-module';
import { type ApiClient, ApiError, isNamespaceTerminating, isTransient } from './api-client';

/** controller-runtime's words for how a pass ended. */
export type ResultLabel = 'success' | 'requeue_after' | 'error';

/** When to look at the resource again. */
export type Result =
  | { readonly type: 'gone' }
  | {
      readonly type: 'after';
      readonly delay: number;
      readonly resync: boolean;
      readonly result: ResultLabel;
      /** No further try of ours helps: controller-runtime's terminal error. */
      readonly stalled?: boolean;
    }
  /** `atLeast`: milliseconds that the server asked us to wait. */
  | { readonly type: 'backoff'; readonly error: Error; readonly atLeast: number };

export interface ReconcilerOptions<R extends CustomResource> {
  readonly type: ResourceType;
  readonly cluster: ApiClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly events: EventRecorder;
  readonly finalizer: Finalizer;
  readonly module: SyncModule<R>;
  /** The latest that is known of the resource. */
  readonly read: (key: ObjectKey) => R | undefined;
  /** The older resource that has what this one claims in the hub, if there is one. */
  readonly conflictingOwner: (resource: R) => ObjectKey | undefined;
  /** Takes the server's answer to a write of ours; answers with the newest that is known of the resource. */
  readonly recordWrite: (resource: R) => R;
  readonly annotations: { readonly reconcileRequestedAt: string; readonly dryRun: string };
  /** Aborted when this process may not write any more (lost lease, stop). */
  readonly leaderSignal: AbortSignal;
}

/**
 * One pass over one resource of one kind: the latest object in, the world changed by its sync module, status and
 * events out. What all kinds share has its one place here: deletion and finalizer, suspension, forced passes, guards.
 */
export class Reconciler<R extends CustomResource> {
  private readonly status: StatusWriter<R>;
  /** Resources that a module is at work on, and since when; after a pass was given up it may still be. */
  private readonly inFlight = new Map<ObjectKey, number>();

  constructor(private readonly options: ReconcilerOptions<R>) {
    this.status = new StatusWriter(options.cluster, options.type, options.recordWrite);
  }

  /** Milliseconds since the oldest pass began that was given up and whose module is still at work; 0: there is none. */
  oldestAbandoned(): number {
    const [oldest] = this.inFlight.values(); // in the order in which they began
    const age = oldest === undefined ? 0 : this.options.clock.monotonic() - oldest;
    return age > RECONCILE_TIMEOUT ? age : 0;
  }

  /** Never rejects: what went wrong is in the answer. */
  async reconcile(key: ObjectKey): Promise<Result> {
    const log = this.options.log.child(parseObjectKey(key));
    try {
      const resource = this.options.read(key);
      if (!resource) return { type: 'gone' };
      if (this.inFlight.has(key)) throw new Error('The last pass was given up, but it has not ended yet.');
      if (resource.metadata.deletionTimestamp) return await this.finalize(resource, log);
      if (resource.spec.suspend) return await this.reconcileSuspended(resource);
      const owner = this.options.conflictingOwner(resource);
      if (owner) return await this.updateStatus(resource, duplicate(owner), log);
      const owned = await this.withFinalizer(resource);
      return await this.updateStatus(owned, await this.attempt(owned, log), log);
    } catch (thrown) {
      const error = errorOf(thrown);
      log[isTransient(error) ? 'warn' : 'error']({ error }, 'the pass failed; it will be tried again');
      return { type: 'backoff', error, atLeast: error instanceof ApiError ? (error.retryAfter ?? 0) : 0 };
    }
  }

  private async withFinalizer(resource: R): Promise<R> {
    const { finalizer, recordWrite, module } = this.options;
    if (!module.remove || finalizer.isOn(resource)) return resource;
    return recordWrite(await finalizer.add(resource));
  }

  /**
   * "Best effort" (spec.md, "What the service does", 5): the finalizer goes, whatever the cleanup came to. Only an API
   * server that is not itself for a moment is waited for: it could not take the finalizer off either.
   */
  private async finalize(resource: R, log: Logger): Promise<Result> {
    const { finalizer, recordWrite, module, leaderSignal } = this.options;
    if (!finalizer.isOn(resource)) return { type: 'gone' };
    const answer = await this.withTimeout(
      resource,
      log,
      async (context) => (await module.remove?.(resource, context)) ?? [],
    ).catch((thrown: unknown): EventSpec[] => {
      const error = errorOf(thrown);
      if (isTransient(error)) throw error;
      log.warn({ error }, 'cleanup failed');
      return [
        {
          type: 'Warning',
          reason: 'CleanupFailed',
          message: `Could not be removed from the hub: ${error.message}`,
        },
      ];
    });
    leaderSignal.throwIfAborted(); // the next leader cleans up
    if ('type' in answer)
      return { type: 'after', delay: answer.after, resync: false, result: 'requeue_after' };
    await this.emit(resource, answer);
    const left = await finalizer.release(resource);
    if (left) recordWrite(left);
    log.info({}, 'removed');
    return { type: 'gone' };
  }

  /** `spec.suspend`: nothing is touched but the condition that says so. */
  private async reconcileSuspended(resource: R): Promise<Result> {
    await this.write(resource, (previous, generation, at) =>
      conditionsWhileSuspended(previous, generation, at),
    );
    return { type: 'after', delay: this.resync(), resync: true, result: 'success' };
  }

  private async attempt(resource: R, log: Logger): Promise<Outcome> {
    try {
      return await this.withTimeout(resource, log, (context) => this.options.module.sync(resource, context));
    } catch (thrown) {
      if (thrown instanceof NameConflict) {
        return thrown.transient
          ? waiting('NameConflict', thrown.message, 5_000)
          : stalled('NameConflict', thrown.message);
      }
      if (isNamespaceTerminating(thrown)) return waiting('NamespaceTerminating', thrown.message, 5_000);
      if (thrown instanceof ObjectRejected) return stalled('InvalidSpec', thrown.message);
      const error = errorOf(thrown);
      // Says nothing of the resource: its conditions stay as they are.
      if (isTransient(error) || this.options.leaderSignal.aborted) throw error;
      await this.write(resource, (previous, generation, at) =>
        conditionsAfterError(previous, error, generation, at),
      ).catch((reason: unknown) =>
        log.warn({ error: reason }, 'the failure could not be written to the status'),
      );
      throw error;
    }
  }

  private async updateStatus(resource: R, outcome: Outcome, log: Logger): Promise<Result> {
    log.debug({ outcome: outcome.type, reason: outcome.reason }, outcome.message);
    const requested = this.requestOf(resource);
    const written = await this.write(
      resource,
      (previous, generation, at) => conditionsAfter(previous, outcome, generation, at),
      { ...outcome.status, ...(requested !== undefined && { lastHandledReconcileAt: requested }) },
    );
    await this.emit(written, [...transitionNotes(resource, outcome), ...(outcome.events ?? [])]);
    if (outcome.type === 'Waiting') {
      return { type: 'after', delay: outcome.after, resync: false, result: 'requeue_after' };
    }
    const { after } = outcome;
    const delay = after ?? this.resync();
    return {
      type: 'after',
      delay,
      resync: after === undefined,
      result: after === undefined ? 'success' : 'requeue_after',
      stalled: outcome.type === 'Stalled',
    };
  }

  /** Runs a module's function with a signal that ends it when it takes too long or this process may not write any more. */
  private async withTimeout<T>(
    resource: R,
    log: Logger,
    run: (context: ReconcileContext) => Promise<T>,
  ): Promise<T> {
    const { annotations, clock, leaderSignal } = this.options;
    const requested = this.requestOf(resource);
    const error = () =>
      new DeadlineExceeded(`The pass took longer than ${RECONCILE_TIMEOUT / 1_000} s and was given up.`);
    return withDeadline({ clock, delay: RECONCILE_TIMEOUT, signal: leaderSignal, error }, (signal) => {
      const context: ReconcileContext = {
        signal,
        log,
        forced: requested !== undefined && requested !== resource.status?.lastHandledReconcileAt,
        dryRun: resource.metadata.annotations?.[annotations.dryRun] === 'true',
      };
      return this.track(objectKeyOf(resource), run(context));
    });
  }

  /** What was given up may still be at work: no other pass of the resource begins before it has ended. */
  private track<T>(key: ObjectKey, running: Promise<T>): Promise<T> {
    this.inFlight.set(key, this.options.clock.monotonic());
    const ended = () => this.inFlight.delete(key);
    running.then(ended, ended);
    return running;
  }

  private write(
    resource: R,
    conditions: (previous: readonly Condition[], generation: number, at: string) => Condition[],
    fields: Readonly<Record<string, unknown>> = {},
  ): Promise<R> {
    const generation = resource.metadata.generation ?? 0;
    const at = timestamp(this.options.clock.now());
    return this.status.write(resource, (status) => ({
      ...status,
      ...fields,
      observedGeneration: generation,
      conditions: conditions(status.conditions ?? [], generation, at),
    }));
  }

  /** The full pass that somebody asked for, as it is to be echoed once it is done. */
  private requestOf({ metadata }: R): string | undefined {
    return metadata.annotations?.[this.options.annotations.reconcileRequestedAt];
  }

  private async emit(resource: R, notes: readonly EventSpec[]): Promise<void> {
    for (const note of notes) await this.options.events.record(resource, note);
  }

  private resync(): number {
    return RESYNC * (1 + RESYNC_JITTER * (2 * Math.random() - 1));
  }
}

/** One object in the hub belongs to one resource; a younger one does not even get our finalizer before it has its turn. */
function duplicate(owner: ObjectKey): Outcome {
  const { kind, name } = parseObjectKey(owner);
  return stalled(
    'DuplicateId',
    `${kind} ${name} is older and stands for the same object in the hub. Delete one of the two, or give this one another id or name.`,
  );
}

/** "Events on transitions only": the resource became ready, stopped being ready, or stalled for another reason. */
function transitionNotes(
  before: CustomResource,
  { type, reason, message, events = [] }: Outcome,
): EventSpec[] {
  const previous = conditionOf(before, 'Ready');
  if (type === 'Ready') {
    const isTold = previous?.status === 'True' || events.some((note) => note.type === 'Normal');
    return isTold ? [] : [{ type: 'Normal', reason, message }];
  }
  const same = previous?.reason === reason;
  // Waiting for the reason that it was ready for is progress: an edit on its way.
  if (type === 'Waiting' && (same || previous?.status !== 'True')) return [];
  if (same && previous.status === 'False') return [];
  return [{ type: 'Warning', reason, message }];
}
