import { HubClient } from '../../../../operator/client/hub-client';
import { silentLog } from '../../../cluster/silent-log';
import { FakeHub } from '../fake-hub';
import { ManualClock } from '../../manual-clock';

let hub: FakeHub;
let client: HubClient;

beforeEach(async () => {
  hub = await FakeHub.start();
  client = new HubClient({ url: hub.url, token: 'good-token', clock: new ManualClock(), log: silentLog });
  const users = [
    { id: 'system', username: null, is_owner: false, system_generated: true },
    { id: 'blank', username: '', is_owner: false, system_generated: false },
    { id: 'ada', username: 'ada', is_owner: true, system_generated: false },
  ];
  hub.onCommand = (command) =>
    command.succeed(command.message.type === 'config/auth/list' ? users : undefined);
});

afterEach(async () => {
  client.close();
  await hub.close();
});

test.each([
  ['ada', 'ada'],
  [' Ada ', 'ada'],
  ['eve', undefined],
  // White space for this program, and not for the pattern of the schema.
  ['\u00a0', undefined],
  ['\ufeff', undefined],
])('the login name %j belongs to the user %s', async (username, id) => {
  expect(await client.users.find(username)).toBe(id);
});
