import { childModule } from '../child';
import { whileResponsive } from '../config-entities/while-responsive';
import type { HubClients } from '../hub-clients';
import type { Services } from '../services';
import { HubContexts } from './hub-context';
import { IntegrationSync } from './sync';
import type { IntegrationResource } from './hub-context';

/** Milliseconds between two checks whether status has the results of all flows. */
const DRAIN_POLL_INTERVAL = 50;

/** The sync module of HubIntegration. */
export function integrationModule(services: Services, hubs: HubClients) {
  const contexts = new HubContexts(services);
  const sync = new IntegrationSync(services, contexts);
  const hold = (resource: IntegrationResource): void => contexts.stop(hubs.all, resource);
  return {
    module: { ...childModule(services, hubs, sync), hold },
    /** Gives up the flows that run, and resolves when status has what each came to; those of a hub that hangs are left. */
    async drain(): Promise<void> {
      const { clock } = services;
      contexts.drain(hubs.all);
      await Promise.all(
        hubs.all.map(async (client) => {
          const recorded = async () => {
            while (contexts.operationsOf(client).length > 0) await clock.sleep(DRAIN_POLL_INTERVAL);
          };
          await whileResponsive(client, clock, recorded());
        }),
      );
    },
  };
}
