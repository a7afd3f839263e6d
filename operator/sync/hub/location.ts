import type { CoreConfigUpdate } from '../../client/core';
import type { HubSpec } from '../../kinds';

/** `spec.bootstrap.location` and language in the hub's words; what is absent stays as it is in the hub. */
export function locationUpdate({ bootstrap, timezone }: HubSpec): CoreConfigUpdate {
  const { name, latitude, longitude, elevation, unitSystem, currency, timeZone, country } = bootstrap.location;
  return {
    language: bootstrap.language,
    time_zone: timeZone ?? timezone,
    ...(name !== undefined && { location_name: name }),
    ...(latitude !== undefined && { latitude: Number(latitude) }),
    ...(longitude !== undefined && { longitude: Number(longitude) }),
    ...(elevation !== undefined && { elevation }),
    ...(unitSystem !== undefined && { unit_system: unitSystem }),
    ...(currency !== undefined && { currency }),
    ...(country !== undefined && { country }),
  };
}
