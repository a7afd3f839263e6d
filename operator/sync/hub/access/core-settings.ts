import {
  type AnalyticsPreferences,
  type CoreConfig,
  type CoreConfigUpdate,
  getAnalytics,
  setAnalytics,
  updateCoreConfig,
} from '../../../client/core';
import type { HubConnection } from '../../../client/connection';
import type { Hub, HubSpec } from '../../../kinds/index';

/** What of the core settings a Hub asks for and the hub does not have, and why that is so. */
export interface CoreDifference {
  readonly update: CoreConfigUpdate;
  /** The settings stand in `configuration.yaml`, which the hub obeys. */
  readonly overridden: boolean;
}

/** Location, units and the like that differ from what `spec.bootstrap` asks for. What it does not say is left alone. */
export function coreDifference(hub: Hub, spec: HubSpec, present: CoreConfig): CoreDifference {
  const wanted = Object.entries(desiredCoreSettings(hub, spec)) as [keyof CoreConfigUpdate, unknown][];
  const differing = wanted.filter(([key, value]) => value !== presentValue(present, key));
  return { update: Object.fromEntries(differing), overridden: present.config_source === 'yaml' };
}

/**
 * Makes the core settings be as the spec says: what differs is sent, nothing else. Answers with the fields that
 * `configuration.yaml` keeps from being set: the hub takes all of them from there once it has one of them there.
 */
export async function ensureCoreSettings(
  hub: Hub,
  spec: HubSpec,
  present: CoreConfig,
  connection: HubConnection,
): Promise<readonly string[]> {
  const { update, overridden } = coreDifference(hub, spec, present);
  const fields = Object.keys(update);
  if (overridden) return fields;
  if (fields.length > 0) await updateCoreConfig(connection, update);
  return [];
}

/** Switches the hub's analytics on or off when the spec says so; silent specs leave them alone. */
export async function ensureAnalytics(hub: Hub, connection: HubConnection): Promise<void> {
  const wanted = hub.spec.bootstrap?.analytics;
  if (wanted === undefined) return;
  const update = analyticsDifference(wanted, await getAnalytics(connection));
  if (update) await setAnalytics(connection, update);
}

/** The preferences to send; undefined: they are as wanted. Off means that nothing at all is sent. */
export function analyticsDifference(
  wanted: boolean,
  present: AnalyticsPreferences,
): AnalyticsPreferences | undefined {
  const keys = wanted
    ? (['base', 'usage', 'statistics', 'diagnostics'] as const)
    : (Object.keys(present) as (keyof AnalyticsPreferences)[]);
  const differing = keys.filter((key) => (present[key] ?? false) !== wanted);
  return differing.length > 0 ? Object.fromEntries(differing.map((key) => [key, wanted])) : undefined;
}

function desiredCoreSettings(
  { spec: { bootstrap: written } }: Hub,
  { bootstrap, timezone }: HubSpec,
): CoreConfigUpdate {
  const { name, latitude, longitude, elevation, unitSystem, currency, timeZone, country } =
    bootstrap.location;
  return {
    time_zone: timeZone ?? timezone,
    // Its default is the hub's own; somebody who chose another one in the hub shall keep it.
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
