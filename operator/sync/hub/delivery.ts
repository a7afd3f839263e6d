import { HubError } from '../../client/connection/errors';
import type { HubClient } from '../../client/hub-client';
import type { Hub } from '../../kinds';
import type { Authenticated, HubContext, HubStep } from './steps';

/** How a hub's automations, scenes and scripts are delivered: fields of status, and a sentence. */
export type DeliveryOf = (
  hub: Hub,
  client: HubClient,
) => Promise<{ readonly status: object | null; readonly notice?: string }>;

/** Ensures the ConfigMaps of the definitions that are delivered as files, and reports their amount (rules.md, "Delivery"). */
export function reportDelivery(deliveryOf: DeliveryOf): HubStep<HubContext & Authenticated> {
  return {
    name: 'delivery',
    async run({ hub, client, status, notices, reconcile }) {
      try {
        const found = await deliveryOf(hub, client);
        status['delivery'] = found.status;
        if (found.notice !== undefined) notices.push(found.notice);
      } catch (error) {
        if (!(error instanceof HubError)) throw error;
        reconcile.log.debug({ error }, 'failed to look at what is delivered');
      }
      return {};
    },
  };
}
