import type { Clock } from '../../base/clock';
import type { HubClient } from '../../client/hub-client';
import type { Hub } from '../../kinds';
import type { Child } from '../objects/child';
import { childModule } from '../objects/child-module';
import type { OwnEntitySettings } from '../objects/own-entity';
import type { ObjectType } from '../objects/ownership';
import type { HubClients } from '../hub-connection/hub-clients';
import type { Services } from '../services';
import { waitUntilRecorded, runWhileResponsive } from '../objects/while-responsive';
import { automations } from './automation';
import { DeliveryReport } from './delivery/delivery-report';
import { EntityContexts } from './entity-contexts';
import type { ConfigEntitySpec, EntityType } from './entity-type';
import { LeftBehind } from './left-behind';
import { ReferenceCheck } from './references';
import { scenes } from './scene';
import { scripts } from './script';
import { ConfigEntitySync } from './sync';

/**
 * The sync modules of the kinds whose objects the hub keeps in files that its API writes.
 *
 * @param ownEntityOf the settings of the entities that a kind makes
 */
export function configEntityModules(
  services: Services,
  hubs: HubClients,
  ownEntityOf: (object: Pick<ObjectType, 'definition' | 'reason'>) => OwnEntitySettings,
) {
  const contexts = new EntityContexts(services, [automations, scenes, scripts]);
  const references = new ReferenceCheck(services);
  const leftBehind = new LeftBehind(services, contexts, [automations, scenes, scripts]);
  const report = new DeliveryReport(services, contexts, [automations, scenes, scripts]);
  const module = <R extends Child, S extends ConfigEntitySpec>(type: EntityType<R, S>) =>
    childModule(
      services,
      hubs,
      new ConfigEntitySync(type, services, contexts, ownEntityOf(type), references),
    );
  return {
    deliveryOf: (hub: Hub, client: HubClient) => report.of(hub, client),
    findLeftBehind: (hub: Hub, client: HubClient) => leftBehind.report(hub, client),
    modules: {
      HubAutomation: module(automations),
      HubScene: module(scenes),
      HubScript: module(scripts),
    },
    /**
     * Resolves when no write is in progress and status has all results. Writes to a hub that does not respond
     * are not waited for.
     */
    async drain() {
      await Promise.all(hubs.all.map((client) => drained(client, services.clock, contexts)));
    },
  };
}

/** Waits for the writes to one hub and for their record in status, as long as the hub responds. */
async function drained(client: HubClient, clock: Clock, contexts: EntityContexts): Promise<void> {
  const context = () => contexts.find(client);
  await runWhileResponsive(client, clock, Promise.resolve(context()?.places.files.waitUntilIdle()));
  await runWhileResponsive(client, clock, client.drain());
  await waitUntilRecorded(client, clock, () => context()?.cache.hasUnrecordedResults() ?? false);
}
