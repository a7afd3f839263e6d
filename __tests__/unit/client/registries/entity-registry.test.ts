import { EntityRegistry } from '../../../../operator/client/registries/entity-registry';
import { HubConnection } from '../../../../operator/client/connection/connection';
import { HubTooLarge } from '../../../../operator/client/connection/errors';
import { KeptLists } from '../../../../operator/client/connection/kept-lists';
import { HubClient } from '../../../../operator/client/hub-client';
import { ConfigEntities } from '../../../../operator/client/config-entities/config-entities';
import { OwnReloadTracker } from '../../../../operator/client/config-entities/own-reload-tracker';
import { unmark } from '../../../../operator/sync/config-entities/ownership-label';
import { silentLog } from '../../../cluster/silent-log';
import { ManualClock } from '../../manual-clock';
import { FakeHub, json } from '../fake-hub';

let hub: FakeHub;
let client: HubClient;
let registry: EntityRegistry;
let entities: {
  entity_id: string;
  unique_id: string;
  platform: string;
  disabled_by: null;
  labels?: string[];
}[];

const lists = () => hub.commands.filter((message) => message.type === 'config/entity_registry/list').length;

beforeEach(async () => {
  hub = await FakeHub.start();
  // No deadline passes with this clock, however slow the machine is.
  const clock = new ManualClock();
  client = new HubClient({ url: hub.url, token: 'good-token', clock, log: silentLog });
  registry = client.entityRegistry;
  entities = [
    { entity_id: 'automation.evening', unique_id: 'porch', platform: 'automation', disabled_by: null },
    { entity_id: 'scene.porch', unique_id: 'porch', platform: 'homeassistant', disabled_by: null },
    { entity_id: 'sensor.porch', unique_id: 'porch', platform: 'mqtt', disabled_by: null },
  ];
  hub.onCommand = (command) => {
    const { type, entity_ids: ids = [] } = command.message as { type: string; entity_ids?: string[] };
    const entry = (id: string) => [id, entities.find((each) => each.entity_id === id) ?? null];
    if (type === 'config/entity_registry/list') command.succeed(entities);
    else if (type === 'config/entity_registry/get_entries')
      command.succeed(Object.fromEntries(ids.map(entry)));
    else if (type === 'config/label_registry/list')
      command.succeed([{ label_id: 'managed', name: 'Managed by Hub Operator' }]);
    else command.succeed();
  };
});

afterEach(async () => {
  client.close();
  await hub.close();
});

/** Sends an event of a change. Resolves when the event has arrived. */
async function tell(data: object): Promise<void> {
  const { id } = hub.commands.find((message) => message.type === 'subscribe_events') ?? {};
  for (const socket of hub.clients) socket.send(JSON.stringify({ id, type: 'event', event: { data } }));
  await client.connection.command('get_config'); // answers arrive in order
}

describe('EntityRegistry', () => {
  test('keeps only the needed fields of automations, scenes and scripts of a hub with 10,000 entities', async () => {
    const others = Array.from({ length: 10_000 }, (_, n) => ({
      entity_id: `sensor.s${n}`,
      unique_id: `s${n}`,
      platform: 'mqtt',
      disabled_by: null,
      options: { any: 'x'.repeat(500) },
    }));
    const scene = {
      entity_id: 'scene.porch',
      unique_id: 'porch',
      platform: 'homeassistant',
      disabled_by: null,
      original_name: 'Porch',
    };
    hub.onCommand = (command) => {
      const { type } = command.message;
      if (type === 'config/entity_registry/list') command.succeed([...others, scene]);
      else if (type === 'config/entity_registry/get_entries')
        command.succeed({ 'scene.porch': { ...scene, original_icon: 'mdi:lamp', options: { any: 'y' } } });
      else command.succeed();
    };
    expect(await client.entityRegistry.find('scene', 'porch')).toEqual({
      ...scene,
      original_icon: 'mdi:lamp',
      labels: undefined,
    });
    const read = hub.commands.filter(({ type }) => type === 'config/entity_registry/get_entries');
    expect(read.map((message) => message['entity_ids'])).toEqual([['scene.porch']]);
  });

  test('finds entities to be removed also when its list takes too much memory to be kept', async () => {
    const keptLists = new KeptLists(100);
    const clock = new ManualClock();
    const connection = new HubConnection({
      rest: client.rest,
      token: 'good-token',
      clock,
      log: silentLog,
      keptLists,
    });
    const small = new EntityRegistry(connection);
    await expect(small.findNow('automation', 'porch')).rejects.toThrow(HubTooLarge);
    const before = lists();
    const found = await Promise.all(
      (['automation', 'script', 'scene'] as const).map((kind) => small.findToRemove(kind, 'porch')),
    );
    expect(found.map((entity) => entity?.entity_id)).toEqual([
      'automation.evening',
      undefined,
      'scene.porch',
    ]);
    expect(lists() - before).toBe(1); // all share one list
    hub.routes.set('GET /api/config/automation/config/porch', json(404, { message: 'Resource not found' }));
    const tracker = new OwnReloadTracker(clock);
    await new ConfigEntities(client.rest, connection, small, tracker, clock).removeRegistration(
      'automation',
      'porch',
    );
    expect(hub.commands.map(({ type }) => type)).toContain('config/entity_registry/remove');
    entities[1]!.labels = ['managed'];
    await unmark({ entityRegistry: small, labels: client.labels } as HubClient, 'scene', 'porch');
    expect(hub.commands.at(-1)).toMatchObject({ type: 'config/entity_registry/update', labels: [] });
    expect(keptLists.weight).toBe(0);
    connection.close();
  });

  test('finds by kind and id, with one list for all callers', async () => {
    const found = await Promise.all([
      registry.find('automation', 'porch'),
      registry.find('scene', 'porch'),
      registry.find('script', 'porch'),
    ]);
    expect(found.map((entity) => entity?.entity_id)).toEqual([
      'automation.evening',
      'scene.porch',
      undefined,
    ]);
    expect(lists()).toBe(1);
  });

  test('reads again only entries that the hub has reported as changed', async () => {
    await registry.find('script', 'porch');
    const script = { entity_id: 'script.porch', unique_id: 'porch', platform: 'script', disabled_by: null };
    entities.push(script);
    await tell({ action: 'create', entity_id: 'script.porch' });
    expect(await registry.find('script', 'porch')).toMatchObject(script);

    entities[3] = { ...script, entity_id: 'script.veranda' };
    await tell({
      action: 'update',
      entity_id: 'script.veranda',
      old_entity_id: 'script.porch',
      changes: { entity_id: 'script.porch' },
    });
    expect(await registry.find('script', 'porch')).toMatchObject({ entity_id: 'script.veranda' });

    await tell({ action: 'remove', entity_id: 'script.veranda' });
    expect(await registry.find('script', 'porch')).toBeUndefined();
    expect(await registry.find('scene', 'porch')).toMatchObject({ entity_id: 'scene.porch' });
    expect(lists()).toBe(1);
  });

  test('reports entities that were removed, renamed, disabled or enabled', async () => {
    const told: string[] = [];
    registry.onChange((kind, id) => told.push(`${kind} ${id}`));
    await registry.find('scene', 'porch');
    await tell({ action: 'update', entity_id: 'scene.porch', changes: { area_id: null } });
    await tell({ action: 'update', entity_id: 'sensor.porch', changes: { disabled_by: null } });
    await tell({ action: 'remove', entity_id: 'scene.unknown' });
    expect(told).toEqual([]);
    await tell({ action: 'update', entity_id: 'scene.porch', changes: { disabled_by: null } });
    await tell({ action: 'remove', entity_id: 'automation.evening' });
    expect(told).toEqual(['scene porch', 'automation porch']);
  });

  test('waits for a list in flight', async () => {
    const works = hub.onCommand;
    const asked = new Promise<() => void>((resolve) => {
      hub.onCommand = (command) => {
        if (command.message.type.endsWith('/list')) resolve(() => works(command));
        else works(command);
      };
    });
    const early = registry.find('scene', 'porch');
    const answer = await asked;
    const late = registry.find('scene', 'porch');
    answer();
    expect(await Promise.all([early, late])).toEqual([entities[1], entities[1]]);
    expect(lists()).toBe(1);
  });

  test('reads again after a failure', async () => {
    const works = hub.onCommand;
    hub.onCommand = (command) => command.fail('unknown_error', 'Unknown error');
    await expect(registry.find('scene', 'porch')).rejects.toThrow('Unknown error');
    hub.onCommand = works;
    expect(await registry.find('scene', 'porch')).toBeDefined();
  });
});
