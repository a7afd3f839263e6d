import type { CoreConfig } from '../../../client/connection/api-types';
import { getConfig } from '../../../client/setup/core';
import { HubBanned, HubError, TokenRejected } from '../../../client/connection/errors';
import type { HubClient } from '../../../client/hub-client';
import type { Hub } from '../../../kinds/index';
import { API_NOT_LOADED_REQUEUE } from '../../../base/limits';
import { type Outcome, waiting } from '../../../runtime/outcome';
import type { Services } from '../../services';

/** Waits for hubs that are starting: the hub's own event requeues the Hub as soon as its start is complete. */
export class HubStart {
  private readonly subscribed = new WeakSet<HubClient>();

  constructor(private readonly services: Pick<Services, 'requeue'>) {}

  /** The configuration of a hub that runs, or the outcome for one that is starting or stopping. */
  async running(
    hub: Hub,
    client: HubClient,
    core: CoreConfig,
  ): Promise<{ readonly core: CoreConfig; readonly type?: never } | Outcome> {
    const current = core.state === 'RUNNING' ? core : await this.followStart(hub, client, core);
    if (current.state === 'RUNNING') return { core: current };
    return waiting('ApiNotLoaded', notRunningMessage(current), API_NOT_LOADED_REQUEUE, {
      status: { phase: 'Pending' },
    });
  }

  /** Resolves with the configuration after the subscription: the start may have been completed before it. */
  private async followStart(hub: Hub, client: HubClient, core: CoreConfig): Promise<CoreConfig> {
    if (this.subscribed.has(client)) return core;
    const { namespace, name } = hub.metadata;
    const requeue = () => this.services.requeue('Hub', namespace, name);
    try {
      await client.connection.subscribeEvents('homeassistant_started', requeue);
      this.subscribed.add(client);
      client.connection.onReconnect(requeue);
      return await getConfig(client.rest);
    } catch (error) {
      const isOurs = error instanceof TokenRejected || error instanceof HubBanned;
      if (!(error instanceof HubError) || isOurs) throw error;
      return core; // its WebSocket is not loaded yet
    }
  }
}

function notRunningMessage({ state }: CoreConfig): string {
  return state === 'NOT_RUNNING' || state === 'STARTING'
    ? `Starting: the hub is loading its integrations (${state}).`
    : `Stopping: the hub is shutting down (${state}).`;
}
