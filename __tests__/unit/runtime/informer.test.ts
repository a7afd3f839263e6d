import { PassThrough } from 'node:stream';
import { Cache } from '../../../operator/runtime/cache';
import { WATCH_IDLE_TIMEOUT } from '../../../operator/runtime/informer';
import { ApiError, type ApiRequest } from '../../../operator/runtime/api-client';
import { ManualClock, settle } from '../manual-clock';
import { FakeApiClient } from './fake-api-client';
import { type Widget, widget, widgets } from './objects';
import { RecordingLog } from './recording-log';

/** The informer against the real API server is in integration and faults; here is what that cannot be made to say. */
function setup(namespaces: readonly string[] = []) {
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

test.each([
  ['an event', added('c', '500')],
  ['a bookmark', bookmark('500')],
])('a server that was restored to before %s of the watch is believed', async (_, last) => {
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

test('a permission that is missing names itself for as long as it is missing', async () => {
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

test('of several namespaces, the one that may not be listed is told', async () => {
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

test('a watch is stuck when nothing is heard of it for long, whatever somebody sets the clock to', async () => {
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
