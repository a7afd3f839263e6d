import { setTimeout as sleep } from 'node:timers/promises';
import { WATCH_IDLE_TIMEOUT } from '../../../operator/runtime/watch-stream';
import { pathOf } from '../../../operator/runtime/objects';
import type { ApiClient } from '../../../operator/runtime/api-client';
import { builtin } from '../../../operator/runtime/types';
import { apiServer, freshNamespace, sandboxDirectory, until } from '../../cluster';
import { adminCluster, applyAs } from '../../cluster/admin-cluster';
import { ManualClock } from '../../unit/manual-clock';
import { kubeConfigFor } from '../../unit/runtime/fake-api-client';
import { administrator, type Fault, FaultProxy } from '../proxy';
import { Mirror } from './mirror';

let namespace: string;
let truth: ApiClient;
let proxy: FaultProxy;
let mirror: Mirror;
const rejections: unknown[] = [];
const noteRejection = (reason: unknown) => rejections.push(reason);

beforeAll(async () => {
  process.on('unhandledRejection', noteRejection);
  namespace = await freshNamespace('watches');
  truth = adminCluster();
  await applyAs(truth, 'warm-up', builtin.ConfigMap, configMap('warm-up'));
});
beforeEach(async () => {
  proxy = await FaultProxy.start(await administrator(sandboxDirectory(), apiServer()));
});
afterEach(async () => {
  await mirror.stop();
  expect(mirror.complaints).toEqual([]);
  // The operator's code holds no connection any more.
  await until('all connections are closed', async () => (await proxy.connections()) === 0);
  await proxy.stop();
});
afterAll(() => {
  process.off('unhandledRejection', noteRejection);
  expect(rejections).toEqual([]);
});

const configMap = (name: string, data: Record<string, string> = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace },
  data,
});
const put = (name: string, value = '1') =>
  applyAs(truth, 'user', builtin.ConfigMap, configMap(name, { value }));
const remove = (name: string) =>
  truth.request({ method: 'DELETE', path: pathOf(builtin.ConfigMap, namespace, name) });

const watching = (options: ConstructorParameters<typeof Mirror>[3] = {}) =>
  new Mirror(kubeConfigFor(proxy.url), builtin.ConfigMap, namespace, options);

/**
 * Resolves when the existing objects have been listed and the watch is open, so that later faults happen to a
 * watch.
 */
async function watch(options?: Parameters<typeof watching>[0]): Promise<void> {
  mirror = watching(options);
  await agree();
  await until('the watch is open', () => proxy.openWatches === 1);
}

const agree = () => until('the store is the server’s list', () => mirror.agree(truth));

/** Makes every kind of change to objects while the watch is disconnected. */
async function changes(): Promise<void> {
  await Promise.all([put('changed', '2'), put('created'), remove('deleted'), remove('recreated')]);
  await put('recreated', '2');
}

async function beginning(): Promise<void> {
  await Promise.all([put('changed'), put('deleted'), put('recreated'), put('left-alone')]);
  await remove('created').catch(() => undefined); // left by the previous test
}

const refuseAll = () => (proxy.fault = () => ({ type: 'reset' }));
const mend = () => (proxy.fault = () => undefined);

describe('objects created, changed, deleted and recreated while', () => {
  const breaks: [string, () => void][] = [
    ['the connection is reset', () => proxy.resetStreams()],
    ['a chunk is truncated', () => proxy.truncateStreams()],
    ['a line is not JSON', () => proxy.injectLine('<html>504 Gateway Time-out</html>')],
    ['the watch says that it is too old', () => proxy.injectLine(tooOld(410, 'Expired'))],
    ['the watch says that something went wrong', () => proxy.injectLine(tooOld(500, 'InternalError'))],
  ];

  test.each(breaks)('%s', async (_, strike) => {
    await beginning();
    await watch();
    refuseAll();
    strike();
    await until('the watch is lost', () => proxy.openWatches === 0);
    await changes();
    const lost = mirror.told.length;
    mend();
    await agree();
    expect(mirror.told.slice(lost)).toEqual(
      expect.arrayContaining([
        'deleted deleted',
        'added created',
        'modified changed',
        'deleted recreated',
        'added recreated',
      ]),
    );
    expect(mirror.told.slice(lost)).not.toContain('modified left-alone');
  });

  test('the connection is half open, for minutes', async () => {
    const clock = new ManualClock();
    await beginning();
    await watch({ clock });
    proxy.freezeStreams();
    await changes();
    await clock.advance(WATCH_IDLE_TIMEOUT - 1);
    expect(mirror.failures).toEqual([]);
    const { length } = proxy.requests;
    await clock.advance(1);
    await until('it watches again', () => proxy.requests.length > length);
    // continues from its last version, without a list
    expect(proxy.requests.slice(length).join()).toContain('resourceVersion=');
    await until('the frozen connection is closed', () => proxy.openWatches === 1);
    expect(mirror.informer.idleFor()).toBeLessThanOrEqual(WATCH_IDLE_TIMEOUT);
    await agree();
    expect(mirror.failures).toEqual([]);
  });

  test('the server accepts connections and does not answer', async () => {
    const clock = new ManualClock();
    await beginning();
    await watch({ clock });
    proxy.fault = () => ({ type: 'silence' });
    proxy.resetStreams();
    await until('the loss is noticed', () => mirror.failures.length > 0);
    await changes();
    const { length } = proxy.requests;
    await clock.advance(1_000); // its first backoff
    await until('it has tried again', () => proxy.requests.length > length);
    await clock.advance(30_000);
    await until('that is given up too', () => mirror.failures.length > 1);
    mend();
    // The informer may have retried before the server was repaired, and may have to back off again.
    await until('the store is the server’s list', async () => {
      await clock.advance(10_000);
      return mirror.agree(truth);
    });
  });
});

function tooOld(code: number, reason: string): string {
  const status = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'injected',
    reason,
    code,
  };
  return JSON.stringify({ type: 'ERROR', object: status });
}

describe('a server that answers', () => {
  const refusals: [string, Fault, number][] = [
    ['429 with Retry-After', { type: 'answer', status: 429, headers: { 'Retry-After': '1' } }, 1_000],
    ['500', { type: 'answer', status: 500 }, 0],
    ['503', { type: 'answer', status: 503 }, 0],
    ['409', { type: 'answer', status: 409 }, 0],
    ['410', { type: 'answer', status: 410 }, 0],
    ['by a reset', { type: 'reset' }, 0],
    ['late', { type: 'slow', milliseconds: 400 }, 0],
  ];

  test.each(refusals)('%s, twice', async (_, fault, atLeast) => {
    await beginning();
    await watch();
    let left = 2;
    const asked: number[] = [];
    proxy.fault = () => {
      asked.push(performance.now());
      return left-- > 0 ? fault : undefined;
    };
    proxy.resetStreams();
    await changes();
    await until('it was asked', () => asked.length > 0);
    await agree();
    const pauses = asked.slice(1).map((at, index) => at - asked[index]!);
    // The informer backs off after it has the answer, and this process may note the request late. A timer may
    // be a few milliseconds early.
    if (fault.type !== 'slow')
      for (const pause of pauses.slice(0, 2)) expect(pause).toBeGreaterThanOrEqual((atLeast || 100) - 20);
  });

  test('the first list with an error, and breaks off the next', async () => {
    await beginning();
    let time = 0;
    proxy.fault = () => (time++ === 0 ? { type: 'answer', status: 500 } : undefined);
    await watch();
    expect(mirror.informer.synced).toBe(true);
  });

  test('that it cannot stream lists: it is asked for pages, and for changes from there', async () => {
    await beginning();
    proxy.fault = ({ url }) =>
      url?.includes('sendInitialEvents') ? { type: 'answer', status: 422 } : undefined;
    await watch();
    proxy.fault = ({ url }) => (url?.includes('sendInitialEvents') ? { type: 'reset' } : undefined);
    proxy.injectLine(tooOld(410, 'Expired'));
    await changes();
    const pages = () => proxy.requests.filter((request) => request.includes('limit='));
    await until('it is asked for pages again', () => pages().length >= 2);
    await agree();
  });
});

test('while a storm of resets goes on, nothing is missed and no connection is left behind', async () => {
  await beginning();
  await watch();
  let storm = true;
  const strikes = (async () => {
    while (storm) {
      proxy.resetStreams();
      await sleep(150);
    }
  })();
  try {
    for (let round = 0; round < 15; round++) {
      await put(`storm-${round % 4}`, String(round));
      if (round % 3 === 0) await remove(`storm-${round % 4}`);
      await sleep(50);
    }
  } finally {
    storm = false;
    await strikes;
  }
  await agree();
  await until('no other connection is left', async () => (await proxy.connections()) <= 2);
});
