import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import type { Clock } from '../../../../operator/base/clock';
import { Turns } from '../../../../operator/base/turns';
import { AuthBackoff } from '../../../../operator/client/connection/auth-backoff';
import { HubConnection } from '../../../../operator/client/connection/connection';
import {
  HubBanned,
  HubFailed,
  HubRejected,
  HubUnreachable,
  NotFound,
  TokenRejected,
} from '../../../../operator/client/connection/errors';
import { KeptLists } from '../../../../operator/client/connection/kept-lists';
import { RestClient } from '../../../../operator/client/connection/rest';
import { redactor } from '../../../../operator/client/connection/redact';
import { freePort } from '../../../../sandbox/ports';
import { silentLog } from '../../../cluster/silent-log';
import { CONFIG, FakeHub, text } from '../fake-hub';
import { letTimePass, ManualClock } from '../../manual-clock';
import { RecordingLog } from '../../runtime/recording-log';
import { until } from '../../until';

let hub: FakeHub;
const opened: { close(): void }[] = [];

/** A clock with which no deadline passes. */
const stopped = (): Clock => new ManualClock();

/** A clock with which attempts to reconnect become due, but no deadline passes. */
function moving(): Clock {
  const clock = new ManualClock();
  opened.push({ close: letTimePass(clock) });
  return clock;
}

function open({
  token = 'good-token',
  clock = stopped(),
  url = hub.url,
  assertLeader = () => undefined,
  authBackoff = new AuthBackoff(clock),
  log = silentLog,
  keptLists = new KeptLists(Infinity),
} = {}): HubConnection {
  const rest = new RestClient({ url, clock, redact: redactor(['hunter2']), assertLeader });
  const connection = new HubConnection({ rest, token, authBackoff, clock, log, keptLists });
  opened.push(connection, rest);
  return connection;
}

/**
 * Resolves when the hub has answered a request, and therefore has accepted every connection that was opened
 * before.
 */
async function roundTrip(): Promise<void> {
  await (await fetch(`${hub.url}/manifest.json`)).text();
}

beforeEach(async () => {
  hub = await FakeHub.start();
});

afterEach(async () => {
  for (const each of opened.splice(0)) each.close();
  await hub.close();
});

describe('HubConnection: opening', () => {
  test('happens once, at the first use', async () => {
    hub.onCommand = (command) => command.succeed({ you: command.message['refresh_token_id'] });
    const connection = open();
    await roundTrip();
    expect(hub.connects).toBe(0);
    const answers = await Promise.all(
      ['1', '2', '3'].map((refresh_token_id) =>
        connection.command('auth/delete_refresh_token', { refresh_token_id }),
      ),
    );
    expect(answers).toEqual([{ you: '1' }, { you: '2' }, { you: '3' }]);
    expect(hub.connects).toBe(1);
  });

  test('throws TokenRejected for a rejected token, which is not sent again', async () => {
    const connection = open({ token: 'revoked' });
    for (let call = 0; call < 5; call++)
      await expect(connection.command('get_config')).rejects.toThrow(TokenRejected);
    expect(hub.connects).toBe(1);
  });

  test.each([
    ['a ban', 403, 403, HubBanned],
    ['a 403 that is no ban', 403, 200, HubUnreachable],
    ['a hub without WebSocket yet', 404, 200, HubUnreachable],
    ['a gateway without hub', 502, 502, HubUnreachable],
  ])('reports %s', async (_what, upgrade, manifest, type) => {
    hub.refuseUpgrade = upgrade;
    hub.routes.set('GET /manifest.json', text(manifest, ''));
    await expect(open().command('get_config')).rejects.toThrow(type);
  });

  test('throws HubUnreachable when the connection is refused, and succeeds when the hub is up', async () => {
    await hub.close();
    const port = await freePort();
    const connection = open({ url: `http://127.0.0.1:${port}` });
    await expect(connection.command('get_config')).rejects.toThrow(HubUnreachable);
    hub = await FakeHub.start('http', port);
    await connection.command('get_config');
  });

  test('times out when the peer accepts the connection and does not answer', async () => {
    const silent = createServer().listen(0);
    await once(silent, 'listening');
    const clock = new ManualClock();
    const connection = open({ clock, url: `http://127.0.0.1:${(silent.address() as AddressInfo).port}` });
    const accepted = once(silent, 'connection') as Promise<[{ destroy(): void }]>;
    const failure = expect(connection.command('get_config')).rejects.toThrow(
      'did not answer get_config within 10 s',
    );
    const [socket] = await accepted;
    await clock.advance(20_000);
    await failure;
    await until(() => clock.pendingTimers === 0);
    socket.destroy();
    silent.close();
  });
});

describe('HubConnection: commands', () => {
  test.each([
    ['not_found', 'Entity not found', NotFound],
    ['invalid_info', 'The name Attic is already in use', HubRejected],
    ['unauthorized', 'Unauthorized', HubRejected],
    ['unknown_error', 'Unknown error', HubFailed],
  ])('fail as the hub says: %s', async (code, message, type) => {
    hub.onCommand = (command) => command.fail(code, message);
    const failure = await open()
      .command('get_config')
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(type);
    expect(failure).toMatchObject({ message });
  });

  test('that are rejected report whether they would have changed anything', async () => {
    hub.onCommand = (command) => command.fail('unauthorized', 'Unauthorized');
    const connection = open();
    await expect(connection.command('config/entity_registry/list')).rejects.toMatchObject({
      requestType: 'read',
    });
    await expect(
      connection.command('config/entity_registry/update', { entity_id: 'scene.a', labels: [] }),
    ).rejects.toMatchObject({ requestType: 'write' });
  });

  test('mask secrets in error texts of the hub', async () => {
    hub.onCommand = (command) => command.fail('invalid_format', "expected int, got 'hunter2'");
    await expect(open().command('get_config')).rejects.toThrow("expected int, got '***'");
  });

  test('are not sent when this process is no longer the leader', async () => {
    const lost = new Error('the lease was not renewed in time');
    let leads = true;
    const connection = open({
      assertLeader: () => {
        if (!leads) throw lost;
      },
    });
    await connection.command('get_config');
    leads = false;
    await expect(connection.command('auth/current_user')).rejects.toBe(lost);
    expect(hub.commands.map(({ type }) => type)).toEqual(['get_config']);
  });

  test('time out while the connection stays open', async () => {
    const clock = new ManualClock();
    hub.onCommand = (command) =>
      void (command.message.type === 'auth/current_user' || command.succeed(CONFIG));
    const connection = open({ clock });
    await connection.command('get_config');
    const failure = expect(connection.command('auth/current_user', {}, { timeout: 3_000 })).rejects.toThrow(
      HubUnreachable,
    );
    await clock.advance(3_000);
    await failure;
    expect(await connection.command('get_config')).toEqual(CONFIG);
    expect(hub.connects).toBe(1);
    expect(clock.pendingTimers).toBe(1); // only the timer of the heartbeat is left
  });

  test('that are in flight fail when the connection is lost or closed', async () => {
    hub.onCommand = (command) => command.socket.terminate();
    const connection = open({ clock: moving() });
    await expect(connection.command('get_config')).rejects.toThrow(HubUnreachable);
    hub.onCommand = () => connection.close();
    await until(() => connection.connected);
    await expect(connection.command('get_config')).rejects.toThrow(HubUnreachable);
    await expect(connection.command('get_config')).rejects.toThrow(HubUnreachable);
  });

  test('work again after a frame that is not JSON: the connection is reopened', async () => {
    hub.onCommand = (command) => command.socket.send('{"half":');
    const connection = open({ clock: moving() });
    await expect(connection.command('get_config')).rejects.toThrow(HubUnreachable);
    hub.onCommand = (command) => command.succeed(CONFIG);
    await until(() => connection.connected);
    expect(await connection.command('get_config')).toEqual(CONFIG);
  });
});

describe('HubConnection: subscriptions', () => {
  const fire = (event: unknown) => {
    const { id } = hub.commands.findLast((message) => message.type === 'subscribe_events') ?? {};
    for (const client of hub.clients)
      client.send(JSON.stringify({ id, type: 'event', event: { data: { component: String(event) } } }));
  };

  test('deliver events, also in batches, until they are ended', async () => {
    const connection = open();
    const seen: unknown[] = [];
    const cancel = await connection.subscribeEvents('component_loaded', (event) => seen.push(event));
    fire(1);
    const { id } = hub.commands[0] ?? {};
    const batch = [2, 3].map((data) => ({ id, type: 'event', event: { data: { component: String(data) } } }));
    for (const client of hub.clients) client.send(JSON.stringify(batch));
    await until(() => seen.length === 3);
    await cancel();
    expect(hub.commands.at(-1)).toMatchObject({ type: 'unsubscribe_events', subscription: id });
  });

  test('throw the rejection of the hub', async () => {
    hub.onCommand = (command) => command.fail('unauthorized', 'Unauthorized');
    await expect(open().subscribeEvents('component_loaded', () => undefined)).rejects.toThrow(HubRejected);
  });

  test('are not ended by a listener that fails', async () => {
    const connection = open();
    let seen = 0;
    await connection.subscribeEvents('component_loaded', () => {
      seen++;
      throw new Error('bug');
    });
    fire(1);
    fire(2);
    await until(() => seen === 2);
    expect(hub.connects).toBe(1);
  });

  test('are restored after a loss, and both the loss and the return are reported', async () => {
    const connection = open({ clock: moving() });
    const seen: unknown[] = [];
    const told: string[] = [];
    connection.onLost(() => told.push('lost'));
    connection.onReconnect(() => told.push('back'));
    await connection.subscribeEvents('component_loaded', (event) => seen.push(event));
    for (const client of hub.clients) client.terminate();
    await until(() => told.length === 2);
    fire('after');
    await until(() => seen.length === 1);
    expect(told).toEqual(['lost', 'back']);
    expect(hub.connects).toBe(2);
  });

  test('are told that changes were missed when a dropped list of the hub may be read again', async () => {
    const clock = new ManualClock();
    const connection = open({ clock, keptLists: new KeptLists(1_000) });
    const told: string[] = [];
    connection.onMissedChanges(() => told.push('missed'));
    connection.onReconnect(() => told.push('back'));
    await connection.subscribeEvents('component_loaded', () => undefined);
    const list = connection.lists.add('areas', () => undefined);
    list.beginRead();
    list.set(2_000);
    await clock.advance(59_999);
    expect(told).toEqual([]);
    await clock.advance(1);
    expect(told).toEqual(['missed']);
    list.set(2_000);
    await hub.close(); // the listener is told of the return instead
    await until(() => !connection.connected);
    await clock.advance(120_000);
    expect(told).toEqual(['missed']);
    list.set(2_000);
    connection.close();
    expect(clock.pendingTimers).toBe(0);
  });

  test('that are all rejected after a loss do not prevent that the return is reported', async () => {
    const connection = open({ clock: moving() });
    const told: string[] = [];
    connection.onReconnect(() => told.push('back'));
    await connection.subscribe('backup/subscribe_events', {}, () => undefined);
    hub.onCommand = (command) => command.fail('unknown_command', 'Unknown command.');
    for (const client of hub.clients) client.terminate();
    await until(() => told.length === 1);
  });

  test('that a starting hub rejects are retried individually, after pauses that double, and suspend no other subscription', async () => {
    const clock = new ManualClock();
    const log = new RecordingLog();
    const connection = open({ clock, log });
    /** Counts the rejections of a subscription, after each of which the next attempt is due. */
    const rejections = () =>
      log.at('warn').filter((message) => message === 'failed to restore hub subscription').length;
    let returns = 0;
    connection.onReconnect(() => returns++);
    let isLost = false;
    connection.onLost(() => (isLost = true));
    await connection.subscribe('backup/subscribe_events', {}, () => undefined);
    const seen: unknown[] = [];
    await connection.subscribeEvents('component_loaded', (event) => seen.push(event));
    let accepts = false;
    hub.onCommand = (command) =>
      command.message.type === 'subscribe_events' || accepts
        ? command.succeed()
        : command.fail('unknown_command', 'Unknown command.');
    for (const client of hub.clients) client.terminate();
    await until(() => isLost);
    await clock.advance(1);
    await until(() => rejections() === 1);
    expect(returns).toBe(1);
    fire('after');
    await until(() => seen.length === 1);
    await clock.advance(5_000);
    await until(() => rejections() === 2);
    expect([hub.commands.length, returns]).toEqual([5, 1]);
    await clock.advance(9_999);
    await roundTrip();
    expect(hub.commands).toHaveLength(5);
    accepts = true;
    await clock.advance(1);
    await until(() => returns === 2);
    await clock.advance(600_000);
    expect([hub.commands.length, rejections(), returns]).toEqual([6, 2, 2]);
  });
});

describe('HubConnection: a lost connection', () => {
  test('fails commands at once while the hub is gone', async () => {
    await hub.close();
    const port = await freePort();
    hub = await FakeHub.start('http', port);
    const connection = open({ clock: moving() });
    await connection.command('get_config');
    await hub.close();
    await until(() => !connection.connected);
    await expect(connection.command('get_config')).rejects.toThrow(HubUnreachable);
    await hub.listen(port);
    await until(() => connection.connected);
    await connection.command('get_config');
  });

  test('is detected by the heartbeat when the peer does not answer', async () => {
    const clock = new ManualClock();
    const connection = open({ clock });
    await connection.command('get_config');
    for (const client of hub.clients) client.pause();
    let lost = false;
    connection.onLost(() => (lost = true));
    await clock.advance(30_000);
    expect(lost).toBe(false);
    await clock.advance(15_000);
    await until(() => lost);
  });

  test('is not restored after it was closed', async () => {
    const clock = new ManualClock();
    const connection = open({ clock });
    await connection.command('get_config');
    connection.close();
    await until(() => hub.clients.size === 0);
    await clock.advance(60_000);
    await roundTrip();
    expect(hub.connects).toBe(1);
  });

  test('sends a rejected token again only after the hub was down', async () => {
    const clock = new ManualClock();
    let isDown = false;
    const authBackoff = new AuthBackoff(clock, () => Promise.resolve(isDown));
    const connection = open({ clock, authBackoff });
    await connection.command('get_config');
    hub.token = 'another';
    let isLost = false;
    connection.onLost(() => (isLost = true));
    for (const client of hub.clients) client.terminate();
    await until(() => isLost);
    await clock.advance(1);
    await until(() => hub.connects === 2 && hub.clients.size === 0);
    await clock.advance(60 * 60_000);
    await expect(connection.command('get_config')).rejects.toThrow(TokenRejected);
    expect(hub.connects).toBe(2);
    hub.token = 'good-token';
    isDown = true;
    await clock.advance(10_000);
    await until(() => connection.connected);
  });
});

describe('a hub that sends messages without an end', () => {
  const event = (id: number) => ({ id, type: 'event', event: null });
  const change = { change_type: 'added', zone_id: 'a' };

  test.each<[string, (id: number) => object]>([
    ['events of no subscription', () => Array.from({ length: 4_000 }, () => event(1_000_000))],
    [
      'more messages at once than a hub keeps',
      (id) => Array.from({ length: 5_000 }, () => ({ id, type: 'pong' })),
    ],
    ['messages of another form', (id) => Array.from({ length: 2_000 }, () => event(id))],
  ])('is given up: %s', async (_, floodOf) => {
    const warn = jest.spyOn(console, 'warn').mockImplementation();
    const log = new RecordingLog();
    const connection = open({ log });
    await connection.subscribe('zone/subscribe', {}, () => undefined);
    const { id } = hub.commands.at(-1)!;
    const sent = hub.commands.length;
    const [socket] = hub.clients;
    const closed = once(socket!, 'close');
    socket!.send(JSON.stringify(floodOf(id)));
    await closed;
    await until(() => !connection.connected);
    expect(hub.commands.length).toBe(sent);
    expect(warn.mock.calls).toEqual([]);
    expect(log.at('warn').length).toBeLessThanOrEqual(3);
    expect(log.at('error')).toEqual([]);
    warn.mockRestore();
  });

  test('with messages of another form is given up within an hour, also on a new connection; afterwards it may send as many again', async () => {
    const clock = new ManualClock();
    const connection = open({ clock });
    await connection.subscribe('zone/subscribe', {}, () => undefined);
    const send = (count: number) => {
      const { id } = hub.commands.findLast(({ type }) => type === 'zone/subscribe')!;
      for (const socket of hub.clients) socket.send(JSON.stringify(Array(count).fill(event(id))));
    };
    const reopened = async () => {
      await until(() => !connection.connected);
      const { length } = hub.commands;
      await clock.advance(5_000);
      await until(() => connection.connected && hub.commands.length > length);
    };
    send(600);
    await connection.command('get_config');
    expect(connection.connected).toBe(true);
    for (const socket of hub.clients) socket.terminate();
    await reopened();
    send(600);
    await reopened();
    send(1);
    await reopened();
    clock.freeze(60 * 60_000);
    send(1_000);
    await connection.command('get_config');
    expect(connection.connected).toBe(true);
  });

  test('with answers to no request causes one log line each minute, with their number', async () => {
    const warn = jest.spyOn(console, 'warn').mockImplementation();
    const log = new RecordingLog();
    const clock = new ManualClock();
    const connection = open({ log, clock });
    const flood = async (type: string) => {
      await connection.command('get_config');
      const [socket] = hub.clients;
      socket!.send(JSON.stringify(Array(4_000).fill({ id: 1_000_000, type, success: true })));
      await connection.command('get_config');
    };
    await flood('pong');
    await flood('result');
    expect(log.at('warn')).toHaveLength(1);
    clock.freeze(60_000);
    await flood('pong');
    const message = 'messages of hub answer nothing that was asked';
    expect(log.lines).toMatchObject([
      { message, fields: { count: 1 } },
      { message, fields: { count: 8_000 } },
    ]);
    expect(warn.mock.calls).toEqual([]);
    warn.mockRestore();
  });

  test('with large ones between small ones is read in the order of its messages', async () => {
    const connection = open();
    const seen: number[] = [];
    await connection.subscribe('zone/subscribe', {}, (changes) => seen.push(changes.length));
    const { id } = hub.commands.at(-1)!;
    const [socket] = hub.clients;
    const sizes = [1, 5_000, 2, 3, 5_001, 5_002, 4];
    for (const size of sizes)
      socket!.send(JSON.stringify({ id, type: 'event', event: Array(size).fill(change) }));
    await until(() => seen.length === sizes.length);
    expect(seen).toEqual(sizes);
    await connection.command('get_config');
  });

  test('with large ones is not read before its turn, and its next messages not before them', async () => {
    const add = jest.spyOn(Turns.prototype, 'add').mockImplementation();
    const connection = open();
    const seen: number[] = [];
    await connection.subscribe('zone/subscribe', {}, (changes) => seen.push(changes.length));
    const { id } = hub.commands.at(-1)!;
    const [socket] = hub.clients;
    for (const size of [1, 5_000, 2])
      socket!.send(JSON.stringify({ id, type: 'event', event: Array(size).fill(change) }));
    await until(() => add.mock.calls.length === 1);
    await roundTrip();
    expect(seen).toEqual([1]);
    add.mock.calls[0]![0]();
    await until(() => seen.length === 3);
    expect(seen).toEqual([1, 5_000, 2]);
    add.mockRestore();
  });

  test('a message that waits for its turn is not dropped for others that arrive, and those are parsed immediately where too much waits', async () => {
    const add = jest.spyOn(Turns.prototype, 'add').mockImplementation();
    const room = jest
      .spyOn(Turns.prototype, 'mayWait')
      .mockImplementation((size) => size > 1_000_000 && add.mock.calls.length === 0);
    const [patient, other] = [open(), open()];
    const seen: unknown[] = [];
    const large = 'x'.repeat(11 * 1024 * 1024);
    for (const connection of [patient, other]) {
      await connection.subscribe('zone/subscribe', {}, () => seen.push(connection));
      const { id } = hub.commands.at(-1)!;
      const socket = [...hub.clients].at(-1)!;
      socket.send(JSON.stringify({ id, type: 'event', event: [{ ...change, note: large }] }));
      await until(() => add.mock.calls.length === 1 && (connection === patient || seen.length === 1));
    }
    expect(seen).toEqual([other]);
    expect([patient.connected, other.connected]).toEqual([true, true]);
    add.mock.calls[0]![0]();
    await until(() => seen.length === 2);
    for (const mock of [add, room]) mock.mockRestore();
  });

  test('after a large message that was parsed immediately, nothing more is read until the process has paused', async () => {
    let endRest!: () => void;
    const mocks = [
      jest.spyOn(Turns.prototype, 'mayWait').mockReturnValue(false),
      jest.spyOn(Turns.prototype, 'rested').mockReturnValue(new Promise((resolve) => (endRest = resolve))),
    ];
    const connection = open();
    const seen: unknown[] = [];
    await connection.subscribe('zone/subscribe', {}, (changes) => seen.push(changes.length));
    const { id } = hub.commands.at(-1)!;
    const [socket] = hub.clients;
    const event = (note: string) =>
      socket!.send(JSON.stringify({ id, type: 'event', event: [{ ...change, note }] }));
    event('x'.repeat(100_000));
    await until(() => seen.length === 1);
    event('after it');
    for (let round = 0; round < 10; round++) await roundTrip();
    expect(seen).toHaveLength(1);
    endRest();
    await until(() => seen.length === 2);
    for (const mock of mocks) mock.mockRestore();
  });

  test.each([
    [60, 600],
    [30, 1_024],
  ])('%i hubs that each send %i KiB at the same time are all read', async (count, kibibytes) => {
    const connections = Array.from({ length: count }, () => open());
    const seen: unknown[] = [];
    const texts: string[] = [];
    for (const connection of connections) {
      await connection.subscribe('zone/subscribe', {}, () => seen.push(connection));
      const { id } = hub.commands.at(-1)!;
      const event = [{ ...change, note: 'x'.repeat(kibibytes * 1_024) }];
      texts.push(JSON.stringify({ id, type: 'event', event }));
    }
    [...hub.clients].forEach((socket, index) => socket.send(texts[index]!));
    await until(() => seen.length === count);
    expect(connections.every(({ connected }) => connected)).toBe(true);
  });

  test('a list with as many messages as a hub may have queued is read', async () => {
    const connection = open();
    const seen: unknown[] = [];
    await connection.subscribe('zone/subscribe', {}, (changes) => seen.push(changes));
    const { id } = hub.commands.at(-1)!;
    const [socket] = hub.clients;
    socket!.send(JSON.stringify(Array.from({ length: 4_096 }, () => ({ id, type: 'event', event: [] }))));
    await until(() => seen.length === 4_096);
    expect(connection.connected).toBe(true);
  });
});
