import { type Clock, timestamp } from '../clock';
import { PASS_TIMEOUT, RESYNC, RESYNC_JITTER } from '../limits';
import type { Logger } from '../log';
import { NameConflict } from './apply';
import { type Condition, conditionsAfter, conditionsAfterError, conditionsWhileSuspended } from './conditions';
import type { EventNote, EventRecorder } from './events';
import type { Finalizer } from './finalizer';
import { type ClusterObject, parseKey, type ResourceType } from './objects';
import { type Outcome, stalled, waiting } from './outcome';
import { conditionOf, type CustomResource, type ResourceStatus } from './resource';
import { writeStatus } from './status';
import type { Pass, SyncModule } from './sync-module';
import type { Cluster } from './transport';

/** controller-runtime's words for how a pass ended. */
export type PassResult = 'success' | 'requeue_after' | 'error';

/** When to look at the resource again. */
export type Next =
  | { readonly type: 'gone' }
  | { readonly type: 'after'; readonly delay: number; readonly resync: boolean; readonly result: PassResult }
  | { readonly type: 'backoff'; readonly error: Error };

export interface ReconcilerOptions<R extends CustomResource> {
  readonly type: ResourceType;
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly log: Logger;
  readonly events: EventRecorder;
  readonly finalizer: Finalizer;
  readonly module: SyncModule<R>;
  /** The latest that is known of the resource. */
  readonly read: (key: string) => R | undefined;
  /** The older resource that has what this one claims in the hub, if there is one. */
  readonly rival: (resource: R) => string | undefined;
  /** Takes the server's answer to a write of ours, which is newer than what the watch has brought. */
  readonly learn: (object: ClusterObject) => void;
  readonly annotations: { readonly reconcileRequestedAt: string; readonly dryRun: string };
  /** Aborted when this process may not write any more (lost lease, stop). */
  readonly writing: AbortSignal;
}

/**
 * One pass over one resource of one kind: the latest object in, the world changed by its sync module, status and
 * events out. What all kinds share has its one place here: deletion and finalizer, suspension, forced passes, guards.
 */
export class Reconciler<R extends CustomResource> {
  constructor(private readonly options: ReconcilerOptions<R>) {}

  async reconcile(key: string): Promise<Next> {
    const resource = this.options.read(key);
    if (!resource) return { type: 'gone' };
    const log = this.options.log.child({ kind: resource.kind, ...parseKey(key) });
    try {
      if (resource.metadata.deletionTimestamp) return await this.finalize(resource, log);
      if (resource.spec.suspend) return await this.rest(resource);
      const rival = this.options.rival(resource);
      if (rival) return await this.conclude(resource, duplicate(rival), log);
      const owned = await this.withFinalizer(resource);
      return await this.conclude(owned, await this.attempt(owned, log), log);
    } catch (thrown) {
      const error = thrown instanceof Error ? thrown : new Error(String(thrown));
      log.error({ error }, 'the pass failed; it will be tried again');
      return { type: 'backoff', error };
    }
  }

  private async withFinalizer(resource: R): Promise<R> {
    const { finalizer, module } = this.options;
    if (!module.remove || finalizer.isOn(resource)) return resource;
    return this.learned(await finalizer.add(resource));
  }

  /** "Best effort" (spec.md, "What the service does", 5): the finalizer goes, whatever the cleanup came to. */
  private async finalize(resource: R, log: Logger): Promise<Next> {
    const { finalizer, module } = this.options;
    if (!finalizer.isOn(resource)) return { type: 'gone' };
    const notes = await this.guarded(resource, log, async (pass) => (await module.remove?.(resource, pass)) ?? []).catch(
      (error: unknown): EventNote[] => {
        log.warn({ error }, 'cleanup failed');
        const message = `Could not be removed from the hub: ${error instanceof Error ? error.message : String(error)}`;
        return [{ type: 'Warning', reason: 'CleanupFailed', message }];
      },
    );
    await this.tell(resource, notes);
    await finalizer.release(resource);
    log.info({}, 'removed');
    return { type: 'gone' };
  }

  /** `spec.suspend`: nothing is touched but the condition that says so. */
  private async rest(resource: R): Promise<Next> {
    await this.write(resource, (previous, generation, at) => conditionsWhileSuspended(previous, generation, at));
    return { type: 'after', delay: this.resync(), resync: true, result: 'success' };
  }

  private async attempt(resource: R, log: Logger): Promise<Outcome> {
    try {
      return await this.guarded(resource, log, (pass) => this.options.module.sync(resource, pass));
    } catch (error) {
      if (error instanceof NameConflict) {
        return error.passing ? waiting('NameConflict', error.message, 5_000) : stalled('NameConflict', error.message);
      }
      const failure = error instanceof Error ? error : new Error(String(error));
      await this.write(resource, (...args) => conditionsAfterError(args[0], failure, args[1], args[2]));
      throw failure;
    }
  }

  private async conclude(resource: R, outcome: Outcome, log: Logger): Promise<Next> {
    log.debug({ outcome: outcome.type, reason: outcome.reason }, outcome.message);
    const written = await this.write(
      resource,
      (previous, generation, at) => conditionsAfter(previous, outcome, generation, at),
      outcome.status,
    );
    await this.tell(written, [...transitionNotes(resource, outcome), ...(outcome.events ?? [])]);
    if (outcome.type === 'Waiting') {
      return { type: 'after', delay: outcome.after, resync: false, result: 'requeue_after' };
    }
    const after = outcome.type === 'Ready' ? outcome.after : undefined;
    const delay = after ?? this.resync();
    return { type: 'after', delay, resync: after === undefined, result: after === undefined ? 'success' : 'requeue_after' };
  }

  /** Runs a module's function with a signal that ends it when it takes too long or this process may not write any more. */
  private async guarded<T>(resource: R, log: Logger, run: (pass: Pass) => Promise<T>): Promise<T> {
    const { annotations, clock, writing } = this.options;
    const overdue = new AbortController();
    const signal = AbortSignal.any([overdue.signal, writing]);
    const requested = resource.metadata.annotations?.[annotations.reconcileRequestedAt];
    const pass: Pass = {
      signal,
      log,
      forced: requested !== undefined && requested !== resource.status?.lastHandledReconcileAt,
      dryRun: resource.metadata.annotations?.[annotations.dryRun] === 'true',
    };
    let stopWaiting!: (reason: unknown) => void;
    const aborted = new Promise<never>((_, reject) => (stopWaiting = reject));
    const onAbort = () => stopWaiting(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    const cancel = clock.after(PASS_TIMEOUT, () =>
      overdue.abort(new Error(`The pass took longer than ${PASS_TIMEOUT / 1_000} s and was given up.`)),
    );
    try {
      signal.throwIfAborted();
      return await Promise.race([run(pass), aborted]);
    } finally {
      cancel();
      signal.removeEventListener('abort', onAbort);
    }
  }

  private async write(
    resource: R,
    conditions: (previous: readonly Condition[], generation: number, at: string) => Condition[],
    fields: Readonly<Record<string, unknown>> = {},
  ): Promise<R> {
    const { annotations, cluster, clock, type, writing } = this.options;
    writing.throwIfAborted();
    const generation = resource.metadata.generation ?? 0;
    const requested = resource.metadata.annotations?.[annotations.reconcileRequestedAt];
    const status: ResourceStatus = {
      ...resource.status,
      ...fields,
      ...(requested !== undefined && { lastHandledReconcileAt: requested }),
      observedGeneration: generation,
      conditions: conditions(resource.status?.conditions ?? [], generation, timestamp(clock.now())),
    };
    return this.learned(await writeStatus(cluster, type, resource, status));
  }

  private learned(resource: R): R {
    this.options.learn(resource);
    return resource;
  }

  private async tell(resource: R, notes: readonly EventNote[]): Promise<void> {
    for (const note of notes) await this.options.events.record(resource, note);
  }

  private resync(): number {
    return RESYNC * (1 + RESYNC_JITTER * (2 * Math.random() - 1));
  }
}

/** One object in the hub belongs to one resource; a younger one does not even get our finalizer before it has its turn. */
function duplicate(rival: string): Outcome {
  const [kind, , name] = rival.split('/');
  return stalled(
    'DuplicateId',
    `${kind} ${name} is older and stands for the same object in the hub. Delete one of the two, or give this one another id or name.`,
  );
}

/** "Events on transitions only": the resource became ready, stopped being ready, or stalled for another reason. */
function transitionNotes(before: CustomResource, { type, reason, message }: Outcome): EventNote[] {
  const previous = conditionOf(before, 'Ready');
  if (type === 'Ready') return previous?.status === 'True' ? [] : [{ type: 'Normal', reason, message }];
  const same = previous?.status === 'False' && previous.reason === reason;
  if (same || (type === 'Waiting' && previous?.status !== 'True')) return [];
  return [{ type: 'Warning', reason, message }];
}
