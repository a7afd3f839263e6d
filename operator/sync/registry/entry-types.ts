import type { CategoryScope, CollectionType, RegistryType } from '../../client/connection/registry-types';
import type { HubClient } from '../../client/hub-client';
import { yamlZones } from '../../client/registries/yaml-zones';
import { area, floor, label, zone } from '../../kinds';
import { registryName } from '../../kinds/ids';
import type { ReadyReason } from '../../kinds/reasons';
import type { Resource } from '../../kinds/resource';
import type { Child } from '../objects/child';
import type { ObjectType } from '../objects/ownership';

/** The description of one kind of registry entry. */
export interface EntryType extends ObjectType {
  /** The registry of the hub. */
  readonly type: RegistryType;
  /** The component of the hub whose entities the entries are: `status.entityId` has their ids. Absent: `config`, without entities. */
  readonly component?: CollectionType;
  /** The optional fields by their names in the spec. Absent in the spec: the hub's value stays. */
  readonly fields: Readonly<Record<string, EntryField>>;
  /** Why a new entry of this name cannot be the resource's, as a sentence; undefined: it can. */
  conflict?(client: HubClient, name: string): Promise<string | undefined>;
}

/** A field of a spec that may name entries of registries. */
export interface ReferringField {
  /** Place of the field in the spec. A dot leads into an object: `expose.alexa`. If absent, the place is its name. */
  readonly at?: string;
  /** A list without an order. Cleared, it is empty. */
  readonly isSet?: boolean;
  /** The spec has names of entries of another registry, the hub has their ids. */
  readonly refersTo?: {
    readonly entryType: EntryType;
    /** Reason of `Ready` while one of them does not exist. */
    readonly reason: ReadyReason;
  };
  /** The spec has the name of a category of this page of the hub, the hub its id. */
  readonly category?: CategoryScope;
}

export interface EntryField extends ReferringField {
  /** The field's name in the hub. */
  readonly name: string;
  /** The spec has the number as a text. */
  readonly isNumber?: boolean;
  /** The value of the field when it is cleared; absent: null. `kept`: the hub has no way to clear it. */
  readonly cleared?: number | boolean | 'kept';
}

/** A HubFloor, HubLabel, HubArea or HubZone. */
export type EntryResource = Child & Resource<{ readonly name: string; readonly [field: string]: unknown }>;

export const floors: EntryType = {
  type: 'floor',
  definition: floor,
  idField: 'floorID',
  reason: 'FloorRegistered',
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

/** The zone has the name of the hub's location, for which a HubZone may ask as well. */
const HOME = 'zone.home';

export const zones: EntryType = {
  type: 'zone',
  definition: zone,
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
    const found = (await yamlZones(rest)).find((each) => registryName(each.name) === registryName(name));
    if (!found) return undefined;
    const zone = `The zone “${found.name}” (${found.entityId})`;
    return found.entityId === HOME
      ? `${zone} is the hub’s own: it has the name and the place of the hub’s core settings. Set its place in ` +
          'bootstrap.location of the Hub, or change spec.name.'
      : `${zone} is part of the hub’s YAML, so it cannot be edited in the hub: ` +
          'remove it from the section zone of the configuration, or change spec.name.';
  },
};

/** All kinds whose objects are entries in registries or collections of the hub. */
export const entryTypes: readonly EntryType[] = [floors, labels, areas, zones];
