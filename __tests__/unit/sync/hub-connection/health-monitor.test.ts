import {
  HubBanned,
  type HubError,
  HubFailed,
  HubUnreachable,
  TokenRejected,
} from '../../../../operator/client/connection/errors';
import type { Hub } from '../../../../operator/kinds/index';
import type { Cache } from '../../../../operator/runtime/cache';
import { HealthMonitor, stateFingerprint } from '../../../../operator/sync/hub-connection/health-monitor';
import { RecordingLog } from '../../runtime/recording-log';
import { ManualClock } from '../../manual-clock';
import { hubClient } from '../../stand-in-hub/hub-client';

const config = { version: '2026.11.0', state: 'RUNNING', recovery_mode: false, safe_mode: false };
const hub = { kind: 'Hub', metadata: { namespace: 'home', name: 'h', uid: '1' } } as Hub;
const INTERVAL = 10_000;

let clock: ManualClock;
let monitor: HealthMonitor;
/** The hub's answer: an error, or the content of `/api/config`. */
let answer: unknown;
let requests: string[];
let present: Hub | undefined;
let requeued: string[];
let log: RecordingLog;

const client = hubClient({
  rest: {
    address: { url: 'http://h' },
    get: (path: string) => {
      requests.push(path);
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    },
  },
});

beforeEach(() => {
  clock = new ManualClock();
  answer = config;
  present = hub;
  [requests, requeued] = [[], []];
  const cache = { get: () => present } as unknown as Cache;
  log = new RecordingLog();
  const requeue = (...id: unknown[]) => requeued.push(id.join('/'));
  monitor = new HealthMonitor({ clock, cache, log, requeue });
});
afterEach(() => monitor.close());

describe('HealthMonitor', () => {
  test('continues after an unknown error, and logs it', async () => {
    monitor.watch(hub, client, stateFingerprint(config));
    answer = new TypeError('no such field');
    await clock.advance(INTERVAL);
    expect(log.at('error')).toEqual(['health check of hub failed']);
    answer = new HubBanned();
    await clock.advance(INTERVAL);
    expect(requeued).toEqual(['Hub/home/h']);
  });

  test('asks every ten seconds and requeues nothing while the answer is the same', async () => {
    monitor.watch(hub, client, stateFingerprint(config));
    await clock.advance(3 * INTERVAL);
    expect(requests).toEqual(['/api/config', '/api/config', '/api/config']);
    expect(requeued).toEqual([]);
  });

  test.each<[string, unknown]>([
    ['bans the operator', new HubBanned()],
    ['rejects the token', new TokenRejected('no')],
    ['is in recovery mode', { ...config, recovery_mode: true }],
    ['is in safe mode', { ...config, safe_mode: true }],
    ['is starting', { ...config, state: 'STARTING' }],
    ['is another version', { ...config, version: '2026.12.0' }],
    ['does not respond', new HubUnreachable('no')],
    ['fails', new HubFailed('no')],
    ['answers nothing', undefined],
    ['answers null', null],
    ['answers a text', 'hello'],
  ])('requeues the Hub once when the hub %s', async (_state, changed) => {
    monitor.watch(hub, client, stateFingerprint(config));
    answer = changed;
    await clock.advance(2 * INTERVAL);
    expect(requeued).toEqual(['Hub/home/h']);
  });

  test('requeues the Hub when the hub has recovered', async () => {
    const banned: HubError = new HubBanned();
    answer = banned;
    monitor.watch(hub, client, stateFingerprint(banned));
    await clock.advance(INTERVAL);
    expect(requeued).toEqual([]);
    answer = config;
    await clock.advance(INTERVAL);
    expect(requeued).toEqual(['Hub/home/h']);
  });

  test.each([
    ['deleted', undefined],
    ['deleted and created again', { ...hub, metadata: { ...hub.metadata, uid: '2' } }],
  ])('stops when the Hub was %s', async (_how, now) => {
    monitor.watch(hub, client, stateFingerprint(config));
    present = now;
    await clock.advance(INTERVAL);
    expect(requests).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });

  test('notices a deleted Hub although no reconcile has started a new watch', async () => {
    monitor.watch(hub, client, stateFingerprint(config));
    answer = new HubUnreachable('no');
    await clock.advance(INTERVAL);
    expect(requeued).toEqual(['Hub/home/h']);
    present = undefined;
    await clock.advance(INTERVAL);
    expect(clock.pendingTimers).toBe(0);
  });

  test('ignores an answer that arrives after a newer watch has started', async () => {
    let arrive!: (answer: unknown) => void;
    answer = new Promise((resolve) => (arrive = resolve));
    monitor.watch(hub, client, stateFingerprint(config));
    await clock.advance(INTERVAL);
    monitor.watch(hub, client, stateFingerprint(config));
    arrive({ ...config, state: 'STOPPING' });
    await clock.advance(0);
    expect(requeued).toEqual([]);
    expect(clock.pendingTimers).toBe(1);
  });

  test('keeps one timer per Hub, and none once it is closed', () => {
    monitor.watch(hub, client, stateFingerprint(config));
    monitor.watch(hub, client, stateFingerprint(config));
    expect(clock.pendingTimers).toBe(1);
    monitor.close();
    expect(clock.pendingTimers).toBe(0);
  });

  test('watches a recreated Hub beside the deleted one of its name, until it notices the deletion', async () => {
    monitor.watch(hub, client, stateFingerprint(config));
    const again = { ...hub, metadata: { ...hub.metadata, uid: '2' } };
    present = again;
    monitor.watch(again, client, stateFingerprint(config));
    await clock.advance(INTERVAL);
    expect(requests).toEqual(['/api/config']);
    expect(clock.pendingTimers).toBe(1);
  });
});
