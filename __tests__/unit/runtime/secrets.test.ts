import { PassThrough } from 'node:stream';
import { Applier } from '../../../operator/runtime/apply';
import { Cache } from '../../../operator/runtime/cache';
import { SecretReader } from '../../../operator/runtime/secrets';
import { ManualClock } from '../manual-clock';
import { builtin } from '../../../operator/runtime/types';
import { silentLog } from '../../cluster/silent-log';
import { FakeApiClient, notFound } from './fake-api-client';
import { widget } from './objects';

const metadata = (resourceVersion: string) => ({ name: 'keys', namespace: 'home', resourceVersion });
const secret = (resourceVersion: string, value: string) => ({
  metadata: metadata(resourceVersion),
  data: { password: Buffer.from(value).toString('base64') },
});

/**
 * Makes a reader of one Secret: `told` is the version that the watch has reported, `served` that of the
 * server.
 */
function setup() {
  const state: { told: string | undefined; served: ReturnType<typeof secret> | undefined } = {
    told: '1',
    served: secret('1', 'hunter2'),
  };
  const cluster = new FakeApiClient(new ManualClock(), () => {
    if (!state.served) throw notFound();
    return state.served;
  });
  const get = () => (state.told === undefined ? undefined : { metadata: metadata(state.told) });
  const reader = new SecretReader(cluster, { get } as unknown as Cache);
  const password = async () => (await reader.get('home', 'keys'))?.get('password');
  return { state, cluster, reader, password };
}

describe('SecretReader', () => {
  test('a Secret that did not change is read once', async () => {
    const { cluster, password, state } = setup();
    expect([await password(), await password()]).toEqual(['hunter2', 'hunter2']);
    expect(cluster.requests).toHaveLength(1);
    state.told = '2';
    state.served = secret('2', 'hunter3');
    expect(await password()).toBe('hunter3');
    expect(cluster.requests).toHaveLength(2);
  });

  test('the values of the last read are available without a request, until the Secret changes', async () => {
    const { cluster, password, reader, state } = setup();
    expect(reader.lastRead('home', 'keys')).toBeUndefined();
    await password();
    expect(reader.lastRead('home', 'keys')?.get('password')).toBe('hunter2');
    state.told = '2';
    expect(reader.lastRead('home', 'keys')).toBeUndefined();
    state.told = undefined;
    expect(reader.lastRead('home', 'keys')).toBeUndefined();
    expect(cluster.requests).toHaveLength(1);
  });

  test('a Secret that does not exist costs no request', async () => {
    const { cluster, password, state } = setup();
    state.told = undefined;
    expect(await password()).toBeUndefined();
    expect(cluster.requests).toEqual([]);
  });

  test('the values of a deleted Secret are no longer kept', async () => {
    const { cluster, password, reader } = setup();
    await password();
    reader.forget({ metadata: metadata('2') });
    await password(); // for a recreated Secret there is another request
    expect(cluster.requests).toHaveLength(2);
  });

  test('the values of a Secret that is deleted during the read are not kept', async () => {
    const { cluster, password, reader, state } = setup();
    cluster.handler = () => {
      state.told = undefined;
      reader.forget({ metadata: metadata('2') });
      return state.served;
    };
    expect(await password()).toBe('hunter2');
    state.told = '1';
    await password(); // values that were kept would be read from memory
    expect(cluster.requests).toHaveLength(2);
  });

  describe('after a write by the operator, before the watch has delivered it', () => {
    async function silentWatch(present: readonly object[]) {
      const clock = new ManualClock();
      const server = new Map<string, string>();
      let version = 10;
      const cluster = new FakeApiClient(clock, ({ method, query, body }) => {
        if (query?.['watch']) {
          const stream = new PassThrough();
          for (const object of present) stream.write(`${JSON.stringify({ type: 'ADDED', object })}\n`);
          const annotations = { 'k8s.io/initial-events-end': 'true' };
          const end = { metadata: { resourceVersion: String(version), annotations } };
          stream.write(`${JSON.stringify({ type: 'BOOKMARK', object: end })}\n`);
          return stream;
        }
        if (method === 'GET' && !server.has('keys') && present.length === 0) throw notFound();
        if (method === 'GET') return { ...secret(String(version), server.get('keys') ?? 'before') };
        const { stringData } = body as { stringData: { password: string } };
        server.set('keys', stringData.password);
        version += 1;
        return {
          ...secret(String(version), stringData.password),
          metadata: { ...metadata(String(version)), uid: 'uid' },
        };
      });
      const cache = new Cache({
        cluster,
        clock,
        log: silentLog,
        namespaces: [],
        freeze: true,
        onFailure: () => undefined,
      });
      cache.watch(builtin.Secret, { metadataOnly: true, onChange: () => undefined });
      await cache.waitForCacheSync();
      const applier = new Applier(cluster, cache, 'example.org');
      const write = (password: string) =>
        applier.apply(
          builtin.Secret,
          {
            apiVersion: 'v1',
            kind: 'Secret',
            metadata: { name: 'keys', namespace: 'home' },
            stringData: { password },
          },
          { owner: widget() },
        );
      const reader = new SecretReader(cluster, cache);
      const password = async () => (await reader.get('home', 'keys'))?.get('password');
      return { cache, password, write };
    }

    const ours = () => {
      const labels = { 'example.org/owner': 'Widget.a' };
      return { ...secret('5', 'before'), metadata: { ...metadata('5'), uid: 'uid', labels } };
    };

    test('a changed Secret is read again', async () => {
      const { cache, password, write } = await silentWatch([ours()]);
      expect(await password()).toBe('before');
      await write('sesame');
      expect(await password()).toBe('sesame');
      await cache.stop();
    });

    test('a new Secret exists, and the cache has none of its values', async () => {
      const { cache, password, write } = await silentWatch([]);
      expect(await password()).toBeUndefined();
      await write('sesame');
      expect(await password()).toBe('sesame');
      const kept = JSON.stringify([...cache.list('Secret')]);
      expect(kept).toContain('keys');
      expect(kept).not.toMatch(/"(data|stringData)"|sesame/);
      await cache.stop();
    });
  });
});
