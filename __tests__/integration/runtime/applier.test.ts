import { Applier, type ApplyOptions, type Manifest } from '../../../operator/runtime/apply';
import { NameConflict } from '../../../operator/runtime/apply-errors';
import { FIELD_MANAGER } from '../../../operator/runtime/object-ownership';
import { type ClusterObject, pathOf, type ResourceType } from '../../../operator/runtime/objects';
import type { CustomResource } from '../../../operator/kinds/resource';
import type { ApiClient } from '../../../operator/runtime/api-client';
import { builtin } from '../../../operator/runtime/types';
import { systemClock } from '../../../operator/base/clock';
import { Cache } from '../../../operator/runtime/cache';
import type { Claim } from '../../../operator/sync/hub-pod/owned-objects';
import { recordRanVersion } from '../../../operator/sync/hub/workload/downgrade';
import { silentLog } from '../../cluster/silent-log';
import { freshNamespace, until } from '../../cluster';
import { adminCluster, applyAs } from '../../cluster/admin-cluster';
import { createFloor } from './floors';

const GROUP = 'example.org';

interface ConfigMap extends ClusterObject {
  readonly data?: Readonly<Record<string, string>>;
}

interface StatefulSet extends ClusterObject {
  readonly status?: { readonly observedGeneration?: number; readonly currentRevision?: string };
}

let namespace: string;
let cluster: ApiClient;
let applier: Applier;
let cache: Cache;
let owner: CustomResource;
/** Methods of the requests so far. */
const sent: string[] = [];
const patches = () => sent.filter((method) => method === 'PATCH').length;

beforeAll(async () => {
  namespace = await freshNamespace('applier');
  cluster = adminCluster({ onResponse: (method) => sent.push(method) });
  owner = await createFloor(cluster, namespace, 'owner');
  cache = new Cache({
    cluster: adminCluster(),
    clock: systemClock,
    log: silentLog,
    namespaces: [namespace],
    freeze: true,
    onFailure: () => undefined,
  });
  cache.watch(builtin.ConfigMap, {
    metadataOnly: true,
    annotationPrefix: `${GROUP}/`,
    onChange: () => undefined,
  });
  cache.watch(builtin.StatefulSet, { onChange: () => undefined });
  await cache.waitForCacheSync();
});
afterAll(() => cache.stop());
beforeEach(() => {
  applier = new Applier(cluster, cache, GROUP);
  sent.length = 0;
});

const configMap = (name: string, data: Record<string, string>): Manifest => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace, labels: { app: 'test' } },
  data,
});

/** Waits until the watch has delivered the writes of other clients. */
const caughtUp = (type: ResourceType, name: string) =>
  until(`the cache has the present ${type.kind} ${name}`, async () => {
    const present = await applier.find(type, namespace, name);
    const cached = cache.get(type.kind, namespace, name);
    return present !== undefined && cached?.metadata.resourceVersion === present.metadata.resourceVersion;
  });

const apply = (manifest: Manifest, ownerReference: ApplyOptions['ownerReference'] = 'always') =>
  applier.apply<ConfigMap>(builtin.ConfigMap, manifest, { owner, ownerReference });

describe('Applier', () => {
  test('an equal object is not sent again, not even by a new process', async () => {
    const first = await apply(configMap('equal', { a: '1' }));
    await apply(configMap('equal', { a: '1' }));
    await caughtUp(builtin.ConfigMap, 'equal');
    sent.length = 0;
    applier = new Applier(cluster, cache, GROUP);
    await apply(configMap('equal', { a: '1' }));
    const last = await apply(configMap('equal', { a: '1' }));
    expect(sent).toEqual(['GET']); // the cache has no contents of ConfigMaps
    expect(last.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
  });

  test('a new process restores what was changed before its start', async () => {
    await apply(configMap('before', { ours: '1' }));
    await cluster.request({
      method: 'PATCH',
      path: `/api/v1/namespaces/${namespace}/configmaps/before`,
      query: { fieldManager: 'kubectl-edit' },
      contentType: 'application/merge-patch+json',
      body: { data: { ours: '2' } },
    });
    await caughtUp(builtin.ConfigMap, 'before');
    applier = new Applier(cluster, cache, GROUP);
    expect((await apply(configMap('before', { ours: '1' }))).data).toEqual({ ours: '1' });
  });

  test('a label that another client adds to a selector is removed, which replaces it as a whole', async () => {
    const service: Manifest = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'selects', namespace },
      spec: { selector: { app: 'test' }, ports: [{ name: 'http', port: 80 }] },
    };
    const applyService = () =>
      applier.apply<ClusterObject & { readonly spec: unknown }>(builtin.Service, service, { owner });
    await applyService();
    sent.length = 0;
    await applyService();
    expect(patches()).toBe(0);
    await cluster.request({
      method: 'PATCH',
      path: `/api/v1/namespaces/${namespace}/services/selects`,
      query: { fieldManager: 'kubectl-edit' },
      contentType: 'application/merge-patch+json',
      body: { spec: { selector: { theirs: 'yes' } } },
    });
    expect((await applyService()).spec).toMatchObject({ selector: { app: 'test' } });
    const present = await applier.find<ClusterObject & { readonly spec: { readonly selector: unknown } }>(
      builtin.Service,
      namespace,
      'selects',
    );
    expect(present?.spec.selector).toEqual({ app: 'test' });
  });

  test('a workload whose values the server normalizes settles, also while its status changes', async () => {
    const labels = { app: 'settles' };
    const resources = { requests: { cpu: '1000m', memory: '1024Mi' } };
    const workload: Manifest = {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: 'settles', namespace },
      spec: {
        replicas: 0,
        serviceName: 'settles',
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: { containers: [{ name: 'main', image: 'main', resources, ports: [{ containerPort: 80 }] }] },
        },
      },
    };
    const workloadApply = () => applier.apply(builtin.StatefulSet, workload, { owner });
    await workloadApply();
    const annotations = { 'other.example/note': 'kept' };
    await applyAs(cluster, 'other-client', builtin.StatefulSet, {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: 'settles', namespace, annotations },
    });
    // The StatefulSet's controller writes the status, which changes the resource version.
    await until('its controller has seen it', async () => {
      const present = await applier.find<StatefulSet>(builtin.StatefulSet, namespace, 'settles');
      return (
        present?.status?.observedGeneration === present?.metadata.generation &&
        present?.status?.currentRevision
      );
    });
    // The controller may write once more between two reads.
    await until('the second of two applies sends nothing', async () => {
      await caughtUp(builtin.StatefulSet, 'settles');
      await workloadApply();
      sent.length = 0;
      await workloadApply();
      expect(sent).toEqual([]);
      return true;
    });
    // A new process sends one request, which changes nothing. The controller may write once more between the
    // two reads.
    await until('a new process leaves it as it is', async () => {
      const before = await workloadApply();
      applier = new Applier(cluster, cache, GROUP);
      sent.length = 0;
      const after = await workloadApply();
      await workloadApply();
      expect(patches()).toBe(1);
      expect(after.metadata.annotations).toMatchObject(annotations);
      return after.metadata.resourceVersion === before.metadata.resourceVersion;
    });
  });

  test('changes by another client to applied fields are reverted; fields that it added stay', async () => {
    await apply(configMap('shared', { ours: '1' }));
    await cluster.request({
      method: 'PATCH',
      path: `/api/v1/namespaces/${namespace}/configmaps/shared`,
      query: { fieldManager: 'kubectl-edit' },
      contentType: 'application/merge-patch+json',
      body: {
        metadata: { annotations: { theirs: 'yes' }, labels: { app: 'changed', theirs: 'yes' } },
        data: { ours: '2', theirs: '3' },
      },
    });
    await caughtUp(builtin.ConfigMap, 'shared');
    const { data, metadata } = await apply(configMap('shared', { ours: '1' }));
    expect(data).toEqual({ ours: '1', theirs: '3' });
    expect(metadata.labels).toMatchObject({ app: 'test', theirs: 'yes' });
    expect(metadata.annotations).toMatchObject({ theirs: 'yes' });
  });

  test('removes fields that are no longer desired and keeps those of others', async () => {
    await apply(configMap('smaller', { a: '1', b: '2' }));
    const theirs = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'smaller', namespace },
      data: { c: '3' },
    };
    await applyAs(cluster, 'other-client', builtin.ConfigMap, theirs);
    expect((await apply(configMap('smaller', { a: '1' }))).data).toEqual({ a: '1', c: '3' });
  });

  test('an object of another owner is a conflict and stays unchanged', async () => {
    const before = await applyAs<ConfigMap>(
      cluster,
      'user',
      builtin.ConfigMap,
      configMap('foreign', { theirs: '1' }),
    );
    const conflict = await apply(configMap('foreign', { ours: '1' })).catch((error: unknown) => error);
    expect(conflict).toBeInstanceOf(NameConflict);
    expect((conflict as Error).message).toContain(`${namespace}/foreign`);
    const after = await applier.find<ConfigMap>(builtin.ConfigMap, namespace, 'foreign');
    expect(after).toEqual(before);
  });

  test('one that appears between the read and the write is not taken over either', async () => {
    await applyAs(cluster, 'user', builtin.ConfigMap, configMap('race', { key: 'theirs' }));
    const get = jest.spyOn(cache, 'get').mockReturnValueOnce(undefined);
    const find = jest.spyOn(cluster, 'find').mockResolvedValueOnce(undefined);
    await expect(apply(configMap('race', { key: 'ours' }))).rejects.toMatchObject({ status: 409 });
    get.mockRestore();
    find.mockRestore();
    const present = await applier.find<ConfigMap>(builtin.ConfigMap, namespace, 'race');
    expect(present?.data).toEqual({ key: 'theirs' });
  });

  test('one that is deleted between the read and the write is created again', async () => {
    const first = await apply(configMap('deleted', { a: '1' }));
    await cluster.request({ method: 'DELETE', path: pathOf(builtin.ConfigMap, namespace, 'deleted') });
    const get = jest.spyOn(cache, 'get').mockReturnValueOnce(first);
    const second = await apply(configMap('deleted', { a: '2' }));
    get.mockRestore();
    expect(second).toMatchObject({ data: { a: '2' } });
    expect(second.metadata.uid).not.toBe(first.metadata.uid);
  });

  test('one that was recreated between the read and the write by another client is not changed', async () => {
    const first = await apply(configMap('recreated', { a: '1' }));
    await cluster.request({ method: 'DELETE', path: pathOf(builtin.ConfigMap, namespace, 'recreated') });
    await applyAs(cluster, 'user', builtin.ConfigMap, configMap('recreated', { a: 'theirs' }));
    const get = jest.spyOn(cache, 'get').mockReturnValueOnce(first);
    await expect(apply(configMap('recreated', { a: '2' }))).rejects.toThrow(NameConflict);
    get.mockRestore();
    const present = await applier.find<ConfigMap>(builtin.ConfigMap, namespace, 'recreated');
    expect(present?.data).toEqual({ a: 'theirs' });
  });

  test('the owner reference is added and removed as desired, and no other owner is lost', async () => {
    const owners = (object: ClusterObject) =>
      (object.metadata.ownerReferences ?? []).map(({ uid }) => uid).sort();
    const {
      metadata: { uid },
    } = await applyAs<ConfigMap>(cluster, 'user', builtin.ConfigMap, configMap('other', {}));
    const other = { apiVersion: 'v1', kind: 'ConfigMap', name: 'other', uid };
    const name = 'retained';
    const first = await apply(configMap(name, {}));
    expect(owners(first)).toEqual([owner.metadata.uid]);
    const metadata = { name, namespace, ownerReferences: [{ ...other, uid: uid!, controller: false }] };
    await applyAs(cluster, 'other-client', builtin.ConfigMap, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata,
    });
    const both = [uid, owner.metadata.uid].sort();
    expect(owners(await apply(configMap(name, { a: '1' }), 'at creation'))).toEqual(both);
    expect(owners(await apply(configMap(name, {}), 'never'))).toEqual([uid]);
    expect(owners(await apply(configMap(name, { a: '1' }), 'at creation'))).toEqual([uid]);
    expect(owners(await apply(configMap(name, {}), 'always'))).toEqual(both);
    const created = await apply(configMap('created', {}), 'at creation');
    expect(owners(created)).toEqual([owner.metadata.uid]);
  });

  test('fields are owned under one name, and a wrong field is refused', async () => {
    const made = await apply(configMap('named', { a: '1' }));
    const managers = (made.metadata as { managedFields?: { manager: string }[] }).managedFields;
    expect(managers?.map(({ manager }) => manager)).toEqual([FIELD_MANAGER]);
    await expect(apply({ ...configMap('named', {}), typo: true })).rejects.toThrow(/typo/);
  });

  test('the version that ran on a claim is recorded by a separate manager, and an apply keeps it', async () => {
    const claim = (ours: string): Manifest => ({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'ran', namespace, annotations: { ours } },
      spec: {
        accessModes: ['ReadWriteOnce'],
        storageClassName: 'none',
        resources: { requests: { storage: '1Gi' } },
      },
    });
    const applyClaim = (ours: string) =>
      applier.apply<Claim>(builtin.PersistentVolumeClaim, claim(ours), { owner });
    const record = (present: Claim, version: string) =>
      recordRanVersion({ cluster }, { hub: owner, spec: { version }, claim: present }, version);
    const ranOf = ({ metadata }: ClusterObject) => metadata.annotations?.['hub-operator.dev/ran-version'];

    await record(await applyClaim('first'), '2026.10.0');
    const applied = await applyClaim('second');
    expect([ranOf(applied), applied.metadata.annotations?.['ours']]).toEqual(['2026.10.0', 'second']);
    const { managedFields } = applied.metadata as { managedFields?: { manager: string }[] };
    expect(managedFields?.map(({ manager }) => manager).sort()).toEqual([
      FIELD_MANAGER,
      `${FIELD_MANAGER}-ran-version`,
    ]);

    // A higher version replaces the recorded one, a lower one does not, and fields of other clients stay.
    await applyAs(cluster, 'user', builtin.PersistentVolumeClaim, {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'ran', namespace, annotations: { theirs: 'yes' } },
    });
    for (const version of ['2026.11.0', '2026.9.0'])
      await record((await applier.find<Claim>(builtin.PersistentVolumeClaim, namespace, 'ran'))!, version);
    const after = await applyClaim('third');
    expect([ranOf(after), after.metadata.annotations?.['theirs']]).toEqual(['2026.11.0', 'yes']);
  });
});
