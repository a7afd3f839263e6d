import { HubClient } from '../../../../../operator/client/hub-client';
import { systemClock } from '../../../../../operator/clock';
import { hub as definition, type Hub } from '../../../../../operator/kinds/index';
import { defaulted } from '../../../../../operator/kinds/schema';
import type { ClusterObject } from '../../../../../operator/runtime/objects';
import type { HubClients } from '../../../../../operator/sync/hub-clients';
import { Connector } from '../../../../../operator/sync/hub/access/connect';
import type { HubContext, WithAddress, WithClaim } from '../../../../../operator/sync/hub/steps';
import type { Services } from '../../../../../operator/sync/services';
import { silentLog } from '../../../../cluster/silent-log';
import { type Command, FakeHub, json, text } from '../../../client/fake-hub';

// What a real hub is seldom brought to say. The way through is shown with one (integration).

const config = {
  version: '2026.11.0',
  state: 'RUNNING',
  recovery_mode: false,
  safe_mode: false,
  config_source: 'storage',
  unit_system: { length: 'km' },
  time_zone: 'UTC',
};
const hub = {
  apiVersion: 'hub-operator.dev/v1',
  kind: 'Hub',
  metadata: { namespace: 'home', name: 'h', uid: '1' },
  spec: { bootstrap: { location: { currency: 'CHF' } } },
  status: { bootstrap: { state: 'Done' } },
} as unknown as Hub;

let server: FakeHub;
let client: HubClient;
let contact: Connector;
let answers: Record<string, (command: Command) => void>;

beforeEach(async () => {
  server = await FakeHub.start();
  server.routes.set('GET /api/config', json(200, config));
  answers = { 'auth/current_user': ({ succeed }) => succeed({ name: 'Ada', is_admin: true }) };
  server.onCommand = (command) => (answers[command.message.type] ?? (() => command.succeed({})))(command);
  client = new HubClient({ url: server.url, token: 'good-token', clock: systemClock, log: silentLog });
  const objects: Record<string, ClusterObject> = {
    Pod: { metadata: { name: 'h-0' }, status: { conditions: [{ type: 'Ready', status: 'True' }] } } as never,
    Secret: { metadata: { name: 'h-api-token' } },
    Hub: hub,
  };
  const services = {
    clock: systemClock,
    log: silentLog,
    settings: {},
    cache: { get: (kind: string) => objects[kind] },
    applier: { isOurs: () => false },
    secrets: {
      get: () =>
        Promise.resolve(new Map(Object.entries({ token: 'good-token', username: 'ada', password: 'x' }))),
    },
  };
  const hubs = { client: () => client, healthMonitor: { watch: () => undefined } };
  contact = new Connector(services as unknown as Services, hubs as unknown as HubClients);
});
afterEach(async () => {
  client.close();
  await server.close();
});

async function reconcile(forced = false) {
  const context: HubContext & WithClaim & WithAddress = {
    hub,
    spec: defaulted(definition.spec, hub.spec),
    reconcile: { log: silentLog, forced } as unknown as HubContext['reconcile'],
    status: {},
    conditions: {},
    events: [],
    claim: undefined,
    url: server.url,
  };
  return { outcome: await contact.connect(context), context };
}

describe('Connector', () => {
  test('reports a setting that the hub rejects in the words of the hub, and continues', async () => {
    answers['config/core/update'] = ({ fail }) => fail('unauthorized', 'Unauthorized');
    const { outcome, context } = await reconcile();
    expect(context.problem).toMatchObject({
      type: 'Stalled',
      reason: 'RejectedByHub',
      message: 'The hub rejected a request of the bootstrap: Unauthorized',
    });
    expect(outcome).toMatchObject({ client, core: config });
    expect(context).toMatchObject({ status: { phase: 'Running', version: '2026.11.0' } });
  });

  test('retries a setting that the hub fails at, and leaves the Hub ready', async () => {
    answers['config/core/update'] = ({ fail }) => fail('unknown_error', 'Unknown error');
    const { outcome, context } = await reconcile();
    expect(outcome).toMatchObject({ client });
    expect(context.problem).toBeUndefined();
    expect(context.conditions['BootstrapReady']).toMatchObject({
      status: 'True',
      message: expect.stringMatching(/The hub failed at a request .*Unknown error/),
    });
    expect(context.requeueAfter).toBe(30_000);
  });

  test('waits for a hub that is starting', async () => {
    server.routes.set('GET /api/config', json(200, { ...config, state: 'STARTING' }));
    answers['config/core/update'] = ({ fail }) => fail('unknown_command', 'Unknown command');
    expect((await reconcile()).outcome).toMatchObject({
      type: 'Waiting',
      reason: 'ApiNotLoaded',
      after: 5_000,
    });
  });

  test('replaces a token of a user who is no administrator, and asks once about that of an administrator', async () => {
    await reconcile();
    await reconcile();
    const asked = () => server.commands.filter(({ type }) => type === 'auth/current_user').length;
    expect(asked()).toBe(1);
    answers['auth/current_user'] = ({ succeed }) => succeed({ name: 'Eve', is_admin: false });
    server.routes.set('GET /api/onboarding', json(404, {}));
    const { outcome } = await reconcile(true);
    expect(asked()).toBe(2);
    expect(outcome).toMatchObject({
      type: 'Waiting',
      reason: 'Bootstrapping',
      status: { bootstrap: { state: 'CreateAPIToken' } },
    });
  });

  test('reports recovery mode although the hub cannot check its configuration', async () => {
    server.routes.set('GET /api/config', json(200, { ...config, recovery_mode: true }));
    server.routes.set('POST /api/config/core/check_config', text(503, ''));
    expect((await reconcile()).outcome).toMatchObject({
      reason: 'RecoveryMode',
      message: expect.stringContaining('its configuration or its storage is broken'),
    });
  });
});
