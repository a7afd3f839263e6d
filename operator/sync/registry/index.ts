import { childModule } from '../objects/child-module';
import type { OwnEntitySettings } from '../objects/own-entity';
import type { ObjectType } from '../objects/ownership';
import type { KindDefinition } from '../../kinds/kind';
import type { HubClients } from '../hub-connection/hub-clients';
import type { Services } from '../services';
import { devices } from './borrowed/devices';
import { entities } from './borrowed/entities';
import { OwnEntity, ownSettings } from './borrowed/own-entity';
import { BorrowedSync } from './borrowed/sync';
import { entryKinds, entryTypes } from './entry-types';
import { EntryContexts } from './entry-contexts';
import { RegistrySync } from './sync';

/** The sync modules of the kinds whose objects are entries in registries or collections of the hub. */
export function registryModules(services: Services, hubs: HubClients) {
  const contexts = new EntryContexts(services, [
    ...entryTypes,
    entities,
    devices,
    ...entities.makers.map((definition) => ownSettings({ definition, reason: entities.reason })),
  ]);
  const ownEntityOf = (object: Pick<ObjectType, 'definition' | 'reason'>): OwnEntitySettings =>
    new OwnEntity(object, services, contexts);
  const syncOf = (definition: KindDefinition) => {
    const { reason } = entryTypes.find((each) => each.definition === definition)!;
    const settings = definition.ownEntity && ownEntityOf({ definition, reason });
    return new RegistrySync(definition, services, contexts, settings);
  };
  return {
    /** The settings of the entities that the resources of a kind make. */
    ownEntityOf,
    modules: {
      ...Object.fromEntries(
        entryKinds.map((definition) => [definition.kind, childModule(services, hubs, syncOf(definition))]),
      ),
      [entities.definition.kind]: childModule(services, hubs, new BorrowedSync(entities, services, contexts)),
      [devices.definition.kind]: childModule(services, hubs, new BorrowedSync(devices, services, contexts)),
    },
  };
}
