import { int32Within, text } from './fields';
import {
  aliases,
  defineRegistryEntry,
  entryIcon,
  keptWhenAbsent,
  registryEntrySpec,
  registryEntryStatus,
} from './registry-entry';
import type { Resource } from './resource';
import type { Infer } from './schema';

const spec = registryEntrySpec('floor', {
  level: int32Within(
    -1000,
    1000,
    `Which storey it is: 0 is the ground floor, -1 the one below. ${keptWhenAbsent}`,
  ),
  icon: entryIcon,
  aliases,
});

const status = registryEntryStatus('floor', { floorID: text('Id of the floor in the hub.') });

export const floor = defineRegistryEntry({
  kind: 'HubFloor',
  rank: 4,
  shortNames: ['hafl'],
  description:
    'HubFloor is one floor in the registry of a Home Assistant instance (the hub). Areas refer to it by `floorName`.',
  spec,
  status,
  columns: [
    { name: 'Name', type: 'string', jsonPath: '.spec.name' },
    { name: 'Level', type: 'integer', jsonPath: '.spec.level' },
  ],
  // An area needs only the id.
  dependentStatus: ({ status }) => ({ id: status?.floorID }),
});

export type HubFloor = Resource<Infer<typeof spec>, Infer<typeof status>>;
