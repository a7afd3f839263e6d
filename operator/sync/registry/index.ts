import { childModule } from '../objects/child-module';
import type { HubClients } from '../hub-access/hub-clients';
import type { Services } from '../services';
import { areas } from './area';
import { floors } from './floor';
import { HubContexts } from './hub-contexts';
import { labels } from './label';
import { RegistrySync } from './sync';
import { zones } from './zone';

const entryTypes = [floors, labels, areas, zones];

/** The sync modules of the kinds whose objects are entries in registries of the hub, or zones. */
export function registryModules(services: Services, hubs: HubClients) {
  const contexts = new HubContexts(services, entryTypes);
  return {
    modules: Object.fromEntries(
      entryTypes.map((entryType) => [
        entryType.definition.kind,
        childModule(services, hubs, new RegistrySync(entryType, services, contexts)),
      ]),
    ),
  };
}
