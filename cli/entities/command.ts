import type { Command } from 'commander';
import { domainOf } from '../../operator/client/registries/entity-settings';
import type { HubClient } from '../../operator/client/hub-client';
import { truncate } from '../../operator/base/truncate';
import type { DeviceSelector } from '../../operator/sync/registry/borrowed/devices';
import { clusterCommand, type CommandContext } from '../command-context';
import { exitCodes } from '../exit-codes';
import { openHub } from '../hub/access';
import { formatTable, oneLine, type OutputOptions, printResult, withOutput } from '../output';
import { type Devices, selectOf } from '../settings/device-select';

/** An entity of a hub, with what a resource needs to name it. */
export interface ListedEntity {
  readonly entity: string;
  /** Absent: it is called like its device. */
  readonly name?: string;
  readonly device?: string;
  readonly integration: string;
  readonly uniqueId: string;
  /** Its own, else that of its device. */
  readonly area?: string;
  readonly disabled?: true;
  readonly hidden?: true;
  /** For a HubEntity. */
  readonly select: { readonly unique: object };
  /** For a HubDevice; absent: the entity has no device, or nothing tells it apart from others. */
  readonly deviceSelect?: DeviceSelector;
}

/** Characters of a name in the table. A unique id is shown as a whole: it is copied. */
const LONGEST_NAME = 40;

export function entitiesCommand(context: CommandContext): Command {
  return withOutput(
    clusterCommand('entities')
      .summary('list the entities of a hub, with what a HubEntity or a HubDevice needs to name them')
      .description(
        'Lists the entities of a hub that have a unique id, disabled and hidden ones as well, in the order of their ids: name, ' +
          'device, integration, unique id and area, which is that of the device if the entity has none. With -o yaml each has ' +
          '`select` for a HubEntity and `deviceSelect` for a HubDevice, to be copied as they are. It changes nothing.',
      )
      .argument('<hub>', 'name of a Hub'),
  ).action(
    context.clusterAction(async (cluster, name: string, options: OutputOptions) => {
      const { clock, terminal } = context.environment;
      const hub = await openHub(cluster, name, clock);
      try {
        const listed = await listEntities(hub.client);
        await printResult(terminal, options, listed, () => table(listed));
        return exitCodes.success;
      } finally {
        hub.close();
      }
    }),
  );
}

/** In the order of their ids. @throws HubError */
export async function listEntities(client: HubClient): Promise<readonly ListedEntity[]> {
  const { settings, registries, configEntries } = client;
  const [entities, devices, areas, entries] = await Promise.all([
    settings.entity.entries(),
    settings.device.entries(),
    registries.area.entries(),
    configEntries.all(),
  ]);
  const all = [...devices.all];
  const known: Devices = {
    all,
    drawnIds: [...entries.keys(), ...all.map(({ id }) => id)],
    integrations: new Map(),
  };
  const deviceSelects = new Map(all.map((device) => [device.id, selectOf(device, known)]));
  return [...entities.all]
    .sort((a, b) => (a.entityId < b.entityId ? -1 : 1))
    .map((entity): ListedEntity => {
      const { entityId, integration, uniqueId, deviceId, originalName } = entity;
      const device = deviceId === null ? undefined : devices.get(deviceId);
      const name = entity.settings['name'] ?? originalName;
      const deviceName = device?.settings['name'] ?? device?.originalName;
      const areaId = entity.settings['areaName'] ?? device?.settings['areaName'];
      const area = typeof areaId === 'string' ? areas.get(areaId)?.name : undefined;
      const deviceSelect = device && deviceSelects.get(device.id);
      return {
        entity: entityId,
        ...(name && { name: String(name) }),
        ...(deviceName && { device: String(deviceName) }),
        integration,
        uniqueId,
        ...(area !== undefined && { area }),
        ...(entity.settings['disabled'] === true && { disabled: true }),
        ...(entity.settings['hidden'] === true && { hidden: true }),
        select: { unique: { integration, domain: domainOf(entityId), uniqueId } },
        ...(deviceSelect && { deviceSelect }),
      };
    });
}

const HEAD = ['ENTITY', 'NAME', 'DEVICE', 'INTEGRATION', 'UNIQUE ID', 'AREA'];

function table(listed: readonly ListedEntity[]): string {
  const short = (text = '') => truncate(oneLine(text), LONGEST_NAME);
  const rows = listed.map(({ entity, name, device, integration, uniqueId, area }) => [
    oneLine(entity),
    short(name),
    short(device),
    oneLine(integration),
    oneLine(uniqueId),
    short(area),
  ]);
  return formatTable(HEAD, rows);
}
