import type { RegistryEntity } from '../../operator/client/connection/api-types';
import { domainOf } from '../../operator/client/connection/entity-id';
import type { EntityRecord } from '../../operator/client/registries/entity-settings';
import type { DeviceRecord } from '../../operator/client/registries/device-settings';
import type { Setting, Settings } from '../../operator/client/registries/settings';

/** Facts about an entity that are not among its settings. */
export type EntityFacts = Pick<RegistryEntity, 'hidden_by' | 'entity_category'>;

/** Whether an assistant sees new entities by default, by setting, such as `expose.alexa`. */
export type ExposesNew = Readonly<Record<string, boolean>>;

const isGiven = (value: Setting | undefined): boolean =>
  value !== undefined && value !== null && value !== '' && !(Array.isArray(value) && value.length === 0);

/** The settings of a device that a user may have changed. */
export function customizedDevice({ settings, disabledBy }: DeviceRecord): Settings {
  return given({ ...settings, disabled: disabledBy === 'user' ? true : null });
}

/**
 * The settings of an entity that a user may have changed. The hub does not tell which entity ids a user has
 * chosen.
 */
export function customizedEntity(
  entity: EntityRecord,
  facts: EntityFacts | undefined,
  exposesNew: ExposesNew,
): Settings {
  const { settings, disabledBy } = entity;
  const exposed = Object.keys(exposesNew).map((name): [string, Setting] => {
    const value = settings[name] ?? null;
    const isOwn = typeof value === 'boolean' && !isByHub(value, entity, facts, exposesNew[name]!);
    return [name, isOwn ? value : null];
  });
  return given({
    ...settings,
    // The integration itself writes the name of a tag into the registry.
    ...(entity.integration === 'tag' && { name: null }),
    hidden: facts?.hidden_by === 'user' ? true : null,
    disabled: disabledBy === 'user' ? true : null,
    entityId: null,
    ...Object.fromEntries(exposed),
  });
}

const given = (settings: Settings): Settings =>
  Object.fromEntries(Object.entries(settings).filter(([, value]) => isGiven(value)));

// The hub decides whether an entity is exposed when it is first asked, and stores the decision like a user's
// choice. Source: `DEFAULT_EXPOSED_…` and `_is_default_exposed` in
// `homeassistant/components/homeassistant/exposed_entities.py`.

const EXPOSED_DOMAINS: ReadonlySet<string> = new Set([
  'climate',
  'cover',
  'fan',
  'humidifier',
  'light',
  'media_player',
  'scene',
  'switch',
  'todo',
  'vacuum',
  'water_heater',
]);

const EXPOSED_DEVICE_CLASSES: Readonly<Record<string, ReadonlySet<string>>> = {
  binary_sensor: new Set(['door', 'garage_door', 'lock', 'motion', 'opening', 'presence', 'window']),
  sensor: new Set([
    'aqi',
    'carbon_monoxide',
    'carbon_dioxide',
    'humidity',
    'pm10',
    'pm25',
    'temperature',
    'volatile_organic_compounds',
  ]),
};

/**
 * Whether a new hub stores this value on its own. The hub may decide before or after the entity is hidden or
 * gets its device class, so both decisions must equal the value.
 */
function isByHub(
  value: boolean,
  { entityId, originalDeviceClass, settings }: EntityRecord,
  facts: EntityFacts | undefined,
  exposesNew: boolean,
): boolean {
  const domain = domainOf(entityId);
  const isOfUse = (deviceClass: Setting | undefined) =>
    EXPOSED_DOMAINS.has(domain) ||
    (typeof deviceClass === 'string' && EXPOSED_DEVICE_CLASSES[domain]?.has(deviceClass) === true);
  const isSecondary = isGiven(facts?.entity_category);
  const hiddenBy = facts?.hidden_by ?? null;
  const before = hiddenBy !== 'integration' && isOfUse(originalDeviceClass);
  const after = hiddenBy === null && isOfUse(settings['deviceClass'] ?? originalDeviceClass);
  return [before, after].every((isExposed) => value === (exposesNew && !isSecondary && isExposed));
}
