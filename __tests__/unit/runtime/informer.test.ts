import { PassThrough } from 'node:stream';
import { ClusterView } from '../../../operator/runtime/cache';
import { SILENCE } from '../../../operator/runtime/informer';
import { ApiError, type ClusterRequest } from '../../../operator/runtime/transport';
import { FakeClock, settle } from '../fake-clock';
import { FakeCluster } from './fake-cluster';
import { type Widget, widget, widgets } from './objects';
import { RecordingLog } from './recording-log';

/** The informer against the real API server is in integration and faults; here is what that cannot be made to say. */
function setup(namespaces: readonly string[] = []) {
  const clock = new FakeClock();
  const streams: PassThrough[] = [];
  const cluster = new FakeCluster(clock, () => {
    const stream = new PassThrough();
    streams.push(stream);
    return stream;
  });
  const told: string[] = [];
  const failed: unknown[] = [];
  const view = new ClusterView({
    cluster,
    clock,
    log: new RecordingLog(),
    namespaces,
    onFailure: (_, error) => failed.push(error),
  });
  const watch = () =>
    view.watch<Widget>(widgets, {
      onChange: ({ type, object }) => told.push(`${type} ${object.metadata.name}`),
    });
  const say = async (...events: object[]) => {
    for (const event of events) streams.at(-1)!.write(`${JSON.stringify(event)}\n`);
    await settle();
  };
  return { clock, cluster, streams, told, failed, view, watch, say };
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
  const { clock, say, told, view, watch } = setup();
  watch();
  await settle();
  await say(added('a', '90'), endOfList('100'), added('b', '400'), last);
  told.length = 0;
  await say(gone);
  await clock.advance(1_000);
  await say(added('a', '200'), endOfList('300'));
  expect(told).toContain('deleted b');
  expect(told).toContain('modified a');
  expect([...view.list('Widget')].map(({ metadata }) => metadata.name)).toEqual(['a']);
  await view.stop();
});

test('a permission that is missing names itself for as long as it is missing', async () => {
  const { clock, cluster, say, streams, view, watch } = setup();
  const words = 'widgets.example.org is forbidden: User "op" cannot list resource "widgets"';
  const allow = cluster.handler;
  cluster.handler = () => {
    throw new ApiError(403, 'Forbidden', words);
  };
  watch();
  expect(view.unsynced()).toEqual([{ kind: 'Widget', trouble: undefined }]);
  await settle();
  expect(view.unsynced()).toEqual([{ kind: 'Widget', trouble: words }]);
  cluster.handler = allow;
  while (streams.length === 0) await clock.advance(1_000);
  await say(endOfList('1'));
  expect(view.unsynced()).toEqual([]);
  await view.stop();
});

test('of several namespaces, the one that may not be listed is told', async () => {
  const { cluster, view, watch } = setup(['home', 'office']);
  const open = cluster.handler;
  cluster.handler = (request: ClusterRequest) => {
    if (request.path.includes('/office/')) throw new ApiError(403, 'Forbidden', 'not in "office"');
    return open(request);
  };
  watch();
  await settle();
  expect(view.unsynced()).toEqual([{ kind: 'Widget', trouble: 'not in "office"' }]);
  await view.stop();
});

test('a watch is stuck when nothing is heard of it for long, whatever somebody sets the clock to', async () => {
  const { clock, say, view, watch } = setup();
  watch();
  await settle();
  await say(endOfList('1'));
  clock.set(86_400_000);
  expect(view.stuck()).toEqual([]);
  clock.set(-2 * 86_400_000);
  clock.freeze(2 * SILENCE + 1);
  expect(view.stuck()).toEqual(['Widget']);
  await view.stop();
});
