import type { HubClient } from '../client/hub-client';
import { HubBanned, HubUnreachable, TokenRejected } from '../client/errors';
import { withDeadline } from '../deadline';
import type { Hub, Resource } from '../kinds';
import { FINALIZER_SKIP, FINALIZER_TRY, HUB_REPORT_WAIT, POD_NOT_READY_REQUEUE } from '../limits';
import type { EventSpec } from '../runtime/event-spec';
import { type Outcome, type Waiting, waiting } from '../runtime/outcome';
import type { CustomResource } from '../kinds/resource';
import type { ReconcileContext, SyncModule } from '../runtime/sync-module';
import { sentence } from '../sentence';
import type { HubClients } from './hub-clients';
import { keepsVolume } from './hub/workload/retain';
import { PerHub } from './per-hub';
import { hubErrorOutcome } from './hub-errors';
import type { Services } from './services';

/** A resource that has an object in a hub. */
export type Child = CustomResource &
  Resource<{ readonly hubRef: { readonly name: string }; readonly suspend?: boolean }>;

/** The part of a sync module that needs a usable hub. */
export interface ChildModule<R extends Child> {
  sync(resource: R, client: HubClient, context: ReconcileContext): Promise<Outcome>;
  /** Removes the object from the hub. Resolves with events to emit, or with Waiting while it is in progress. */
  remove(resource: R, client: HubClient, context: ReconcileContext): Promise<readonly EventSpec[] | Waiting>;
  /** What a removal would remove, as far as status says, such as `automation porch`; undefined: nothing. */
  objectOf(resource: R): string | undefined;
  /** Forgets a resource that is gone although its object may still be in the hub. */
  forget?(resource: R, client: HubClient): void;
}

/**
 * The sync module of a child: waits for the hub and its token, converts errors of the hub to outcomes, and releases the
 * finalizer if the hub does not respond (rules.md, "Finalizers"). A lost connection is the Hub's to report (rules.md,
 * "Waiting is not an error").
 */
export function childModule<R extends Child>(
  services: Services,
  hubs: HubClients,
  module: ChildModule<R>,
): SyncModule<R> {
  /** Hubs that did not respond during a cleanup, with the time until which further cleanups are skipped. */
  const skippedUntil = new PerHub<number>(services.cache);
  /** Resources whose usable hub does not answer, by uid, with the time of the first failure by the monotonic clock. */
  const lostSince = new Map<string, number>();
  /** When a child last enqueued the Hub for that, by the monotonic clock. */
  const wokenAt = new PerHub<number>(services.cache);

  /** The outcome of a child whose hub is usable by the status of the Hub, but does not answer. */
  function unreachable({ metadata: { uid } }: R, hub: Hub, error: HubUnreachable): Outcome {
    const now = services.clock.monotonic();
    const since = lostSince.get(uid) ?? now;
    lostSince.set(uid, since);
    const left = since + HUB_REPORT_WAIT - now;
    if (left <= 0) return hubErrorOutcome(error, 'object');
    if ((wokenAt.get(hub) ?? -Infinity) + POD_NOT_READY_REQUEUE <= now) {
      wokenAt.set(hub, now);
      services.requeue('Hub', hub.metadata.namespace, hub.metadata.name);
    }
    const after = Math.min(left, POD_NOT_READY_REQUEUE);
    return waiting('HubUnreachable', error.message, after, { unreported: true });
  }

  return {
    async sync(resource, context) {
      const { namespace, uid } = resource.metadata;
      const reached = await hubs.reach(namespace, resource.spec.hubRef.name);
      if ('outcome' in reached) {
        lostSince.delete(uid);
        return reached.outcome;
      }
      try {
        const outcome = await module.sync(resource, reached.client, context);
        // What is in progress may be a write that gets no answer either.
        if (outcome.type !== 'Waiting') lostSince.delete(uid);
        return outcome;
      } catch (error) {
        if (error instanceof HubUnreachable) return unreachable(resource, reached.hub, error);
        lostSince.delete(uid);
        // Only a reconcile of the Hub can solve this, and its own connection may not show the error for a while.
        if (error instanceof HubBanned || error instanceof TokenRejected)
          services.requeue('Hub', namespace, resource.spec.hubRef.name);
        return hubErrorOutcome(error, 'object');
      }
    },

    async remove(resource, context) {
      const { namespace, uid } = resource.metadata;
      lostSince.delete(uid);
      const name = resource.spec.hubRef.name;
      const hub = hubs.find(namespace, name);
      const object = module.objectOf(resource);
      const cleanupSkipped = (why: string): EventSpec => ({
        type: 'Warning',
        reason: 'CleanupSkipped',
        message: `The ${object ?? 'object'} may still be in the hub. ${sentence(why)}`,
      });
      if (!hub) return object === undefined ? [] : [cleanupSkipped(`The Hub ${name} does not exist.`)];
      if (hub.metadata.deletionTimestamp && !hub.spec.external) {
        // It is deleted with the volume.
        if (object === undefined || !keepsVolume(hub)) return [];
        return [cleanupSkipped(`The Hub ${name} is being deleted, and its volume is kept.`)];
      }
      const contacted = await hubs.contact(hub);
      if ('missing' in contacted) return [cleanupSkipped(contacted.missing)];
      const skip = (why: string) => {
        module.forget?.(resource, contacted.client);
        return [cleanupSkipped(why)];
      };
      if ((skippedUntil.get(hub) ?? 0) > services.clock.monotonic())
        return skip(`The hub of the Hub ${name} did not respond a moment ago.`);
      try {
        return await withDeadline({ clock: services.clock, delay: FINALIZER_TRY, error: tooLate }, () =>
          module.remove(resource, contacted.client, context),
        );
      } catch (error) {
        if (!(error instanceof HubUnreachable)) throw error;
        skippedUntil.set(hub, services.clock.monotonic() + FINALIZER_SKIP);
        return skip(error.message);
      }
    },
  };
}

const tooLate = (): Error => new HubUnreachable(`the hub did not respond within ${FINALIZER_TRY / 1_000} s`);
