import { ApiError } from '../../../../../operator/runtime/api-errors';
import { API_GROUP } from '../../../../../operator/kinds/group';
import { Applier } from '../../../../../operator/runtime/apply';
import { ensureService } from '../../../../../operator/sync/hub/exposure/service';
import { ManualClock } from '../../../manual-clock';
import { FakeApiClient, notFound } from '../../../runtime/fake-api-client';
import { aHub, aHubContext, services } from '../../fixtures';

/** A cluster without a Service, which stores applied objects. */
function emptyCluster() {
  const cluster = new FakeApiClient(new ManualClock(), ({ method, body }) => {
    if (method === 'GET') throw notFound();
    return body;
  });
  const cache = { get: () => undefined, recordWrite: <T>(object: T) => object, watches: () => false };
  return new Applier(cluster, cache, API_GROUP);
}

describe('ensureService', () => {
  test('the address of the hub is the DNS name of the Service, with the port of the spec', async () => {
    const { run } = ensureService(services({ applier: emptyCluster(), cache: {} }));
    const standard = aHubContext(aHub());
    expect(await run(standard)).toEqual({ url: 'http://villa.home.svc:8123' });
    expect(standard.status).toEqual({ url: 'http://villa.home.svc:8123' });
    const changed = aHubContext(aHub({ spec: { service: { port: 80 } } }));
    await run(changed);
    expect(changed.status).toEqual({ url: 'http://villa.home.svc:80' });
  });

  test.each([
    [
      'Service "villa" is invalid: spec.loadBalancerClass: Invalid value: "other": may not change once set',
      /^spec.service.loadBalancerClass cannot change .* \(kubectl -n home delete service villa\)/,
    ],
    [
      'Service "villa" is invalid: spec.loadBalancerClass: Invalid value: "a b": must be a name',
      /must be a name$/,
    ],
  ])(
    'a refusal of the load balancer class has the remedy only where it applies: %s',
    async (words, message) => {
      const cluster = new FakeApiClient(new ManualClock(), ({ method }) => {
        if (method === 'GET') throw notFound();
        throw new ApiError(422, 'Invalid', words);
      });
      const cache = { get: () => undefined, recordWrite: <T>(object: T) => object, watches: () => false };
      const applier = new Applier(cluster, cache, API_GROUP);
      const { run } = ensureService(services({ applier, cache: {} }));
      const spec = { service: { type: 'LoadBalancer', loadBalancerClass: 'other' } } as const;
      await expect(run(aHubContext(aHub({ spec })))).rejects.toMatchObject({
        name: 'ObjectRejected',
        message: expect.stringMatching(message) as unknown,
      });
    },
  );
});
