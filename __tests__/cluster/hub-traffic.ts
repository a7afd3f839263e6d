import type { HubClient } from '../../operator/client/hub-client';

/** What a hub was made to do, counted by what it tells of itself. */
export interface HubTraffic {
  /** Ids of the automations that were written (POST), in order. */
  readonly automationWrites: string[];
  /** Explicit reloads of all automations. */
  automationReloads: number;
  /** Writes and reloads of scenes, which look alike. */
  sceneReloads: number;
  /** Writes of scripts. */
  scriptReloads: number;
}

/** Counts from now on: the hub reloads after every write, and announces each reload as a service call. */
export async function watchTraffic(client: HubClient): Promise<HubTraffic> {
  const traffic: HubTraffic = {
    automationWrites: [],
    automationReloads: 0,
    sceneReloads: 0,
    scriptReloads: 0,
  };
  await client.connection.subscribeEvents('call_service', (data) => {
    if (data.service !== 'reload') return;
    if (data.domain === 'scene') traffic.sceneReloads += 1;
    else if (data.domain === 'script') traffic.scriptReloads += 1;
    else if (data.domain !== 'automation') return;
    else if (data.service_data.id === undefined) traffic.automationReloads += 1;
    else traffic.automationWrites.push(data.service_data.id);
  });
  return traffic;
}
