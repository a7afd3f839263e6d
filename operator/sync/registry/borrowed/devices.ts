import type { DeviceRecord } from '../../../client/registries/device-settings';
import { device } from '../../../kinds';
import { type BorrowedType, disabledAbove, type Lookup, placeFields, type Selected } from './borrowed-type';

/** The selector in the specs of HubDevice and HubEntity. Exactly one of its first four fields is set. */
export interface DeviceSelector {
  readonly identifier?: { readonly integration: string; readonly id: string };
  readonly connection?: { readonly type: string; readonly value: string };
  readonly serialNumber?: string;
  readonly name?: string;
  readonly integrationRef?: { readonly name: string };
}

/** The devices that match a selector. */
export function selectDevices(
  selector: DeviceSelector,
  all: Iterable<DeviceRecord>,
  { configEntryOf }: Lookup,
): Selected<DeviceRecord> {
  const { integrationRef } = selector;
  const entryId = integrationRef && configEntryOf(integrationRef.name);
  if (integrationRef && entryId === undefined)
    return { missing: `the HubIntegration ${integrationRef.name} has no config entry in the hub yet` };
  const isFit = (record: DeviceRecord) =>
    (entryId === undefined || record.configEntryIds.includes(entryId)) && fits(selector, record);
  return { found: [...all].filter(isFit) };
}

function fits({ identifier, connection, serialNumber, name }: DeviceSelector, record: DeviceRecord): boolean {
  if (identifier)
    return record.identifiers.some(
      ([integration, id]) => integration === identifier.integration && id === identifier.id,
    );
  if (connection)
    return record.connections.some(
      ([type, value]) =>
        type === connection.type && addressOf(type, value) === addressOf(type, connection.value),
    );
  if (serialNumber !== undefined) return record.serialNumber === serialNumber;
  return name !== undefined && record.originalName === name;
}

/** Normalizes a MAC address, since users write it in several forms. */
const addressOf = (type: string, value: string): string =>
  type === 'mac' ? value.toLowerCase().replace(/[:.-]/g, '') : value;

export const devices: BorrowedType<DeviceRecord> = {
  type: 'device',
  definition: device,
  idField: 'deviceId',
  hashField: 'appliedHash',
  reason: 'DeviceUpdated',
  notFound: 'DeviceNotFound',
  makers: [],
  fields: { name: {}, ...placeFields, disabled: {} },
  registryOf: ({ settings }) => settings.device,
  select: ({ spec: { select } }, all, lookup) => Promise.resolve(selectDevices(select, all, lookup)),
  nameOf: ({ originalName, id }) =>
    originalName === null ? `the device ${id}` : `the device “${originalName}”`,
  statusOf: ({ configEntryIds: [configEntryId = null] }) => ({ configEntryId }),
  refusal: (record, changes) => disabledAbove(record, changes),
};
