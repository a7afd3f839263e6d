import type { Hub } from '../../../../../operator/kinds';
import { BootstrapRunner } from '../../../../../operator/sync/hub/access/bootstrap-runner';
import { ApiError } from '../../../../../operator/runtime/api-errors';
import { FakeHub } from '../../../client/fake-hub';
import { ManualClock } from '../../../manual-clock';
import { aHub, aHubContext, services } from '../../fixtures';

let server: FakeHub;

beforeEach(async () => (server = await FakeHub.start()));
afterEach(() => server.close());

describe('BootstrapRunner', () => {
  test('retries permanent refusals of the hub less and less often, and a different refusal soon', async () => {
    const clock = new ManualClock();
    const given = services({
      clock,
      cache: { get: () => ({ metadata: {} }) as never },
      secrets: { get: async () => new Map([['username', 'ada'], ['password', 'x']]) }, // prettier-ignore
    });
    const runner = new BootstrapRunner(given);
    let hub: Hub = aHub({ status: { bootstrap: { state: 'SetAnalytics' } } });
    const step = async () => {
      const outcome = await runner.run(aHubContext(hub), server.url);
      hub = { ...hub, status: { ...hub.status, ...outcome.status } };
      return outcome;
    };
    server.routes.set('POST /auth/login_flow', (_request, response) => response.writeHead(501).end('no'));
    const first = await step();
    expect(first).toMatchObject({ type: 'Waiting', reason: 'Bootstrapping', after: 2_000 });
    let steps = 1;
    for (const end = clock.monotonic() + 24 * 3_600_000; clock.monotonic() < end && steps < 400; steps++) {
      await clock.advance((await step()).after!);
    }
    expect(steps).toBeLessThan(320);
    expect((await step()).after).toBe(300_000);
    server.routes.set('POST /auth/login_flow', (_request, response) => response.writeHead(500).end('no'));
    expect((await step()).after).toBe(2_000);
  });

  test('reports a Secret that the cluster refuses, and neither a token nor a hub that can be used', async () => {
    const refusal = new ApiError(403, 'Forbidden', 'exceeded quota: small');
    const given = services({
      cache: { get: () => undefined, list: function* () {} },
      secrets: { get: () => Promise.resolve(undefined) },
      applier: { labels: () => ({}) },
      cluster: { request: () => Promise.reject(refusal) },
    });
    const before = { type: 'BootstrapReady', status: 'True', reason: 'Completed', message: '' };
    const hub = aHub({
      status: { phase: 'Running', bootstrap: { state: 'CreateUser' }, conditions: [before] } as never,
    });
    const run = () => new BootstrapRunner(given).run(aHubContext(hub), server.url);
    expect(await run()).toMatchObject({
      type: 'Stalled',
      reason: 'Forbidden',
      after: 30_000,
      status: { phase: 'Pending', bootstrap: { state: 'CreateUser' } },
      conditions: { BootstrapReady: { status: 'False', message: 'CreateUser: exceeded quota: small' } },
    });
  });
});
