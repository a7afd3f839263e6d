import type { HubClient } from '../client/hub-client';
import { HubBanned, HubUnreachable, TokenRejected } from '../client/errors';
import { withDeadline } from '../deadline';
import type { Resource } from '../kinds';
import { FINALIZER_SKIP, FINALIZER_TRY } from '../limits';
import type { EventSpec } from '../runtime/events';
import type { Outcome, Waiting } from '../runtime/outcome';
import type { CustomResource } from '../kinds/resource';
import type { ReconcileContext, SyncModule } from '../runtime/sync-module';
import type { HubClients } from './hub-clients';
import { hubErrorOutcome } from './hub-errors';
import type { Services } from './services';

/** A resource that has an object in a hub. */
export type Child = CustomResource &
  Resource<{ readonly hubRef: { readonly name: string }; readonly suspend?: boolean }>;

/** What a kind does once its hub can be talked to. */
export interface ChildModule<R extends Child> {
  sync(resource: R, client: HubClient, context: ReconcileContext): Promise<Outcome>;
  /** Answers with what is worth telling, or that it is under way. */
  remove(resource: R, client: HubClient, context: ReconcileContext): Promise<readonly EventSpec[] | Waiting>;
}

/**
 * What all children share: they wait for their hub and its token, the hub's errors become conditions, and their
 * finalizers never wait long for a hub that does not answer.
 */
export function childModule<R extends Child>(
  services: Services,
  hubs: HubClients,
  module: ChildModule<R>,
): SyncModule<R> {
  /** Hubs that did not answer a finalizer, and until when none tries again. */
  const skipping = new Map<string, number>();

  return {
    async sync(resource, context) {
      const reached = await hubs.reach(resource.metadata.namespace, resource.spec.hubRef.name);
      if ('outcome' in reached) return reached.outcome;
      try {
        return await module.sync(resource, reached.client, context);
      } catch (error) {
        const { namespace } = resource.metadata;
        // Only the Hub can do something about it, and an open WebSocket would hide it for a while.
        if (error instanceof HubBanned || error instanceof TokenRejected)
          services.requeue('Hub', namespace, resource.spec.hubRef.name);
        return hubErrorOutcome(error, 'object');
      }
    },

    async remove(resource, context) {
      const { namespace } = resource.metadata;
      const name = resource.spec.hubRef.name;
      const hub = hubs.find(namespace, name);
      if (!hub || hub.metadata.deletionTimestamp) return []; // its contents go with it
      // Not only while the Hub is Ready: a wrong value in its spec does not keep its hub from answering.
      const contacted = await hubs.contact(hub);
      if ('missing' in contacted) return [cleanupSkipped(contacted.missing)];
      const key = `${namespace}/${name}`;
      if ((skipping.get(key) ?? 0) > services.clock.monotonic())
        return [cleanupSkipped(`The Hub ${name} did not answer a moment ago.`)];
      try {
        return await withDeadline({ clock: services.clock, delay: FINALIZER_TRY, error: tooLate }, () =>
          module.remove(resource, contacted.client, context),
        );
      } catch (error) {
        if (!(error instanceof HubUnreachable)) throw error;
        skipping.set(key, services.clock.monotonic() + FINALIZER_SKIP);
        return [cleanupSkipped(error.message)];
      }
    },
  };
}

function cleanupSkipped(why: string): EventSpec {
  return {
    type: 'Warning',
    reason: 'CleanupSkipped',
    message: `Its object in the hub may be left there. ${why}`,
  };
}

const tooLate = (): Error => new HubUnreachable(`the hub did not answer within ${FINALIZER_TRY / 1_000} s`);
