import type { Command } from 'commander';
import type { HubClient } from '../../operator/client/hub-client';
import type { DeviceRecord } from '../../operator/client/registries/device-settings';
import type { EntityRecord } from '../../operator/client/registries/entity-settings';
import { truncate } from '../../operator/base/truncate';
import type { DeviceSelector } from '../../operator/sync/registry/borrowed/devices';
import { integration, type HubIntegration } from '../../operator/kinds';
import { isMarker } from '../../operator/kinds/ids';
import { isForbidden } from '../../operator/runtime/api-errors';
import { type Cluster, resourceType } from '../cluster';
import { clusterCommand, type CommandContext } from '../command-context';
import { exitCodes } from '../exit-codes';
import { openHub } from '../hub/access';
import { formatTable, oneLine, type OutputOptions, printResult, withOutput } from '../output';
import { type Devices, selectOf } from '../settings/device-select';
import { selectOfEntity } from '../settings/entity-select';

/** An entity of a hub, with everything that a resource needs to select it. */
export interface ListedEntity {
  readonly entity: string;
  /** Absent if the entity has the name of its device. */
  readonly name?: string;
  readonly device?: string;
  readonly integration: string;
  readonly uniqueId: string;
  /** The area of the entity, or else of its device. */
  readonly area?: string;
  readonly disabled?: true;
  readonly hidden?: true;
  /** Selector for a HubEntity. It has the unique id, unless that changes when the hub is set up again. */
  readonly select: object;
  /**
   * Selector for a HubDevice; absent if the entity has no device, or the device cannot be distinguished from
   * others.
   */
  readonly deviceSelect?: DeviceSelector;
}

/** Most characters of a name in the table. A unique id is not truncated, because users copy it. */
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
        const listed = await listEntities(hub.client, await integrationsOf(cluster, name));
        await printResult(terminal, options, listed, () => table(listed));
        return exitCodes.success;
      } finally {
        hub.close();
      }
    }),
  );
}

/**
 * The HubIntegrations of a hub by the ids of their config entries. If the user may not list them, the result
 * is empty: they only make selectors more specific.
 */
async function integrationsOf(cluster: Cluster, hubName: string): Promise<ReadonlyMap<string, string>> {
  const listed = await cluster.list(resourceType(integration)).catch((error: unknown) => {
    if (isForbidden(error)) return [];
    throw error;
  });
  const ofHub = (listed as unknown as readonly HubIntegration[]).filter(
    ({ spec }) => spec.hubRef.name === hubName,
  );
  return new Map(
    ofHub.flatMap(({ metadata, status }) => (status?.entryID ? [[status.entryID, metadata.name]] : [])),
  );
}

/**
 * The entities in the order of their ids. @param integrations HubIntegrations by the ids of their config
 * entries @throws HubError
 */
export async function listEntities(
  client: HubClient,
  integrations: Devices['integrations'],
): Promise<readonly ListedEntity[]> {
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
    integrations,
  };
  const deviceSelects = new Map(all.map((device) => [device.id, selectOf(device, known)]));
  const shown = [...entities.all].filter(({ uniqueId }) => !isMarker(uniqueId));
  const nameOfArea = (id: string) => areas.get(id)?.name;
  return shown
    .sort((a, b) => (a.entityId < b.entityId ? -1 : 1))
    .map((entity) => {
      const device = entity.deviceId === null ? undefined : devices.get(entity.deviceId);
      const deviceSelect = device && deviceSelects.get(device.id);
      return {
        ...described(entity, device, nameOfArea),
        select: selectOfEntity(entity, shown, deviceSelect, known),
        ...(deviceSelect && { deviceSelect }),
      };
    });
}

function described(
  { entityId, integration, uniqueId, originalName, settings }: EntityRecord,
  device: DeviceRecord | undefined,
  nameOfArea: (id: string) => string | undefined,
): Omit<ListedEntity, 'select' | 'deviceSelect'> {
  const name = settings['name'] ?? originalName;
  const deviceName = device?.settings['name'] ?? device?.originalName;
  const areaId = settings['areaName'] ?? device?.settings['areaName'];
  const area = typeof areaId === 'string' ? nameOfArea(areaId) : undefined;
  return {
    entity: entityId,
    ...(name && { name: String(name) }),
    ...(deviceName && { device: String(deviceName) }),
    integration,
    uniqueId,
    ...(area !== undefined && { area }),
    ...(settings['disabled'] === true && { disabled: true }),
    ...(settings['hidden'] === true && { hidden: true }),
  };
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
