import { systemClock } from '../../../operator/base/clock';
import { pathOf } from '../../../operator/runtime/objects';
import type { CustomResource, CommonStatus } from '../../../operator/kinds/resource';
import { StatusWriter, withoutForeignConditions } from '../../../operator/runtime/status';
import type { ApiClient } from '../../../operator/runtime/api-client';
import { freshNamespace } from '../../cluster';
import { adminCluster, applyAs } from '../../cluster/admin-cluster';
import { createFloor, floors } from './floors';

let namespace: string;
let cluster: ApiClient;
let writer: StatusWriter<CustomResource>;

beforeAll(async () => {
  namespace = await freshNamespace('status');
  cluster = adminCluster();
  writer = new StatusWriter(cluster, floors, withoutForeignConditions, withoutForeignConditions, systemClock);
});

const create = (name: string) => createFloor(cluster, namespace, name);
const read = (name: string) => cluster.find<CustomResource>(floors, namespace, name);
const typesOf = (resource: CustomResource | undefined) =>
  resource?.status?.conditions?.map(({ type }) => type).toSorted();

const condition = (type: string, status: 'True' | 'False' = 'True') => ({
  type,
  status,
  reason: 'Because',
  message: '',
  observedGeneration: 1,
  lastTransitionTime: '2026-01-01T00:00:00Z',
});

const ours = (fields: CommonStatus = {}) => ({
  observedGeneration: 1,
  conditions: [condition('Ready')],
  ...fields,
});

/** Writes a condition as another controller, by server-side apply. */
const applyTheirs = (
  name: string,
  ...conditions: Omit<ReturnType<typeof condition>, 'observedGeneration'>[]
) =>
  applyAs<CustomResource>(
    cluster,
    'other-client',
    floors,
    {
      apiVersion: `${floors.group}/${floors.version}`,
      kind: floors.kind,
      metadata: { name, namespace },
      status: { conditions },
    },
    'status',
  );

describe('StatusWriter', () => {
  test('does not change the generation and answers with the written object', async () => {
    const before = await create('plain');
    const after = await writer.write(before, () => ours());
    expect(after.metadata.generation).toBe(before.metadata.generation);
    expect(after.status).toEqual(ours());
  });

  test('an equal status is not written', async () => {
    const first = await writer.write(await create('equal'), () => ours());
    const second = await writer.write(first, (status) => ({ ...status, ...ours() }));
    expect(second.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
  });

  test('a field that is left out, or null, is removed', async () => {
    const first = await writer.write(await create('smaller'), () =>
      ours({ appliedHash: 'x', adopted: true }),
    );
    await writer.write(first, ({ adopted: _, ...rest }) => ({ ...rest, appliedHash: null }));
    expect((await read('smaller'))?.status).toEqual(ours());
  });

  test('a field that the definition of an older version lacks is left out, and all others are written', async () => {
    const fields = ours({ appliedHash: 'x', ofTomorrow: [{ id: 'y' }], alsoOfTomorrow: true });
    const written = await writer.write(await create('older'), () => fields);
    expect(written.status).toEqual(ours({ appliedHash: 'x' }));
    expect((await writer.write(written, () => fields)).metadata.resourceVersion).toBe(
      written.metadata.resourceVersion,
    );
  });

  test('the condition of another controller is its own to change and to remove', async () => {
    const name = 'foreign';
    const first = await writer.write(await create(name), () => ours());
    let present = withoutForeignConditions(await applyTheirs(name, condition('Backup')));
    present = await writer.write(present, (status) => ({
      ...status,
      conditions: [condition('Ready', 'False')],
    }));
    expect(typesOf(present)).toEqual(['Ready']);
    expect(typesOf(await read(name))).toEqual(['Backup', 'Ready']);
    // would be a conflict if the operator had taken over the condition
    await applyTheirs(name, condition('Backup', 'False'));
    await applyTheirs(name);
    expect(typesOf(await read(name))).toEqual(['Ready']);
    expect(first.metadata.uid).toBe(present.metadata.uid);
  });

  test('a reconcile that began before a write of another client keeps that write and its own', async () => {
    const name = 'race';
    const stale = await writer.write(await create(name), () => ours());
    await cluster.request({
      method: 'PATCH',
      path: pathOf(floors, namespace, name, 'status'),
      query: { fieldManager: 'kubectl-edit' },
      contentType: 'application/merge-patch+json',
      body: { status: { appliedHash: 'theirs' } },
    });
    const after = await writer.write(stale, (status) => ({ ...status, lastHandledReconcileAt: 'now' }));
    expect(after.status).toMatchObject({ appliedHash: 'theirs', lastHandledReconcileAt: 'now' });
  });

  test('four writers at once lose nothing', async () => {
    const name = 'crowd';
    const stale = await create(name);
    const writers = Array.from({ length: 4 }, (_, index) =>
      writer.write(stale, (status) => ({
        ...status,
        conditions: [...(status.conditions ?? []), condition(`Type${index}`)],
      })),
    );
    await Promise.all(writers);
    expect(typesOf(await read(name))).toEqual(['Type0', 'Type1', 'Type2', 'Type3']);
  });

  test('another resource that has taken the name, and one that is gone, are left alone', async () => {
    const before = await create('recreated');
    await cluster.request({ method: 'DELETE', path: pathOf(floors, namespace, 'recreated') });
    expect(await writer.write(before, () => ours())).toBe(before);
    const fresh = await create('recreated');
    expect(await writer.write(before, () => ours())).toBe(before);
    expect(await read('recreated')).toEqual(fresh);
  });
});
