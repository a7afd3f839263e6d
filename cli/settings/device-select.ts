import type { DeviceRecord } from '../../operator/client/registries/device-settings';
import { type DeviceSelector, selectDevices } from '../../operator/sync/registry/borrowed/devices';
import type { Lookup } from '../../operator/sync/registry/borrowed/borrowed-type';

/** The devices of a hub, among which a selector must match exactly one, with data for judging their ids. */
export interface Devices {
  readonly all: readonly DeviceRecord[];
  /** Random ids of the hub, which change when the hub is set up again. */
  readonly drawnIds: readonly string[];
  /** Names of the HubIntegrations by the ids of their config entries. */
  readonly integrations: ReadonlyMap<string, string>;
}

/** Pattern of the ids of config entries and subentries. */
const ULID = /(?<![0-9A-Za-z])01[0-9A-HJKMNP-TV-Z]{24}(?![0-9A-Za-z])/;

/** Whether a text contains a random id of the hub. */
export const isDrawn = ({ drawnIds }: Pick<Devices, 'drawnIds'>, text: string): boolean =>
  ULID.test(text) || drawnIds.some((id) => text.includes(id));

/**
 * A selector that matches only this device, also after the hub is set up again; undefined if there is none.
 */
export function selectOf(device: DeviceRecord, devices: Devices): DeviceSelector | undefined {
  const own = candidates(device, devices);
  const integrationRefs = device.configEntryIds.flatMap((id) => {
    const name = devices.integrations.get(id);
    return name === undefined ? [] : [{ integrationRef: { name } }];
  });
  const narrowed = integrationRefs.flatMap((ref) => own.map((each) => ({ ...each, ...ref })));
  const { originalName: name } = device;
  const named = name ? integrationRefs.map((ref) => ({ name, ...ref })) : [];
  return [...own, ...narrowed, ...named].find((selector) => isOnly(selector, device, devices));
}

function candidates(device: DeviceRecord, devices: Devices): readonly DeviceSelector[] {
  const lasting = (pairs: DeviceRecord['identifiers']) =>
    pairs
      .filter(([key, value]) => isUsable(key) && isUsable(value) && !isDrawn(devices, value))
      .sort((a, b) => (a.join('\n') < b.join('\n') ? -1 : 1));
  const { serialNumber } = device;
  return [
    ...lasting(device.identifiers).map(([integration, id]) => ({ identifier: { integration, id } })),
    ...lasting(device.connections).map(([type, value]) => ({ connection: { type, value } })),
    ...(serialNumber !== null && isUsable(serialNumber) ? [{ serialNumber }] : []),
  ];
}

/** Whether a text satisfies the schema of selectors. */
const isUsable = (text: string): boolean => text.trim() !== '' && text.length <= 255;

function isOnly(selector: DeviceSelector, device: DeviceRecord, { all, integrations }: Devices): boolean {
  const entryIds = new Map([...integrations].map(([id, name]) => [name, id]));
  // Selecting a device needs only the config entries of the hub.
  const lookup = { configEntryOf: (name: string) => entryIds.get(name) } as Lookup;
  const selected = selectDevices(selector, all, lookup);
  return 'found' in selected && selected.found.length === 1 && selected.found[0] === device;
}
