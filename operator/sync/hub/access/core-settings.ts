import { getAnalytics, setAnalytics, updateCoreConfig } from '../../../client/setup/core';
import type { HubConnection } from '../../../client/connection/connection';
import type { Hub, HubSpec } from '../../../kinds/index';
import {
  type AnalyticsPreferences,
  type CoreConfig,
  type CoreConfigUpdate,
} from '../../../client/connection/api-types';

/** The core settings that differ between a Hub and its hub. */
interface CoreDifference {
  readonly update: CoreConfigUpdate;
  /** The hub takes its core settings from `configuration.yaml`, so that they cannot be set. */
  readonly overridden: boolean;
}

/**
 * The core settings, such as location and units, that differ from `spec.bootstrap`. Fields that are absent
 * there are left alone.
 */
export function coreDifference(hub: Hub, spec: HubSpec, present: CoreConfig): CoreDifference {
  return difference(desiredCoreSettings(hub, spec), present);
}

/**
 * Like {@link coreDifference}, for a hub that the operator onboards: by default such a hub gets the time zone
 * of its pod.
 */
export function initialCoreDifference(hub: Hub, spec: HubSpec, present: CoreConfig): CoreDifference {
  return difference({ time_zone: spec.timezone, ...desiredCoreSettings(hub, spec) }, present);
}

function difference(settings: CoreConfigUpdate, present: CoreConfig): CoreDifference {
  const desired = Object.entries(settings) as [keyof CoreConfigUpdate, unknown][];
  const differing = desired.filter(([key, value]) => value !== presentValue(present, key));
  return { update: Object.fromEntries(differing), overridden: present.config_source === 'yaml' };
}

/**
 * Sets the core settings that differ, and no others (rules.md, "Core settings").
 *
 * @returns the fields that cannot be set, because the hub takes all core settings from `configuration.yaml`
 * @throws HubRejected a value that the hub does not accept
 */
export async function ensureCoreSettings(
  connection: HubConnection,
  { update, overridden }: CoreDifference,
): Promise<readonly string[]> {
  const fields = Object.keys(update);
  if (overridden) return fields;
  if (fields.length > 0) await updateCoreConfig(connection, update);
  return [];
}

/** Switches the hub's analytics on or off. If the field is absent in the spec, they are left alone. */
export async function ensureAnalytics(hub: Hub, connection: HubConnection): Promise<void> {
  const desired = hub.spec.bootstrap?.analytics;
  if (desired === undefined) return;
  const update = analyticsDifference(desired, await getAnalytics(connection));
  if (update) await setAnalytics(connection, update);
}

/**
 * The analytics preferences to set. "Off" means that the hub sends no data at all.
 *
 * @returns undefined when none differ
 */
export function analyticsDifference(
  desired: boolean,
  present: AnalyticsPreferences,
): AnalyticsPreferences | undefined {
  const keys = desired
    ? (['base', 'usage', 'statistics', 'diagnostics'] as const)
    : (Object.keys(present) as (keyof AnalyticsPreferences)[]);
  const differing = keys.filter((key) => (present[key] ?? false) !== desired);
  return differing.length > 0 ? Object.fromEntries(differing.map((key) => [key, desired])) : undefined;
}

function desiredCoreSettings(
  { spec: { bootstrap: written } }: Hub,
  { bootstrap }: HubSpec,
): CoreConfigUpdate {
  const { name, latitude, longitude, elevation, unitSystem, currency, timeZone, country } =
    bootstrap.location;
  return {
    ...(timeZone !== undefined && { time_zone: timeZone }),
    // Only a language in the user's spec is set: the default of the field must not replace a language that
    // was chosen in the hub.
    ...(written?.language !== undefined && { language: written.language }),
    ...(name !== undefined && { location_name: name }),
    ...(latitude !== undefined && { latitude: Number(latitude) }),
    ...(longitude !== undefined && { longitude: Number(longitude) }),
    ...(elevation !== undefined && { elevation }),
    ...(unitSystem !== undefined && { unit_system: unitSystem }),
    ...(currency !== undefined && { currency }),
    ...(country !== undefined && { country }),
  };
}

function presentValue(present: CoreConfig, key: keyof CoreConfigUpdate): unknown {
  if (key === 'unit_system') return present.unit_system['length'] === 'km' ? 'metric' : 'us_customary';
  return present[key];
}
