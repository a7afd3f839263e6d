import type { HubClient } from '../../client/hub-client';
import type { Hub } from '../../kinds';
import { childModule } from '../objects/child-module';
import type { OwnEntitySettings } from '../objects/own-entity';
import type { ObjectType } from '../objects/ownership';
import type { HubClients } from '../hub-connection/hub-clients';
import type { Services } from '../services';
import { waitUntilRecorded, runWhileResponsive } from '../objects/while-responsive';
import { automations } from './automation';
import { DeliveryReport } from './delivery/delivery-report';
import { EntityContexts } from './entity-contexts';
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
  return {
    deliveryOf: (hub: Hub, client: HubClient) => report.of(hub, client),
    findLeftBehind: (hub: Hub, client: HubClient) => leftBehind.report(hub, client),
    modules: {
      HubAutomation: childModule(
        services,
        hubs,
        new ConfigEntitySync(automations, services, contexts, ownEntityOf(automations), references),
      ),
      HubScene: childModule(
        services,
        hubs,
        new ConfigEntitySync(scenes, services, contexts, ownEntityOf(scenes), references),
      ),
      HubScript: childModule(
        services,
        hubs,
        new ConfigEntitySync(scripts, services, contexts, ownEntityOf(scripts), references),
      ),
    },
    /**
     * Resolves when no write is in progress and status has all results. Writes to a hub that does not respond
     * are not waited for.
     */
    async drain() {
      const { clock } = services;
      await Promise.all(
        hubs.all.map(async (client) => {
          await runWhileResponsive(
            client,
            clock,
            Promise.resolve(contexts.find(client)?.places.files.waitUntilIdle()),
          );
          await runWhileResponsive(client, clock, client.drain());
          await waitUntilRecorded(
            client,
            clock,
            () => contexts.find(client)?.cache.hasUnrecordedResults() ?? false,
          );
        }),
      );
    },
  };
}
