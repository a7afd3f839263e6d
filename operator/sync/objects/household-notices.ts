import { HubError } from '../../client/connection/errors';
import type { HubClient } from '../../client/hub-client';
import { createNotification, dismissNotification, listNotifications } from '../../client/setup/notifications';
import { HOUSEHOLD_NOTICE, HOUSEHOLD_NOTICE_CHECK } from '../../base/limits';
import { hub as definition, type Hub } from '../../kinds';
import type { CustomResource } from '../../kinds/resource';
import { defaulted } from '../../kinds/schema';
import type { EventSpec } from '../../runtime/event-spec';
import type { ReconcileContext } from '../../runtime/sync-module';
import type { Services } from '../services';

const PREFIX = 'hub_operator/';

/**
 * Tells the users of a hub that their change was reverted, and which resource defines the object. There is
 * one notification in the hub per resource (rules.md, "Drift"). If the hub rejects a notification, the
 * reconcile does not fail.
 */
export class HouseholdNotices {
  /** Monotonic times at which the notifications of a hub are checked next. */
  private readonly nextCheck = new WeakMap<HubClient, number>();

  constructor(private readonly services: Pick<Services, 'clock'>) {}

  /** @param events events of the reconcile that has just ended, without secrets */
  async update(
    resource: CustomResource,
    hub: Hub,
    client: HubClient,
    events: readonly EventSpec[],
    { log }: Pick<ReconcileContext, 'log'>,
  ): Promise<void> {
    const taken = events.filter(({ reason }) => reason === 'DriftDetected').map(({ message }) => message);
    try {
      if (taken.length > 0 && defaulted(definition.spec, hub.spec).notifyHousehold)
        await createNotification(client.rest, notice(resource, taken));
      await this.removeOld(client);
    } catch (error) {
      if (!(error instanceof HubError)) throw error;
      log.info({ error }, 'the hub did not take a notification');
    }
  }

  /** Removes old notifications, since the hub keeps them until a user dismisses them. */
  private async removeOld(client: HubClient): Promise<void> {
    const { clock } = this.services;
    const now = clock.monotonic();
    const due = this.nextCheck.get(client) ?? now + HOUSEHOLD_NOTICE_CHECK;
    this.nextCheck.set(client, due > now ? due : now + HOUSEHOLD_NOTICE_CHECK);
    if (due > now) return;
    for (const { notification_id: id, created_at: at } of await listNotifications(client.connection))
      if (id.startsWith(PREFIX) && Date.parse(at) < clock.now() - HOUSEHOLD_NOTICE)
        await dismissNotification(client.rest, id);
  }
}

function notice({ kind, metadata: { namespace, name } }: CustomResource, taken: readonly string[]) {
  const home = `The resource ${kind} ${name} in the namespace ${namespace} of the Kubernetes cluster defines it.`;
  const wayOut = 'To keep a change, make it there, or set spec.driftPolicy of the resource to Warn.';
  return {
    id: `${PREFIX}${kind}/${namespace}/${name}`,
    title: 'A change was taken back',
    message: [...taken, `${home} ${wayOut}`].join('\n\n'),
  };
}
