import { HubError } from '../../client/connection/errors';
import type { HubClient } from '../../client/hub-client';
import type { Hub } from '../../kinds';
import type { EventSpec } from '../../runtime/event-spec';
import { type Authenticated, type HubContext, type HubStep, requeueAfter } from './steps';

/** Finds objects in the hub that no resource describes. */
export type FindLeftBehind = (
  hub: Hub,
  client: HubClient,
) => Promise<{ readonly notice?: string; readonly events: readonly EventSpec[]; readonly after?: number }>;

/** Names such objects in the message of the Hub and in an event (rules.md, "Left behind"). */
export function reportLeftBehind(find: FindLeftBehind): HubStep<HubContext & Authenticated> {
  return {
    name: 'left behind',
    async run(context) {
      const { hub, client, notices, events, reconcile } = context;
      try {
        const report = await find(hub, client);
        if (report.notice !== undefined) notices.push(report.notice);
        events.push(...report.events);
        if (report.after !== undefined) requeueAfter(context, report.after);
      } catch (error) {
        if (!(error instanceof HubError)) throw error;
        reconcile.log.debug({ error }, 'failed to look for objects without a resource');
      }
      return {};
    },
  };
}
