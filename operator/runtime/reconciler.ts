import { randomUUID } from 'node:crypto';
import { type Clock, timestamp } from '../base/clock';
import { DeadlineExceeded, withDeadline } from '../base/deadline';
import { errorOf, shownMessage, Stopping } from '../base/errors';
import type { Condition } from '../kinds/condition';
import type { CustomResource } from '../kinds/resource';
import {
  BUSY_DEFERRAL,
  DEPENDENCY_REQUEUE,
  RECONCILE_TIMEOUT,
  REMOVAL_REPORT,
  TRANSIENT_FAILURE_REPORT,
} from '../base/limits';
import type { Logger } from '../base/log';
import { errorOutcome } from './error-outcome';
import { failureOf, waitsForRemoval } from './error-condition';
import {
  conditionOf,
  conditionsAfter,
  conditionsAfterError,
  conditionsAfterHandOver,
  conditionsWhileSuspended,
} from './conditions';
import type { EventSpec } from './event-spec';
import type { EventRecorder } from './events';
import type { Finalizer } from './finalizer';
import { incompleteContent } from './json';
import { type ObjectKey, objectKeyOf, parseObjectKey } from './object-key';
import type { ResourceType } from './objects';
import { type Outcome, stalled, type Waiting } from './outcome';
import { type Result, resultOf } from './result';
import { RunningReconciles, StillRunning } from './running-reconciles';
import { Since } from './since';
import { StatusWriter } from './status';
import { objectRecord, successorAmong } from './object-record';
import { HAND_OVER, type ReconcileContext, type Removed, type SyncModule } from './sync-module';
import { transitionEvents } from './transition-events';
import { UnrecordedEvents } from './unrecorded-events';
import type { ApiClient } from './api-client';
import { ApiError, isForbidden, isTransient } from './api-errors';

interface ReconcilerOptions<R extends CustomResource> {
  readonly type: ResourceType;
  readonly cluster: ApiClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly events: EventRecorder;
  readonly finalizer: Finalizer;
  readonly module: SyncModule<R>;
  /** Reads the resource from the cache. */
  readonly read: (key: ObjectKey) => R | undefined;
  /** The older resource that owns the same object in the hub; undefined if there is none. */
  readonly conflictingOwner: (resource: R) => ObjectKey | undefined;
  /** The other resources that describe the same object in the hub, the oldest first. */
  readonly othersWithIdentity: (resource: R) => readonly R[];
  /** The message that the resource named `owner` owns the same object, and how to resolve that. */
  readonly duplicateMessage: (resource: R, owner: string) => string;
  /** Records the response to a write in the cache. @returns the newest known state of the resource */
  readonly recordWrite: (resource: R) => R;
  /** Records the response to a read that was sent when the cache had `known`. @returns the newest state */
  readonly recordRead: (resource: R, known: R) => R;
  /** Whether changed resources wait for a worker. */
  readonly isBusy: () => boolean;
  readonly annotations: { readonly reconcileRequestedAt: string; readonly dryRun: string };
  /** Aborted when this process may no longer write, because it lost the Lease or stops. */
  readonly leaderSignal: AbortSignal;
}

/**
 * Reconciles the resources of one kind: reads the resource, runs its sync module, writes status and events. The
 * reconciler handles the tasks that all kinds share: deletion and finalizer, suspension, forced reconciles, the time
 * limit and unexpected errors (rules.md, "Level-triggered reconciliation").
 */
export class Reconciler<R extends CustomResource> {
  private readonly status: StatusWriter<R>;
  private readonly running: RunningReconciles;
  /** Resources whose reconciles fail with transient errors. */
  private readonly failing: Since;
  /** Resources that are being removed. */
  private readonly removing: Since;
  /** Resources whose status waits for the result of an operation. */
  private readonly deferred: Since;
  private readonly unrecorded = new UnrecordedEvents();

  constructor(private readonly options: ReconcilerOptions<R>) {
    const { cluster, type, recordWrite, recordRead, clock } = options;
    this.status = new StatusWriter(cluster, type, recordWrite, recordRead, clock);
    this.running = new RunningReconciles(clock);
    this.failing = new Since(clock);
    this.removing = new Since(clock);
    this.deferred = new Since(clock);
  }

  /** Milliseconds since the start of the oldest abandoned reconcile that still runs; 0 if there is none. */
  oldestAbandoned(): number {
    return this.running.oldestAbandoned();
  }

  /**
   * To be called when the resource is being deleted, even during a reconcile of it. Its removal is reconciled
   * afterwards.
   */
  announceDeletion(resource: R): void {
    const { finalizer, module } = this.options;
    if (finalizer.isOn(resource)) module.announceDeletion?.(resource);
  }

  /** Reconciles a resource. Never rejects: an error is part of the result. */
  async reconcile(key: ObjectKey): Promise<Result> {
    const log = this.options.log.child({ ...parseObjectKey(key), reconcileID: randomUUID() });
    try {
      const result = await this.reconcileLatest(key, log);
      this.failing.end(key);
      this.unrecorded.forget(key);
      if (result.type !== 'requeue') this.deferred.end(key);
      return result;
    } catch (thrown) {
      return await this.handleError(key, errorOf(thrown), log);
    }
  }

  private async reconcileLatest(key: ObjectKey, log: Logger): Promise<Result> {
    const resource = this.options.read(key);
    if (!resource?.metadata.deletionTimestamp) this.removing.end(key);
    if (!resource) return { type: 'gone' };
    this.running.assertEnded(key);
    if (resource.metadata.deletionTimestamp) return this.finalize(resource, log);
    if (resource.spec.suspend || this.isDryRun(resource)) this.options.module.hold?.(resource);
    if (resource.spec.suspend) return this.reconcileSuspended(resource);
    const owner = this.options.conflictingOwner(resource);
    if (owner) return this.updateStatus(resource, this.duplicate(resource, owner), log);
    const incomplete = incompleteContent(resource);
    if (incomplete) return this.updateStatus(resource, stalled('InvalidSpec', incomplete), log);
    const owned = await this.withFinalizer(resource);
    // The watch event of the deletion causes the next reconcile sooner.
    if (!owned) return { type: 'requeue', after: DEPENDENCY_REQUEUE, priority: 'resync' };
    return this.updateStatus(owned, await this.attempt(owned, log), log);
  }

  /**
   * The outcome for a duplicate. It gets no finalizer until the conflict is resolved, since it has no object
   * in the hub.
   */
  private duplicate(resource: R, owner: ObjectKey): Outcome {
    return stalled('DuplicateId', this.options.duplicateMessage(resource, parseObjectKey(owner).name));
  }

  private async handleError(key: ObjectKey, error: Error, log: Logger): Promise<Result> {
    const isExpected = isTransient(error) || error instanceof Stopping;
    log[isExpected ? 'warn' : 'error']({ error }, 'reconcile failed');
    try {
      if (this.isReportable(key, error)) await this.writeFailure(key, error);
    } catch (reason) {
      log.warn({ error: reason }, 'failed to write status of failed reconcile');
    }
    // Roles, quotas and policies are not watched, so a retry is necessary.
    if (isForbidden(error)) return { type: 'requeue', after: DEPENDENCY_REQUEUE, priority: 'change' };
    return { type: 'retry', error, atLeast: error instanceof ApiError ? (error.retryAfter ?? 0) : 0 };
  }

  /** Whether an error is written to the status: a transient one only after it has lasted for a while. */
  private isReportable(key: ObjectKey, error: Error): boolean {
    if (this.options.leaderSignal.aborted || error instanceof Stopping) return false;
    if (error instanceof StillRunning) return false;
    if (!isTransient(error)) {
      this.failing.end(key);
      return true;
    }
    return this.failing.age(key) >= TRANSIENT_FAILURE_REPORT;
  }

  private async writeFailure(key: ObjectKey, error: Error): Promise<void> {
    const resource = this.options.read(key);
    if (!resource) return;
    await this.write(resource, (previous, generation, at) =>
      conditionsAfterError(previous, failureOf(error), generation, at),
    );
  }

  /**
   * Adds the finalizer, except in a dry-run, which creates nothing that would have to be removed. @returns
   * undefined if the resource has been deleted
   */
  private async withFinalizer(resource: R): Promise<R | undefined> {
    const { finalizer, recordWrite, module } = this.options;
    if (!module.remove || finalizer.isOn(resource) || this.isDryRun(resource)) return resource;
    const held = await finalizer.add(resource);
    return held && recordWrite(held);
  }

  /**
   * Removes the object of a deleted resource and releases the finalizer, even if the removal failed, unless
   * data would be lost (rules.md, "Finalizers"). A transient error of the API server is retried, because the
   * finalizer could not be released either.
   */
  private async finalize(resource: R, log: Logger): Promise<Result> {
    const { events, finalizer, recordWrite, module, leaderSignal } = this.options;
    if (!finalizer.isOn(resource)) return { type: 'gone' };
    const successor = this.successorOf(resource);
    const cleanup = await this.withTimeout(
      resource,
      log,
      async (context) => (await module.remove?.(resource, context, successor)) ?? [],
    ).catch((thrown: unknown): Removed => {
      const error = errorOf(thrown);
      if (isTransient(error) || error instanceof Stopping) throw error;
      log.warn({ error }, 'cleanup failed');
      if (module.lostWithoutRemoval !== undefined)
        return waitsForRemoval(module.lostWithoutRemoval, finalizer.name, error);
      return [
        {
          type: 'Warning',
          reason: 'CleanupFailed',
          message: `The object could not be removed from the hub: ${shownMessage(error)}`,
        },
      ];
    });
    leaderSignal.throwIfAborted(); // the next leader cleans up
    if (cleanup === HAND_OVER) {
      if (!(await this.handOver(resource, successor!)))
        return { type: 'requeue', after: 0, priority: 'change' };
    } else if ('type' in cleanup) {
      return this.isReportedRemoval(resource, cleanup)
        ? this.updateStatus(resource, cleanup, log)
        : resultOf(cleanup);
    } else {
      this.emit(resource, cleanup);
    }
    await events.flush(resource);
    this.removing.end(objectKeyOf(resource));
    const left = await finalizer.release(resource);
    if (left) recordWrite(left);
    log.info({}, 'released finalizer');
    return { type: 'gone' };
  }

  /**
   * Whether status is written while a removal waits: always for a removal of several steps, which records
   * each one; for others, only if the removal takes long, since most end within a second.
   */
  private isReportedRemoval(resource: R, { status, after }: Waiting): boolean {
    const age = this.removing.age(objectKeyOf(resource));
    return status !== undefined || age + after >= REMOVAL_REPORT;
  }

  private successorOf(resource: R): R | undefined {
    const { conflictingOwner, othersWithIdentity } = this.options;
    return conflictingOwner(resource) ? undefined : successorAmong(resource, othersWithIdentity(resource));
  }

  /**
   * Copies the fields of status about the object to the successor, which then does not send the hub anything
   * that it has already. @returns false if the successor is being deleted
   */
  private async handOver(resource: R, successor: R): Promise<boolean> {
    const owned = await this.options.finalizer.add(successor);
    if (!owned) return false;
    const record = objectRecord(resource);
    const { generation } = owned.metadata;
    const written = await this.status.write(this.options.recordWrite(owned), (status) => ({
      ...status,
      ...record,
      conditions: conditionsAfterHandOver(status.conditions ?? [], resource, generation),
    }));
    const { kind, metadata } = resource;
    const message = `The object of ${kind} ${metadata.name}, which is deleted, stays in the hub and belongs to this resource.`;
    this.emit(written, [{ type: 'Normal', reason: 'TakenOver', message }]);
    return true;
  }

  /**
   * Writes only the conditions (rules.md, "Suspend and dry-run"). `observedGeneration` of the status is
   * unchanged, because nothing was done for this generation.
   */
  private async reconcileSuspended(resource: R): Promise<Result> {
    const { generation } = resource.metadata;
    const at = timestamp(this.options.clock.now());
    await this.status.write(resource, (status) => ({
      ...status,
      conditions: conditionsWhileSuspended(status.conditions ?? [], generation, at),
    }));
    return { type: 'resync' };
  }

  private async attempt(resource: R, log: Logger): Promise<Outcome> {
    try {
      return await this.withTimeout(resource, log, (context) => this.options.module.sync(resource, context));
    } catch (thrown) {
      const outcome = errorOutcome(thrown);
      if (outcome) return outcome;
      throw thrown;
    }
  }

  private async updateStatus(resource: R, outcome: Outcome, log: Logger): Promise<Result> {
    const { message, reason, type } = outcome;
    log.debug({ outcome: type, reason, message }, 'reconciled resource');
    // The resource was deleted, or its namespace is no longer watched. The outcome may be based on objects
    // that left the cache with it.
    if (!this.options.read(objectKeyOf(resource))) return { type: 'gone' };
    // Without any condition, the resource would look as if no operator had seen it.
    if (outcome.type === 'Waiting' && outcome.unreported && conditionOf(resource, 'Ready'))
      return resultOf(outcome);
    const deferral = this.deferral(resource, outcome);
    if (deferral > 0) return resultOf({ ...outcome, after: Math.min(outcome.after ?? deferral, deferral) });
    // A requested full reconcile stays pending in a dry-run, which does not carry it out.
    const isPending = this.isDryRun(resource) || outcome.requestPending;
    const handled = isPending ? undefined : this.requestOf(resource);
    const events = this.unrecorded.newOf(resource, outcome);
    const written = await this.write(
      resource,
      (previous, generation, at) => conditionsAfter(previous, outcome, generation, at),
      { ...outcome.status, ...(handled !== undefined && { lastHandledReconcileAt: handled }) },
    ).catch((error: unknown) => {
      this.emit(resource, events); // the retry has nothing left to do in the hub
      this.unrecorded.keep(resource, outcome);
      throw error;
    });
    this.emit(written, [...transitionEvents(resource, outcome), ...events]);
    return resultOf(outcome, written !== resource);
  }

  /**
   * Milliseconds for which the status can wait for the result of an operation; 0 if the outcome must be
   * written now.
   */
  private deferral(resource: R, outcome: Outcome): number {
    const key = objectKeyOf(resource);
    // A forced reconcile must be recorded in status at once: otherwise the next one is forced again, and
    // ignores the record that the object was just written.
    const mayWait = outcome.type === 'Waiting' && outcome.brief && !this.isForced(resource);
    if (!mayWait || !this.options.isBusy()) {
      this.deferred.end(key);
      return 0;
    }
    return Math.max(0, BUSY_DEFERRAL - this.deferred.age(key));
  }

  /** Runs a function of the sync module until its time limit, or until this process may no longer write. */
  private async withTimeout<T>(
    resource: R,
    log: Logger,
    run: (context: ReconcileContext) => Promise<T>,
  ): Promise<T> {
    const { clock, leaderSignal } = this.options;
    const error = () =>
      new DeadlineExceeded(`reconcile did not end within ${RECONCILE_TIMEOUT / 1_000} s and was abandoned`);
    return withDeadline({ clock, delay: RECONCILE_TIMEOUT, signal: leaderSignal, error }, (signal) => {
      const context: ReconcileContext = {
        signal,
        log,
        forced: this.isForced(resource),
        dryRun: this.isDryRun(resource),
      };
      return this.running.track(objectKeyOf(resource), run(context));
    });
  }

  /**
   * Writes conditions and fields. In a dry-run `observedGeneration` is unchanged, because nothing is done for
   * this generation.
   */
  private write(
    resource: R,
    conditions: (previous: readonly Condition[], generation: number, at: string) => Condition[],
    fields: Readonly<Record<string, unknown>> = {},
  ): Promise<R> {
    const { generation } = resource.metadata;
    const at = timestamp(this.options.clock.now());
    return this.status.write(resource, (status) => ({
      ...status,
      ...fields,
      ...(!this.isDryRun(resource) && { observedGeneration: generation }),
      conditions: conditions(status.conditions ?? [], generation, at),
    }));
  }

  private isDryRun({ metadata }: R): boolean {
    return metadata.annotations?.[this.options.annotations.dryRun] === 'true';
  }

  private isForced(resource: R): boolean {
    const requested = this.requestOf(resource);
    return requested !== undefined && requested !== resource.status?.lastHandledReconcileAt;
  }

  /**
   * The value of the annotation that requests a full reconcile. Status contains the value after it was
   * handled.
   */
  private requestOf({ metadata }: R): string | undefined {
    return metadata.annotations?.[this.options.annotations.reconcileRequestedAt];
  }

  private emit(resource: R, events: readonly EventSpec[]): void {
    for (const event of events) this.options.events.record(resource, event);
  }
}
