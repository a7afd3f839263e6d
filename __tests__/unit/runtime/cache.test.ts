import { PassThrough } from 'node:stream';
import { Cache, hubKey } from '../../../operator/runtime/cache';
import { silentLog } from '../../cluster/silent-log';
import { ManualClock, settle } from '../manual-clock';
import { FakeApiClient } from './fake-api-client';
import { widget, widgets } from './objects';

test('resources of a hub are found by the id in their status, in each watched namespace', async () => {
  const clock = new ManualClock();
  const streams = new Map<string, PassThrough>();
  const cluster = new FakeApiClient(clock, ({ path }) => {
    const stream = new PassThrough();
    streams.set(path, stream);
    return stream;
  });
  const options = { log: silentLog, freeze: true, onFailure: () => undefined };
  const cache = new Cache({ ...options, cluster, clock, namespaces: ['home', 'away'] });
  cache.watch(widgets, {
    onChange: () => undefined,
    indexBy: ({ metadata: { namespace = '', labels } }) => hubKey(namespace, labels!['hub']!),
  });
  await settle();
  let version = 0;
  for (const [path, stream] of streams) {
    const namespace = path.includes('/home/') ? 'home' : 'away';
    for (const [hub, id] of [
      ['villa', 'x'],
      ['villa', 'y'],
      ['cabin', 'x'],
    ] as const) {
      const name = `${namespace}-${hub}-${id}`;
      const metadata = { name, namespace, uid: name, labels: { hub }, resourceVersion: String(++version) };
      const object = { ...widget({ metadata }), status: { widgetId: id } };
      stream.write(`${JSON.stringify({ type: 'ADDED', object })}\n`);
    }
  }
  await settle();
  const found = (...of: [namespace: string, hub: string, field: string, id: string]) =>
    [...cache.ofHubByStatus('Widget', ...of)].map(({ metadata }) => metadata.name);
  const end = { 'k8s.io/initial-events-end': 'true' };
  for (const stream of streams.values())
    stream.write(
      `${JSON.stringify({ type: 'BOOKMARK', object: { metadata: { resourceVersion: '99', annotations: end } } })}\n`,
    );
  await cache.waitForCacheSync();
  expect([
    found('home', 'villa', 'widgetId', 'x'),
    found('away', 'villa', 'widgetId', 'x'),
    found('away', 'cabin', 'widgetId', 'x'),
    found('home', 'cabin', 'widgetId', 'y'),
    found('home', 'villa', 'otherId', 'x'),
  ]).toEqual([['home-villa-x'], ['away-villa-x'], ['away-cabin-x'], [], []]);
  expect([...cache.ofHub('Widget', 'away', 'villa')]).toHaveLength(2);
  await cache.stop();
});
