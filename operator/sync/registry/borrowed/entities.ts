import { stateOf } from '../../../client/config-entities/states';
import { domainOf } from '../../../client/connection/entity-id';
import { categoryScopes } from '../../../client/connection/registry-types';
import { categorySetting, type EntityRecord } from '../../../client/registries/entity-settings';
import type { Settings } from '../../../client/registries/settings';
import { entity, kinds } from '../../../kinds';
import { ownDomain } from '../../../kinds/kind';
import type { CustomResource } from '../../../kinds/resource';
import { RESYNC } from '../../../base/limits';
import { waiting } from '../../../runtime/outcome';
import { isLower } from '../../../base/hub-version';
import {
  type Borrower,
  type BorrowedType,
  disabledAbove,
  type Lookup,
  type Made,
  placeFields,
  type Refusal,
  type Selected,
  type SettingsResource,
} from './borrowed-type';
import type { Previous } from './previous';
import { type DeviceSelector, selectDevices } from './devices';

interface EntitySelector {
  readonly entityId?: string;
  readonly unique?: { readonly integration: string; readonly domain: string; readonly uniqueId: string };
  readonly device?: DeviceSelector & {
    readonly domain: string;
    readonly deviceClass?: string;
    readonly translationKey?: string;
    readonly originalName?: string;
  };
}

async function select(
  { spec }: Borrower,
  all: Iterable<EntityRecord>,
  lookup: Lookup,
): Promise<Selected<EntityRecord>> {
  const { entityId, unique, device }: EntitySelector = spec.select;
  if (device) return ofDevice(device, all, lookup);
  if (entityId !== undefined) return ofId(entityId, spec['entityId'], all, lookup);
  const { integration, domain, uniqueId } = unique!;
  const found: EntityRecord[] = [];
  // The entities are iterated without a copy, since each event of the registry repeats this for every
  // resource that waits for its entity.
  for (const each of all)
    if (each.uniqueId === uniqueId && each.integration === integration && domainOf(each.entityId) === domain)
      found.push(each);
  return { found };
}

/** @param newId the id that the resource gives the entity. Without a status, only `unique` and `device` find it then. */
async function ofId(
  entityId: string,
  newId: unknown,
  all: Iterable<EntityRecord>,
  { hasState }: Lookup,
): Promise<Selected<EntityRecord>> {
  const found = [...all].filter((each) => each.entityId === entityId);
  if (found.length > 0) return { found };
  if (await hasState(entityId)) {
    const missing = `${entityId} has no unique id, so the hub keeps no settings for it: give it a unique_id in its YAML`;
    return { missing };
  }
  if (newId === entityId || ![...all].some((each) => each.entityId === newId)) return { found };
  const missing = `the hub has no ${entityId}, but it has ${String(newId)}, which entityId names: if that is the entity, select it by select.unique, or by its present id`;
  return { missing };
}

async function ofDevice(
  selector: NonNullable<EntitySelector['device']>,
  all: Iterable<EntityRecord>,
  lookup: Lookup,
): Promise<Selected<EntityRecord>> {
  const devices = selectDevices(selector, (await lookup.client.settings.device.entries()).all, lookup);
  if ('missing' in devices) return devices;
  const deviceIds = new Set(devices.found.map(({ id }) => id));
  if (deviceIds.size === 0) return { missing: 'the hub has no such device' };
  const { domain, deviceClass, translationKey, originalName } = selector;
  const isIt = (each: EntityRecord) =>
    each.deviceId !== null &&
    deviceIds.has(each.deviceId) &&
    domainOf(each.entityId) === domain &&
    (deviceClass === undefined || each.originalDeviceClass === deviceClass) &&
    (translationKey === undefined || each.translationKey === translationKey) &&
    (originalName === undefined || each.originalName === originalName);
  return { found: [...all].filter(isIt) };
}

/** The version of the hub since which entities without their own name are in the area of their device. */
const AREA_OF_DEVICE_SINCE = '2026.11.0';

/**
 * Refuses an area for an entity that is in the area of its device. Source: `_has_own_area_without_own_name`
 * in `homeassistant/helpers/entity_registry.py`.
 */
function areaBelongsToDevice(
  record: EntityRecord,
  changes: Settings,
  { version }: Lookup,
): Refusal | undefined {
  if (version === undefined || isLower(version, AREA_OF_DEVICE_SINCE)) return undefined;
  if (changes['areaName'] === undefined && changes['name'] === undefined) return undefined;
  const { name, areaName } = { ...record.settings, ...changes };
  const hasOwnName = Boolean(name ?? record.originalName);
  if (record.deviceId === null || hasOwnName || areaName === null) return undefined;
  const setting = changes['areaName'] === undefined ? 'name' : 'areaName';
  const message =
    `${record.entityId} has no name of its own, so it has the area of its device: ` +
    'set areaName in a HubDevice, or give the entity a name.';
  return { setting, reason: 'AreaBelongsToDevice', message };
}

function unknownSetting({ entityId, settings }: EntityRecord, changes: Settings): Refusal | undefined {
  const setting = ['unit', 'precision'].find((name) => name in changes && !(name in settings));
  if (setting === undefined) return undefined;
  const message = `${setting}: ${entityId} has none. Only sensors have a precision, and sensors and numbers a unit: remove it.`;
  return { setting, reason: 'InvalidSpec', message };
}

/** Refuses an entity id that is in another domain, or is taken. */
function refusedId(
  record: EntityRecord,
  changes: Settings,
  all: Iterable<EntityRecord>,
): Refusal | undefined {
  const id = changes['entityId'];
  if (typeof id !== 'string') return undefined;
  const domain = domainOf(record.entityId);
  if (domainOf(id) !== domain)
    return {
      setting: 'entityId',
      reason: 'InvalidSpec',
      message: `entityId: ${id} is not of the domain of the entity: begin it with ${domain}.`,
    };
  const isTaken = [...all].some((each) => each.entityId === id && each.id !== record.id);
  return isTaken
    ? {
        setting: 'entityId',
        reason: 'NameConflict',
        message: `entityId: another entity of the hub has the id ${id}: rename or remove that one, or choose another id.`,
      }
    : undefined;
}

/**
 * The outcome of an entity that was enabled but is only set up by a start of the hub, since it has no config
 * entry, or a config entry that cannot be unloaded.
 */
async function awaited({ spec, status }: SettingsResource, record: EntityRecord, { client }: Lookup) {
  const wasDisabled = (status?.['previous'] as Previous | undefined)?.['disabled']?.was === true;
  if (spec['disabled'] !== false || !wasDisabled) return undefined;
  const { configEntryId } = record;
  if (configEntryId !== null) {
    const entries = await client.configEntries.all();
    if (entries.get(configEntryId)?.supports_unload !== false) return undefined;
  }
  if ((await stateOf(client.rest, record.entityId)) !== undefined) return undefined;
  const message = `${record.entityId} is enabled, and the hub sets it up at its next start: restart the hub.`;
  return waiting('RestartPending', message, RESYNC, { priority: 'resync' });
}

const makers = kinds.filter(({ ownEntity }) => ownEntity);

function madeBy({ entityId, integration, uniqueId: id }: EntityRecord): Made | undefined {
  const domain = domainOf(entityId);
  const definition = makers.find(({ ownEntity }) => ownEntity!.integrations[domain] === integration);
  if (!definition) return undefined;
  const ownEntity = definition.ownEntity!;
  // A helper of another sort may have the same id.
  const isMaker = (resource: CustomResource) => ownDomain(ownEntity, resource) === domain;
  return { definition, idField: ownEntity.idField, id, isMaker };
}

export const entities: BorrowedType<EntityRecord> = {
  type: 'entity',
  definition: entity,
  idField: 'registryId',
  hashField: 'appliedHash',
  reason: 'EntityUpdated',
  notFound: 'EntityNotFound',
  fields: {
    name: {},
    icon: {},
    ...placeFields,
    aliases: { isSet: true },
    ...Object.fromEntries(categoryScopes.map((category) => [categorySetting(category), { category }])),
    hidden: {},
    disabled: {},
    deviceClass: {},
    unit: {},
    precision: {},
    'expose.conversation': {},
    'expose.alexa': {},
    'expose.googleAssistant': {},
    entityId: {},
  },
  registryOf: ({ settings }) => settings.entity,
  select,
  nameOf: ({ entityId }) => entityId,
  statusOf: ({ entityId }) => ({ entityId }),
  refusal: (record, changes, all, lookup) =>
    unknownSetting(record, changes) ??
    disabledAbove(record, changes) ??
    areaBelongsToDevice(record, changes, lookup) ??
    refusedId(record, changes, all),
  awaited,
  makers,
  madeBy,
};
