import type { Hub } from '../../../../operator/kinds';
import { userAnnotations } from '../../../../operator/kinds/annotations';
import type { ApiRequest } from '../../../../operator/runtime/api-client';
import { ApiError } from '../../../../operator/runtime/api-errors';
import type { ClusterObject } from '../../../../operator/runtime/objects';
import { HubClients } from '../../../../operator/sync/hub-connection/hub-clients';
import { hubModule } from '../../../../operator/sync/hub';
import { PodRestarts } from '../../../../operator/sync/hub-pod/pod-restarts';
import type { Services } from '../../../../operator/sync/services';
import { aHub, aHubContext, services } from '../fixtures';

/**
 * A dry-run of a Hub with a StatefulSet of another version. The cluster has none of the Hub's other objects.
 */
async function dryRun(spec: Hub['spec'] = {}) {
  const restartHash = { 'hub-operator.dev/restart-hash': 'sha256:1' };
  const present: Record<string, ClusterObject> = {
    'villa-configuration': { metadata: { name: 'villa-configuration', annotations: restartHash } },
    // The change of the StatefulSet is debounced.
    villa: {
      metadata: {
        name: 'villa',
        namespace: 'home',
        ownerReferences: [{ uid: 'uid-of-villa', controller: true } as never],
      },
      spec: { template: {} },
    } as ClusterObject,
  };
  const requests: ApiRequest[] = [];
  const given = services({
    applier: {}, // unused: in a dry-run every write goes through an applier that writes nothing
    cache: { get: () => undefined, list: function* () {}, ofHub: function* () {} },
    secrets: { exists: () => false },
    cluster: {
      find: <T>(type: { kind: string }, _: string, name: string) =>
        Promise.resolve(
          (type.kind === 'StatefulSet' || type.kind === 'ConfigMap' ? present[name] : undefined) as T,
        ),
      request: <T>(request: ApiRequest) => {
        requests.push(request);
        if (/\/(events|pods)$/.test(request.path)) return Promise.resolve({ items: [] } as T);
        if (request.method === 'GET') return Promise.reject(new ApiError(404, 'NotFound', 'none'));
        return Promise.resolve({ status: {}, spec: { template: {} }, ...(request.body as object) } as T);
      },
    },
  });
  const hub = aHub({ metadata: { annotations: { [userAnnotations.dryRun]: 'true' } }, spec });
  const { reconcile } = aHubContext(hub, { dryRun: true });
  const outcome = await aModule(given).sync(hub, reconcile);
  return { outcome, requests };
}

function aModule(given: Services) {
  const hubs = new HubClients(given);
  const restarts = new PodRestarts(given, hubs);
  const findLeftBehind = () => Promise.resolve({ events: [] });
  return hubModule(
    given,
    hubs,
    { isLoading: () => false, keepPartsOfLast: () => Promise.resolve() },
    restarts,
    findLeftBehind,
    () => Promise.resolve({ status: null }),
  );
}

describe('hubModule', () => {
  test('does not release a Hub whose volume could not be released', () => {
    expect(
      aModule(services({ applier: {}, cache: { get: () => undefined }, cluster: {}, secrets: {} }))
        .lostWithoutRemoval,
    ).toContain('the volume');
  });

  test('names other operators even in a Hub that is not ready, since they may be the cause', async () => {
    const given = services({
      cache: { get: () => undefined, list: function* () {} },
      applier: {},
      cluster: {},
      secrets: { get: () => Promise.resolve(undefined), exists: () => false },
      settings: { podNamespace: 'a', leaseName: 'hub-operator' },
    });
    const external = { url: 'http://192.0.2.1:8123', tokenSecretRef: { name: 'token', key: 'token' } };
    const conditions = [
      {
        type: 'OnlyOperator',
        status: 'True' as const,
        reason: 'OneOperator',
        message: 'b/hub-operator',
        observedGeneration: 1,
        lastTransitionTime: '2026-01-01T00:00:00Z',
      },
    ];
    const hub = aHub({ spec: { external }, status: { conditions } });
    const module = aModule(given);
    await module.sync(hub, aHubContext(hub).reconcile); // the other operator may have been replaced
    expect(await module.sync(hub, aHubContext(hub).reconcile)).toMatchObject({
      type: 'Waiting',
      message: expect.stringMatching(
        /The operators with the leases a\/hub-operator and b\/hub-operator work/,
      ),
      conditions: { OnlyOperator: { status: 'False', message: 'a/hub-operator, b/hub-operator' } },
    });
  });

  test('in a dry-run neither reconciles again by itself nor writes', async () => {
    const { outcome, requests } = await dryRun();
    expect(outcome).toMatchObject({ type: 'Stalled', reason: 'DryRun' });
    expect(outcome).not.toHaveProperty('after');
    const writes = requests.filter(({ method, query }) => method !== 'GET' && query?.['dryRun'] !== 'All');
    expect(writes).toEqual([]);
    expect(requests.length).toBeGreaterThan(0);
  });

  test('in a dry-run reports only Ready: the objects of the answers do not exist', async () => {
    const issuerRef = { name: 'letsencrypt' };
    const { outcome } = await dryRun({
      service: { port: 80 },
      ingress: { enabled: true, host: 'home.example.org', tls: { enabled: true, issuerRef } },
    });
    expect(outcome).toEqual({
      type: 'Stalled',
      reason: 'DryRun',
      message: expect.stringContaining('Service villa would be created.'),
    });
  });
});
