import type { HubClient } from '../../client/hub-client';
import { POD_NOT_READY_REQUEUE } from '../../base/limits';
import type { EventSpec } from '../../runtime/event-spec';
import { type Outcome, type Waiting, waiting } from '../../runtime/outcome';
import type { ReconcileContext } from '../../runtime/sync-module';
import { isOnOtherVolume } from '../hub-pod/hub-volume';
import type { Child, ChildModule } from './child';

/** The inputs of one reconcile of one resource. */
export interface ObjectReconcile<R extends Child> {
  readonly resource: R;
  readonly client: HubClient;
  /** Volume of the hub. Undefined if not known. */
  readonly volume: string | undefined;
}

/**
 * The order in which every kind reconciles its object in a hub. A kind implements the steps. Each step may
 * end the reconcile with an outcome. After a crash between two steps, the next reconcile starts with the
 * first step again. Kinds override the steps, but never {@link sync}.
 *
 * @typeParam W the inputs of a reconcile
 * @typeParam Seen the object in the hub, as far as it is known
 */
export abstract class ObjectSync<
  R extends Child,
  W extends ObjectReconcile<R>,
  Seen extends object,
> implements ChildModule<R> {
  async sync(resource: R, client: HubClient, context: ReconcileContext): Promise<Outcome> {
    const known = await this.known(resource, client, context);
    if (isOutcome(known)) return known;
    return this.recorded(await this.reconcile(known, client, context), resource, client, context);
  }

  /**
   * Returns the resource, completed with facts about its object that status does not have yet. May instead
   * return an outcome that records them before any step.
   */
  protected known(resource: R, _client: HubClient, _context: ReconcileContext): Promise<R | Outcome> {
    return Promise.resolve(resource);
  }

  /**
   * The outcome of a step, completed with status fields that no step records.
   *
   * @param resource the resource with its own status
   */
  protected recorded(
    outcome: Outcome,
    _resource: R,
    _client: HubClient,
    _context: ReconcileContext,
  ): Outcome | Promise<Outcome> {
    return outcome;
  }

  private async reconcile(resource: R, client: HubClient, context: ReconcileContext): Promise<Outcome> {
    const work = await this.begin(resource, client, context);
    if (isOutcome(work)) return work;
    if (!context.dryRun) {
      const followed = await this.follow(work);
      if (followed) return followed;
      const isElsewhere = isOnOtherVolume(resource, work.volume) && !(await this.isStillThere(work));
      if (isElsewhere) return this.forgetObject(work);
    }
    const seen = await this.observe(work);
    if (isOutcome(seen)) return seen;
    if (context.dryRun) return this.dryRun(work, seen);
    return (await this.acquire(work, seen)) ?? this.ensure(work, seen);
  }

  /** Returns the inputs, or an outcome that says why there are none. Nothing is sent to the hub. */
  protected abstract begin(resource: R, client: HubClient, context: ReconcileContext): Promise<W | Outcome>;

  /**
   * The outcome of an operation that runs or has ended.
   *
   * @returns undefined when no operation is in progress
   */
  protected follow(_work: W): Promise<Outcome | undefined> {
    return Promise.resolve(undefined);
  }

  /**
   * Called when status names an object on another volume. Reports whether the present volume has that object
   * too, for example as a copy of the other volume.
   */
  protected isStillThere(_work: W): Promise<boolean> {
    return Promise.resolve(false);
  }

  /**
   * The outcome that removes an object on another volume from status. If the present volume has such an
   * object, it is found and adopted, as for a new resource.
   */
  protected abstract forgetObject(work: W): Outcome;

  protected abstract observe(work: W): Promise<Seen | Outcome>;

  /** Reconciles a resource with the annotation `dry-run` (rules.md, "Suspend and dry-run"). */
  protected abstract dryRun(work: W, seen: Seen): Outcome | Promise<Outcome>;

  /**
   * Records ownership of the object in status before anything is sent to the hub.
   *
   * @returns undefined when status already has it
   */
  protected abstract acquire(work: W, seen: Seen): Outcome | undefined | Promise<Outcome | undefined>;

  /**
   * Makes the object match the spec: drift is left or corrected, writes are paced, and their effect is
   * checked.
   */
  protected abstract ensure(work: W, seen: Seen): Promise<Outcome>;

  abstract remove(
    resource: R,
    client: HubClient,
    context: ReconcileContext,
  ): Promise<readonly EventSpec[] | Waiting>;
  abstract objectOf(resource: R, client: HubClient | undefined): string | undefined;
  abstract forget(resource: R, client: HubClient): void;
}

function isOutcome<T extends object>(result: T | Outcome): result is Outcome {
  return 'reason' in result && 'message' in result;
}

/**
 * The outcome while the hub has not loaded the component of the object.
 *
 * @returns undefined when it is loaded
 */
export async function untilLoaded(
  { components }: HubClient,
  component: string,
): Promise<Waiting | undefined> {
  if (await components.isLoaded(component)) return undefined;
  const message = `The hub has not loaded its ${component} component yet.`;
  return waiting('HubNotReady', message, POD_NOT_READY_REQUEUE);
}

/**
 * Reports whether the hub returns all of its objects. Its registries are empty in recovery mode, and
 * incomplete while it starts.
 */
export async function isComplete({ connection }: HubClient): Promise<boolean> {
  const { state, recovery_mode: recoveryMode } = await connection.command('get_config');
  return state === 'RUNNING' && !recoveryMode;
}
