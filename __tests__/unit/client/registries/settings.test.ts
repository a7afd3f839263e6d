import { HubClient } from '../../../../operator/client/hub-client';
import { silentLog } from '../../../cluster/silent-log';
import { FakeHub } from '../fake-hub';
import { ManualClock } from '../../manual-clock';

let hub: FakeHub;
let client: HubClient;
let entities: { entity_id: string; [field: string]: unknown }[];
let devices: object[];

const anEntity = (id: string, fields: object = {}) => ({
  entity_id: `sensor.s${id}`,
  id: `r${id}`,
  unique_id: `u${id}`,
  platform: 'mqtt',
  disabled_by: null,
  labels: [],
  aliases: [null],
  options: {},
  ...fields,
});

/** Returns the number of ids in each command that reads entities. */
const reads = () =>
  hub.commands
    .filter(({ type }) => type === 'config/entity_registry/get_entries')
    .map((message) => (message as unknown as { entity_ids: string[] }).entity_ids.length);

beforeEach(async () => {
  hub = await FakeHub.start();
  client = new HubClient({ url: hub.url, token: 'good-token', clock: new ManualClock(), log: silentLog });
  entities = [anEntity('1')];
  devices = [];
  hub.onCommand = (command) => {
    const { type, entity_ids: ids = [] } = command.message as { type: string; entity_ids?: string[] };
    if (type === 'config/entity_registry/list') command.succeed(entities);
    else if (type === 'config/device_registry/list') command.succeed(devices);
    else if (type === 'config/entity_registry/get_entries') {
      const byId = new Map(entities.map((each) => [each.entity_id, each]));
      command.succeed(Object.fromEntries(ids.map((id) => [id, byId.get(id) ?? null])));
    } else command.succeed();
  };
});

afterEach(async () => {
  client.close();
  await hub.close();
});

/** Sends events of changes. Resolves when the events have arrived. */
async function tell(all: readonly object[]): Promise<void> {
  const { id } = hub.commands.find((message) => message.type === 'subscribe_events') ?? {};
  for (const data of all)
    for (const socket of hub.clients) socket.send(JSON.stringify({ id, type: 'event', event: { data } }));
  await client.connection.command('get_config');
}

describe('own changes', () => {
  test('are not announced; those of another client are, also during own changes', async () => {
    entities = [anEntity('1'), anEntity('2')];
    const { settings } = client;
    let announced = 0;
    settings.entity.onChange(() => (announced += 1));
    const record = (await settings.entity.entries()).get('r1')!;
    const answer = hub.onCommand;
    hub.onCommand = (command) => {
      if ((command.message as { type: string }).type !== 'config/entity_registry/update')
        return answer(command);
      entities[0] = anEntity('1', { name: 'New' });
      void tell([{ action: 'update', entity_id: 'sensor.s1' }]).then(() => command.succeed());
    };
    expect(await settings.entity.update(record, { name: 'New' })).toMatchObject({
      settings: { name: 'New' },
    });
    expect(announced).toBe(0);
    await tell([{ action: 'update', entity_id: 'sensor.s1' }]);
    expect(announced).toBe(1);
    hub.onCommand = (command) => {
      if ((command.message as { type: string }).type !== 'config/entity_registry/update')
        return answer(command);
      void tell([{ action: 'update', entity_id: 'sensor.s2' }]).then(() => command.succeed());
    };
    await settings.entity.update(record, { name: 'New' });
    expect(announced).toBe(2);
  });
});

describe('EntitySettings', () => {
  test('a storm of events causes reads in parts, and no others', async () => {
    entities = Array.from({ length: 1_200 }, (_, n) => anEntity(String(n)));
    await client.settings.entity.entries();
    expect(reads()).toEqual([500, 500, 200]);
    entities = entities.map((each) => ({ ...each, name: 'New' }));
    await tell(entities.map(({ entity_id: entityId }) => ({ action: 'update', entity_id: entityId })));
    const entries = await client.settings.entity.entries();
    expect(reads()).toEqual([500, 500, 200, 500, 500, 200]);
    expect(entries.get('r7')).toMatchObject({ settings: { name: 'New' } });
    await client.settings.entity.entries();
    expect(reads()).toHaveLength(6);
  });

  test('an id that the hub does not read is left out of the command', async () => {
    entities.push(anEntity('2', { entity_id: 'sensor.a__b' }));
    const { all } = await client.settings.entity.entries();
    expect(reads()).toEqual([1]);
    expect([...all]).toHaveLength(1);
    await tell([{ action: 'update', entity_id: 'sensor.a__b' }]);
    await client.settings.entity.entries();
    expect(reads()).toEqual([1]);
  });

  test('an entity with values that its integration invented hides no other one', async () => {
    entities.push(
      anEntity('2', { unique_id: 7, original_name: 8, translation_key: [], original_device_class: {} }),
      anEntity('3', { unique_id: ['a', 1] }),
      anEntity('4', {
        unique_id: { toString: 1 },
        original_name: null,
        options: { sensor: 5, conversation: [] },
      }),
      anEntity('5', {
        unique_id: null,
        options: JSON.parse('{"__proto__":{"should_expose":true}}') as object,
      }),
    );
    const { all } = await client.settings.entity.entries();
    expect([...all].map(({ uniqueId }) => uniqueId)).toEqual(['u1', '7', '["a",1]', '{"toString":1}', '']);
    expect([...all].map(({ settings }) => settings['expose.conversation'])).toEqual([
      null,
      null,
      null,
      null,
      null,
    ]);
  });

  test('a setting among options is sent with the hub’s others, and removing the last one leaves none', async () => {
    entities = [
      anEntity('1', { options: { sensor: { unit_of_measurement: '°F', of_others: [1] } } }),
      anEntity('2', { options: { conversation: { should_expose: true } } }),
    ];
    const { get } = await client.settings.entity.entries();
    await client.settings.entity.update(get('r1')!, { unit: null, precision: 2 });
    await client.settings.entity.update(get('r2')!, { 'expose.conversation': null });
    const sent = hub.commands.filter(({ type }) => type === 'config/entity_registry/update');
    expect(sent).toMatchObject([
      { entity_id: 'sensor.s1', options_domain: 'sensor', options: { display_precision: 2, of_others: [1] } },
      { entity_id: 'sensor.s2', options_domain: 'conversation', options: null },
    ]);
  });
});

describe('DeviceSettings', () => {
  test('a device with values that its integration invented hides no other one', async () => {
    devices = [
      {
        id: 'd1',
        labels: [],
        name: 5,
        serial_number: 1234,
        identifiers: [['hue', 7], ['a', 'b', 'c'], 'xy'],
      },
      { id: 'd2', labels: [], name: null, identifiers: 'odd', connections: [['mac', ['x']], null] },
    ];
    const { all } = await client.settings.device.entries();
    expect([...all]).toMatchObject([
      { originalName: '5', serialNumber: '1234', identifiers: [['hue', '7']], connections: [] },
      { originalName: null, serialNumber: null, identifiers: [], connections: [['mac', '["x"]']] },
    ]);
  });
});
