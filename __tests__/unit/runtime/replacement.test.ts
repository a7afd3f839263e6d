import { ApiError } from '../../../operator/runtime/api-errors';
import type { ApiRequest } from '../../../operator/runtime/api-client';
import { Applier } from '../../../operator/runtime/apply';
import { NameConflict, ObjectRejected } from '../../../operator/runtime/apply-errors';
import { DryRunApplier } from '../../../operator/runtime/dry-run-applier';
import { errorOutcome } from '../../../operator/runtime/error-outcome';
import type { ClusterObject } from '../../../operator/runtime/objects';
import type { Cache } from '../../../operator/runtime/cache';
import { Replacement } from '../../../operator/runtime/replacement';
import { SecretReader } from '../../../operator/runtime/secrets';
import { builtin } from '../../../operator/runtime/types';
import { ManualClock } from '../manual-clock';
import { FakeApiClient, notFound } from './fake-api-client';
import { widget } from './objects';

interface ConfigMap extends ClusterObject {
  readonly data?: Readonly<Record<string, string>>;
  readonly immutable?: boolean;
}

const GROUP = 'example.org';
const owner = widget();
const nameIn = (path: string) => path.split('/').at(-1)!;

/** An API server with ConfigMaps, and processes of the operator that use it. */
class Server {
  readonly clock = new ManualClock();
  readonly objects = new Map<string, ConfigMap>();
  readonly replaced: string[] = [];
  /** Whether a policy sets `immutable` on each object. */
  isPolicySet = false;
  /** Whether another controller's finalizer keeps deleted objects. */
  hasFinalizer = false;
  /** Why the object `c` cannot be created; undefined when it can. */
  refusal: ApiError | undefined;
  /** Called before an object is read from the server, for changes by other clients. */
  beforeFind: () => void = () => undefined;
  /** Number of writes after which the process is killed. */
  writesLeft = Infinity;
  private uids = 0;

  readonly cluster = new FakeApiClient(this.clock, (request) => {
    if (request.method !== 'GET' && this.writesLeft-- <= 0) return new Promise(() => undefined);
    return this.answer(request);
  });
  readonly cache = {
    get: <T extends ClusterObject>(_kind: string, _namespace: string, name: string) =>
      this.objects.get(name) as T | undefined,
    recordWrite: <T>(object: T) => object,
    watches: () => true,
    list: ((kind: string) => (kind === 'ConfigMap' ? this.objects.values() : [])) as never,
  };

  apply(data: Readonly<Record<string, string>>, applier = this.applier()) {
    const metadata = { name: 'c', namespace: 'home' };
    return applier.apply(
      builtin.ConfigMap,
      { apiVersion: 'v1', kind: 'ConfigMap', metadata, data },
      { owner },
    );
  }

  applier(): Applier {
    return new Applier(
      this.cluster,
      this.cache,
      GROUP,
      (_, message) => this.replaced.push(message),
      this.clock,
    );
  }

  finish(): Promise<void> {
    return new Replacement(this.cluster, this.clock, GROUP).finish(this.cache, (error) => {
      throw error;
    });
  }

  setImmutable(name = 'c'): void {
    this.objects.set(name, { ...this.objects.get(name)!, immutable: true });
  }

  private answer({ method, path, body, query }: ApiRequest): unknown {
    const name = nameIn(path);
    if (method === 'GET') this.beforeFind();
    const present = this.objects.get(name);
    if (method === 'GET') {
      if (!present) throw notFound();
      return present;
    }
    if (method === 'DELETE') {
      const { uid } = (body as { preconditions: { uid: string } }).preconditions;
      if (present?.metadata.uid !== uid) throw new ApiError(409, 'Conflict', 'another uid');
      const deletionTimestamp = '2026-01-01T00:00:00Z';
      if (this.hasFinalizer)
        this.objects.set(name, { ...present, metadata: { ...present.metadata, deletionTimestamp } });
      else this.objects.delete(name);
      return present;
    }
    if (this.refusal && !present && name === 'c') throw this.refusal;
    const object = body as ConfigMap;
    const { data } = object;
    if (JSON.stringify(data).includes('invalid')) throw new ApiError(422, 'Invalid', 'data is too long');
    if (present?.immutable && JSON.stringify(present.data) !== JSON.stringify(data))
      throw new ApiError(422, 'Invalid', 'data: Forbidden: field is immutable when `immutable` is set');
    const uid = present?.metadata.uid ?? `uid-${++this.uids}`;
    const immutable = (present?.immutable ?? false) || this.isPolicySet;
    const stored = {
      ...object,
      immutable,
      metadata: { ...object.metadata, uid, resourceVersion: `${Math.random()}` },
    };
    if (!query?.['dryRun']) this.objects.set(name, stored);
    return stored;
  }
}

let server: Server;
beforeEach(() => {
  server = new Server();
});
const contents = () => Object.fromEntries([...server.objects].map(([name, { data }]) => [name, data]));

describe('Replacement', () => {
  test('deletes and creates an immutable object with its new content, and says so once', async () => {
    await server.apply({ a: '1' });
    server.setImmutable();
    const { uid } = server.objects.get('c')!.metadata;
    await server.apply({ a: '2' });
    expect(contents()).toEqual({ c: { a: '2' } });
    expect(server.objects.get('c')!.metadata.uid).not.toBe(uid);
    expect(server.objects.get('c')!.immutable).toBe(false);
    expect(server.replaced).toEqual([expect.stringContaining('ConfigMap home/c was immutable')]);
    await server.apply({ a: '3' });
    expect(contents()).toEqual({ c: { a: '3' } });
    expect(server.replaced).toHaveLength(1);
  });

  test('leaves an immutable object whose content does not change', async () => {
    await server.apply({ a: '1' });
    server.setImmutable();
    const { uid } = server.objects.get('c')!.metadata;
    await server.apply({ a: '1' });
    expect(server.objects.get('c')!.metadata.uid).toBe(uid);
  });

  test('happens once an hour for an object, also by the next process; in the meantime the resource names the object', async () => {
    await server.apply({ a: '1' });
    server.setImmutable();
    server.isPolicySet = true;
    await server.apply({ a: '2' });
    await server.apply({ a: '2' });
    const error: unknown = await server.apply({ a: '3' }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(NameConflict);
    expect(errorOutcome(error)).toMatchObject({
      type: 'Stalled',
      reason: 'NameConflict',
      message: expect.stringContaining('ConfigMap home/c is immutable again') as string,
      after: 30_000,
    });
    expect(contents()).toEqual({ c: { a: '2' } });
    await server.clock.advance(59 * 60_000);
    await expect(server.apply({ a: '3' })).rejects.toThrow(NameConflict);
    await server.clock.advance(60_000);
    await server.apply({ a: '3' });
    expect(contents()).toEqual({ c: { a: '3' } });
    expect(server.replaced).toHaveLength(2);
  });

  test('the hour counts from the replacement, however often the object was written since', async () => {
    await server.apply({ a: '1' });
    server.setImmutable();
    await server.apply({ a: '2' });
    await server.apply({ a: '3' });
    server.setImmutable();
    await expect(server.apply({ a: '4' })).rejects.toThrow(NameConflict);
  });

  test.each([0, 1, 2, 3, 4, 5])('loses no content when the process ends after %i writes', async (writes) => {
    await server.apply({ a: '1' });
    server.setImmutable();
    server.writesLeft = writes + 1; // the first write is refused
    void server.apply({ a: '2' });
    await server.clock.advance(0);
    server.writesLeft = Infinity;
    await server.finish();
    expect(contents()).toEqual({ c: { a: writes >= 2 ? '2' : '1' } });
    await server.apply({ a: '2' });
    expect(contents()).toEqual({ c: { a: '2' } });
    expect(Object.keys(server.objects.get('c')!.metadata.annotations!)).not.toContain(`${GROUP}/replaces`);
  });

  test('deletes nothing for a content that the API server refuses', async () => {
    await server.apply({ a: '1' });
    server.setImmutable();
    await expect(server.apply({ a: 'invalid' })).rejects.toThrow(ObjectRejected);
    expect(contents()).toEqual({ c: { a: '1' } });
  });

  test('deletes nothing when an object of another owner has the name of the copy', async () => {
    await server.apply({ a: '1' });
    server.setImmutable();
    const theirs = { metadata: { name: 'c-next', namespace: 'home', uid: 'theirs' }, data: { theirs: '' } };
    server.objects.set('c-next', theirs);
    await expect(server.apply({ a: '2' })).rejects.toThrow('ConfigMap home/c-next is in the way');
    expect(contents()).toEqual({ c: { a: '1' }, 'c-next': { theirs: '' } });
  });

  test('keeps the content while another controller’s finalizer keeps the object', async () => {
    await server.apply({ a: '1' });
    server.setImmutable();
    server.hasFinalizer = true;
    await expect(server.apply({ a: '2' })).rejects.toMatchObject({ transient: true });
    expect(contents()).toMatchObject({ 'c-next': { a: '2' } });
    server.objects.delete('c');
    server.hasFinalizer = false;
    await server.finish();
    expect(contents()).toEqual({ c: { a: '2' } });
  });

  test('keeps the content while another controller’s finalizer keeps the object, also in the next process', async () => {
    await server.apply({ a: '1' });
    server.setImmutable();
    server.hasFinalizer = true;
    await expect(server.apply({ a: '2' })).rejects.toThrow(NameConflict);
    const next = server.applier();
    const onFailure = jest.fn();
    await next.finishReplacements(server.cache, onFailure);
    expect(onFailure).toHaveBeenCalledWith(expect.any(NameConflict));
    expect(contents()).toEqual({ c: { a: '1' }, 'c-next': { a: '2' } });
    server.objects.delete('c');
    server.hasFinalizer = false;
    expect(await next.find(builtin.ConfigMap, 'home', 'c')).toMatchObject({ data: { a: '2' } });
    expect(contents()).toEqual({ c: { a: '2' } });
  });

  test.each([
    ['a quota that counts the deleted object still', new ApiError(403, 'Forbidden', 'exceeded quota')],
    ['a failure of the API server', new ApiError(500, 'InternalError', 'etcd')],
  ])('the object never counts as absent after %s: it is created from the copy', async (_, refusal) => {
    const applier = server.applier();
    await server.apply({ a: '1' }, applier);
    server.setImmutable();
    server.refusal = refusal;
    const words = refusal.message;
    await expect(server.apply({ a: '2' }, applier)).rejects.toThrow(words);
    await expect(applier.find(builtin.ConfigMap, 'home', 'c')).rejects.toThrow(words);
    await expect(server.apply({ a: 'new' }, applier)).rejects.toThrow(words);
    await expect(applier.remove(builtin.ConfigMap, owner, 'c')).rejects.toThrow(words);
    expect(await applier.find(builtin.ConfigMap, 'home', 'other')).toBeUndefined();
    server.refusal = undefined;
    expect(await applier.find(builtin.ConfigMap, 'home', 'c')).toMatchObject({ data: { a: '2' } });
    expect(contents()).toEqual({ c: { a: '2' } });
    const requests = server.cluster.requests.length;
    await applier.find(builtin.ConfigMap, 'home', 'c');
    expect(server.cluster.requests).toHaveLength(requests + 1);
    await server.apply({ a: '3' }, applier);
    expect(contents()).toEqual({ c: { a: '3' } });
  });

  test('a later content replaces the copy', async () => {
    const applier = server.applier();
    await server.apply({ a: '1' }, applier);
    server.setImmutable();
    server.refusal = new ApiError(500, 'InternalError', 'etcd');
    await expect(server.apply({ a: '2' }, applier)).rejects.toThrow();
    server.refusal = undefined;
    await server.apply({ a: '3' }, applier);
    expect(contents()).toEqual({ c: { a: '3' } });
  });

  test('leaves no copy from which a later process would create an object that was removed since', async () => {
    const applier = server.applier();
    await server.apply({ a: '1' }, applier);
    server.setImmutable();
    server.refusal = new ApiError(500, 'InternalError', 'etcd');
    await expect(server.apply({ a: '2' }, applier)).rejects.toThrow();
    server.refusal = undefined;
    await applier.remove(builtin.ConfigMap, owner, 'c');
    await server.finish();
    expect(contents()).toEqual({});
  });

  test('a Secret is created from its copy before it is read', async () => {
    const settle = jest.fn(() => Promise.resolve());
    const cache = { get: () => undefined } as unknown as Cache;
    expect(await new SecretReader(server.cluster, cache, settle).find('home', 's')).toBeUndefined();
    expect(settle).toHaveBeenCalledWith('home', 's');
  });

  test('does not change an immutable object that another client has created in the meantime', async () => {
    await server.apply({ a: '1' });
    server.setImmutable();
    const { metadata } = server.objects.get('c')!;
    const theirs = { metadata: { name: 'c', namespace: 'home', uid: 'theirs' }, immutable: true, data: {} };
    server.beforeFind = () => server.objects.set('c', theirs);
    await expect(server.apply({ a: '2' })).rejects.toThrow('does not belong to');
    expect(metadata.uid).not.toBe('theirs');
    expect(server.objects.get('c')).toBe(theirs);
  });

  test('gives the new object the owner that the former one has now, even if the cache is behind', async () => {
    await server.apply({ a: '1' });
    server.setImmutable();
    const cached = server.objects.get('c')!;
    const { ownerReferences: _, ...released } = cached.metadata;
    server.objects.set('c', { ...cached, metadata: released });
    jest.spyOn(server.cache, 'get').mockReturnValue(cached);
    const applier = server.applier();
    const desired = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'c', namespace: 'home' },
      data: { a: '2' },
    };
    await applier.apply(builtin.ConfigMap, desired, { owner, ownerReference: 'at creation' });
    expect(contents()).toEqual({ c: { a: '2' } });
    expect(server.objects.get('c')!.metadata.ownerReferences).toBeUndefined();
  });

  test('changes no object of another owner whose name and annotation are those of a copy', async () => {
    const annotations = { [`${GROUP}/replaces`]: 'c' };
    server.objects.set('c-next', { metadata: { name: 'c-next', namespace: 'home', annotations }, data: {} });
    await server.finish();
    expect(contents()).toEqual({ 'c-next': {} });
  });

  test('is not part of a dry run', async () => {
    await server.apply({ a: '1' });
    server.setImmutable();
    const dryRun = new DryRunApplier(server.cluster, server.cache, GROUP);
    await expect(server.apply({ a: '2' }, dryRun)).rejects.toThrow(ObjectRejected);
    expect(contents()).toEqual({ c: { a: '1' } });
  });
});
