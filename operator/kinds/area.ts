import { hubAndToken } from './child';
import { entityId } from './entity';
import { nonEmptyText, text } from './fields';
import { registryName } from './ids';
import {
  aliases,
  defineRegistryEntry,
  entryIcon,
  entryName,
  keptWhenAbsent,
  registryEntrySpec,
  registryEntryStatus,
} from './registry-entry';
import type { Resource } from './resource';
import type { Infer } from './schema';

const spec = registryEntrySpec('area', {
  floorName: {
    ...entryName,
    description:
      'The floor of the area: `spec.name` of a HubFloor, else `metadata.name` of a HubFloor, else the name of a floor in ' +
      `the hub. The area waits for it. ${keptWhenAbsent}`,
  },
  labels: {
    type: 'array',
    description:
      'Labels of the area: each is `spec.name` of a HubLabel, else `metadata.name` of a HubLabel, else the name of a ' +
      `label in the hub. The area waits for them. An empty list: none. ${keptWhenAbsent}`,
    items: entryName,
    maxItems: 64,
    'x-kubernetes-list-type': 'set',
  },
  icon: entryIcon,
  aliases,
  picture: nonEmptyText(
    2048,
    `Address of a picture of the area, such as \`/local/kitchen.jpg\`. ${keptWhenAbsent}`,
  ),
  temperatureEntityId: {
    ...entityId,
    description: `The sensor that shows the area’s temperature. ${keptWhenAbsent}`,
  },
  humidityEntityId: {
    ...entityId,
    description: `The sensor that shows the area’s humidity. ${keptWhenAbsent}`,
  },
});

const status = registryEntryStatus('area', { areaID: text('Id of the area in the hub.') });

export const area = defineRegistryEntry({
  kind: 'HubArea',
  rank: 5,
  shortNames: ['haar'],
  description: 'HubArea is one area (room) in the registry of a Home Assistant instance (the hub).',
  spec,
  status,
  columns: [
    { name: 'Name', type: 'string', jsonPath: '.spec.name' },
    { name: 'Floor', type: 'string', jsonPath: '.spec.floorName' },
  ],
  // Floors and labels are referenced by identity, which is the name as the hub compares it. A user may also
  // write the `metadata.name`: normalized, it equals itself.
  references: (resource) => {
    const { floorName, labels = [] } = resource.spec;
    return [
      ...hubAndToken(resource),
      ...(floorName === undefined ? [] : [{ kind: 'HubFloor', name: registryName(floorName) }]),
      ...labels.map((name) => ({ kind: 'HubLabel', name: registryName(name) })),
    ];
  },
});

export type HubArea = Resource<Infer<typeof spec>, Infer<typeof status>>;
