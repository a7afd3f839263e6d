import { HubClient } from '../../../../../operator/client/hub-client';
import type { Hub } from '../../../../../operator/kinds/index';
import type { Cache } from '../../../../../operator/runtime/cache';
import { stateFingerprint, HealthMonitor } from '../../../../../operator/sync/hub/health/health-monitor';
import { silentLog } from '../../../../cluster/silent-log';
import { FakeHub, json, text } from '../../../client/fake-hub';
import { ManualClock } from '../../../client/manual-clock';
import { systemClock } from '../../../../../operator/clock';

const config = { version: '2026.11.0', state: 'RUNNING', recovery_mode: false, safe_mode: false };
const hub = { kind: 'Hub', metadata: { namespace: 'home', name: 'h', uid: '1' } } as Hub;

let server: FakeHub;
let client: HubClient;
let clock: ManualClock;
let monitor: HealthMonitor;
let present: Hub | undefined;
let gone: string[];
let requeued: string[];

beforeEach(async () => {
  server = await FakeHub.start();
  server.routes.set('GET /api/config', json(200, config));
  client = new HubClient({ url: server.url, token: 'good-token', clock: systemClock, log: silentLog });
  clock = new ManualClock();
  present = hub;
  [gone, requeued] = [[], []];
  const cache = { get: () => present } as unknown as Cache;
  monitor = new HealthMonitor(
    { clock, cache, requeue: (...id) => requeued.push(id.join('/')) },
    ({ metadata }) => gone.push(metadata.name),
  );
});
afterEach(async () => {
  monitor.close();
  client.close();
  await server.close();
});

/** Lets ten seconds pass, and the answer arrive. */
async function tenSeconds(): Promise<void> {
  const asked = server.requests.length;
  await clock.advance(10_000);
  for (
    let turn = 0;
    turn < 100 &&
    (server.requests.length === asked || clock.pendingTimers === 0) &&
    requeued.length === 0 &&
    gone.length === 0;
    turn++
  ) {
    await systemClock.sleep(5);
  }
  await systemClock.sleep(20);
}

describe('the watch over a hub', () => {
  test('asks every ten seconds and says nothing while the answer is the same', async () => {
    monitor.watch(hub, client, stateFingerprint(config));
    for (let round = 0; round < 3; round++) await tenSeconds();
    expect(server.asked('/api/config')).toHaveLength(3);
    expect(requeued).toEqual([]);
  });

  test.each([
    ['bans us', text(403, '403: Forbidden')],
    ['does not know our token any more', text(401, '401: Unauthorized')],
    ['is in recovery mode', json(200, { ...config, recovery_mode: true })],
    ['is in safe mode', json(200, { ...config, safe_mode: true })],
    ['is starting', json(200, { ...config, state: 'STARTING' })],
    ['is another version', json(200, { ...config, version: '2026.12.0' })],
    ['is not available', text(503, '')],
    ['answers nothing', text(200, '')],
    ['answers null', json(200, null)],
    ['answers as no hub would', json(200, 'hello')],
  ])('works the Hub once when the hub %s', async (_what, answer) => {
    monitor.watch(hub, client, stateFingerprint(config));
    server.routes.set('GET /api/config', answer);
    server.routes.set('GET /manifest.json', text(403, ''));
    await tenSeconds();
    await tenSeconds();
    expect(requeued).toEqual(['Hub/home/h']);
  });

  test('works it when the hub is well again', async () => {
    server.routes.set('GET /api/config', text(403, '403: Forbidden'));
    server.routes.set('GET /manifest.json', text(403, '403: Forbidden'));
    monitor.watch(hub, client, 'HubBanned');
    await tenSeconds();
    expect(requeued).toEqual([]);
    server.routes.set('GET /api/config', json(200, config));
    await tenSeconds();
    expect(requeued).toEqual(['Hub/home/h']);
  });

  test.each([
    ['deleted', undefined],
    ['deleted and made anew', { ...hub, metadata: { ...hub.metadata, uid: '2' } }],
  ])('ends when the Hub was %s', async (_what, now) => {
    monitor.watch(hub, client, stateFingerprint(config));
    present = now;
    await tenSeconds();
    expect(gone).toEqual(['h']);
    expect(server.requests).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });

  test('notices that the Hub goes also when no pass came so far as to go on watching', async () => {
    monitor.watch(hub, client, stateFingerprint(config));
    server.routes.set('GET /api/config', text(503, ''));
    await tenSeconds();
    expect(requeued).toEqual(['Hub/home/h']);
    present = undefined;
    requeued = [];
    await tenSeconds();
    expect(gone).toEqual(['h']);
    expect(clock.pendingTimers).toBe(0);
  });

  test('ends when it is closed, and has one timer a hub', async () => {
    monitor.watch(hub, client, stateFingerprint(config));
    monitor.watch(hub, client, stateFingerprint(config));
    expect(clock.pendingTimers).toBe(1);
    monitor.close();
    expect(clock.pendingTimers).toBe(0);
  });
});
