import type { HubClient } from '../client/hub-client';
import { HubBanned, HubUnreachable, TokenRejected } from '../client/errors';
import { withDeadline } from '../deadline';
import type { Resource } from '../kinds';
import { FINALIZER_SKIP, FINALIZER_TRY } from '../limits';
import type { EventSpec } from '../runtime/event-spec';
import type { Outcome, Waiting } from '../runtime/outcome';
import type { CustomResource } from '../kinds/resource';
import type { ReconcileContext, SyncModule } from '../runtime/sync-module';
import type { HubClients } from './hub-clients';
import { PerHub } from './hub/per-hub';
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
  /** Forgets a resource that is gone although its object may still be in the hub. */
  forget?(resource: R, client: HubClient): void;
}

/**
 * The sync module of a child: waits for the hub and its token, converts errors of the hub to outcomes, and releases the
 * finalizer if the hub does not respond (rules.md, "Finalizers").
 */
export function childModule<R extends Child>(
  services: Services,
  hubs: HubClients,
  module: ChildModule<R>,
): SyncModule<R> {
  /** Hubs that did not respond during a cleanup, with the time until which further cleanups are skipped. */
  const skippedUntil = new PerHub<number>(services.cache);

  return {
    async sync(resource, context) {
      const reached = await hubs.reach(resource.metadata.namespace, resource.spec.hubRef.name);
      if ('outcome' in reached) return reached.outcome;
      try {
        return await module.sync(resource, reached.client, context);
      } catch (error) {
        const { namespace } = resource.metadata;
        // Only a reconcile of the Hub can solve this, and its own connection may not show the error for a while.
        if (error instanceof HubBanned || error instanceof TokenRejected)
          services.requeue('Hub', namespace, resource.spec.hubRef.name);
        return hubErrorOutcome(error, 'object');
      }
    },

    async remove(resource, context) {
      const { namespace } = resource.metadata;
      const name = resource.spec.hubRef.name;
      const hub = hubs.find(namespace, name);
      if (!hub || hub.metadata.deletionTimestamp) return []; // the objects are deleted with the hub
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

function cleanupSkipped(why: string): EventSpec {
  return {
    type: 'Warning',
    reason: 'CleanupSkipped',
    message: `The object may still be in the hub. ${why}`,
  };
}

const tooLate = (): Error => new HubUnreachable(`the hub did not respond within ${FINALIZER_TRY / 1_000} s`);
