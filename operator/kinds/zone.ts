import { latitude, longitude } from './coordinates';
import { icon } from './entity';
import { flag, int32Within, text } from './fields';
import {
  defineRegistryEntry,
  entryName,
  keptWhenAbsent,
  registryEntrySpec,
  registryEntryStatus,
} from './registry-entry';
import type { Resource } from './resource';
import type { Infer } from './schema';

const entry = registryEntrySpec('zone', {
  name: {
    ...entryName,
    description:
      'Name of the zone. Names are compared without case and spaces; an existing zone of this name is adopted, but not ' +
      'one in the hub’s YAML. A changed name renames the zone, which keeps its id. `Home` is the hub’s own zone: its ' +
      'place is `bootstrap.location` of the Hub.',
    'x-kubernetes-validations': [
      {
        rule: "!self.matches('^ *[hH] *[oO] *[mM] *[eE] *$')",
        message:
          'name: Home is the hub’s own zone: set its place in bootstrap.location of the Hub, or choose another name',
      },
    ],
  },
  latitude,
  longitude,
  radius: int32Within(1, 20000000, `Radius in metres. A new zone without it has 100. ${keptWhenAbsent}`),
  passive: flag(
    'True: the zone is for automations only, and no person or device is shown to be in it. A new zone without it is ' +
      `not passive. ${keptWhenAbsent}`,
  ),
  icon: {
    ...icon,
    description:
      'Icon, of the form `<prefix>:<name>`, such as `mdi:school`. Absent: the value in the hub is kept, also when it is ' +
      'removed from the spec, since the hub cannot clear the icon of a zone.',
  },
});

const spec = { ...entry, required: [...entry.required, 'latitude', 'longitude'] } as const;

const status = registryEntryStatus('zone', {
  zoneID: text('Id of the zone in the hub.'),
  entityId: text('Entity id of the zone, for automations, such as `zone.school`.'),
});

export const zone = defineRegistryEntry({
  kind: 'HubZone',
  rank: 6,
  shortNames: ['hazn'],
  description:
    'HubZone is one zone of a Home Assistant instance (the hub): a place on the map, in which persons and devices are.',
  spec,
  status,
  columns: [{ name: 'Name', type: 'string', jsonPath: '.spec.name' }],
});

export type HubZone = Resource<Infer<typeof spec>, Infer<typeof status>>;
