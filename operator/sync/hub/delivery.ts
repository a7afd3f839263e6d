import { HubError } from '../../client/connection/errors';
import type { HubClient } from '../../client/hub-client';
import type { Hub } from '../../kinds';
import { type Authenticated, type HubContext, type HubStep, requeueAfter } from './steps';

/** How a hub's automations, scenes and scripts are delivered: fields of status, a sentence, and the time of the next reconcile. */
export type DeliveryOf = (
  hub: Hub,
  client: HubClient,
) => Promise<{ readonly status: object | null; readonly notice?: string; readonly after?: number }>;

/** Ensures the ConfigMaps of the definitions that are delivered as files, and reports their amount (rules.md, "Delivery"). */
export function reportDelivery(deliveryOf: DeliveryOf): HubStep<HubContext & Authenticated> {
  return {
    name: 'delivery',
    async run(context) {
      const { hub, client, status, notices, reconcile } = context;
      try {
        const found = await deliveryOf(hub, client);
        status['delivery'] = found.status;
        if (found.notice !== undefined) notices.push(found.notice);
        if (found.after !== undefined) requeueAfter(context, found.after);
      } catch (error) {
        if (!(error instanceof HubError)) throw error;
        reconcile.log.debug({ error }, 'failed to look at what is delivered');
      }
      return {};
    },
  };
}
