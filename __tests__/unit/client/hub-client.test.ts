import { setTimeout as sleep } from 'node:timers/promises';
import { HubClient } from '../../../operator/client/hub-client';
import type { HubEvent } from '../../../operator/client/hub-events';
import { silentLog } from '../../cluster/silent-log';
import { FakeHub, json, text } from './fake-hub';
import { ManualClock } from '../manual-clock';
import { until } from '../until';

let hub: FakeHub;
let clock: ManualClock;
let client: HubClient;

beforeEach(async () => {
  hub = await FakeHub.start();
  clock = new ManualClock();
  client = new HubClient({ url: hub.url, token: 'good-token', clock, log: silentLog });
  hub.routes.set('GET /api/components', json(200, ['scene']));
});

afterEach(async () => {
  client.close();
  await hub.close();
});

/**
 * Advances the clock until `work` has ended, so slowly that no request misses its time limit on a busy
 * machine.
 */
async function inTime<T>(work: Promise<T>): Promise<T> {
  let over = false;
  void work.finally(() => (over = true)).catch(() => undefined);
  while (!over) {
    await clock.advance(50);
    await sleep(5);
  }
  return work;
}

describe('HubClient: a reload by the operator', () => {
  const signals: HubEvent[] = [];

  beforeEach(async () => {
    signals.length = 0;
    client.events.onEvent((signal) => signals.push(signal));
    await client.events.watch();
  });

  async function announceReload(): Promise<void> {
    const { id } = hub.commands.find(({ type }) => type === 'subscribe_trigger')!;
    const trigger = { id: 'reload', event: { data: { domain: 'scene', service: 'reload' } } };
    const message = { id, type: 'event', event: { variables: { trigger } } };
    for (const socket of hub.clients) socket.send(JSON.stringify(message));
    await client.connection.command('get_config'); // by now all earlier events have arrived
  }

  test('does not count as a reload by another client', async () => {
    hub.routes.set('POST /api/services/scene/reload', json(200, []));
    expect(await inTime(client.reloads.request('scene'))).toMatchObject({ ok: true });
    await announceReload();
    expect(signals).toEqual([]);
  });

  test('that never reached the hub does not hide a reload by another client', async () => {
    hub.routes.set('POST /api/services/scene/reload', text(503, ''));
    expect(await inTime(client.reloads.request('scene'))).toMatchObject({ ok: false });
    await announceReload();
    expect(signals).toEqual([{ type: 'external-reload', kind: 'scene' }]);
  });

  test('that failed in the hub counts as announced', async () => {
    hub.routes.set('POST /api/services/scene/reload', text(500, 'boom'));
    expect(await inTime(client.reloads.request('scene'))).toMatchObject({ ok: false });
    for (let attempt = 0; attempt < 3; attempt++) await announceReload();
    expect(signals).toEqual([]);
  });
});

test('of the calls that turn something on, only those of automations are reported by the hub', async () => {
  await client.events.watch();
  const { trigger } = hub.commands.find(({ type }) => type === 'subscribe_trigger') as unknown as {
    trigger: { event_type: string[]; event_data?: { domain: string; service: string } }[];
  };
  const calls = trigger.flatMap(({ event_type: type, event_data: data }) =>
    type.includes('call_service') && data?.service !== 'reload' ? [`${data?.domain}.${data?.service}`] : [],
  );
  expect(calls.sort()).toEqual(['automation.toggle', 'automation.turn_on']);
});

test('drain finishes the write and the reload in flight and starts no other', async () => {
  const answers: (() => void)[] = [];
  const slowly = (path: string) =>
    hub.routes.set(path, (request, response) => {
      answers.push(() => json(200, {})(request, response));
    });
  for (const id of ['a', 'b']) slowly(`POST /api/config/scene/config/${id}`);
  slowly('POST /api/services/scene/reload');
  const ended: string[] = [];
  const write = (id: string) => client.entities.write('scene', id, {}).then(() => ended.push(id));
  const reloaded = write('a')
    .then(() => client.reloads.request('scene'))
    .then(() => ended.push('reload'));
  void write('b');
  await until(() => answers.length === 1);
  let drained = false;
  const draining = client.drain().then(() => (drained = true));
  answers.shift()!();
  await until(() => ended.length === 1);
  await clock.advance(300);
  await until(() => answers.length === 1);
  answers.shift()!();
  await Promise.all([reloaded, draining]);
  expect(drained).toBe(true);
  expect(ended).toEqual(['a', 'reload']);
  expect(hub.asked('/api/config/scene/config/b')).toEqual([]);
});
