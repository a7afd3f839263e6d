import { yamlZones } from '../../client/registries/yaml-zones';
import { area, floor, label, zone } from '../../kinds';
import { registryName } from '../../kinds/ids';
import type { KindDefinition } from '../../kinds/kind';
import type { CustomResource } from '../../kinds/resource';
import { stalled } from '../../runtime/outcome';
import type { EntryType, FieldForm } from './entry-type';
import { helperTypes } from './helpers/types';
import { byName } from './identity';
import { persons } from './persons';

export type { EntryResource, EntryType, ReferringField } from './entry-type';

export const floors: EntryType = {
  type: 'floor',
  definition: floor,
  idField: 'floorID',
  reason: 'FloorRegistered',
  identity: byName,
  fields: {
    level: { name: 'level' },
    icon: { name: 'icon' },
    aliases: { name: 'aliases', isSet: true },
  },
};

export const labels: EntryType = {
  type: 'label',
  definition: label,
  idField: 'labelID',
  reason: 'LabelRegistered',
  identity: byName,
  fields: {
    icon: { name: 'icon' },
    color: { name: 'color' },
    description: { name: 'description' },
  },
};

export const areas: EntryType = {
  type: 'area',
  definition: area,
  idField: 'areaID',
  reason: 'AreaRegistered',
  identity: byName,
  fields: {
    floorName: { name: 'floor_id', refersTo: { entryType: floors, reason: 'FloorNotReady' } },
    labels: { name: 'labels', isSet: true, refersTo: { entryType: labels, reason: 'LabelNotReady' } },
    icon: { name: 'icon' },
    aliases: { name: 'aliases', isSet: true },
    picture: { name: 'picture' },
    temperatureEntityId: { name: 'temperature_entity_id' },
    humidityEntityId: { name: 'humidity_entity_id' },
  },
};

/** The spec has the number as a string. */
const decimalText: FieldForm = { toHub: Number, toSpec: (value) => JSON.stringify(value) };

/** The zone of the hub's home, named after the hub's location. A HubZone may have the same name. */
const HOME = 'zone.home';

export const zones: EntryType = {
  type: 'zone',
  definition: zone,
  idField: 'zoneID',
  reason: 'ZoneRegistered',
  component: 'zone',
  identity: byName,
  fields: {
    latitude: { name: 'latitude', form: decimalText },
    longitude: { name: 'longitude', form: decimalText },
    radius: { name: 'radius', cleared: 100 },
    passive: { name: 'passive', cleared: false },
    icon: { name: 'icon', cleared: 'kept' },
  },
  conflict: async ({ rest }, { spec }) => {
    const isOfName = ({ name }: { readonly name: string }) => registryName(name) === registryName(spec.name);
    const found = (await yamlZones(rest)).find(isOfName);
    if (!found) return undefined;
    const zone = `The zone “${found.name}” (${found.entityId})`;
    return stalled(
      'NameConflict',
      found.entityId === HOME
        ? `${zone} is the hub’s own: it has the name and the place of the hub’s core settings. Set its place in ` +
            'bootstrap.location of the Hub, or change spec.name.'
        : `${zone} is part of the hub’s YAML, so it cannot be edited in the hub: ` +
            'remove it from the section zone of the configuration, or change spec.name.',
    );
  },
};

/** All registries and collections of the hub in which resources have entries. */
export const entryTypes: readonly EntryType[] = [floors, labels, areas, zones, ...helperTypes, persons];

/**
 * The description of the registry or collection with a resource's entry.
 *
 * @returns undefined for other kinds
 */
export function entryTypeOf({ kind, spec }: Pick<CustomResource, 'kind' | 'spec'>): EntryType | undefined {
  return entryTypes.find((each) => each.definition.kind === kind && isOfType(each, spec));
}

/** Reports whether a resource of the kind has its entry in this registry or collection. */
export function isOfType({ typeFields = {} }: Pick<EntryType, 'typeFields'>, spec: object): boolean {
  const given = spec as Readonly<Record<string, unknown>>;
  return Object.entries(typeFields).every(([name, value]) => given[name] === value);
}

/** The kinds whose resources have entries. */
export const entryKinds: readonly KindDefinition[] = [
  ...new Set(entryTypes.map(({ definition }) => definition)),
];
