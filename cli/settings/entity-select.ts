import { domainOf } from '../../operator/client/connection/entity-id';
import type { EntityRecord } from '../../operator/client/registries/entity-settings';
import type { DeviceSelector } from '../../operator/sync/registry/borrowed/devices';
import { type Devices, isDrawn } from './device-select';

/**
 * The selector that matches only this entity. It has the unique id, unless that contains a random id of the
 * hub. The second choice is a property that distinguishes the entity within its device, and the last is the
 * entity id.
 */
export function selectOfEntity(
  entity: EntityRecord,
  all: readonly EntityRecord[],
  ofDevice: DeviceSelector | undefined,
  devices: Pick<Devices, 'drawnIds'>,
): Readonly<Record<string, unknown>> {
  const { entityId, integration, uniqueId, translationKey, originalDeviceClass } = entity;
  const domain = domainOf(entityId);
  const isLasting = uniqueId.trim() !== '' && uniqueId.length <= 255 && !isDrawn(devices, uniqueId);
  if (isLasting) return { unique: { integration, domain, uniqueId } };
  const others = all.filter(
    (each) => each !== entity && each.deviceId === entity.deviceId && domainOf(each.entityId) === domain,
  );
  const ways = [
    {},
    ...(translationKey === null ? [] : [{ translationKey }]),
    ...(originalDeviceClass === null ? [] : [{ deviceClass: originalDeviceClass }]),
    ...(translationKey === null || originalDeviceClass === null
      ? []
      : [{ translationKey, deviceClass: originalDeviceClass }]),
  ];
  const isOnly = (way: { readonly translationKey?: string; readonly deviceClass?: string }) =>
    !others.some(
      (each) =>
        (way.translationKey === undefined || each.translationKey === way.translationKey) &&
        (way.deviceClass === undefined || each.originalDeviceClass === way.deviceClass),
    );
  const way = ofDevice && ways.find(isOnly);
  return way ? { device: { ...ofDevice, domain, ...way } } : { entityId };
}
