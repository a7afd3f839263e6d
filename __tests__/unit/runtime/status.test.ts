import { PassThrough } from 'node:stream';
import { ApiError } from '../../../operator/runtime/api-errors';
import { Cache } from '../../../operator/runtime/cache';
import { StatusWriter, withoutForeignConditions } from '../../../operator/runtime/status';
import type { CommonStatus } from '../../../operator/kinds/resource';
import { silentLog } from '../../cluster/silent-log';
import { ManualClock, settle } from '../manual-clock';
import { conflict, FakeApiClient, type Handler, notFound } from './fake-api-client';
import { widget, type Widget, widgets } from './objects';

const add = (status: CommonStatus): CommonStatus => ({
  ...status,
  count: Number(status['count'] ?? 0) + 1,
});

/** A server that has this object. */
function restorable(object: Widget) {
  const streams: PassThrough[] = [];
  const cluster = new FakeApiClient(new ManualClock(), ({ method, body, query }) => {
    if (query?.['watch']) return streams[streams.push(new PassThrough()) - 1];
    if (method === 'GET') return object;
    if ((body as Widget).metadata.resourceVersion !== object.metadata.resourceVersion) throw conflict();
    return body;
  });
  return { cluster, streams };
}

const same = (resource: Widget) => resource;

function setup(handler: Handler) {
  const clock = new ManualClock();
  const cluster = new FakeApiClient(clock, handler);
  return { clock, cluster, writer: new StatusWriter<Widget>(cluster, widgets, same, same, clock) };
}

describe('StatusWriter', () => {
  test('an equal status is not written', async () => {
    const { cluster, writer } = setup(() => undefined);
    const resource = widget({ status: { phase: 'Running' } });
    expect(await writer.write(resource, (status) => ({ ...status, url: null, version: undefined }))).toBe(
      resource,
    );
    expect(cluster.requests).toEqual([]);
  });

  test('a map without entries is omitted, so that the API server removes it', async () => {
    const { cluster, writer } = setup(({ body }) => body);
    const resource = widget({ status: { hashes: { a: '1' }, phase: 'Running' } });
    await writer.write(resource, (status) => ({ ...status, hashes: {} }));
    expect(cluster.writes.map(({ body }) => (body as Widget).status)).toEqual([{ phase: 'Running' }]);
    await writer.write(widget({ status: { phase: 'Running' } }), (status) => ({ ...status, hashes: {} }));
    expect(cluster.writes).toHaveLength(1);
  });

  test('after a conflict the change is made again on the newest status', async () => {
    const newest = widget({ metadata: { resourceVersion: '9' }, status: { count: 5 } });
    const { cluster, writer } = setup(({ method, body }) => {
      if (method === 'GET') return newest;
      if ((body as Widget).metadata.resourceVersion !== '9') throw conflict();
      return body;
    });
    await writer.write(widget({ status: { count: 1 } }), add);
    expect(cluster.writes.map(({ body }) => (body as Widget).status)).toEqual([{ count: 2 }, { count: 6 }]);
  });

  test('on a server that was restored from a backup the status is written on the state that the server has', async () => {
    const restored = widget({ metadata: { resourceVersion: '500' }, status: { count: 5 } });
    const { cluster, streams } = restorable(restored);
    const cache = new Cache({
      cluster,
      clock: new ManualClock(),
      log: silentLog,
      namespaces: [],
      freeze: true,
      onFailure: () => undefined,
    });
    cache.watch(widgets, { onChange: () => undefined });
    await settle();
    const cached = widget({ metadata: { resourceVersion: '1000' }, status: { count: 1 } });
    const end = {
      metadata: { resourceVersion: '1200', annotations: { 'k8s.io/initial-events-end': 'true' } },
    };
    streams[0]!.write(
      `${JSON.stringify({ type: 'ADDED', object: cached })}\n${JSON.stringify({ type: 'BOOKMARK', object: end })}\n`,
    );
    await settle();
    const writer = new StatusWriter<Widget>(
      cluster,
      widgets,
      (object) => cache.recordWrite(object),
      (object, known) => cache.recordRead(object, known),
      new ManualClock(),
    );
    await writer.write(cache.get<Widget>('Widget', cached.metadata.namespace, 'a')!, add);
    expect(cluster.writes.map(({ body }) => (body as Widget).status)).toEqual([{ count: 2 }, { count: 6 }]);
    await cache.stop();
  });

  test('a new resource of the same name is not written', async () => {
    const { cluster, writer } = setup(({ method }) => {
      if (method === 'GET') return widget({ metadata: { uid: 'another', resourceVersion: '9' } });
      throw conflict();
    });
    await writer.write(widget(), add);
    expect(cluster.writes).toHaveLength(1);
  });

  test('a status of a deleted resource is not written, without an error', async () => {
    const { writer } = setup(() => {
      throw notFound();
    });
    const resource = widget();
    expect(await writer.write(resource, add)).toBe(resource);
  });

  test('conflicts without an end are an error', async () => {
    const { cluster, writer } = setup(({ method }) => {
      if (method === 'GET') return widget();
      throw conflict();
    });
    await expect(writer.write(widget(), add)).rejects.toThrow('modified');
    expect(cluster.writes).toHaveLength(5);
  });

  test('fields that the cluster does not declare cost one refused request an hour', async () => {
    let isOld = true;
    const { clock, cluster, writer } = setup(({ body }) => {
      const { status } = body as Widget;
      const unknown = ['url', 'phase'].filter((name) => isOld && status?.[name] !== undefined);
      if (unknown.length === 0) return body;
      const errors = unknown.map((name) => `.status.${name}: field not declared in schema`).join(', ');
      throw new ApiError(500, '', `failed to create typed patch object (a; Widget): errors: ${errors}`);
    });
    const full = (status: CommonStatus) => ({ ...status, url: 'a', phase: 'Running', count: 1 });
    let present = await writer.write(widget(), full);
    expect(present.status).toEqual({ observedGeneration: -1, count: 1 });
    expect(cluster.writes).toHaveLength(2);
    for (let round = 0; round < 3; round += 1) present = await writer.write(present, full);
    expect(cluster.writes).toHaveLength(2);
    await writer.write(widget(), full);
    expect(cluster.writes).toHaveLength(3);
    isOld = false;
    await clock.advance(3_599_999);
    await writer.write(present, full);
    expect(cluster.writes).toHaveLength(3);
    await clock.advance(1);
    expect((await writer.write(present, full)).status).toMatchObject({ url: 'a', phase: 'Running' });
    expect(cluster.writes).toHaveLength(4);
  });

  test.each([
    ['.status.bootstrap.failures', { bootstrap: { state: 'Done' } }],
    ['.status.files[name="a.b"].size', { files: [{ name: 'a.b' }, { name: 'b' }] }],
    ['.status.backup.next', {}],
    ['.status.previous.categories.automation.at', { previous: { 'categories.automation': { was: 'x' } } }],
  ])('a field within another one that the cluster does not declare is left out: %s', async (path, stored) => {
    const { cluster, writer } = setup(({ body }) => {
      const { status } = body as Widget;
      if (!JSON.stringify(status).includes(`"${path.slice(path.lastIndexOf('.') + 1)}"`)) return body;
      throw new ApiError(
        500,
        '',
        `failed to create typed patch object (a; Widget): ${path}: field not declared in schema`,
      );
    });
    const all = {
      '.status.bootstrap.failures': { bootstrap: { state: 'Done', failures: 1 } },
      '.status.files[name="a.b"].size': { files: [{ name: 'a.b', size: 1 }, { name: 'b' }] },
      '.status.backup.next': { backup: { next: 'soon' } },
      '.status.previous.categories.automation.at': {
        previous: { 'categories.automation': { was: 'x', at: 1 } },
      },
    }[path];
    const present = await writer.write(widget(), (status) => ({ ...status, ...all }));
    expect(present.status).toEqual({ observedGeneration: -1, ...stored });
    expect(cluster.writes).toHaveLength(2);
    await writer.write(present, (status) => ({ ...status, ...all }));
    expect(cluster.writes).toHaveLength(2);
  });

  test('a refusal for another reason is an error', async () => {
    const { cluster, writer } = setup(() => {
      throw new ApiError(
        500,
        '',
        'failed to create typed patch object: errors: .spec.x: field not declared in schema',
      );
    });
    await expect(writer.write(widget(), add)).rejects.toThrow('.spec.x');
    expect(cluster.writes).toHaveLength(1);
  });

  describe('withoutForeignConditions', () => {
    const condition = (type: string) => ({
      type,
      status: 'True' as const,
      reason: 'Because',
      message: '',
      observedGeneration: 1,
      lastTransitionTime: '2026-01-01T00:00:00Z',
    });
    const managed = (manager: string, ...types: string[]) => ({
      manager,
      fieldsV1: {
        'f:status': { 'f:conditions': Object.fromEntries(types.map((type) => [`k:{"type":"${type}"}`, {}])) },
      },
    });
    const typesLeft = (managedFields: object[] | undefined) => {
      // The server sends this field, which objects in the cache do not have.
      const metadata: object = managedFields ? { managedFields } : {};
      const resource = widget({
        metadata,
        status: { conditions: ['Ready', 'Backup', 'Shared'].map(condition) },
      });
      return withoutForeignConditions(resource).status?.conditions?.map(({ type }) => type);
    };

    test('conditions of other managers are removed, unless the operator owns them too', () => {
      const managedFields = [
        managed('hub-operator-status', 'Ready', 'Shared'),
        managed('backup', 'Backup', 'Shared'),
      ];
      expect(typesLeft(managedFields)).toEqual(['Ready', 'Shared']);
    });

    test('conditions without an owner stay', () => {
      expect(typesLeft(undefined)).toEqual(['Ready', 'Backup', 'Shared']);
    });
  });
});
