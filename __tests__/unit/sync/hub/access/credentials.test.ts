import type { ApiRequest } from '../../../../../operator/runtime/api-client';
import type { ClusterObject } from '../../../../../operator/runtime/objects';
import { releaseCredentials, ownerCredentials } from '../../../../../operator/sync/hub/access/credentials';
import { aHub, aHubContext, services } from '../../fixtures';

/**
 * Returns whether the Hub owns its generated credentials after a reconcile, according to the last request to
 * the cluster.
 */
async function isOwned(storage: object, isOwnedBefore: boolean, claim?: object): Promise<boolean> {
  const hub = aHub({ spec: { storage } });
  const ownerReferences = isOwnedBefore ? [{ uid: hub.metadata.uid }] : [];
  const secret = { metadata: { namespace: 'home', name: 'villa-admin', ownerReferences } };
  let owned = isOwnedBefore;
  const given = services({
    applier: { isOurs: () => true },
    cache: {
      get: (kind: string) => (kind === 'Secret' ? secret : claim) as never,
      list: function* () {},
    },
    cluster: {
      request: <T>({ body }: ApiRequest) => {
        owned = (body as typeof secret).metadata.ownerReferences.length > 0;
        return Promise.resolve({} as T);
      },
    },
  });
  await releaseCredentials(given, hub);
  return owned;
}

describe('ownerCredentials', () => {
  test.each([
    [{}, true],
    [{ retain: true }, false],
    [{ existingClaim: 'attic' }, false],
  ])('generates a login that a Hub with the storage %j owns: %s', async (storage, owned) => {
    const context = aHubContext(aHub({ spec: { storage } }));
    const bodies: unknown[] = [];
    const given = services({
      applier: { labels: () => ({}) },
      cache: { get: () => undefined, list: function* () {}, recordWrite: (object) => object },
      secrets: { get: () => Promise.resolve(undefined) },
      cluster: {
        request: <T>({ body }: ApiRequest) => {
          bodies.push(body);
          return Promise.resolve({ metadata: { uid: 'secret' } } as T);
        },
      },
    });
    expect(await ownerCredentials(given, context.hub, context.spec, true)).toMatchObject({
      credentials: { username: 'admin' },
    });
    const ownerReferences = owned ? [expect.objectContaining({ uid: context.hub.metadata.uid })] : undefined;
    expect(bodies).toMatchObject([{ metadata: { name: 'villa-admin' } }]);
    expect((bodies[0] as ClusterObject).metadata.ownerReferences).toEqual(ownerReferences);
  });
});

describe('releaseCredentials', () => {
  test.each([
    ['stay where the volume is retained', { retain: true }],
    ['stay where the volume is one that was given', { existingClaim: 'attic' }],
  ])('%s', async (_, storage) => {
    expect(await isOwned(storage, true)).toBe(false);
    expect(await isOwned(storage, false)).toBe(false);
  });

  test('are deleted with the Hub, as its volume is, unless they were released before', async () => {
    const claim = { metadata: { ownerReferences: [{ uid: 'uid-of-villa' }] } };
    expect(await isOwned({}, true, claim)).toBe(true);
    expect(await isOwned({}, true)).toBe(true);
    expect(await isOwned({}, false, claim)).toBe(false);
  });

  test('stay with a volume that was retained before', async () => {
    expect(await isOwned({}, true, { metadata: {} })).toBe(false);
    expect(await isOwned({}, true, { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } })).toBe(true);
  });
});
