import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../../operator/base/clock';
import { Informer } from '../../../operator/runtime/informer';
import type { InformerOptions } from '../../../operator/runtime/informer-options';
import { objectKey, objectKeyOf } from '../../../operator/runtime/object-key';
import { type ClusterObject, pathOf, type ResourceType } from '../../../operator/runtime/objects';
import type { ApiClient, ApiRequest } from '../../../operator/runtime/api-client';
import { ApiError } from '../../../operator/runtime/api-errors';
import { builtin } from '../../../operator/runtime/types';
import { freshNamespace, mustKubectl, until } from '../../cluster';
import { adminCluster, applyAs } from '../../cluster/admin-cluster';
import { silentLog } from '../../cluster/silent-log';

interface ConfigMap extends ClusterObject {
  readonly data?: Readonly<Record<string, string>>;
}

let namespace: string;
const cluster = () => (shared ??= adminCluster());
let shared: ApiClient | undefined;

beforeAll(async () => {
  namespace = await freshNamespace('informer');
});

const started: Informer<ConfigMap>[] = [];
afterEach(async () => {
  await Promise.all(started.splice(0).map((informer) => informer.stop()));
});

/** Starts an informer. Resolves when it has its first list, and records its events. */
async function follow(type: ResourceType, options: Partial<InformerOptions<ConfigMap>> = {}) {
  const told: string[] = [];
  const informer = new Informer<ConfigMap>({
    cluster: cluster(),
    clock: systemClock,
    log: silentLog,
    type,
    namespace,
    onChange: (change) => told.push(`${change.type} ${change.object.metadata.name}`),
    freeze: true,
    ...options,
  });
  started.push(informer);
  informer.start();
  await informer.waitForCacheSync();
  return { informer, told, names: () => [...informer.store.values()].map(objectKeyOf).sort() };
}

const put = (name: string, data: Record<string, string>, labels: Record<string, string> = {}) =>
  applyAs<ConfigMap>(cluster(), 'user', builtin.ConfigMap, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace, labels },
    data,
  });

const remove = (type: ResourceType, name: string) =>
  cluster().request({ method: 'DELETE', path: pathOf(type, namespace, name) });

const heard = (told: readonly string[], news: string) => until(`${news} is told`, () => told.includes(news));

/** Records the requests for the first list. */
function recorded(refuse: (request: ApiRequest) => boolean = () => false) {
  const cluster = adminCluster();
  const seen: string[] = [];
  const [request, stream] = [cluster.request.bind(cluster), cluster.stream.bind(cluster)];
  cluster.request = (each) => {
    seen.push(each.query?.['continue'] ? 'next page' : 'first page');
    // small pages, so that there are several
    return request({ ...each, query: { ...each.query, limit: 10 } });
  };
  cluster.stream = (each) => {
    seen.push(each.query?.['sendInitialEvents'] ? 'watch with list' : 'watch');
    return refuse(each)
      ? Promise.reject(new ApiError(422, 'Invalid', 'sendInitialEvents: Forbidden'))
      : stream(each);
  };
  return { cluster, seen };
}

describe('Informer', () => {
  test('streams the first list and reports each change once', async () => {
    await put('present', { a: '1' }, { test: 'stream' });
    const { cluster, seen } = recorded();
    const { told, names, informer } = await follow(builtin.ConfigMap, {
      cluster,
      labelSelector: 'test=stream',
    });
    expect(seen).toEqual(['watch with list']);
    expect(told).toEqual(['added present']);
    await put('new', {}, { test: 'stream' });
    await heard(told, 'added new');
    await put('present', { a: '2' }, { test: 'stream' });
    await heard(told, 'modified present');
    expect(informer.store.get(objectKey('ConfigMap', namespace, 'present'))?.data).toEqual({ a: '2' });
    await remove(builtin.ConfigMap, 'new');
    await heard(told, 'deleted new');
    await put('present', { a: '2' }, {}); // the object leaves the selection
    await heard(told, 'deleted present');
    expect(names()).toEqual([]);
    expect(told).toHaveLength(5);
  });

  test('lists in pages where the server cannot stream', async () => {
    const all = Array.from({ length: 25 }, (_, index) => `page-${index}`);
    await Promise.all(all.map((name) => put(name, {}, { test: 'pages' })));
    const { cluster, seen } = recorded(({ query }) => query?.['sendInitialEvents'] === true);
    const { told, names } = await follow(builtin.ConfigMap, { cluster, labelSelector: 'test=pages' });
    expect(names()).toHaveLength(25);
    await remove(builtin.ConfigMap, 'page-7');
    await heard(told, 'deleted page-7');
    expect(seen).toEqual(['watch with list', 'first page', 'next page', 'next page', 'watch']);
  });

  test('of Secrets knows only the metadata, and reports every change of their contents', async () => {
    const secret = (password: string) =>
      applyAs(cluster(), 'user', builtin.Secret, {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: {
          name: 'password',
          namespace,
          annotations: { copy: password, 'example.org/owner': 'anna' },
        },
        stringData: { password },
      });
    await secret('hunter2');
    const { told, informer } = await follow(builtin.Secret, {
      metadataOnly: true,
      annotationPrefix: 'example.org/',
    });
    await secret('hunter3');
    await heard(told, 'modified password');
    const known = informer.store.get(objectKey('Secret', namespace, 'password'));
    expect(known).toMatchObject({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'password' } });
    expect(known!.metadata.annotations).toEqual({ 'example.org/owner': 'anna' });
    expect(JSON.stringify([...informer.store.values()])).not.toContain('hunter');
  });

  test('keeps neither managedFields nor kubectl’s copy of the object', async () => {
    await mustKubectl(['apply', '-f', '-'], {
      namespace,
      input: JSON.stringify({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'by-kubectl', annotations: { kept: 'yes' } },
      }),
    });
    const { informer } = await follow(builtin.ConfigMap);
    const { metadata } = informer.store.get(objectKey('ConfigMap', namespace, 'by-kubectl'))!;
    expect(metadata).not.toHaveProperty('managedFields');
    expect(metadata.annotations).toEqual({ kept: 'yes' });
  });

  test('the answer to a write is reported immediately and once, including concurrent changes of other clients', async () => {
    await put('learned', { a: '1' }, { test: 'written' });
    const { told, informer } = await follow(builtin.ConfigMap, { labelSelector: 'test=written' });
    const answer = await put('learned', { a: '2' }, { test: 'written' });
    const known = informer.recordWrite(answer);
    expect(told).toEqual(['added learned', 'modified learned']);
    expect(known).toBe(informer.store.get(objectKey('ConfigMap', namespace, 'learned')));
    expect(known.metadata).not.toHaveProperty('managedFields');
    await put('after', {}, { test: 'written' });
    await heard(told, 'added after');
    expect(told).toEqual(['added learned', 'modified learned', 'added after']);
  });

  test('a change that cannot be handled does not stop the others', async () => {
    const told: string[] = [];
    await follow(builtin.ConfigMap, {
      labelSelector: 'test=handled',
      onChange: ({ object }) => {
        if (object.metadata.name === 'bad') throw new TypeError('no such field');
        told.push(object.metadata.name);
      },
    });
    await put('bad', {}, { test: 'handled' });
    await put('good', {}, { test: 'handled' });
    await heard(told, 'good');
  });

  test('waits for a kind that is not installed, and finds it when it is', async () => {
    const plural = `gadgets${Date.now().toString(36)}`;
    const gadgets: ResourceType = { group: 'example.org', version: 'v1', plural, kind: 'Gadget' };
    const failures: unknown[] = [];
    const synced = follow(gadgets, { onFailure: (_, error) => failures.push(error) });
    await until('it was refused', () => failures.length > 0);
    expect(failures[0]).toMatchObject({ status: 404 });
    const isSynced = await Promise.race([synced.then(() => true), sleep(0, false)]);
    expect(isSynced).toBe(false);
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${plural}.example.org` },
      spec: {
        group: 'example.org',
        scope: 'Namespaced',
        names: { plural, kind: 'Gadget' },
        versions: [
          { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } },
        ],
      },
    };
    await mustKubectl(['create', '-f', '-'], { input: JSON.stringify(definition) });
    const { told, names } = await synced;
    expect(names()).toEqual([]);
    await applyAs(cluster(), 'user', gadgets, {
      apiVersion: 'example.org/v1',
      kind: 'Gadget',
      metadata: { name: 'first', namespace },
    });
    await heard(told, 'added first');
    await mustKubectl(['delete', 'crd', definition.metadata.name]);
  });
});
