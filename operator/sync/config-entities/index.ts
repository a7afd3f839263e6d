import { childModule } from '../child';
import type { HubClients } from '../hub-clients';
import type { Services } from '../services';
import { automations } from './automation';
import { HubContexts } from './hub-contexts';
import { scenes } from './scene';
import { scripts } from './script';
import { ConfigEntitySync } from './sync';

/** Milliseconds between two looks whether passes have taken note of all that has ended. */
const NEWS_PAUSE = 50;

/** The sync modules of the entityType whose objects the hub keeps in files that its API writes. */
export function configEntityModules(services: Services, hubs: HubClients) {
  const contexts = new HubContexts(services, [automations, scenes, scripts]);
  return {
    modules: {
      HubAutomation: childModule(services, hubs, new ConfigEntitySync(automations, services, contexts)),
      HubScene: childModule(services, hubs, new ConfigEntitySync(scenes, services, contexts)),
      HubScript: childModule(services, hubs, new ConfigEntitySync(scripts, services, contexts)),
    },
    async drain() {
      await Promise.all(hubs.all.map((client) => client.drain()));
      while (hubs.all.some((client) => contexts.hasUnrecordedResults(client)))
        await services.clock.sleep(NEWS_PAUSE);
    },
  };
}
