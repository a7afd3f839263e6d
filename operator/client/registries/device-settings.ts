import type { RegistryDevice } from '../connection/api-types';
import { FollowedCollection } from '../connection/collection';
import type { CommandFields } from '../connection/commands';
import type { HubConnection } from '../connection/connection';
import {
  byUser,
  commandFields,
  type Configurable,
  iterated,
  Listeners,
  type Setting,
  type Settings,
  type SettingsEntries,
  type SettingsRegistry,
  textOf,
} from './settings';

/** A device with its settings, and the fields by which a resource selects it. */
export interface DeviceRecord extends Configurable {
  /** The name that the integration gave to the device. */
  readonly originalName: string | null;
  readonly serialNumber: string | null;
  readonly identifiers: readonly (readonly [integration: string, id: string])[];
  readonly connections: readonly (readonly [type: string, value: string])[];
  readonly configEntryIds: readonly string[];
}

type DeviceFields = Omit<CommandFields<'config/device_registry/update'>, 'device_id'>;

/** The fields of the update command, by setting. */
const TO_HUB: Readonly<Record<string, (value: Setting) => DeviceFields>> = {
  name: (value) => ({ name_by_user: value as string | null }),
  areaName: (value) => ({ area_id: value as string | null }),
  labels: (value) => ({ labels: value as readonly string[] }),
  disabled: (value) => ({ disabled_by: byUser(value) }),
};

/**
 * The devices of a hub with their settings. The hub has no command to read a single device, so a change
 * causes all to be read again.
 */
export class DeviceSettings implements SettingsRegistry<DeviceRecord> {
  private readonly devices: FollowedCollection<DeviceRecord>;
  private readonly listeners = new Listeners();

  constructor(private readonly connection: HubConnection) {
    this.devices = new FollowedCollection<DeviceRecord>(connection, {
      name: 'devices',
      subscribe: () =>
        connection.subscribeEvents('device_registry_updated', ({ device_id: id }) => {
          this.invalidate();
          this.listeners.call(id);
        }),
      fetch: async () => {
        const all = await connection.command('config/device_registry/list');
        return new Map(all.map((device) => [device.id, picked(device)]));
      },
    });
    connection.onReconnect(() => this.listeners.call());
  }

  async entries(): Promise<SettingsEntries<DeviceRecord>> {
    const devices = await this.devices.get();
    return { get: (id) => devices.get(id), all: iterated(() => devices.values()) };
  }

  invalidate(): void {
    this.devices.invalidate();
  }

  onChange(listener: () => void): () => void {
    return this.listeners.add(listener);
  }

  async update(device: DeviceRecord, changes: Settings): Promise<DeviceRecord | undefined> {
    const { id } = device;
    const fields = commandFields(TO_HUB, changes, device);
    return this.listeners.whileChanging([id], async () => {
      await this.connection.command('config/device_registry/update', { device_id: id, ...fields });
      this.invalidate();
      return (await this.entries()).get(id);
    });
  }
}

function picked(device: RegistryDevice): DeviceRecord {
  const { id, name, name_by_user: ownName, area_id: areaId, labels, disabled_by: disabledBy = null } = device;
  const { config_entries: entries = [], config_entry_id: entry, serial_number: serialNumber } = device;
  return {
    id,
    originalName: textOf(name),
    serialNumber: textOf(serialNumber),
    identifiers: pairs(device.identifiers),
    connections: pairs(device.connections),
    configEntryIds: typeof entry === 'string' ? [entry] : entries,
    disabledBy,
    settings: {
      name: ownName ?? null,
      areaName: areaId ?? null,
      labels,
      disabled: disabledBy !== null,
    },
  };
}

/** Valid pairs in a list. Some integrations use another form, which no resource can select. */
function pairs(lists: unknown): readonly (readonly [string, string])[] {
  const all: readonly unknown[] = Array.isArray(lists) ? lists : [];
  return all
    .filter((pair): pair is readonly unknown[] => Array.isArray(pair) && pair.length === 2)
    .map(([a, b]) => [textOf(a) ?? '', textOf(b) ?? ''] as const);
}
