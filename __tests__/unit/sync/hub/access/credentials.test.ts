import type { ApiRequest } from '../../../../../operator/runtime/api-client';
import { ensureCredentialsOwner } from '../../../../../operator/sync/hub/access/credentials';
import { aHub, services } from '../../fixtures';

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
