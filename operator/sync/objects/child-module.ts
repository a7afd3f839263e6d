import { OperationalError } from '../../base/errors';
import type { HubClient } from '../../client/hub-client';
import { HubBanned, HubNotRunning, HubUnreachable, TokenRejected } from '../../client/connection/errors';
import type { Hub } from '../../kinds';
import { HAND_OVER_GRACE, HUB_REPORT_WAIT, POD_NOT_READY_REQUEUE } from '../../base/limits';
import { type Outcome, waiting } from '../../runtime/outcome';
import { HAND_OVER, type ReconcileContext, type Removed, type SyncModule } from '../../runtime/sync-module';
import type { HubClients, Usable } from '../hub-connection/hub-clients';
import { PerHub } from '../hub-connection/per-hub';
import { whileRunning } from '../hub-connection/while-running';
import { HubCleanup } from '../hub-pod/hub-cleanup';
import { hubErrorOutcome } from '../hub-connection/hub-errors';
import type { Child, ChildModule } from './child';
import { HouseholdNotices } from './household-notices';
import { redactedBug, redactedOutcome, redactorOf } from './redaction';
import { removeObject } from './removal';
import type { Services } from '../services';

/**
 * The sync module of a child. It waits for the hub and its token, converts errors of the hub to outcomes, and
 * cleans up before the finalizer is released. A lost connection is first reported by the Hub (rules.md,
 * "Waiting is not an error").
 */
export function childModule<R extends Child>(
  services: Pick<Services, 'cache' | 'clock' | 'requeue'>,
  hubs: HubClients,
  module: ChildModule<R>,
): SyncModule<R> {
  return new ChildSync(services, hubs, module);
}

class ChildSync<R extends Child> implements SyncModule<R> {
  private readonly cleanup: HubCleanup;
  private readonly lostHubs: LostHubs;
  private readonly removals: Removals;
  private readonly household: HouseholdNotices;

  constructor(
    private readonly services: Pick<Services, 'cache' | 'clock' | 'requeue'>,
    private readonly hubs: HubClients,
    private readonly module: ChildModule<R>,
  ) {
    this.cleanup = new HubCleanup(services, hubs);
    this.lostHubs = new LostHubs(services);
    this.removals = new Removals(services);
    this.household = new HouseholdNotices(services);
  }

  async sync(resource: R, context: ReconcileContext): Promise<Outcome> {
    const { namespace, uid } = resource.metadata;
    const reached = await this.hubs.reach(namespace, resource.spec.hubRef.name);
    if ('outcome' in reached) {
      this.lostHubs.forget(resource);
      return reached.outcome;
    }
    const { client, hub } = reached;
    if (this.isHeld(resource, reached, context)) return aboutToRestart;
    try {
      const outcome = await this.cleanup.whileAnswering(uid, context.signal, (signal) =>
        whileRunning(client, resource, () => this.module.sync(resource, client, { ...context, signal })),
      );
      // While a write is in progress, its response may still fail to arrive, so the hub still counts as lost.
      if (outcome.type !== 'Waiting') this.lostHubs.forget(resource);
      const shown = this.redacted(outcome, resource, client);
      await this.household.update(resource, hub, client, shown.events ?? [], context);
      return shown;
    } catch (error) {
      return this.failed(resource, reached, error);
    }
  }

  /**
   * Reports whether the reconcile is held, since the hub is about to be restarted: the restart would
   * interrupt any work that begins now.
   */
  private isHeld(resource: R, { hub, client }: Usable, { dryRun }: ReconcileContext): boolean {
    return this.hubs.isHeld(hub) && !dryRun && !this.module.isWorking?.(resource, client);
  }

  /**
   * The outcome of a reconcile that threw.
   *
   * @throws the error, if it is a bug
   */
  private failed(resource: R, { client, hub }: Usable, error: unknown): Outcome {
    if (error instanceof HubUnreachable || error instanceof HubNotRunning)
      return this.lostHubs.report(resource, hub, error);
    this.lostHubs.forget(resource);
    // Only a reconcile of the Hub can solve this, and its own connection may not show the error for a while.
    if (error instanceof HubBanned || error instanceof TokenRejected)
      this.services.requeue('Hub', resource.metadata.namespace, resource.spec.hubRef.name);
    this.throwIfBug(resource, client, error);
    return this.redacted(hubErrorOutcome(error, 'object'), resource, client);
  }

  private redacted(outcome: Outcome, resource: R, client: HubClient): Outcome {
    return redactedOutcome(outcome, redactorOf(this.module, resource, client));
  }

  /** Throws an error that is a bug. Secrets are redacted, since the error is logged. */
  private throwIfBug(resource: R, client: HubClient, error: unknown): void {
    if (error instanceof OperationalError) return;
    throw redactedBug(error, redactorOf(this.module, resource, client));
  }

  async remove(resource: R, context: ReconcileContext, successor?: R): Promise<Removed> {
    this.lostHubs.forget(resource);
    const { namespace } = resource.metadata;
    const { name } = resource.spec.hubRef;
    const hub = this.hubs.find(namespace, name);
    const object = this.module.objectOf(resource, this.hubs.existing(namespace, name));
    if (successor && !this.removals.hasBegun(resource)) return this.handOver(resource, hub);
    const isAwaited =
      this.module.isReferenced && object !== undefined && hub && !hub.metadata.deletionTimestamp;
    const after = isAwaited ? this.removals.graceLeft(resource) : 0;
    if (after > 0) return waiting('Removing', 'The removal waits for a successor.', after);
    this.removals.begin(resource);
    let removed: Removed = [];
    try {
      removed = await this.cleanup.remove(namespace, name, {
        uid: resource.metadata.uid,
        object,
        run: (client) => this.removeFrom(client, resource, context),
        forget: (client) => this.module.forget(resource, client),
      });
      return removed;
    } finally {
      if (!('type' in removed)) this.removals.forget(resource);
    }
  }

  private removeFrom(client: HubClient, resource: R, context: ReconcileContext) {
    return removeObject(this.services, this.module, resource, client, context).catch((error: unknown) => {
      this.throwIfBug(resource, client, error);
      throw error;
    });
  }

  private async handOver(resource: R, hub: Hub | undefined): Promise<Removed> {
    const contacted = hub && (await this.hubs.contact(hub));
    if (contacted && 'client' in contacted) {
      const running = this.module.release?.(resource, contacted.client);
      if (running) return running;
      this.module.forget(resource, contacted.client);
    }
    this.removals.forget(resource);
    return HAND_OVER;
  }

  announceDeletion({ metadata: { namespace, uid }, spec: { hubRef } }: R): void {
    this.cleanup.announce(uid, namespace, hubRef.name);
  }

  hold(resource: R): void {
    const client = this.hubs.existing(resource.metadata.namespace, resource.spec.hubRef.name);
    if (client) this.module.release?.(resource, client);
  }
}

/**
 * The outcome while the hub is about to be restarted. Status is left unchanged until the restart begins or is
 * cancelled. The requeue is a fallback, since a change of the Hub comes sooner.
 */
const aboutToRestart = waiting(
  'HubNotReady',
  'Waiting for the hub: it is about to be restarted.',
  POD_NOT_READY_REQUEUE,
  { priority: 'resync', unreported: true, requestPending: true },
);

/** Removals in progress, by the uid of the resource. */
class Removals {
  /** Monotonic times at which each removal was first due. */
  private readonly dueSince = new Map<string, number>();
  /** Removals that have begun, so that the object may be gone. */
  private readonly begun = new Set<string>();

  constructor(private readonly services: Pick<Services, 'clock'>) {}

  /** Milliseconds until the removal may begin. */
  graceLeft({ metadata: { uid } }: Child): number {
    const now = this.services.clock.monotonic();
    const since = this.dueSince.get(uid) ?? now;
    this.dueSince.set(uid, since);
    return this.begun.has(uid) ? 0 : since + HAND_OVER_GRACE - now;
  }

  begin({ metadata: { uid } }: Child): void {
    this.begun.add(uid);
  }

  hasBegun({ metadata: { uid } }: Child): boolean {
    return this.begun.has(uid);
  }

  forget({ metadata: { uid } }: Child): void {
    this.dueSince.delete(uid);
    this.begun.delete(uid);
  }
}

/**
 * Resources whose hub does not respond or has not started, although the status of its Hub says that it is
 * usable. Times are of the monotonic clock.
 */
class LostHubs {
  /** Times of the first failure, by the uid of the resource. */
  private readonly lostSince = new Map<string, number>();
  /** Times at which such a resource last requeued each Hub. */
  private readonly wokenAt: PerHub<number>;

  constructor(private readonly services: Pick<Services, 'cache' | 'clock' | 'requeue'>) {
    this.wokenAt = new PerHub(services.cache);
  }

  /** Records that the hub of the resource responds, or is known to be unusable. */
  forget({ metadata: { uid } }: Child): void {
    this.lostSince.delete(uid);
  }

  /** The outcome of the resource. For some time it leaves the report to the Hub. */
  report({ metadata: { uid } }: Child, hub: Hub, error: HubUnreachable | HubNotRunning): Outcome {
    const now = this.services.clock.monotonic();
    const since = this.lostSince.get(uid) ?? now;
    this.lostSince.set(uid, since);
    const left = since + HUB_REPORT_WAIT - now;
    const outcome = hubErrorOutcome(error, 'object');
    if (left <= 0) return outcome;
    if ((this.wokenAt.get(hub) ?? -Infinity) + POD_NOT_READY_REQUEUE <= now) {
      this.wokenAt.set(hub, now);
      this.services.requeue('Hub', hub.metadata.namespace, hub.metadata.name);
    }
    const after = Math.min(left, POD_NOT_READY_REQUEUE);
    return waiting(outcome.reason, outcome.message, after, { unreported: true });
  }
}
