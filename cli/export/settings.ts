import type { ConfigEntry } from '../../operator/client/connection/flow-step';
import type { Categories } from '../../operator/client/registries/category-registry';
import type { DeviceRecord } from '../../operator/client/registries/device-settings';
import type { EntityRecord } from '../../operator/client/registries/entity-settings';
import { isMarker } from '../../operator/kinds/ids';
import type { KindDefinition } from '../../operator/kinds/kind';
import { specOfSettings } from '../../operator/sync/registry/borrowed/declared';
import { type DeviceSelector, devices as deviceType } from '../../operator/sync/registry/borrowed/devices';
import { entities as entityType } from '../../operator/sync/registry/borrowed/entities';
import { type Devices, selectOf } from '../settings/device-select';
import { ownTypeOf } from '../settings/own-entity';
import { selectOfEntity } from '../settings/entity-select';
import type { NotExpressed } from './config-entities';
import { customizedDevice, customizedEntity, type EntityFacts, type ExposesNew } from './customized';
import { LONGEST, Names } from './names';
import type { Present } from './present';

/** The entities and devices of a hub with their settings. */
export interface HubSettings {
  readonly entities: readonly EntityRecord[];
  readonly devices: readonly DeviceRecord[];
  /** Facts by entity id. */
  readonly facts: ReadonlyMap<string, EntityFacts>;
  readonly exposesNew: ExposesNew;
  /** Names of categories by their types and ids. */
  readonly categories: ReadonlyMap<string, Categories>;
}

/** Parts of an export to which settings refer. */
interface Surroundings {
  readonly integrations: readonly ConfigEntry[];
  /** Names of HubIntegrations by the ids of their config entries. */
  readonly names: ReadonlyMap<string, string>;
  /**
   * The name of an area, a label or a category; undefined if the operator itself created the label, or the entry no
   * longer exists.
   */
  readonly nameOf: NameOf;
  /** Ids of the entities of exported resources, which have the settings themselves. */
  readonly made: ReadonlySet<string>;
  readonly present: Present;
}

/** The name of an area, a label or a category. */
type NameOf = (type: string, id: string) => string | undefined;

interface DescribedSettings {
  readonly object: string;
  /** Id of the entity or device in its registry. */
  readonly id: string;
  readonly definition: KindDefinition;
  readonly name: string;
  readonly spec: Readonly<Record<string, unknown>>;
  readonly path?: string;
  readonly warning?: string;
}

const NO_SELECTOR =
  'Nothing tells it apart from other devices after a new set-up of the hub: it has no identifier, address or serial number of its own, ' +
  'and no name within an integration that is exported. Set its settings in the hub.';
const BY_ENTITY_ID =
  'The entity is selected by its id, since its unique id is another one after a new set-up of the hub: look then whether the id is that of the same entity.';

interface Described {
  readonly described: readonly DescribedSettings[];
  readonly notExpressed: readonly NotExpressed[];
}

/**
 * The settings that a user may have changed. The files for the entities of a device are next to the file for
 * the device: `devices/lamp.yaml`, `devices/lamp.light-bed.yaml`.
 */
export function describeSettings(settings: HubSettings, surroundings: Surroundings): Described {
  const { entities, devices } = settings;
  const { integrations, names, nameOf, present } = surroundings;
  const known: Devices = {
    all: devices,
    drawnIds: [integrations.map((each) => each.entry_id), devices.map(({ id }) => id)].flat(),
    integrations: names,
  };
  const customized = customizedEntities(settings, surroundings);
  const files = new DeviceFiles(present);
  const ofDevices = describeDevices(settings, known, { customized, files, nameOf });
  const entityNames = new Names(present.namesOf(entityType.definition.kind));
  const ofEntities = customized.map(({ entity, spec }): DescribedSettings => {
    const owner = present.ownerOf({ kind: entityType.definition.kind, id: entity.id });
    const name = owner ?? entityNames.take(undefined, entity.entityId);
    const device = files.of(entity.deviceId);
    const select = selectOfEntity(entity, entities, device?.select, known);
    return {
      object: `settings of ${entity.entityId}`,
      id: entity.id,
      definition: entityType.definition,
      name,
      spec: { select, ...spec },
      ...(device && { path: `devices/${device.name}.${name}.yaml` }),
      ...('entityId' in select && { warning: BY_ENTITY_ID }),
    };
  });
  return { described: [...ofDevices.described, ...ofEntities], notExpressed: ofDevices.notExpressed };
}

interface CustomizedEntity {
  readonly entity: EntityRecord;
  readonly spec: Readonly<Record<string, unknown>>;
}

/** The entities with settings that a user may have changed, by entity id. */
const customizedEntities = (
  { entities, facts, exposesNew }: HubSettings,
  { nameOf, made }: Surroundings,
): readonly CustomizedEntity[] =>
  entities
    .filter(({ uniqueId, entityId }) => !isMarker(uniqueId) && !made.has(entityId))
    .sort((a, b) => (a.entityId < b.entityId ? -1 : 1))
    .map((entity) => ({
      entity,
      spec: specOfSettings(
        entityType,
        customizedEntity(entity, facts.get(entity.entityId), exposesNew),
        nameOf,
      ),
    }))
    .filter(({ spec }) => Object.keys(spec).length > 0);

/** The settings of devices. Devices whose entities alone have settings get a name in `files`, too. */
function describeDevices(
  { devices }: HubSettings,
  known: Devices,
  {
    customized,
    files,
    nameOf,
  }: {
    readonly customized: readonly CustomizedEntity[];
    readonly files: DeviceFiles;
    readonly nameOf: NameOf;
  },
): Described {
  const notExpressed: NotExpressed[] = [];
  const described: DescribedSettings[] = [];
  const shown = devices
    .map((device) => ({ device, spec: specOfSettings(deviceType, customizedDevice(device), nameOf) }))
    .filter(
      ({ device, spec }) =>
        Object.keys(spec).length > 0 || customized.some(({ entity }) => entity.deviceId === device.id),
    )
    .map((each) => ({ ...each, select: selectOf(each.device, known) }))
    .sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
  for (const { device, spec, select } of shown) {
    const name = files.name(device, select);
    if (Object.keys(spec).length === 0) continue;
    const object = `device “${nameOfDevice(device)}”`;
    if (!select) notExpressed.push({ object, reason: NO_SELECTOR, of: ofDevice(device) });
    else
      described.push({
        object: `settings of the ${object}`,
        id: device.id,
        definition: deviceType.definition,
        name,
        spec: { select, ...spec },
      });
  }
  return { described, notExpressed };
}

/** The spec of the settings of the entity that a resource makes, where a person may have changed some. */
export function ownEntitySpec(
  kind: string,
  entityId: string | undefined,
  { entities, facts, exposesNew }: HubSettings,
  nameOf: NameOf,
): Readonly<Record<string, unknown>> {
  const own = ownTypeOf(kind);
  const entity = own && entities.find((each) => each.entityId === entityId);
  return entity
    ? specOfSettings(own.type, customizedEntity(entity, facts.get(entity.entityId), exposesNew), nameOf)
    : {};
}

const ofDevice = ({ id }: DeviceRecord) => ({ kind: deviceType.definition.kind, id });

const nameOfDevice = ({ settings, originalName, id }: DeviceRecord): string =>
  String(settings['name'] ?? originalName ?? id);

type Select = DeviceSelector | undefined;

/** Key by which devices are sorted. It does not use random ids, so that the order is reproducible. */
const sortKey = ({ device, select }: { readonly device: DeviceRecord; readonly select: Select }): string =>
  JSON.stringify([device.originalName, select ?? null]);

/** Chooses the names of the files for devices: that of the resource, if the cluster has one. */
class DeviceFiles {
  private readonly names: Names;
  private readonly byDevice = new Map<string, { readonly name: string; readonly select: Select }>();

  constructor(private readonly present: Present) {
    this.names = new Names(present.namesOf(deviceType.definition.kind));
  }

  name(device: DeviceRecord, select: Select): string {
    const alias = device.settings['name'] ?? device.originalName;
    const owner = this.present.ownerOf(ofDevice(device));
    // With the name of an entity, a longer one could be no name of a file.
    const isShort = owner !== undefined && owner.length <= LONGEST;
    const name = isShort ? owner : this.names.take(alias, JSON.stringify(select ?? 'device'));
    this.byDevice.set(device.id, { name, select });
    return name;
  }

  of(deviceId: string | null): { readonly name: string; readonly select: Select } | undefined {
    return deviceId === null ? undefined : this.byDevice.get(deviceId);
  }
}
