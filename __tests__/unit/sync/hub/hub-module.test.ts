import { userAnnotations } from '../../../../operator/kinds/annotations';
import { ApiError, type ApiRequest } from '../../../../operator/runtime/api-client';
import type { ClusterObject } from '../../../../operator/runtime/objects';
import { HubClients } from '../../../../operator/sync/hub-clients';
import { hubModule } from '../../../../operator/sync/hub';
import { aHub, aHubContext, services } from '../fixtures';

describe('hubModule', () => {
  test('in a dry-run neither reconciles again by itself nor writes', async () => {
    const restartHash = { 'hub-operator.dev/restart-hash': 'sha256:1' };
    const present: Record<string, ClusterObject> = {
      'villa-configuration': { metadata: { name: 'villa-configuration', annotations: restartHash } },
      // Of another version: the change is debounced.
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
      applier: {}, // never used: every write goes through one that writes nothing
      cache: { get: () => undefined, list: function* () {}, ofHub: function* () {} },
      secrets: { exists: () => false },
      cluster: {
        find: <T>(type: { kind: string }, _: string, name: string) =>
          Promise.resolve(
            (type.kind === 'StatefulSet' || type.kind === 'ConfigMap' ? present[name] : undefined) as T,
          ),
        request: <T>(request: ApiRequest) => {
          requests.push(request);
          if (request.path.endsWith('/events')) return Promise.resolve({ items: [] } as T);
          if (request.method === 'GET') return Promise.reject(new ApiError(404, 'NotFound', 'none'));
          return Promise.resolve({ status: {}, spec: { template: {} }, ...(request.body as object) } as T);
        },
      },
    });
    const hub = aHub({ metadata: { annotations: { [userAnnotations.dryRun]: 'true' } } });
    const { reconcile } = aHubContext(hub, { dryRun: true });
    const outcome = await hubModule(given, new HubClients(given), () => false).sync(hub, reconcile);
    expect(outcome).toMatchObject({ type: 'Stalled', reason: 'DryRun' });
    expect(outcome).not.toHaveProperty('after');
    const writes = requests.filter(({ method, query }) => method !== 'GET' && query?.['dryRun'] !== 'All');
    expect(writes).toEqual([]);
    expect(requests.length).toBeGreaterThan(0);
  });
});
