import type { ApiRequest } from '../../../../operator/runtime/api-client';
import { ApiError } from '../../../../operator/runtime/api-errors';
import type { Hub } from '../../../../operator/kinds';
import { keepsVolume, releaseNamedClaim, releaseRetained } from '../../../../operator/sync/hub-pod/retain';
import type { Services } from '../../../../operator/sync/services';
import { aHub, services } from '../fixtures';

const other = { apiVersion: 'v1', kind: 'Other', name: 'x', uid: 'other' };

/** Deletes a Hub with this storage. Returns the requests that the cleanup sent. */
const deleted = (
  storage: object,
  failure?: ApiError,
  others: readonly Hub[] = [],
  delivered: readonly string[] = [],
  claim: ClaimMetadata = {},
) => released(releaseRetained, storage, failure, others, delivered, claim);

interface ClaimMetadata {
  readonly ownerReferences?: undefined;
  readonly deletionTimestamp?: string;
  readonly isOurs?: boolean;
}

async function released<T>(
  release: (given: Services, hub: Hub) => Promise<T>,
  storage: object,
  failure: ApiError | undefined,
  others: readonly Hub[],
  delivered: readonly string[],
  claimMetadata: ClaimMetadata = {},
) {
  const hub = aHub({ spec: { storage } });
  const owner = {
    apiVersion: hub.apiVersion,
    kind: 'Hub',
    name: 'villa',
    uid: hub.metadata.uid,
    controller: true,
  };
  const requests: ApiRequest[] = [];
  const given = services({
    cache: {
      list: function* <T>() {
        yield* [hub, ...others] as T[];
      },
      get: ((_kind: string, _namespace: string, name: string) =>
        delivered.includes(name) ? { metadata: { name } } : undefined) as never,
    },
    applier: {
      isOurs: (object) => object.metadata.name !== 'villa-config' || claimMetadata.isOurs !== false,
      find: (_: unknown, namespace: string, name: string) =>
        Promise.resolve({
          metadata: {
            namespace,
            name,
            uid: `uid-of-${name}`,
            resourceVersion: '7',
            ownerReferences: [other, owner],
            ...(name === 'villa-config' && claimMetadata),
          },
        } as never),
    },
    cluster: {
      request: <T>(request: ApiRequest) => {
        requests.push(request);
        return failure ? Promise.reject(failure) : Promise.resolve({} as T);
      },
    },
  });
  return { result: await release(given, hub), requests };
}

describe('releaseRetained', () => {
  test('removes the owner reference of the Hub from claim and credentials, and no other one', async () => {
    const { result, requests } = await deleted({ retain: true });
    expect(result).toEqual([]);
    expect(requests.map(({ path }) => path)).toEqual([
      '/api/v1/namespaces/home/persistentvolumeclaims/villa-config',
      '/api/v1/namespaces/home/secrets/villa-admin',
    ]);
    for (const { body } of requests)
      expect(body).toMatchObject({ metadata: { resourceVersion: '7', ownerReferences: [other] } });
  });

  test('releases files that are delivered together with the volume', async () => {
    const delivered = ['villa-delivery-0', 'villa-delivery-3'];
    const { requests } = await deleted({ retain: true }, undefined, [], delivered);
    expect(requests.map(({ path }) => path).slice(2)).toEqual([
      '/api/v1/namespaces/home/configmaps/villa-delivery-0',
      '/api/v1/namespaces/home/configmaps/villa-delivery-3',
    ]);
    expect((await deleted({ retain: false }, undefined, [], delivered)).requests).toEqual([]);
  });

  test('changes nothing of a Hub that does not retain', async () => {
    expect((await deleted({ retain: false })).requests).toEqual([]);
  });

  test('keeps claim and credentials of a Hub whose claim another Hub names', async () => {
    const another = (storage: { existingClaim?: string }) =>
      aHub({ metadata: { name: 'third', uid: 'third' }, spec: { storage } });
    const { requests } = await deleted({ retain: false }, undefined, [
      another({ existingClaim: 'villa-config' }),
    ]);
    expect(requests.map(({ path }) => path)).toEqual([
      '/api/v1/namespaces/home/persistentvolumeclaims/villa-config',
      '/api/v1/namespaces/home/secrets/villa-admin',
    ]);
    expect(
      (await deleted({ retain: false }, undefined, [another({ existingClaim: 'other' }), another({})]))
        .requests,
    ).toEqual([]);
  });

  test('keeps the login with the volume that existingClaim names, and the Hub’s own claim if it is that one', async () => {
    const { requests } = await deleted({ existingClaim: 'villa-config' });
    expect(requests.map(({ path }) => path)).toEqual([
      '/api/v1/namespaces/home/persistentvolumeclaims/villa-config',
      '/api/v1/namespaces/home/secrets/villa-admin',
    ]);
    expect((await deleted({ existingClaim: 'attic' })).requests.map(({ path }) => path)).toEqual([
      '/api/v1/namespaces/home/secrets/villa-admin',
    ]);
  });

  describe('with a claim that has no owner any more', () => {
    const free = { ownerReferences: undefined };

    test('names it, and the command that deletes all retained objects', async () => {
      const { result, requests } = await deleted({}, undefined, [], ['villa-delivery-2'], free);
      expect(result).toEqual([
        {
          type: 'Warning',
          reason: 'ClaimKept',
          message:
            'The volume stays although storage.retain is false, because it was retained before: no claim gets an owner again. ' +
            'To delete it with all data of the hub: kubectl -n home delete persistentvolumeclaim/villa-config secret/villa-admin configmap/villa-delivery-2',
        },
      ]);
      // The login outlives the Hub wherever its volume does.
      expect(requests.map(({ path }) => path.split('/').at(-1))).toEqual(['villa-admin', 'villa-delivery-2']);
    });

    test.each<[string, object, ClaimMetadata]>([
      ['that the spec retains', { retain: true }, free],
      ['beside a volume that was given', { existingClaim: 'villa-config' }, free],
      ['that is being deleted', {}, { ...free, deletionTimestamp: '2026-01-01T00:00:00Z' }],
      ['of a person', {}, { ...free, isOurs: false }],
      ['that has an owner', {}, {}],
    ])('does not mention one %s', async (_, storage, claim) => {
      expect((await deleted(storage, undefined, [], [], claim)).result).toEqual([]);
    });
  });

  test('fails with the error of a request, which the runtime retries', async () => {
    const error = new ApiError(403, 'Forbidden', 'not allowed');
    await expect(deleted({ retain: true }, error)).rejects.toBe(error);
  });
});

test('keepsVolume is true for a claim that was retained before', () => {
  const keeps = (claim: object | undefined) =>
    keepsVolume(services({ cache: { get: () => claim as never, list: function* () {} } }), aHub());
  expect(keeps({ metadata: {} })).toBe(true);
  expect(keeps({ metadata: { ownerReferences: [other] } })).toBe(false);
  expect(keeps({ metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } })).toBe(false);
  expect(keeps(undefined)).toBe(false);
});

test('releaseNamedClaim releases files that are delivered with the claim of the other Hub', async () => {
  const third = aHub({
    metadata: { name: 'third', uid: 'third' },
    spec: { storage: { existingClaim: 'villa-config' } },
  });
  const { requests } = await released(
    (given) => releaseNamedClaim(given, third),
    {},
    undefined,
    [],
    ['villa-delivery-0'],
  );
  expect(requests.map(({ path }) => path.split('/').at(-1))).toEqual([
    'villa-config',
    'villa-admin',
    'villa-delivery-0',
  ]);
});
