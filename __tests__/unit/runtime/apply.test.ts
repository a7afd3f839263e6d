import { ApiError } from '../../../operator/runtime/api-client';
import { Applier, contains, NameConflict } from '../../../operator/runtime/apply';
import type { ClusterObject } from '../../../operator/runtime/objects';
import { builtin } from '../../../operator/runtime/types';
import { ManualClock } from '../manual-clock';
import { FakeApiClient, notFound } from './fake-api-client';
import { widget } from './objects';

test.each<[string, unknown, unknown, boolean]>([
  ['the same', { a: 1 }, { a: 1 }, true],
  ['more than is wanted', { a: 1, b: 2 }, { a: 1 }, true],
  ['less', { a: 1 }, { a: 1, b: 2 }, false],
  ['another value', { a: 1 }, { a: 2 }, false],
  ['another type', { a: '1' }, { a: 1 }, false],
  ['defaults inside of list items', [{ a: 1, b: 2 }], [{ a: 1 }], true],
  ['a longer list', [1, 2], [1], false],
  ['another order', [1, 2], [2, 1], false],
  ['a list instead of an object', [], {}, false],
  ['an object instead of a list', {}, [], false],
  ['null, where an object is wanted', null, {}, false],
  ['false, 0 and the empty string', { a: false, b: 0, c: '' }, { a: false, b: 0, c: '' }, true],
  ['nothing, where false is wanted', {}, { a: false }, false],
  ['anything, where nothing is wanted', { a: 1 }, { a: undefined }, true],
])('contains: %s', (_, present, wanted, expected) => {
  expect(contains(present, wanted)).toBe(expected);
});

const owner = widget();

/** A server with one ConfigMap, which changes what is applied as `admit` says. */
function setup(admit: (object: ClusterObject) => ClusterObject = (object) => object) {
  let version = 0;
  const state: { present: ClusterObject | undefined } = { present: undefined };
  const cluster = new FakeApiClient(new ManualClock(), ({ method, body }) => {
    if (method === 'GET') {
      if (!state.present) throw notFound();
      return state.present;
    }
    const { metadata, ...rest } = body as ClusterObject;
    state.present = admit({
      ...rest,
      metadata: { ...metadata, uid: 'uid-c', resourceVersion: String(++version) },
    });
    return state.present;
  });
  const applier = new Applier(cluster, 'example.org');
  const apply = (data: Record<string, unknown>) =>
    applier.apply(
      builtin.ConfigMap,
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c', namespace: 'home' }, data },
      { owner },
    );
  return { state, cluster, applier, apply };
}

test('what the server writes in its own way is not written again and again', async () => {
  const inItsWay = (object: ClusterObject) => ({ ...object, data: { cpu: '1', list: ['added', 'a'] } });
  const { state, cluster, apply } = setup(inItsWay);
  await apply({ cpu: '1000m', list: ['a'] });
  state.present = { ...state.present!, metadata: { ...state.present!.metadata, resourceVersion: '99' } }; // its status, say
  await apply({ cpu: '1000m', list: ['a'] });
  expect(cluster.writes).toHaveLength(1);
  state.present = { ...state.present, data: { cpu: '2', list: ['added', 'a'] } } as ClusterObject;
  await apply({ cpu: '1000m', list: ['a'] });
  expect(cluster.writes).toHaveLength(2);
});

test('an object that appears between the look and the write is not forced', async () => {
  const { cluster, apply } = setup();
  await apply({ a: '1' });
  await apply({ a: '2' });
  expect(cluster.writes.map(({ query }) => query?.['force'])).toEqual([false, true]);
});

test('a desired object with fewer fields is written', async () => {
  const { cluster, apply } = setup();
  await apply({ a: '1', b: '2' });
  await apply({ a: '1' });
  expect(cluster.writes).toHaveLength(2);
});

describe('whose object it is', () => {
  const controlledBy = (kind: string, name: string, uid: string) => ({
    ownerReferences: [{ apiVersion: 'v1', kind, name, uid, controller: true }],
  });
  const meet = async (metadata: Partial<ClusterObject['metadata']>) => {
    const { state, apply } = setup();
    state.present = { metadata: { name: 'c', namespace: 'home', resourceVersion: '1', ...metadata } };
    return apply({}).then(
      () => 'ours',
      (error: unknown) =>
        error instanceof NameConflict ? (error.transient ? 'wait' : 'conflict') : String(error),
    );
  };

  test.each<[string, Partial<ClusterObject['metadata']>, string]>([
    ['controlled by the owner', controlledBy('Widget', 'a', 'uid-a'), 'ours'],
    ['of nobody, but with our label (retained)', { labels: { 'example.org/owner': 'Widget.a' } }, 'ours'],
    ['of nobody', {}, 'conflict'],
    ['of another resource of ours', controlledBy('Widget', 'b', 'uid-b'), 'conflict'],
    [
      'of another, with our label copied',
      { ...controlledBy('Deployment', 'x', 'uid-x'), labels: { 'example.org/owner': 'Widget.a' } },
      'conflict',
    ],
    ['of the resource that had the name before', controlledBy('Widget', 'a', 'uid-before'), 'wait'],
    ['being deleted', { deletionTimestamp: '2026-01-01T00:00:00Z' }, 'wait'],
  ])('%s', async (_, metadata, expected) => {
    expect(await meet(metadata)).toBe(expected);
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
    const { apply } = setup(() => {
      throw error;
    });
    const thrown: unknown = await apply({}).catch((reason: unknown) => reason);
    if (rejects) expect(thrown).toMatchObject({ name: 'ObjectRejected', forbidden: forbids, cause: error });
    else expect(thrown).toBe(error);
  },
);
