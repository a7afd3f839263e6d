import { childModule } from '../child';
import type { HubClients } from '../hub-clients';
import type { Services } from '../services';
import { automations } from './automation';
import { KnownHubs } from './known-hubs';
import { scenes } from './scene';
import { scripts } from './script';
import { ConfigEntitySync } from './sync';

/** The sync modules of the family whose objects the hub keeps in files that its API writes. */
export function configEntityModules(services: Services, hubs: HubClients) {
  const known = new KnownHubs(services, [automations, scenes, scripts]);
  return {
    HubAutomation: childModule(services, hubs, new ConfigEntitySync(automations, services, known)),
    HubScene: childModule(services, hubs, new ConfigEntitySync(scenes, services, known)),
    HubScript: childModule(services, hubs, new ConfigEntitySync(scripts, services, known)),
  };
}
