import { HubClient } from '../../../operator/client/hub-client';
import { HubPresence } from '../../../operator/client/hub-presence';
import { silentLog } from '../../cluster/silent-log';
import { ManualClock } from '../manual-clock';
import { until } from '../until';
import { CONFIG, FakeHub } from './fake-hub';

let hub: FakeHub;
let client: HubClient;
let config: object;
let clock: ManualClock;

beforeEach(async () => {
  hub = await FakeHub.start();
  config = CONFIG;
  hub.onCommand = (command) => command.succeed(command.message.type === 'get_config' ? config : null);
  clock = new ManualClock();
  client = new HubClient({ url: hub.url, token: 'good-token', clock, log: silentLog });
});

afterEach(async () => {
  client.close();
  await hub.close();
});

const asked = () => hub.commands.filter(({ type }) => type === 'get_config').length;

/** Loses the connection, so that the next request opens another one. */
async function cut(): Promise<void> {
  for (const socket of hub.clients) socket.terminate();
  await until(() => !client.connection.connected);
}

describe('HubPresence', () => {
  test('asks a hub once for each connection whether it has started', async () => {
    expect(await Promise.all([client.presence.isRunning(), client.presence.isRunning()])).toEqual([
      true,
      true,
    ]);
    expect(await client.presence.isRunning()).toBe(true);
    expect(asked()).toBe(1);
    await cut();
    config = { ...CONFIG, state: 'STARTING' };
    expect(await client.presence.isRunning()).toBe(false);
    config = CONFIG;
    await clock.advance(2_000);
    expect(await client.presence.isRunning()).toBe(true);
  });

  test('polls a hub that stays in safe mode every 2 s, for all of its resources', async () => {
    config = { ...CONFIG, safe_mode: true };
    for (let second = 0; second < 10; second++) {
      for (let resource = 0; resource < 50; resource++) expect(await client.presence.isRunning()).toBe(false);
      await clock.advance(1_000);
    }
    expect(asked()).toBe(5);
  });

  test('asks immediately on another connection', async () => {
    config = { ...CONFIG, state: 'STOPPING' };
    expect(await client.presence.isRunning()).toBe(false);
    await cut();
    config = CONFIG;
    expect(await client.presence.isRunning()).toBe(true);
  });

  test.each([{ state: 'STARTING' }, { state: 'STOPPING' }, { recovery_mode: true }, { safe_mode: true }])(
    'does not treat a hub as running that is %j',
    async (fields) => {
      const { epoch } = client.presence;
      config = { ...CONFIG, ...fields };
      expect(await client.presence.isRunning()).toBe(false);
      expect(await client.presence.hasRunSince(epoch)).toBe(false);
    },
  );

  test('knows that a hub may have restarted since a moment', async () => {
    await client.presence.isRunning();
    const { epoch } = client.presence;
    expect(await client.presence.hasRunSince(epoch)).toBe(true);
    await cut();
    expect(await client.presence.hasRunSince(epoch)).toBe(false);
    expect(await client.presence.hasRunSince(client.presence.epoch)).toBe(true);
  });

  test('asks the hub, since the loss of its connection may not be known yet', async () => {
    await client.presence.isRunning();
    const { epoch } = client.presence;
    await hub.close();
    expect(await client.presence.hasRunSince(epoch)).toBe(false);
  });

  test('does not use the answer of a connection that was lost in the meantime as proof that the hub has run since', async () => {
    let lose = () => undefined as void;
    const connection = {
      onLost: (listener: () => void) => ((lose = listener), () => undefined),
      command: () => Promise.resolve(CONFIG).finally(() => lose()),
    };
    const presence = new HubPresence(connection as never, clock);
    expect(await presence.hasRunSince(presence.epoch)).toBe(false);
  });

  test('asks again after an error', async () => {
    hub.refuseUpgrade = 503;
    await expect(client.presence.isRunning()).rejects.toThrow('503');
    hub.refuseUpgrade = undefined;
    expect(await client.presence.isRunning()).toBe(true);
  });
});
