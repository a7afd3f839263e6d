import { getAnalytics, setAnalytics, updateCoreConfig } from '../../../client/setup/core';
import type { HubConnection } from '../../../client/connection/connection';
import type { Hub, HubSpec } from '../../../kinds/index';
import {
  type AnalyticsPreferences,
  type CoreConfig,
  type CoreConfigUpdate,
} from '../../../client/connection/api-types';

/** The core settings of a Hub that its hub does not have. */
interface CoreDifference {
  readonly update: CoreConfigUpdate;
  /** The hub takes them from `configuration.yaml`, so that they cannot be set. */
  readonly overridden: boolean;
}

/** Location, units and the like that differ from `spec.bootstrap`. Fields that are absent there are left alone. */
export function coreDifference(hub: Hub, spec: HubSpec, present: CoreConfig): CoreDifference {
  return difference(desiredCoreSettings(hub, spec), present);
}

/** Like {@link coreDifference}, for a hub that the operator onboards: its time zone is that of the pod by default. */
export function initialCoreDifference(hub: Hub, spec: HubSpec, present: CoreConfig): CoreDifference {
  return difference({ time_zone: spec.timezone, ...desiredCoreSettings(hub, spec) }, present);
}

function difference(settings: CoreConfigUpdate, present: CoreConfig): CoreDifference {
  const desired = Object.entries(settings) as [keyof CoreConfigUpdate, unknown][];
  const differing = desired.filter(([key, value]) => value !== presentValue(present, key));
  return { update: Object.fromEntries(differing), overridden: present.config_source === 'yaml' };
}

/**
 * Sets the core settings that differ, and no others (rules.md, "Core settings"). Resolves with the fields that cannot be
 * set, because `configuration.yaml` has core settings: the hub then takes all of them from there.
 *
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

/** Switches the hub's analytics on or off. A spec without the field leaves them alone. */
export async function ensureAnalytics(hub: Hub, connection: HubConnection): Promise<void> {
  const desired = hub.spec.bootstrap?.analytics;
  if (desired === undefined) return;
  const update = analyticsDifference(desired, await getAnalytics(connection));
  if (update) await setAnalytics(connection, update);
}

/** The preferences to set; undefined: none differ. Off means that the hub sends no data at all. */
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
    // The default of the field does not replace a language that was chosen in the hub.
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
