import { ApiError } from '../../../operator/runtime/api-errors';
import { Applier, type ApplyOptions } from '../../../operator/runtime/apply';
import { NameConflict } from '../../../operator/runtime/apply-errors';
import { type ObjectKey, objectKey, objectKeyOf } from '../../../operator/runtime/object-key';
import type { ClusterObject } from '../../../operator/runtime/objects';
import { builtin } from '../../../operator/runtime/types';
import { ManualClock } from '../manual-clock';
import { conflict, FakeApiClient, notFound } from './fake-api-client';
import { widget } from './objects';

const owner = widget();
const key = objectKey('ConfigMap', 'home', 'c');

/**
 * Makes a server with one ConfigMap, which changes applied objects as `admit` says, and the cache over it.
 */
function setup({ cached = true, admit = (object: ClusterObject) => object } = {}) {
  let version = 0;
  const state: { present: ClusterObject | undefined } = { present: undefined };
  const objects = new Map<ObjectKey, ClusterObject>();
  const cluster = new FakeApiClient(new ManualClock(), ({ method, body }) => {
    if (method === 'GET') {
      if (!state.present) throw notFound();
      return state.present;
    }
    const { metadata, ...rest } = body as ClusterObject;
    const resourceVersion = String(++version);
    state.present = admit({ ...rest, metadata: { ...metadata, uid: 'uid-c', resourceVersion } });
    return state.present;
  });
  const applier = new Applier(
    cluster,
    {
      get: <T extends ClusterObject>(kind: string, namespace: string, name: string) =>
        objects.get(objectKey(kind, namespace, name)) as T | undefined,
      recordWrite: (object) => {
        if (cached) objects.set(objectKeyOf(object), object);
        return object;
      },
      watches: (kind) => kind === 'Widget' || kind === 'ConfigMap',
    },
    'example.org',
  );
  const apply = (data: Record<string, unknown>, options: Partial<ApplyOptions> = {}) =>
    applier.apply(
      builtin.ConfigMap,
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c', namespace: 'home' }, data },
      { owner, ...options },
    );
  /** Changes the object as another client, and delivers the watch event. */
  const change = (content: object) => {
    const metadata = { ...state.present!.metadata, resourceVersion: String(++version) };
    state.present = { ...state.present!, ...content, metadata };
    objects.set(key, state.present);
  };
  return { state, cluster, applier, apply, objects, change };
}

describe('Applier', () => {
  test('sends nothing for an object of the cache that is unchanged since its apply', async () => {
    const { cluster, apply } = setup();
    await apply({ a: '1' });
    cluster.requests.length = 0;
    await apply({ a: '1' });
    await apply({ a: '1' });
    expect(cluster.requests).toEqual([]);
  });

  test('reads an object that is not in the cache, and applies it only if it changed', async () => {
    const { cluster, apply } = setup({ cached: false });
    await apply({ a: '1' });
    cluster.requests.length = 0;
    await apply({ a: '1' });
    expect(cluster.requests.map(({ method }) => method)).toEqual(['GET']);
  });

  test('does not apply again values that the server normalizes', async () => {
    const { cluster, apply } = setup({ admit: (object) => ({ ...object, data: { cpu: '1' } }) });
    await apply({ cpu: '1000m' });
    await apply({ cpu: '1000m' });
    expect(cluster.writes).toHaveLength(1);
  });

  test.each<[string, object, number]>([
    ['a value of ours', { data: { a: '2', b: '1' } }, 1],
    ['a value of ours to a list', { data: { a: ['1'], b: '1' } }, 1],
    ['by removing a value of ours', { data: { b: '1' } }, 1],
    ['by removing all values', { data: undefined }, 1],
    ['by adding a value', { data: { a: '1', b: '1', theirs: '2' } }, 0],
    ['the status alone', { status: { phase: 'Active' } }, 0],
  ])('an object in which another client has changed %s', async (_, content, writes) => {
    const { cluster, apply, change } = setup();
    await apply({ a: '1', b: '1' });
    cluster.requests.length = 0;
    change(content);
    await apply({ a: '1', b: '1' });
    await apply({ a: '1', b: '1' });
    expect(cluster.requests.map(({ method }) => method)).toEqual(Array(writes).fill('PATCH'));
  });

  test.each<[string, unknown, unknown, number]>([
    ['a default in an item of a list', [{ port: 1 }], [{ port: 1, protocol: 'TCP' }], 0],
    ['an item at the end of a list', [{ port: 1 }], [{ port: 1 }, { port: 2 }], 1],
    ['an item in the place of another', [{ port: 1 }], [{ port: 2 }], 1],
    ['a field beside a list', { ports: [1] }, { ports: [1], other: true }, 0],
    [
      'a label in a selector',
      { podSelector: { matchLabels: { a: '1' } } },
      { podSelector: { matchLabels: { a: '1', b: '1' } } },
      1,
    ],
    ['a label in an empty selector', { selector: {} }, { selector: { a: '1' } }, 1],
    ['an object in the place of a value', { a: '1' }, { a: { b: '1' } }, 1],
    ['a value in the place of an object', { a: { b: '1' } }, { a: '1' }, 1],
  ])('undoes %s, if an apply can do that', async (_, desired, present, writes) => {
    const { cluster, apply, change } = setup();
    await apply({ part: desired });
    change({ data: { part: present } });
    await apply({ part: desired });
    expect(cluster.writes).toHaveLength(1 + writes);
  });

  test('reads an object of which the cache has no content, and applies it only if it changed', async () => {
    const { cluster, applier, apply, change, objects, state } = setup();
    await apply({ a: '1' });
    const methods = async () => {
      const { apiVersion, kind, metadata } = state.present as ClusterObject & { apiVersion: string };
      objects.set(key, { apiVersion, kind: kind!, metadata });
      cluster.requests.length = 0;
      await apply({ a: '1' });
      return cluster.requests.map(({ method }) => method);
    };
    expect(await methods()).toEqual([]);
    change({ data: { a: '1', theirs: '1' } });
    expect(await methods()).toEqual(['GET']);
    expect(await methods()).toEqual([]);
    change({ data: { a: '2' } });
    expect(await methods()).toEqual(['GET', 'PATCH']);
    expect(await methods()).toEqual([]);
    applier.forget(objects.get(key)!); // the object was deleted
    expect(await methods()).toEqual(['GET']);
  });

  test('applies a desired object that became smaller', async () => {
    const { cluster, apply } = setup();
    await apply({ a: '1', b: '2' });
    await apply({ a: '1' });
    expect(cluster.writes).toHaveLength(2);
  });

  test('leaves an object that another process applied as it is, and creates one that was deleted', async () => {
    const { cluster, applier, apply, objects, state } = setup();
    await apply({ a: '1' });
    applier.forget(objects.get(key)!);
    await apply({ a: '1' });
    expect(cluster.writes).toHaveLength(1);
    objects.clear();
    state.present = undefined;
    await apply({ a: '1' });
    expect(cluster.writes).toHaveLength(2);
  });

  test('does not force an object that appears between the read and the write', async () => {
    const { cluster, apply } = setup();
    await apply({ a: '1' });
    await apply({ a: '2' });
    expect(cluster.writes.map(({ query }) => query?.['force'])).toEqual([false, true]);
  });

  describe('an object that the cache still contains', () => {
    /** The cache has an object that the API server no longer has. `latest` has its name since. */
    const stale = async (latest: ClusterObject | undefined) => {
      const bench = setup();
      await bench.apply({ a: '1' });
      const serve = bench.cluster.handler;
      bench.state.present = latest;
      bench.cluster.handler = (request) => {
        const uid = (request.body as ClusterObject | undefined)?.metadata.uid;
        if (uid !== undefined && uid !== bench.state.present?.metadata.uid) throw conflict();
        return serve(request);
      };
      bench.cluster.requests.length = 0;
      return bench;
    };

    test('and that is deleted in the meantime is created again', async () => {
      const { cluster, apply, state } = await stale(undefined);
      await apply({ a: '2' });
      expect(state.present).toMatchObject({ data: { a: '2' } });
      expect(cluster.writes.map(({ query }) => query?.['force'])).toEqual([true, false]);
    });

    test('and that was recreated in the meantime by its owner is changed', async () => {
      const { cluster, apply } = await stale({
        metadata: {
          name: 'c',
          namespace: 'home',
          uid: 'uid-new',
          labels: { 'example.org/owner': 'Widget.a' },
        },
      });
      await apply({ a: '2' });
      expect(cluster.writes.map(({ body }) => (body as ClusterObject).metadata.uid)).toEqual([
        'uid-c',
        'uid-new',
      ]);
    });

    test('and that was recreated in the meantime by another client stays unchanged', async () => {
      const { cluster, apply } = await stale({ metadata: { name: 'c', namespace: 'home', uid: 'uid-new' } });
      await expect(apply({ a: '2' })).rejects.toThrow(NameConflict);
      expect(cluster.writes).toHaveLength(1);
    });

    test('a conflict about the same object is an error', async () => {
      const { cluster, apply } = await stale(undefined);
      cluster.handler = ({ method }) => {
        if (method === 'GET') return { metadata: { name: 'c', namespace: 'home', uid: 'uid-c' } };
        throw conflict();
      };
      await expect(apply({ a: '2' })).rejects.toThrow('has been modified');
      expect(cluster.writes).toHaveLength(1);
    });
  });

  describe('with a check of the owner', () => {
    const controlledBy = (kind: string, name: string, uid: string) => ({
      ownerReferences: [{ apiVersion: 'v1', kind, name, uid, controller: true }],
    });
    const meet = async (
      metadata: Partial<ClusterObject['metadata']>,
      options: Partial<ApplyOptions> = {},
    ) => {
      const { state, apply, objects } = setup();
      objects.set(objectKey('Widget', 'home', 'b'), widget({ metadata: { name: 'b', uid: 'uid-b' } }));
      state.present = { metadata: { name: 'c', namespace: 'home', resourceVersion: '1', ...metadata } };
      return apply({}, options).then(
        () => 'ours',
        (error: unknown) =>
          error instanceof NameConflict ? (error.transient ? 'wait' : 'conflict') : String(error),
      );
    };

    test.each<[string, Partial<ClusterObject['metadata']>, string]>([
      ['controlled by the owner', controlledBy('Widget', 'a', 'uid-a'), 'ours'],
      [
        'without owner, but with our label (retained)',
        { labels: { 'example.org/owner': 'Widget.a' } },
        'ours',
      ],
      ['without owner', {}, 'conflict'],
      ['of another resource of ours', controlledBy('Widget', 'b', 'uid-b'), 'conflict'],
      ['of another resource of ours that is gone', controlledBy('Widget', 'gone', 'uid-gone'), 'wait'],
      ['of the resource that had another’s name before', controlledBy('Widget', 'b', 'uid-before'), 'wait'],
      [
        'of another, with our label copied',
        { ...controlledBy('Deployment', 'x', 'uid-x'), labels: { 'example.org/owner': 'Widget.a' } },
        'conflict',
      ],
      ['of the resource that had the name before', controlledBy('Widget', 'a', 'uid-before'), 'wait'],
      ['being deleted', { deletionTimestamp: '2026-01-01T00:00:00Z' }, 'wait'],
    ])('an object %s', async (_, metadata, expected) => {
      expect(await meet(metadata)).toBe(expected);
    });

    const second = { apiVersion: 'v1', kind: 'Widget', name: 'b', uid: 'uid-b' };
    const kept = (name: string, uid: string) => ({
      ownerReferences: [...controlledBy('Widget', name, uid).ownerReferences, second],
    });

    test.each<[string, Partial<ClusterObject['metadata']>, string]>([
      ['of a resource that is gone, and kept by another', kept('gone', 'uid-gone'), 'ours'],
      ['of a resource that is gone, and kept by none', controlledBy('Widget', 'gone', 'uid-gone'), 'ours'],
      ['of a resource that exists, and kept by another', kept('b', 'uid-b'), 'conflict'],
      [
        'that only the label says the former owner of',
        { labels: { 'example.org/owner': 'Widget.gone' } },
        'ours',
      ],
      ['whose labelled owner exists', { labels: { 'example.org/owner': 'Widget.b' } }, 'conflict'],
      ['of a person', {}, 'conflict'],
      ['of a controller that is no resource of ours', controlledBy('Deployment', 'x', 'uid-x'), 'conflict'],
      ['being deleted', { ...kept('gone', 'uid-gone'), deletionTimestamp: '2026-01-01T00:00:00Z' }, 'wait'],
    ])('one that takes over abandoned objects meets an object %s', async (_, metadata, expected) => {
      expect(await meet(metadata, { takesAbandoned: true })).toBe(expected);
    });

    test('a resource that keeps the object is not its controller', async () => {
      const { state, apply } = setup();
      await apply({}, { keptBy: widget({ metadata: { name: 'b', uid: 'uid-b' } }) });
      expect(state.present!.metadata.ownerReferences).toEqual([
        expect.objectContaining({ name: 'a', controller: true }),
        expect.objectContaining({ name: 'b', controller: false }),
      ]);
    });
  });

  describe('a reference to the owner at creation', () => {
    const atCreation = { ownerReference: 'at creation' } as const;
    const ownersIn = (object: unknown) =>
      (object as ClusterObject).metadata.ownerReferences?.map(({ uid }) => uid);

    test('is in a new object, and stays there without another write', async () => {
      const { cluster, apply, state } = setup();
      await apply({ a: '1' }, { ownerReference: 'always' }); // like a former version
      expect(ownersIn(state.present)).toEqual(['uid-a']);
      await apply({ a: '1' }, atCreation);
      expect(cluster.writes).toHaveLength(1);
      await apply({ a: '2' }, atCreation);
      expect(ownersIn(cluster.writes[1]!.body)).toEqual(['uid-a']);
      const created = setup();
      await created.apply({}, atCreation);
      expect(ownersIn(created.state.present)).toEqual(['uid-a']);
    });

    test('is not added to an object that has none', async () => {
      const { cluster, apply } = setup();
      await apply({ a: '1' }, { ownerReference: 'never' });
      await apply({ a: '1' }, atCreation);
      expect(cluster.writes).toHaveLength(1);
      await apply({ a: '2' }, atCreation);
      expect(cluster.writes.map(({ body }) => ownersIn(body))).toEqual([undefined, undefined]);
    });

    test('is sent only for the version that has it', async () => {
      const { cluster, apply } = setup();
      await apply({ a: '1' }, atCreation);
      await apply({ a: '2' }, atCreation);
      const versions = cluster.writes.map(({ body }) => (body as ClusterObject).metadata.resourceVersion);
      expect(versions).toEqual([undefined, '1']);
    });

    test('is not sent for a later version that has lost it', async () => {
      const { cluster, apply, state, objects } = setup();
      await apply({ a: '1' }, atCreation);
      // The watch has not delivered the change of another client yet.
      const { ownerReferences: _, ...metadata } = state.present!.metadata;
      state.present = { ...state.present!, metadata: { ...metadata, resourceVersion: '7' } };
      expect(ownersIn(objects.get(key))).toEqual(['uid-a']);
      const serve = cluster.handler;
      cluster.handler = (request) => {
        const { resourceVersion } = (request.body as ClusterObject | undefined)?.metadata ?? {};
        if (resourceVersion !== undefined && resourceVersion !== '7') throw conflict();
        return serve(request);
      };
      await apply({ a: '2' }, atCreation);
      expect(cluster.writes.map(({ body }) => ownersIn(body))).toEqual([['uid-a'], ['uid-a'], undefined]);
    });
  });

  describe('a removal', () => {
    /**
     * The API server has recreated the object since the read, as a client with the uid of the former one
     * learns.
     */
    const recreated = async () => {
      const bench = setup();
      await bench.apply({ a: '1' });
      const serve = bench.cluster.handler;
      const newer = { name: 'c', namespace: 'home', uid: 'uid-new' };
      bench.cluster.handler = (request) => {
        const { preconditions } = (request.body ?? {}) as { preconditions?: { uid?: string } };
        if (request.method !== 'DELETE') return serve(request);
        bench.state.present = { metadata: newer };
        if (preconditions?.uid !== undefined && preconditions.uid !== newer.uid) throw conflict();
        bench.state.present = undefined;
        return {};
      };
      return bench;
    };

    test('leaves an object that was recreated since it was read', async () => {
      const { applier, state, cluster } = await recreated();
      await applier.remove(builtin.ConfigMap, owner, 'c');
      expect(state.present?.metadata.uid).toBe('uid-new');
      expect(cluster.writes.filter(({ method }) => method === 'DELETE')).toHaveLength(1);
    });

    test('deletes the object that was read', async () => {
      const { applier, apply, cluster } = setup();
      await apply({});
      await applier.remove(builtin.ConfigMap, owner, 'c');
      expect(cluster.writes.at(-1)).toMatchObject({
        method: 'DELETE',
        body: { preconditions: { uid: 'uid-c' } },
      });
    });
  });

  test.each([
    [400, [], true, false],
    [422, [], true, false],
    [403, [], true, true],
    [403, ['NamespaceTerminating'], false, false],
    [500, [], false, false],
  ])(
    'HTTP %s with the causes %j rejects the object: %s, forbids it: %s',
    async (status, causes, rejects, forbids) => {
      const error = new ApiError(status, 'No', 'exceeded quota', undefined, causes);
      const { apply } = setup({
        admit: () => {
          throw error;
        },
      });
      const thrown: unknown = await apply({}).catch((reason: unknown) => reason);
      if (rejects) expect(thrown).toMatchObject({ name: 'ObjectRejected', forbidden: forbids, cause: error });
      else expect(thrown).toBe(error);
    },
  );
});
