import { EntityRegistry } from '../../../operator/client/entity-registry';
import { HubClient } from '../../../operator/client/hub';
import { systemClock } from '../../../operator/clock';
import { silentLog } from '../../cluster/silent-log';
import { FakeHub } from './fake-hub';

let hub: FakeHub;
let client: HubClient;
let registry: EntityRegistry;
let entities: object[];

const lists = () => hub.commands.filter((message) => message.type === 'config/entity_registry/list').length;

beforeEach(async () => {
  hub = await FakeHub.start();
  client = new HubClient({ url: hub.url, token: 'good-token', clock: systemClock, log: silentLog });
  registry = client.entityRegistry;
  entities = [
    { entity_id: 'automation.evening', unique_id: 'porch', platform: 'automation', disabled_by: null },
    { entity_id: 'scene.porch', unique_id: 'porch', platform: 'homeassistant', disabled_by: null },
    { entity_id: 'sensor.porch', unique_id: 'porch', platform: 'mqtt', disabled_by: null },
  ];
  hub.onCommand = (command) => {
    if (command.message.type === 'config/entity_registry/list') command.succeed(entities);
    else command.succeed();
  };
});

afterEach(async () => {
  client.close();
  await hub.close();
});

describe('EntityRegistry', () => {
  it('finds by kind and id, with one list for all who ask', async () => {
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

  it('reads again after the hub has told of a change', async () => {
    await registry.find('script', 'porch');
    entities.push({ entity_id: 'script.porch', unique_id: 'porch', platform: 'script', disabled_by: null });
    const { id } = hub.commands.find((message) => message.type === 'subscribe_events') ?? {};
    for (const socket of hub.clients) socket.send(JSON.stringify({ id, type: 'event', event: {} }));
    await client.connection.command('anything'); // answers come in order: the event has arrived before
    expect(await registry.find('script', 'porch')).toMatchObject({ entity_id: 'script.porch' });
    expect(lists()).toBe(2);
  });

  it('reads again after a failure', async () => {
    const works = hub.onCommand;
    hub.onCommand = (command) => command.fail('unknown_error', 'Unknown error');
    await expect(registry.find('scene', 'porch')).rejects.toThrow('Unknown error');
    hub.onCommand = works;
    expect(await registry.find('scene', 'porch')).toBeDefined();
  });
});
