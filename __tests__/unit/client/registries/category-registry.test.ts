import { HubClient } from '../../../../operator/client/hub-client';
import { foldCase } from '../../../../operator/kinds/ids';
import { silentLog } from '../../../cluster/silent-log';
import { FakeHub } from '../fake-hub';
import { ManualClock } from '../../manual-clock';

interface Message {
  readonly type: string;
  readonly id: number;
  readonly scope: string;
  readonly name: string;
}

let hub: FakeHub;
let client: HubClient;
let categories: { scope: string; name: string; category_id: string }[];

beforeEach(async () => {
  hub = await FakeHub.start();
  client = new HubClient({ url: hub.url, token: 'good-token', clock: new ManualClock(), log: silentLog });
  categories = [{ scope: 'scene', name: 'Straße', category_id: 'c0' }];
  hub.onCommand = (command) => {
    const { type, scope, name } = command.message as unknown as Message;
    if (type === 'config/category_registry/list')
      return command.succeed(categories.filter((each) => each.scope === scope));
    if (type !== 'config/category_registry/create') return command.succeed();
    const category_id = `c${categories.length}`;
    categories.push({ scope, name, category_id });
    command.succeed({ category_id, name });
  };
});

afterEach(async () => {
  client.close();
  await hub.close();
});

const sent = (type: string) => hub.commands.filter((message) => message.type === type);

describe('categories of a hub', () => {
  test('one category is created for simultaneous requests, and none if the hub has it in another case', async () => {
    const names = ['Night', 'night', 'NIGHT'];
    await Promise.all(names.map((name) => client.categories.ensure('automation', name, foldCase)));
    await client.categories.ensure('automation', 'nIGHT', foldCase);
    await client.categories.ensure('scene', 'STRASSE', foldCase);
    expect(sent('config/category_registry/create')).toMatchObject([{ scope: 'automation', name: 'Night' }]);
    expect([...(await client.categories.entries('automation'))]).toEqual([['c1', 'Night']]);
  });

  test('a list is requested once, and again after an event', async () => {
    await client.categories.entries('scene');
    await client.categories.entries('scene');
    expect(sent('config/category_registry/list')).toHaveLength(1);
    const subscription = hub.commands.find((message) => message.type === 'subscribe_events')!;
    categories.push({ scope: 'scene', name: 'Film', category_id: 'c9' });
    const event = { data: { action: 'create', scope: 'scene', category_id: 'c9' } };
    for (const socket of hub.clients)
      socket.send(JSON.stringify({ id: (subscription as unknown as Message).id, type: 'event', event }));
    await client.connection.command('get_config');
    expect([...(await client.categories.entries('scene')).values()]).toEqual(['Straße', 'Film']);
  });
});
