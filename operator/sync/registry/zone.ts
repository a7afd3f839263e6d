import { yamlZones } from '../../client/registries/yaml-zones';
import { zone as definition } from '../../kinds';
import { registryName } from '../../kinds/ids';
import type { EntryType } from './entry-type';

export const zones: EntryType = {
  type: 'zone',
  definition,
  idField: 'zoneID',
  reason: 'ZoneRegistered',
  component: 'zone',
  fields: {
    latitude: { name: 'latitude', isNumber: true },
    longitude: { name: 'longitude', isNumber: true },
    radius: { name: 'radius', cleared: 100 },
    passive: { name: 'passive', cleared: false },
    icon: { name: 'icon', cleared: 'kept' },
  },
  conflict: async ({ rest }, name) => {
    const zone = (await yamlZones(rest)).find((each) => registryName(each.name) === registryName(name));
    return (
      zone &&
      `The zone “${zone.name}” (${zone.entityId}) is part of the hub’s YAML, so it cannot be edited in the hub: ` +
        'remove it from the section zone of the configuration, or change spec.name.'
    );
  },
};
