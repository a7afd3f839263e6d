import { Finalizer } from '../../../operator/runtime/finalizer';
import { pathOf } from '../../../operator/runtime/objects';
import type { CustomResource } from '../../../operator/kinds/resource';
import type { ApiClient } from '../../../operator/runtime/api-client';
import { freshNamespace } from '../../cluster';
import { adminCluster, applyAs } from '../../cluster/admin-cluster';
import { createFloor, floors } from './floors';

const OURS = 'example.org/ours';
const THEIRS = 'example.org/theirs';

let namespace: string;
let cluster: ApiClient;
let finalizer: Finalizer;

beforeAll(async () => {
  namespace = await freshNamespace('finalizer');
  cluster = adminCluster();
  finalizer = new Finalizer(cluster, floors, OURS);
});

const create = (name: string) => createFloor(cluster, namespace, name);
const read = (name: string) => cluster.find<CustomResource>(floors, namespace, name);
const remove = (name: string) =>
  cluster.request<CustomResource>({ method: 'DELETE', path: pathOf(floors, namespace, name) });

/** Sets the whole list of finalizers, as another controller or `kubectl edit` may do. */
const set = (name: string, finalizers: readonly string[]) =>
  cluster.request<CustomResource>({
    method: 'PATCH',
    path: pathOf(floors, namespace, name),
    query: { fieldManager: 'other-client' },
    contentType: 'application/merge-patch+json',
    body: { metadata: { finalizers } },
  });

const addTo = async (resource: CustomResource): Promise<CustomResource> => (await finalizer.add(resource))!;

describe('Finalizer', () => {
  test('is added and removed beside that of another controller, and changes nothing else', async () => {
    const before = await create('beside');
    await set('beside', [THEIRS]);
    const added = await addTo(before);
    expect(added.metadata.finalizers?.toSorted()).toEqual([OURS, THEIRS]);
    expect(finalizer.isOn(added)).toBe(true);
    expect([added.spec, added.metadata.generation]).toEqual([before.spec, before.metadata.generation]);
    await remove('beside');
    const left = await finalizer.release(added);
    expect(left?.metadata.finalizers).toEqual([THEIRS]);
    expect(finalizer.isOn(left!)).toBe(false);
    await set('beside', []);
    expect(await read('beside')).toBeUndefined();
  });

  test('the last one releases the object', async () => {
    const added = await addTo(await create('last'));
    await remove('last');
    await finalizer.release(added);
    expect(await read('last')).toBeUndefined();
  });

  test('is removed even if another field manager owns it too', async () => {
    const added = await addTo(await create('twice'));
    await set('twice', [THEIRS, OURS]); // `kubectl edit` of the list makes the editor an owner of each entry
    await remove('twice');
    const left = await finalizer.release(added);
    expect(left?.metadata.finalizers).toEqual([THEIRS]);
    await set('twice', []);
  });

  test('releasing an object that is gone succeeds, and creates nothing', async () => {
    const added = await addTo(await create('gone'));
    await remove('gone');
    await finalizer.release(added);
    expect(await finalizer.release(added)).toBeUndefined();
    expect(await read('gone')).toBeUndefined();
  });

  test('neither call touches another object that has taken the name', async () => {
    const before = await create('recreated');
    await remove('recreated');
    const fresh = await addTo(await create('recreated'));
    expect(await finalizer.add(before)).toBeUndefined();
    expect(await finalizer.release(before)).toBeUndefined();
    expect(await read('recreated')).toEqual(fresh);
  });

  test('is not added to an object that is deleted or being deleted', async () => {
    const deleted = await create('deleted');
    await remove('deleted');
    expect(await finalizer.add(deleted)).toBeUndefined();
    expect(await read('deleted')).toBeUndefined();
    const going = await create('going');
    await set('going', [THEIRS]);
    await remove('going');
    expect(await finalizer.add(going)).toBeUndefined();
    expect((await read('going'))?.metadata.finalizers).toEqual([THEIRS]);
    await set('going', []);
  });

  test('adding twice writes once', async () => {
    const first = await addTo(await create('again'));
    const second = await addTo(first);
    expect(second.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
    await applyAs(cluster, 'user', floors, {
      apiVersion: first.apiVersion,
      kind: first.kind,
      metadata: { name: 'again', namespace },
      spec: { hubRef: { name: 'nowhere' }, name: 'changed' },
    });
    expect((await read('again'))?.metadata.finalizers).toEqual([OURS]);
  });
});
