import type { Resource } from '../../../operator/kinds';
import type { KindDefinition } from '../../../operator/kinds/kind';
import { DeadlineExceeded } from '../../../operator/base/deadline';
import { RECONCILE_TIMEOUT, RESYNC, RESYNC_JITTER } from '../../../operator/base/limits';
import { Metrics } from '../../../operator/process/metrics';
import { ObjectOwnership } from '../../../operator/runtime/object-ownership';
import { Controller } from '../../../operator/runtime/controller';
import { objectKey } from '../../../operator/runtime/object-key';
import type { Reconciler } from '../../../operator/runtime/reconciler';
import type { Result } from '../../../operator/runtime/result';
import type { CustomResource } from '../../../operator/kinds/resource';
import { Store } from '../../../operator/runtime/store';
import { ApiError, ApiServerUnreachable } from '../../../operator/runtime/api-errors';
import { ManualClock, settle } from '../manual-clock';
import { widget, type Widget } from './objects';

type LinkedWidget = Widget & {
  readonly spec: {
    readonly hub?: string;
    readonly uses?: string[];
    readonly secret?: string;
    readonly reserves?: string[];
    readonly id?: string;
  };
};

const specOf = (resource: Resource) => resource.spec as LinkedWidget['spec'];

const definition = {
  kind: 'Widget',
  hubName: (resource) => specOf(resource).hub ?? 'hub',
  references: (resource) => {
    const { secret, uses = [] } = specOf(resource);
    return [
      ...uses.map((name) => ({ kind: 'Widget', name })),
      ...(secret === undefined ? [] : [{ kind: 'Secret', name: secret }]),
    ];
  },
  reservedSecrets: (resource) => specOf(resource).reserves ?? [],
  identity: (resource) => specOf(resource).id,
  keptObject: ({ status }) => (status as { readonly objectID?: string } | undefined)?.objectID,
} as Pick<
  KindDefinition,
  'kind' | 'hubName' | 'references' | 'reservedSecrets' | 'identity' | 'keptObject'
> as KindDefinition;

const done: Result = { type: 'resync' };

/** A controller of one kind over a store that the test changes. */
class Desk {
  readonly clock = new ManualClock();
  readonly metrics = new Metrics('test');
  readonly store = new Store<CustomResource>();
  readonly passes: string[] = [];
  /** Resources whose deletion was announced. */
  readonly deletions: string[] = [];
  reconcile: (key: string) => Promise<Result> = () => Promise.resolve(done);
  oldestAbandoned = 0;
  readonly controller: Controller;
  private version = 0;

  constructor({ workers = 8, started = true } = {}) {
    const reconciler = {
      reconcile: (key: string) => {
        this.passes.push(key.replace('Widget/', ''));
        return this.reconcile(key);
      },
      oldestAbandoned: () => this.oldestAbandoned,
      announceDeletion: ({ metadata }: CustomResource) => void this.deletions.push(metadata.name),
    } as unknown as Reconciler<CustomResource>;
    this.controller = new Controller({
      clock: this.clock,
      metrics: this.metrics,
      kinds: new Map([
        ['Widget', { definition, reconciler }],
        ['Hub', { definition: { ...definition, kind: 'Hub' }, reconciler }],
      ]),
      read: (id) => this.store.get(id),
      waitForNamespace: () => undefined,
      workers,
      workersPerHub: 4,
      ownership: new ObjectOwnership('example.org'),
    });
    if (started) this.controller.queue.start();
  }

  /** Delivers the watch event of an object, and lets its reconciles run. */
  async see(
    name: string,
    parts: Parameters<typeof widget>[0] & { spec?: LinkedWidget['spec'] } = {},
  ): Promise<void> {
    const before = this.store.get(objectKey('Widget', 'home', name));
    const object = widget({
      ...before,
      ...parts,
      metadata: {
        uid: `uid-${name}`,
        ...before?.metadata,
        ...parts.metadata,
        name,
        resourceVersion: String(++this.version),
      },
    });
    for (const change of this.store.put(object)) this.controller.onResource(definition, change);
    await settle();
  }

  async lose(name: string): Promise<void> {
    const before = this.store.get(objectKey('Widget', 'home', name))!;
    const last = { ...before, metadata: { ...before.metadata, resourceVersion: String(++this.version) } };
    for (const change of this.store.remove(last)) this.controller.onResource(definition, change);
    await settle();
  }

  /** Returns the reconciles since the last call. */
  since(): string[] {
    return this.passes.splice(0);
  }
}

const condition = (status: 'True' | 'False') => ({
  type: 'Ready',
  status,
  reason: 'Because',
  message: '',
  observedGeneration: 1,
  lastTransitionTime: '2026-01-01T00:00:00Z',
});

describe('Controller', () => {
  test.each([
    ['its spec', { metadata: { generation: 2 } }, true],
    ['an annotation', { metadata: { annotations: { a: 'b' } } }, true],
    ['its deletion', { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }, true],
    ['its status', { status: { phase: 'Running' } }, false],
    ['a finalizer', { metadata: { finalizers: ['other'] } }, false],
    ['a label', { metadata: { labels: { a: 'b' } } }, false],
  ])('a change of %s enqueues the resource: %j', async (_, change, works) => {
    const desk = new Desk();
    await desk.see('a');
    desk.since();
    await desk.see('a', change);
    expect(desk.since()).toEqual(works ? ['home/a'] : []);
  });

  test('the dependents of a resource are enqueued when it appears, becomes ready, changes its status, or is deleted', async () => {
    const desk = new Desk();
    await desk.see('user', { spec: { uses: ['used'] } });
    desk.since();
    await desk.see('used', { status: { conditions: [condition('False')] } });
    expect(desk.since()).toEqual(['home/used', 'home/user']);
    await desk.see('used', { status: { conditions: [condition('True')] } });
    expect(desk.since()).toEqual(['home/user']);
    await desk.see('used', { status: { conditions: [{ ...condition('True'), message: 'new words' }] } });
    expect(desk.since()).toEqual([]);
    await desk.see('used', { status: { url: 'http://…', conditions: [condition('True')] } });
    expect(desk.since()).toEqual(['home/user']);
    await desk.lose('used');
    expect(desk.since()).toEqual(['home/used', 'home/user']);
  });

  test('a reference finds a resource by its identity as well as by its name', async () => {
    const desk = new Desk();
    await desk.see('user', { spec: { uses: ['kitchen'] } });
    desk.since();
    await desk.see('some-floor', { spec: { id: 'kitchen' } });
    expect(desk.since()).toEqual(['home/some-floor', 'home/user']);
  });

  test('the dependents of a former identity are enqueued when it changes', async () => {
    const desk = new Desk();
    await desk.see('old-friend', { spec: { uses: ['kitchen'] } });
    await desk.see('new-friend', { spec: { uses: ['dining'] } });
    await desk.see('some-floor', { spec: { id: 'kitchen' } });
    desk.since();
    await desk.see('some-floor', { spec: { id: 'dining' }, metadata: { generation: 2 } });
    expect(desk.since().sort()).toEqual(['home/new-friend', 'home/old-friend', 'home/some-floor']);
  });

  test('resources that refer to a Secret are enqueued when another resource reserves it, reserves another one, or is deleted', async () => {
    const desk = new Desk();
    await desk.see('one', { spec: { secret: 'login' } });
    await desk.see('two', { spec: { secret: 'token' } });
    desk.since();
    await desk.see('owner', { spec: { reserves: ['login'] } });
    expect(desk.since()).toEqual(['home/owner', 'home/one']);
    await desk.see('owner', { spec: { reserves: ['login'] }, metadata: { generation: 2 } });
    expect(desk.since()).toEqual(['home/owner']);
    await desk.see('owner', { spec: { reserves: ['token'] }, metadata: { generation: 3 } });
    expect(desk.since().sort()).toEqual(['home/one', 'home/owner', 'home/two']);
    await desk.lose('owner');
    expect(desk.since()).toEqual(['home/owner', 'home/two']);
  });

  test('a reference finds no object of another namespace', async () => {
    const desk = new Desk();
    await desk.see('user', { spec: { uses: ['used'] } });
    desk.since();
    desk.controller.onReferenced('Widget', widget({ metadata: { name: 'used', namespace: 'elsewhere' } }));
    await settle();
    expect(desk.since()).toEqual([]);
  });

  test('a change of a generated object enqueues its owner', async () => {
    const desk = new Desk();
    await desk.see('a');
    desk.since();
    const owned = (owner: string) =>
      widget({ metadata: { name: 'child', labels: { 'example.org/owner': owner } } });
    for (const owner of ['Widget.a', 'Stranger.a', 'nonsense'])
      desk.controller.onOwned({ type: 'added', object: owned(owner) });
    desk.controller.onOwned({ type: 'added', object: widget() });
    await settle();
    expect(desk.since()).toEqual(['home/a']);
  });

  test('the owner of a generated object is enqueued when its label or its owner reference is removed', async () => {
    const desk = new Desk();
    await desk.see('a');
    desk.since();
    const object = widget({ metadata: { name: 'generated' } });
    const labelled = widget({ metadata: { name: 'generated', labels: { 'example.org/owner': 'Widget.a' } } });
    desk.controller.onOwned({ type: 'modified', object, previous: labelled });
    await settle();
    expect(desk.since()).toEqual(['home/a']);
    const reference = {
      apiVersion: 'example.org/v1',
      kind: 'Widget',
      name: 'a',
      uid: 'uid-a',
      controller: true,
    };
    const owned = widget({ metadata: { name: 'generated', ownerReferences: [reference] } });
    desk.controller.onOwned({ type: 'modified', object, previous: owned });
    await settle();
    expect(desk.since()).toEqual(['home/a']);
  });

  test('a resource whose references cannot be computed is reconciled nevertheless', async () => {
    const desk = new Desk();
    const uses = 'not a list' as unknown as string[];
    await expect(desk.see('a', { spec: { uses } })).rejects.toThrow(TypeError);
    await settle();
    expect(desk.since()).toEqual(['home/a']);
  });

  describe('priorities', () => {
    const asItWas = { status: { observedGeneration: 1 } };

    test('at start, resources with changes go before unchanged ones that were reconciled before', async () => {
      const desk = new Desk({ workers: 1, started: false });
      await desk.see('settled', asItWas);
      await desk.see('settled too', { ...asItWas, spec: { uses: ['settled'] } });
      await desk.see('edited', { status: { observedGeneration: 1 }, metadata: { generation: 2 } });
      await desk.see('going', { ...asItWas, metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } });
      await desk.see('new');
      desk.controller.queue.start();
      await settle();
      expect(desk.since().map((key) => key.slice('home/'.length))).toEqual([
        'edited',
        'going',
        'new',
        'settled',
        'settled too',
      ]);
    });

    test('Secrets and generated objects of the initial list enqueue with resync priority', async () => {
      const desk = new Desk({ workers: 1, started: false });
      await desk.see('a', { ...asItWas, spec: { uses: ['used'] } });
      desk.controller.onReferenced('Widget', widget({ metadata: { name: 'used' } }));
      desk.controller.onOwned({
        type: 'added',
        object: widget({ metadata: { labels: { 'example.org/owner': 'Widget.a' } } }),
      });
      await desk.see('edited', { status: { observedGeneration: 1 }, metadata: { generation: 2 } });
      desk.controller.queue.start();
      await settle();
      expect(desk.since()).toEqual(['home/edited', 'home/a']);
    });

    test('a requeue with resync priority goes after a change', async () => {
      const desk = new Desk({ workers: 1, started: false });
      desk.controller.requeue('Widget', 'home', 'swept', 'resync');
      desk.controller.requeue('Widget', 'home', 'changed');
      desk.controller.queue.start();
      await settle();
      expect(desk.since()).toEqual(['home/changed', 'home/swept']);
    });
  });

  test('resources with one identity are enqueued when its owner is deleted and when an older one appears', async () => {
    const desk = new Desk();
    await desk.see('young', { spec: { id: 'x' }, metadata: { creationTimestamp: '2026-01-01T00:00:02Z' } });
    desk.since();
    await desk.see('old', { spec: { id: 'x' }, metadata: { creationTimestamp: '2026-01-01T00:00:01Z' } });
    expect(desk.since().sort()).toEqual(['home/old', 'home/young']);
    const young = desk.store.get('Widget/home/young')!;
    expect(desk.controller.conflictingOwner(young)).toBe('Widget/home/old');
    await desk.lose('old');
    expect(desk.since().sort()).toEqual(['home/old', 'home/young']);
    expect(desk.controller.conflictingOwner(young)).toBeUndefined();
  });

  test('a resource keeps its own object although an older one has its identity', async () => {
    const desk = new Desk();
    const seeAt = (name: string, objectID: string, second: number) =>
      desk.see(name, {
        spec: { id: 'x' },
        status: { objectID },
        metadata: { creationTimestamp: `2026-01-01T00:00:0${second}Z` },
      });
    await seeAt('old', '1', 1);
    await seeAt('young', '2', 2);
    await seeAt('same', '1', 3);
    await desk.see('none', { spec: { id: 'x' }, metadata: { creationTimestamp: '2026-01-01T00:00:04Z' } });
    const ownerOf = (name: string) =>
      desk.controller.conflictingOwner(desk.store.get(`Widget/home/${name}`)!);
    expect(['old', 'young', 'same', 'none'].map(ownerOf)).toEqual([
      undefined,
      undefined,
      'Widget/home/old',
      'Widget/home/old',
    ]);
  });

  test('the contenders of a resource that is about to be created are those of its hub', async () => {
    const desk = new Desk();
    await desk.see('a', { spec: { id: 'x' } });
    await desk.see('b', { spec: { id: 'x', hub: 'two' } });
    const asked = (spec: LinkedWidget['spec'], name = 'c') =>
      desk.controller.othersWithIdentity(definition, widget({ metadata: { name }, spec }));
    expect(asked({ id: 'x' })).toEqual(['Widget/home/a']);
    expect(asked({ id: 'x' }, 'a')).toEqual([]);
    expect(asked({ id: 'y' })).toEqual([]);
    expect(asked({})).toEqual([]);
  });

  test('equal identities in different hubs do not conflict', async () => {
    const desk = new Desk();
    await desk.see('a', { spec: { id: 'x', hub: 'one' } });
    await desk.see('b', { spec: { id: 'x', hub: 'two' } });
    expect(desk.controller.conflictingOwner(desk.store.get('Widget/home/b')!)).toBeUndefined();
  });

  test('a resource that is created again during the reconcile of its deletion is reconciled again', async () => {
    const desk = new Desk();
    let end!: (next: Result) => void;
    desk.reconcile = () => new Promise((resolve) => (end = resolve));
    await desk.see('a');
    await desk.lose('a');
    await desk.see('a', { metadata: { uid: 'another' } });
    end({ type: 'gone' });
    await settle();
    expect(desk.since()).toEqual(['home/a', 'home/a']);
  });

  describe('results', () => {
    const metric = async (desk: Desk, result: string) =>
      (await desk.metrics.registry.getSingleMetric('controller_runtime_reconcile_total')!.get()).values.find(
        ({ labels }) => labels['result'] === result,
      )?.value;

    test('a requeue happens after its delay and does not count as an error', async () => {
      const desk = new Desk();
      desk.reconcile = () => Promise.resolve({ type: 'requeue', after: 10_000, priority: 'change' });
      await desk.see('a');
      await desk.clock.advance(30_000);
      expect(desk.passes).toHaveLength(4);
      expect(await metric(desk, 'requeue_after')).toBe(4);
      expect(await metric(desk, 'error')).toBe(0);
    });

    test('resyncs have jitter, so that not all resources are reconciled at once', async () => {
      const desk = new Desk();
      desk.reconcile = () => Promise.resolve(desk.passes.length > 40 ? { type: 'gone' } : done);
      for (let resource = 0; resource < 40; resource++) await desk.see(`r${resource}`);
      desk.since();
      await desk.clock.advance(RESYNC * (1 - RESYNC_JITTER) - 1);
      expect(desk.since()).toEqual([]);
      const times: number[] = [];
      desk.reconcile = () =>
        Promise.resolve(void times.push(desk.clock.monotonic())).then(() => ({ type: 'gone' }));
      await desk.clock.advance(2 * RESYNC * RESYNC_JITTER + 2);
      expect(times).toHaveLength(40);
      expect(Math.max(...times) - Math.min(...times)).toBeGreaterThan(RESYNC * RESYNC_JITTER);
    });

    test('failures are retried with growing backoff, which a success resets', async () => {
      const desk = new Desk();
      let fails = true;
      desk.reconcile = () =>
        Promise.resolve(
          fails
            ? { type: 'retry', error: new Error('boom'), atLeast: 0 }
            : { type: 'requeue', after: 1, priority: 'change' },
        );
      await desk.see('a');
      await desk.clock.advance(5 * 2 ** 8);
      const failed = desk.since().length;
      expect(failed).toBeGreaterThanOrEqual(8);
      expect(failed).toBeLessThanOrEqual(10);
      fails = false;
      await desk.clock.advance(5 * 2 ** 10);
      fails = true;
      desk.since();
      await desk.clock.advance(40);
      expect(desk.since().length).toBeGreaterThanOrEqual(3);
    });

    test('stalls, timeouts and faults of the operator have counters of their own', async () => {
      const desk = new Desk();
      desk.reconcile = () => Promise.resolve({ type: 'stalled' });
      await desk.see('a');
      desk.reconcile = () =>
        Promise.resolve({ type: 'retry', error: new TypeError('undefined'), atLeast: 1e6 });
      await desk.see('b');
      const refused = new ApiError(403, 'Forbidden', 'no');
      desk.reconcile = () => Promise.resolve({ type: 'retry', error: refused, atLeast: 1e6 });
      await desk.see('c');
      const late = new DeadlineExceeded('too late');
      desk.reconcile = () => Promise.resolve({ type: 'retry', error: late, atLeast: 1e6 });
      await desk.see('d');
      const value = async (name: string) =>
        (await desk.metrics.registry.getSingleMetric(name)!.get()).values[0]?.value;
      expect(await value('controller_runtime_terminal_reconcile_errors_total')).toBe(1);
      expect(await value('controller_runtime_reconcile_panics_total')).toBe(1);
      expect(await value('controller_runtime_reconcile_timeouts_total')).toBe(1);
      expect(await value('controller_runtime_reconcile_errors_total')).toBe(3);
    });

    test('a retry waits as long as the API server asked for', async () => {
      const desk = new Desk();
      desk.reconcile = () => Promise.resolve({ type: 'retry', error: new Error('busy'), atLeast: 5_000 });
      await desk.see('a');
      await desk.clock.advance(4_999);
      expect(desk.passes).toHaveLength(1);
      await desk.clock.advance(1);
      expect(desk.passes).toHaveLength(2);
    });

    test.each([
      ['that does not answer', new ApiServerUnreachable('ECONNREFUSED')],
      ['without its etcd', new ApiError(500, 'InternalError', 'etcdserver: leader changed')],
      ['that is starting', new ApiError(503, 'ServiceUnavailable', 'not ready')],
      ['that is busy', new ApiError(429, 'TooManyRequests', 'busy')],
    ])(
      'a resource is retried soon after the outage of an API server %s, however long it was',
      async (_, error) => {
        const desk = new Desk();
        desk.reconcile = () => Promise.resolve({ type: 'retry', error, atLeast: 0 });
        await desk.see('a');
        await desk.clock.advance(3_600_000);
        desk.reconcile = () => Promise.resolve(done);
        desk.since();
        await desk.clock.advance(10_000);
        expect(desk.since()).toHaveLength(1);
      },
    );

    test('a deleted resource is not reconciled again', async () => {
      const desk = new Desk();
      desk.reconcile = () => Promise.resolve({ type: 'gone' });
      await desk.see('a');
      await desk.clock.advance(3_600_000);
      expect(desk.passes).toHaveLength(1);
      expect(desk.clock.pendingTimers).toBe(0);
    });
  });

  test('a reconcile that never ends is a liveness error', async () => {
    const desk = new Desk();
    desk.reconcile = () => new Promise(() => undefined);
    await desk.see('a');
    expect(desk.controller.livenessErrors()).toEqual([]);
    await desk.clock.advance(4 * RECONCILE_TIMEOUT);
    expect(desk.controller.livenessErrors()).toEqual(['a reconcile has been running for 480 s']);
  });

  test('an abandoned reconcile that never ends is a liveness error', () => {
    const desk = new Desk();
    desk.oldestAbandoned = 2 * RECONCILE_TIMEOUT;
    expect(desk.controller.livenessErrors()).toEqual([]);
    desk.oldestAbandoned = 4 * RECONCILE_TIMEOUT;
    expect(desk.controller.livenessErrors()).toEqual(['an abandoned reconcile has been running for 480 s']);
  });

  test('a full queue is not a liveness error, but a resource that no worker takes is one', async () => {
    const desk = new Desk();
    desk.reconcile = () => desk.clock.sleep(RECONCILE_TIMEOUT).then(() => done);
    // all of one hub, of which four are worked at the same time
    for (let resource = 0; resource < 30; resource++) await desk.see(`r${resource}`);
    await desk.clock.advance(4 * RECONCILE_TIMEOUT);
    expect(desk.controller.livenessErrors()).toEqual([]);

    const lost = new Desk();
    lost.clock.after = () => () => undefined; // from now on no timer fires
    lost.controller.queue.addAfter('Widget/home/a', 1_000);
    await lost.clock.advance(4 * RECONCILE_TIMEOUT);
    expect(lost.controller.livenessErrors()).toEqual([
      'a resource has been due although workers are free for 479 s',
    ]);
  });

  test('a Hub does not wait behind its children, although they take all slots of the hub', async () => {
    const desk = new Desk();
    desk.reconcile = () => new Promise(() => undefined);
    const villa = widget({ metadata: { name: 'villa' }, spec: { hub: 'villa' } as Widget['spec'] });
    desk.store.put({ ...villa, kind: 'Hub' });
    for (const name of ['a', 'b', 'c', 'd', 'e']) await desk.see(name, { spec: { hub: 'villa' } });
    expect(desk.since()).toEqual(['home/a', 'home/b', 'home/c', 'home/d']);
    desk.controller.requeue('Hub', 'home', 'villa');
    expect(desk.since()).toEqual(['Hub/home/villa']);
  });

  test('a deletion is announced once, and does not wait behind reconciles that take all slots of the hub', async () => {
    const desk = new Desk();
    desk.reconcile = () => new Promise(() => undefined);
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) await desk.see(name, { spec: { hub: 'villa' } });
    expect(desk.since()).toEqual(['home/a', 'home/b', 'home/c', 'home/d']);
    const metadata = { deletionTimestamp: '2026-01-01T00:00:00Z' };
    await desk.see('f', { spec: { hub: 'villa' }, metadata });
    await desk.see('a', { spec: { hub: 'villa' }, metadata });
    await desk.see('a', { spec: { hub: 'villa' }, metadata: { ...metadata, labels: { some: 'label' } } });
    expect(desk.since()).toEqual(['home/f']);
    expect(desk.deletions).toEqual(['f', 'a']);
  });

  test('waiting keys are counted by kind', async () => {
    const desk = new Desk();
    desk.reconcile = () => new Promise(() => undefined);
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) await desk.see(name);
    const { values } = await desk.metrics.registry.getSingleMetric('workqueue_depth')!.get();
    expect(values).toMatchObject([
      { value: 2, labels: { name: 'Widget' } },
      { value: 0, labels: { name: 'Hub' } },
    ]);
  });
});
