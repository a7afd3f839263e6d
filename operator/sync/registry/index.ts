import { childModule } from '../objects/child-module';
import type { HubClients } from '../hub-connection/hub-clients';
import type { Services } from '../services';
import { entryTypes } from './entry-types';
import { EntryContexts } from './entry-contexts';
import { RegistrySync } from './sync';

/** The sync modules of the kinds whose objects are entries in registries or collections of the hub. */
export function registryModules(services: Services, hubs: HubClients) {
  const contexts = new EntryContexts(services, entryTypes);
  return {
    modules: Object.fromEntries(
      entryTypes.map((entryType) => [
        entryType.definition.kind,
        childModule(services, hubs, new RegistrySync(entryType, services, contexts)),
      ]),
    ),
  };
}
