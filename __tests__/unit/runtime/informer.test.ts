import { PassThrough } from 'node:stream';
import { Cache } from '../../../operator/runtime/cache';
import { WATCH_IDLE_TIMEOUT } from '../../../operator/runtime/watch-stream';
import type { ApiRequest } from '../../../operator/runtime/api-client';
import { ApiError, ApiServerUnreachable } from '../../../operator/runtime/api-errors';
import { ManualClock, settle } from '../manual-clock';
import { FakeApiClient } from './fake-api-client';
import { type Widget, widget, widgets } from './objects';
import { RecordingLog } from './recording-log';

/**
 * Makes an informer with a fake server, for cases that a real API server cannot be made to show. Other tests
 * use the real one.
 */
function setup(namespaces: readonly string[] = [], namespaceSelector = '') {
  const clock = new ManualClock();
  const streams: PassThrough[] = [];
  const cluster = new FakeApiClient(clock, () => {
    const stream = new PassThrough();
    streams.push(stream);
    return stream;
  });
  const told: string[] = [];
  const failed: unknown[] = [];
  const cache = new Cache({
    cluster,
    clock,
    log: new RecordingLog(),
    namespaces,
    namespaceSelector,
    freeze: true,
    onFailure: (_, error) => failed.push(error),
  });
  const watch = () =>
    cache.watch<Widget>(widgets, {
      onChange: ({ type, object }) => told.push(`${type} ${object.metadata.name}`),
    });
  const say = async (...events: object[]) => {
    for (const event of events) streams.at(-1)!.write(`${JSON.stringify(event)}\n`);
    await settle();
  };
  return { clock, cluster, streams, told, failed, cache, watch, say };
}

const added = (name: string, resourceVersion: string) => ({
  type: 'ADDED',
  object: widget({ metadata: { name, uid: name, resourceVersion } }),
});
const bookmark = (resourceVersion: string, annotations = {}) => ({
  type: 'BOOKMARK',
  object: { metadata: { resourceVersion, annotations } },
});
const endOfList = (resourceVersion: string) =>
  bookmark(resourceVersion, { 'k8s.io/initial-events-end': 'true' });
const gone = { type: 'ERROR', object: { code: 410, reason: 'Expired', message: 'too old' } };

describe('Informer', () => {
  afterEach(() => jest.restoreAllMocks());

  test.each([
    ['an event', added('c', '500')],
    ['a bookmark', bookmark('500')],
  ])('a server that was restored to before %s of the watch is listed again', async (_, last) => {
    const { clock, say, told, cache, watch } = setup();
    watch();
    await settle();
    await say(added('a', '90'), endOfList('100'), added('b', '400'), last);
    told.length = 0;
    await say(gone);
    await clock.advance(1_000);
    await say(added('a', '200'), endOfList('300'));
    expect(told).toContain('deleted b');
    expect(told).toContain('modified a');
    expect([...cache.list('Widget')].map(({ metadata }) => metadata.name)).toEqual(['a']);
    await cache.stop();
  });

  test('a missing permission is the last error until it is granted', async () => {
    const { clock, cluster, say, streams, cache, watch } = setup();
    const words = 'widgets.example.org is forbidden: User "op" cannot list resource "widgets"';
    const allow = cluster.handler;
    cluster.handler = () => {
      throw new ApiError(403, 'Forbidden', words);
    };
    watch();
    expect(cache.unsynced()).toEqual([{ kind: 'Widget', lastError: undefined }]);
    await settle();
    expect(cache.unsynced()).toEqual([{ kind: 'Widget', lastError: words }]);
    cluster.handler = allow;
    while (streams.length === 0) await clock.advance(1_000);
    await say(endOfList('1'));
    expect(cache.unsynced()).toEqual([]);
    await cache.stop();
  });

  test('of several namespaces, the one that may not be listed is reported', async () => {
    const { cluster, cache, watch } = setup(['home', 'office']);
    const open = cluster.handler;
    cluster.handler = (request: ApiRequest) => {
      if (request.path.includes('/office/')) throw new ApiError(403, 'Forbidden', 'not in "office"');
      return open(request);
    };
    watch();
    await settle();
    expect(cache.unsynced()).toEqual([{ kind: 'Widget', lastError: 'not in "office"' }]);
    await cache.stop();
  });

  test('a watch without data for long is stuck, also when the system clock is changed', async () => {
    const { clock, say, cache, watch } = setup();
    watch();
    await settle();
    await say(endOfList('1'));
    clock.set(86_400_000);
    expect(cache.stuck()).toEqual([]);
    clock.set(-2 * 86_400_000);
    clock.freeze(2 * WATCH_IDLE_TIMEOUT + 1);
    expect(cache.stuck()).toEqual(['Widget']);
    await cache.stop();
  });

  test('an object that is deleted before a streamed list ends is not in it', async () => {
    const { say, told, cache, watch } = setup();
    watch();
    await settle();
    const { object } = added('a', '7');
    await say(added('a', '5'), added('b', '6'), { type: 'DELETED', object }, endOfList('7'));
    expect([...cache.list('Widget')].map(({ metadata }) => metadata.name)).toEqual(['b']);
    expect(told).toEqual(['added b']);
    await cache.stop();
  });

  test('a streamed list that does not end is requested in pages', async () => {
    const { clock, cluster, say, told, cache, watch } = setup();
    watch();
    await settle();
    await say(added('a', '5'));
    const stream = cluster.handler;
    cluster.handler = (request: ApiRequest) =>
      request.query?.['watch'] ? stream(request) : { metadata: { resourceVersion: '9' }, items: [widget()] };
    for (let time = 0; time < 60_000; time += 10_000) {
      await clock.advance(10_000);
      await say(bookmark('9')); // the watch is alive all the time
    }
    expect(told).toEqual(['added a']);
    expect(
      cluster.requests.map(({ query }) => query?.['sendInitialEvents'] ?? query?.['resourceVersion']),
    ).toEqual([true, undefined, '9']);
    await cache.stop();
  });

  test('an empty page of metadata, whose items are null, is an empty list', async () => {
    const { clock, cluster, say, cache, watch } = setup();
    watch();
    await settle();
    const stream = cluster.handler;
    cluster.handler = (request: ApiRequest) =>
      request.query?.['watch'] ? stream(request) : { metadata: { resourceVersion: '9' }, items: null };
    for (let time = 0; time < 60_000; time += 10_000) {
      await clock.advance(10_000);
      await say(bookmark('9')); // the watch is alive all the time
    }
    expect(cache.unsynced()).toEqual([]);
    expect([...cache.list('Widget')]).toEqual([]);
    await cache.stop();
  });

  test('an idle watch is reopened at the same version; if it is idle again, the list is requested', async () => {
    const { clock, cluster, failed, say, cache, watch } = setup();
    const froms = () => cluster.requests.map(({ query }) => query?.['resourceVersion'] ?? 'list');
    watch();
    await settle();
    await say(endOfList('100'), added('a', '101'));
    await clock.advance(WATCH_IDLE_TIMEOUT);
    expect([froms(), failed]).toEqual([['list', '101'], []]);
    await say(bookmark('150')); // the watch was only idle
    await clock.advance(WATCH_IDLE_TIMEOUT);
    expect([froms(), failed]).toEqual([['list', '101', '150'], []]);
    await clock.advance(WATCH_IDLE_TIMEOUT);
    expect(froms()).toEqual(['list', '101', '150', 'list']);
    expect(failed).toMatchObject([{ message: 'the watch was idle for 150 s' }]);
    await cache.stop();
  });

  test('attempts that fail slowly are retried with the same backoff as those that fail at once', async () => {
    jest.spyOn(Math, 'random').mockReturnValue(1);
    const { clock, cluster, cache, watch } = setup();
    const times: number[] = [];
    cluster.handler = async () => {
      times.push(clock.monotonic());
      await clock.sleep(5_000);
      throw new ApiServerUnreachable('no answer within 5 s');
    };
    watch();
    await clock.advance(120_000);
    const pauses = times.slice(1).map((at, index) => at - times[index]! - 5_000);
    expect(pauses.slice(0, 8)).toEqual(
      [400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000].slice(0, pauses.length),
    );
    await cache.stop();
  });

  test('a watch that opens and breaks at once is retried with growing pauses', async () => {
    jest.spyOn(Math, 'random').mockReturnValue(1);
    const { clock, cluster, streams, say, cache, watch } = setup();
    const times: number[] = [];
    const open = cluster.handler;
    cluster.handler = (request: ApiRequest) => {
      times.push(clock.monotonic());
      return open(request);
    };
    watch();
    await settle();
    for (let attempt = 1; attempt <= 6; attempt++) {
      await say(endOfList('1'));
      streams.at(-1)!.destroy(new Error('connection reset'));
      while (streams.length === attempt) await clock.advance(100);
    }
    const pauses = times.slice(1).map((at, index) => at - times[index]!);
    expect(pauses).toEqual([400, 800, 1_600, 3_200, 6_400, 12_800]);
    await cache.stop();
  });

  test('an expired watch is not a failure: the list is requested again', async () => {
    const { clock, failed, say, streams, cache, watch } = setup();
    watch();
    await settle();
    await say(endOfList('1'), gone);
    await clock.advance(1_000);
    expect([streams.length, failed]).toEqual([2, []]);
    await cache.stop();
  });

  test('cached objects are frozen if the option is set', async () => {
    const { say, cache, watch } = setup();
    watch();
    await settle();
    await say(added('a', '1'), endOfList('1'));
    const known = cache.get<Widget>('Widget', 'home', 'a') as { spec: { size?: number } };
    expect(() => (known.spec.size = 3)).toThrow(TypeError);
    await cache.stop();
  });
});
