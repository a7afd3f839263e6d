import type { ApiRequest } from '../../../../../operator/runtime/api-client';
import type { ClusterObject } from '../../../../../operator/runtime/objects';
import {
  ensureCredentialsOwner,
  ownerCredentials,
} from '../../../../../operator/sync/hub/access/credentials';
import { aHub, aHubContext, services } from '../../fixtures';

/** Whether the Hub owns its generated credentials after a reconcile, as the last request to the cluster says. */
async function isOwned(storage: object, isOwnedBefore: boolean): Promise<boolean> {
  const hub = aHub({ spec: { storage } });
  const ownerReferences = isOwnedBefore ? [{ uid: hub.metadata.uid }] : [];
  const secret = { metadata: { namespace: 'home', name: 'villa-admin', ownerReferences } };
  let owned = isOwnedBefore;
  const given = services({
    applier: { isOurs: () => true },
    cache: { get: () => secret as never, list: function* () {} },
    cluster: {
      request: <T>({ body }: ApiRequest) => {
        owned = (body as typeof secret).metadata.ownerReferences.length > 0;
        return Promise.resolve({} as T);
      },
    },
  });
  await ensureCredentialsOwner(given, hub);
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

describe('ensureCredentialsOwner', () => {
  test.each([
    ['go with the Hub, as its volume does', {}, true],
    ['stay where the volume is retained', { retain: true }, false],
    ['stay where the volume is one that was given', { existingClaim: 'attic' }, false],
  ])('%s', async (_, storage, owned) => {
    expect(await isOwned(storage, true)).toBe(owned);
    expect(await isOwned(storage, false)).toBe(owned);
  });
});
