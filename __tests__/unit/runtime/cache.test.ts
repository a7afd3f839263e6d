import { PassThrough } from 'node:stream';
import type { KindDefinition } from '../../../operator/kinds/kind';
import type { CustomResource } from '../../../operator/kinds/resource';
import { Metrics } from '../../../operator/process/metrics';
import { Cache, hubKey } from '../../../operator/runtime/cache';
import { Controller } from '../../../operator/runtime/controller';
import { parseObjectKey } from '../../../operator/runtime/object-key';
import { ObjectOwnership } from '../../../operator/runtime/object-ownership';
import type { Reconciler } from '../../../operator/runtime/reconciler';
import { builtin } from '../../../operator/runtime/types';
import { silentLog } from '../../cluster/silent-log';
import { ManualClock, settle } from '../manual-clock';
import { FakeApiClient } from './fake-api-client';
import { type Widget, widget, widgets } from './objects';

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

const definition = {
  kind: 'Widget',
  hubName: () => 'villa',
  references: () => [{ kind: 'ConfigMap', name: 'map' }],
} as Pick<KindDefinition, 'kind' | 'hubName' | 'references'> as KindDefinition;

type Plural = 'namespaces' | 'widgets' | 'configmaps';

/**
 * The cache and the controller of one kind, whose resources need a ConfigMap, over an API server that answers
 * on the test's request.
 */
class Operator {
  readonly clock = new ManualClock();
  readonly cluster: FakeApiClient;
  readonly cache: Cache;
  /** Each reconcile, with the cached objects of its namespace. */
  readonly reconciled: string[] = [];
  /** The cached objects of the namespace at each report of a deletion. */
  readonly leftAtDeletion: string[][] = [];
  private readonly streams = new Map<string, PassThrough>();
  private readonly isSelecting: boolean;

  constructor(options: { readonly namespaceSelector?: string } = {}) {
    const { clock } = this;
    this.isSelecting = options.namespaceSelector !== undefined;
    this.cluster = new FakeApiClient(clock, ({ path }) => {
      const stream = new PassThrough();
      this.streams.set(path.split('/').at(-1)!, stream);
      return stream;
    });
    const shared = { clock, cluster: this.cluster, log: silentLog, freeze: true, namespaces: [] };
    this.cache = new Cache({ ...shared, ...options, onFailure: () => undefined });
    const reconcile = (key: string) => {
      const { namespace } = parseObjectKey(key as never);
      this.reconciled.push([key, ...this.of(namespace)].join(' '));
      return Promise.resolve({ type: 'resync' });
    };
    const reconciler = { reconcile, oldestAbandoned: () => 0 } as unknown as Reconciler<CustomResource>;
    const controller = new Controller({
      clock,
      metrics: new Metrics('test'),
      kinds: new Map([['Widget', { definition, reconciler }]]),
      read: (key) => {
        const { kind, namespace, name } = parseObjectKey(key);
        return this.cache.get(kind, namespace, name);
      },
      waitForNamespace: (namespace) => this.cache.waitForNamespace(namespace),
      workers: 8,
      workersPerHub: 8,
      ownership: new ObjectOwnership('example.org'),
    });
    const lose = ({ type, object }: { type: string; object: { metadata: { namespace?: string } } }) => {
      if (type === 'deleted') this.leftAtDeletion.push(this.of(object.metadata.namespace!));
    };
    this.cache.watch<Widget>(widgets, {
      onChange: (change) => {
        lose(change);
        controller.onResource(definition, change);
      },
    });
    this.cache.watch(builtin.ConfigMap, {
      metadataOnly: true,
      onChange: (change) => {
        lose(change);
        controller.onReferenced('ConfigMap', change.object);
      },
    });
    controller.queue.start();
  }

  /** Returns the objects of a namespace in the cache. */
  of(namespace: string): string[] {
    return ['Widget', 'ConfigMap'].flatMap((kind) =>
      [...this.cache.list(kind, namespace)].map(
        ({ metadata: { name, resourceVersion } }) => `${name}@${resourceVersion}`,
      ),
    );
  }

  /** Writes events to the latest request of a kind. */
  async say(plural: Plural, ...events: object[]): Promise<void> {
    await settle();
    for (const event of events) this.write(plural, `${JSON.stringify(event)}\n`);
    await settle();
  }

  write(plural: Plural, text: string): void {
    this.streams.get(plural)!.write(text);
  }

  /** Answers the lists of all kinds, with a widget and a ConfigMap in each of the namespaces. */
  async begin(...namespaces: string[]): Promise<void> {
    if (this.isSelecting)
      await this.say('namespaces', ...namespaces.map((name) => named('ADDED', name, '2')), end('3'));
    await this.say('widgets', ...namespaces.map((namespace) => aWidget(namespace, '4')), end('9'));
    await this.say('configmaps', ...namespaces.map((namespace) => aMap(namespace, '5')), end('9'));
    this.reconciled.length = 0;
  }
}

const named = (type: string, name: string, resourceVersion: string) => ({
  type,
  object: { metadata: { name, uid: `uid-${name}`, resourceVersion } },
});
const aWidget = (namespace: string, resourceVersion: string, type = 'ADDED') => ({
  type,
  object: widget({ metadata: { name: 'widget', namespace, uid: `widget-${namespace}`, resourceVersion } }),
});
const aMap = (namespace: string, resourceVersion: string, type = 'ADDED') => ({
  type,
  object: { metadata: { name: 'map', namespace, uid: `map-${namespace}`, resourceVersion } },
});
const bookmark = (resourceVersion: string, annotations = {}) => ({
  type: 'BOOKMARK',
  object: { metadata: { resourceVersion, annotations } },
});
const gone = { type: 'ERROR', object: { code: 410, reason: 'Expired', message: 'too old' } };
const end = (resourceVersion: string) => bookmark(resourceVersion, { 'k8s.io/initial-events-end': 'true' });

describe('a namespace that gets the label', () => {
  let operator: Operator;
  beforeEach(async () => {
    operator = new Operator({ namespaceSelector: 'home=managed' });
    await operator.begin('other');
    await operator.say('namespaces', named('ADDED', 'home', '10'));
    await operator.clock.advance(200);
  });
  afterEach(() => operator.cache.stop());

  test('is reconciled when all kinds are listed, and not before', async () => {
    await operator.say('widgets', aWidget('other', '4'), aWidget('home', '4'), end('11'));
    await operator.clock.advance(30_000);
    expect(operator.reconciled).toEqual([]);
    await operator.say('configmaps', aMap('other', '5'), aMap('home', '5'), end('11'));
    expect(operator.reconciled).toEqual(['Widget/home/widget widget@4 map@5']);
  });

  test('delays no other one', async () => {
    await operator.say('widgets', aWidget('other', '4'), aWidget('home', '4'), end('11'));
    await operator.say('widgets', aWidget('other', '12', 'MODIFIED'));
    const changed = {
      ...aWidget('other', '13', 'MODIFIED').object,
      metadata: { ...aWidget('other', '13').object.metadata, generation: 2 },
    };
    await operator.say('widgets', { type: 'MODIFIED', object: changed });
    expect(operator.reconciled).toEqual(['Widget/other/widget widget@13 map@5']);
  });

  test('waits for lists that begin after it has got the label', async () => {
    await operator.say('widgets', aWidget('other', '4'), aWidget('home', '4'), end('11'));
    await operator.say('namespaces', named('ADDED', 'third', '12'));
    await operator.say('configmaps', aMap('other', '5'), aMap('home', '5'), end('12'));
    const ofThird = () => operator.reconciled.filter((each) => each.startsWith('Widget/third/'));
    await operator.say('widgets', aWidget('third', '12'));
    expect(ofThird()).toEqual([]);
    await operator.clock.advance(200);
    const widgetsOfAll = ['other', 'home', 'third'].map((namespace) => aWidget(namespace, '12'));
    await operator.say('widgets', ...widgetsOfAll, end('13'));
    expect(ofThird()).toEqual([]);
    await operator.say('configmaps', aMap('third', '12'), end('13'));
    expect(ofThird()).toEqual(['Widget/third/widget widget@12 map@12']);
  });

  test('waits for further lists when it loses the label and gets it again meanwhile', async () => {
    await operator.say('widgets', aWidget('other', '4'), aWidget('home', '4'), end('11'));
    await operator.say('namespaces', named('DELETED', 'home', '12'), named('ADDED', 'home', '13'));
    await operator.say('configmaps', aMap('other', '5'), aMap('home', '5'), end('13'));
    operator.reconciled.length = 0;
    await operator.say('widgets', aWidget('home', '14'));
    expect(operator.reconciled).toEqual([]);
  });

  test('does not restart lists that other namespaces have begun, of which none would end', async () => {
    const lists = () =>
      operator.cluster.requests.filter(
        ({ path, query }) => path.endsWith('/widgets') && query?.['sendInitialEvents'],
      ).length;
    const before = lists();
    for (let index = 0; index < 20; index++) {
      await operator.say('namespaces', named('ADDED', `new-${index}`, String(20 + index)));
      await operator.clock.advance(300);
    }
    expect(lists()).toBe(before);
    await operator.say('widgets', aWidget('other', '4'), aWidget('home', '4'), end('41'));
    await operator.say('configmaps', aMap('other', '5'), end('41'));
    expect(operator.reconciled).toEqual(['Widget/home/widget widget@4']);
    // The lists took 6 s, so the next ones begin after nine times as long.
    await operator.clock.advance(50_000);
    expect(lists()).toBe(before);
    await operator.clock.advance(5_000);
    expect(lists()).toBe(before + 1);
    const all = [aWidget('other', '4'), aWidget('home', '4'), aWidget('new-19', '40')];
    await operator.say('widgets', ...all, end('42'));
    await operator.say('configmaps', end('42'));
    expect(operator.reconciled).toContain('Widget/new-19/widget widget@40');
    await operator.clock.advance(200_000);
    expect(lists()).toBe(before + 1);
  });

  test('is forgotten when it loses the label before it is listed', async () => {
    await operator.say('widgets', aWidget('other', '4'), aWidget('home', '4'));
    await operator.say('namespaces', named('DELETED', 'home', '11'));
    await operator.say('widgets', end('11'));
    await operator.say('configmaps', aMap('other', '5'), aMap('home', '5'), end('11'));
    expect([operator.of('home'), operator.of('other')]).toEqual([[], ['widget@4', 'map@5']]);
  });
});

describe('a namespace that loses the label', () => {
  let operator: Operator;
  beforeEach(async () => {
    operator = new Operator({ namespaceSelector: 'home=managed' });
    await operator.begin('home', 'other');
    await operator.say('namespaces', named('DELETED', 'home', '10'));
  });
  afterEach(() => operator.cache.stop());

  test('is removed with all of its objects before any handler is called for one', () => {
    expect(operator.leftAtDeletion).toEqual([[], []]);
    expect(operator.reconciled).toEqual(['Widget/home/widget']);
    expect(operator.of('other')).toEqual(['widget@4', 'map@5']);
  });

  test('does not come back by an event, or by the answer to a write', async () => {
    await operator.say('widgets', aWidget('home', '11', 'MODIFIED'));
    operator.cache.recordWrite(aWidget('home', '12').object);
    expect(operator.of('home')).toEqual([]);
  });

  test('comes back with the label, with all that changed meanwhile', async () => {
    operator.reconciled.length = 0;
    await operator.say('namespaces', named('ADDED', 'home', '20'));
    await operator.clock.advance(200);
    await operator.say('widgets', aWidget('home', '15'), aWidget('other', '4'), end('21'));
    await operator.say('configmaps', aMap('other', '5'), end('21'));
    expect(operator.reconciled).toEqual(['Widget/home/widget widget@15']);
  });
});

describe('a server that was restored from a backup', () => {
  let operator: Operator;
  beforeEach(async () => {
    operator = new Operator();
    await operator.begin('home');
    await operator.say('widgets', aWidget('home', '1000', 'MODIFIED'));
    await operator.say('configmaps', aMap('home', '1001', 'MODIFIED'));
  });
  afterEach(() => operator.cache.stop());

  const known = () => operator.cache.get<Widget>('Widget', 'home', 'widget')!;
  const lists = () => operator.cluster.requests.filter(({ query }) => query?.['sendInitialEvents']).length;

  test.each([
    [
      'a read of an object is older than the cache',
      2,
      () => operator.cache.recordRead(aWidget('home', '500').object, known()),
    ],
    [
      'a list is older than the watch',
      3,
      async () => {
        await operator.say('configmaps', gone);
        await operator.clock.advance(1_000);
        await operator.say('configmaps', aMap('home', '501'), end('700'));
      },
    ],
    [
      'a list has an object in a state before one that it should know',
      4,
      async () => {
        await operator.say('configmaps', bookmark('700'));
        await operator.say('configmaps', aMap('home', '501'), end('1900'));
      },
    ],
  ])('is listed again, every kind, when %s', async (_, count, prove) => {
    const before = lists();
    await prove();
    await operator.clock.advance(1_000);
    expect(lists()).toBe(before + count);
    expect(operator.cache.unsynced().map(({ kind }) => kind)).toEqual(['Widget', 'ConfigMap']);
    operator.reconciled.length = 0;
    // By now the server has made more versions than before the restore.
    await operator.say('widgets', aWidget('home', '500'), end('2000'));
    expect(operator.of('home')[0]).toBe('widget@500');
    expect(operator.reconciled).toEqual([]);
    await operator.say('configmaps', end('2000'));
    expect(operator.of('home')).toEqual(['widget@500']);
    expect(operator.cache.unsynced()).toEqual([]);
    await operator.say('widgets', bookmark('2001'));
    expect(lists()).toBe(before + count);
  });

  test('is not inferred from the bookmarks of a server that lags behind others, which are examined twice an hour', async () => {
    const before = lists();
    for (let minute = 0; minute < 90; minute++) {
      await operator.say('configmaps', bookmark(String(900 + minute)));
      // A server that lags never serves a list.
      await operator.say('widgets', aWidget('home', '1000'), end('1100'));
      await operator.say('configmaps', aMap('home', '1001'), end('1100'));
      expect(operator.cache.waitForNamespace('home')).toBeUndefined();
      await operator.clock.advance(60_000);
    }
    expect(lists()).toBe(before + 3 * 2);
    expect(operator.of('home')).toEqual(['widget@1000', 'map@1001']);
  });

  test('is not reconciled with only a part of the lists, and not listed again because of a second sign', async () => {
    const before = lists();
    operator.cache.recordRead(aWidget('home', '500').object, known());
    await operator.clock.advance(1_000);
    operator.cache.recordRead(aWidget('home', '500').object, known());
    await operator.clock.advance(1_000);
    expect(lists()).toBe(before + 2);
    operator.reconciled.length = 0;
    const { metadata } = aWidget('home', '500').object;
    const former = { type: 'ADDED', object: widget({ metadata: { ...metadata, generation: 2 } }) };
    await operator.say('widgets', former, end('2000'));
    expect(operator.reconciled).toEqual([]);
    await operator.say('configmaps', aMap('home', '501'), end('2000'));
    expect(operator.reconciled).toEqual(['Widget/home/widget widget@500 map@501']);
  });

  test('ignores events of its former watch', async () => {
    const lines = [bookmark('700'), aMap('home', '1002', 'MODIFIED')].map((event) => JSON.stringify(event));
    operator.write('configmaps', lines.join('\n') + '\n');
    await settle();
    expect(operator.of('home')).toEqual(['widget@1000', 'map@1001']);
  });

  test('is not inferred from an answer to a write, which may arrive after a newer event, or come from another object', async () => {
    const before = lists();
    operator.cache.recordWrite(aWidget('home', '500').object);
    const { metadata } = aWidget('home', '500').object;
    operator.cache.recordRead(widget({ metadata: { ...metadata, uid: 'another' } }), known());
    operator.cache.recordRead(aWidget('home', '1002').object, known());
    await operator.clock.advance(1_000);
    expect(lists()).toBe(before);
  });
});
