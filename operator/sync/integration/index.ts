import type { HubClient } from '../../client/hub-client';
import { childModule } from '../objects/child-module';
import type { HubClients } from '../hub-connection/hub-clients';
import type { Services } from '../services';
import { waitUntilRecorded } from '../objects/while-responsive';
import { IntegrationContexts } from './integration-context';
import { IntegrationSync } from './sync';

/** The sync module of HubIntegration. */
export function integrationModule(services: Services, hubs: HubClients) {
  const contexts = new IntegrationContexts(services);
  return {
    module: childModule(services, hubs, new IntegrationSync(services, contexts)),
    /**
     * Cancels running flows, and resolves when status has the result of each. Flows of a hub that does not
     * respond are left.
     */
    async drain(): Promise<void> {
      contexts.drain(hubs.all);
      const isBusy = (client: HubClient) => (contexts.find(client)?.operations.length ?? 0) > 0;
      await Promise.all(
        hubs.all.map((client) => waitUntilRecorded(client, services.clock, () => isBusy(client))),
      );
    },
  };
}
