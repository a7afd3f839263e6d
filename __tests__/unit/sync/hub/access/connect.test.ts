import { HubClient } from '../../../../../operator/client/hub-client';
import type { Hub } from '../../../../../operator/kinds/index';
import type { ApiRequest } from '../../../../../operator/runtime/api-client';
import { ApiError } from '../../../../../operator/runtime/api-errors';
import { NameConflict, ObjectRejected } from '../../../../../operator/runtime/apply-errors';
import type { ClusterObject } from '../../../../../operator/runtime/objects';
import type { Outcome } from '../../../../../operator/runtime/outcome';
import { transitionEvents } from '../../../../../operator/runtime/transition-events';
import type { HubClients } from '../../../../../operator/sync/hub-connection/hub-clients';
import { Connector } from '../../../../../operator/sync/hub/access/connect';
import type { WithClaim } from '../../../../../operator/sync/hub/steps';
import { silentLog } from '../../../../cluster/silent-log';
import { type Command, FakeHub, json, text } from '../../../client/fake-hub';
import { ManualClock } from '../../../manual-clock';
import { aClaim, aHub, aHubContext, services, uncheckedClaim } from '../../fixtures';

// Answers that a real hub rarely gives. Integration tests cover the normal connection.

const config = {
  version: '2026.11.0',
  state: 'RUNNING',
  recovery_mode: false,
  safe_mode: false,
  config_source: 'storage',
  unit_system: { length: 'km' },
  time_zone: 'UTC',
};

/** Nothing that a restart would interrupt. */
const idle = { occupation: () => Promise.resolve(undefined) };

let server: FakeHub;
let clock: ManualClock;
let hub: Hub;
let client: HubClient;
let connector: Connector;
let answers: Record<string, (command: Command) => void>;
let requeued: string[];
let isPodReady: boolean;
let isNodeLost: boolean;
let podDeletedAt: string | undefined;
/** The API server’s answer to a write. */
let recordError: ApiError | undefined;
/** The claim that the pod mounts. */
let mounted: string;
/** The API server’s answer to a read of a claim. */
let readError: ApiError | undefined;
/** The writes to claims. */
let recorded: unknown[];
/** The API server’s answer to the Secret of a new token. */
let secretError: Error | undefined;
let token: string;
/** The message of an init container that ended with an error. */
let initMessage: string | undefined;

const refusing = (message: string) => ({
  name: 'prepare-config',
  state: { terminated: { exitCode: 1, message } },
});

beforeEach(async () => {
  server = await FakeHub.start();
  server.routes.set('GET /api/config', json(200, config));
  answers = {
    'auth/current_user': ({ succeed }) => succeed({ id: 'ada', name: 'Ada', is_admin: true }),
    'auth/refresh_tokens': ({ succeed }) => succeed([]),
  };
  server.onCommand = (command) => (answers[command.message.type] ?? (() => command.succeed({})))(command);
  clock = new ManualClock();
  client = new HubClient({ url: server.url, token: 'good-token', clock, log: silentLog });
  hub = aHub({
    spec: { bootstrap: { location: { currency: 'CHF' } } },
    status: { bootstrap: { state: 'Done' } },
  });
  isPodReady = true;
  podDeletedAt = undefined;
  initMessage = undefined;
  recordError = undefined;
  mounted = 'villa-config';
  readError = undefined;
  secretError = undefined;
  token = 'good-token';
  recorded = [];
  isNodeLost = false;
  const objects: Record<string, ClusterObject> = {
    get Pod() {
      const conditions = [{ type: 'Ready', status: isPodReady ? 'True' : 'False' }];
      const initContainerStatuses = initMessage === undefined ? [] : [refusing(initMessage)];
      const metadata = { name: 'villa-0', ...(podDeletedAt && { deletionTimestamp: podDeletedAt }) };
      const volumes = [{ name: 'config', persistentVolumeClaim: { claimName: mounted } }];
      const status = { conditions, initContainerStatuses };
      if (!isNodeLost) return { metadata, spec: { volumes }, status } as ClusterObject;
      const lost = {
        conditions: [{ type: 'Ready', status: 'False' }],
        containerStatuses: [{ name: 'hub', ready: true }],
      };
      return { metadata, spec: { nodeName: 'attic' }, status: lost } as ClusterObject;
    },
    Hub: hub,
  };
  requeued = [];
  const given = services({
    clock,
    requeue: (...id) => requeued.push(id.join('/')),
    cache: {
      get: (kind: string, _: string, name: string) =>
        (kind === 'Secret' ? { metadata: { name } } : objects[kind]) as never,
    },
    applier: {
      isOurs: ({ metadata }) => metadata.name === 'villa-api-token' && secretError !== undefined,
      dryRun: () => Promise.reject(secretError!),
      find: (_, __, name) =>
        readError
          ? Promise.reject(readError)
          : Promise.resolve({
              ...aClaim,
              metadata: { ...aClaim.metadata, name, uid: `read-${name}` },
            } as never),
    },
    cluster: {
      request: <T>({ method, path }: ApiRequest) => {
        if (method !== 'GET') recorded.push(path.slice(path.lastIndexOf('/') + 1));
        return method !== 'GET' && recordError
          ? Promise.reject(recordError)
          : Promise.resolve({ items: [] } as T);
      },
    },
    secrets: {
      get: () => Promise.resolve(new Map(Object.entries({ token, username: 'ada', password: 'x' }))),
    },
  });
  const hubs = { client: () => client, healthMonitor: { watch: () => undefined } };
  connector = new Connector(given, hubs as unknown as HubClients, idle);
});
afterEach(async () => {
  client.close();
  await server.close();
});

async function reconcile(forced = false, stage: WithClaim = uncheckedClaim) {
  const context = { ...aHubContext(hub, { forced }), ...stage, url: server.url };
  return { outcome: await connector.connect(context), context };
}

describe('the volume of a hub', () => {
  const volumeIn = async (stage: WithClaim) => (await reconcile(false, stage)).context.status['volumeID'];
  const isReady = () => {
    hub = { ...hub, status: { ...hub.status, phase: 'Running' } };
  };

  test('is the claim that was checked, with the version that runs there', async () => {
    expect(await volumeIn({ claim: aClaim })).toBe('uid-of-villa-config');
    expect(recorded).toEqual(['villa-config']);
  });

  test('is not the claim of the next pod', async () => {
    mounted = 'former';
    isReady();
    expect(await volumeIn({ claim: aClaim })).toBe('read-former');
    expect(recorded).toEqual([]);
  });

  test('is read where the claim could not be checked, before a hub that came up is used', async () => {
    expect(await volumeIn(uncheckedClaim)).toBe('read-villa-config');
    readError = new ApiError(403, 'Forbidden', 'no');
    await expect(reconcile()).rejects.toBe(readError);
    // Problems that a HubConfiguration can solve are reported first.
    server.routes.set('GET /api/config', json(200, { ...config, recovery_mode: true }));
    expect((await reconcile()).outcome).toMatchObject({ reason: 'RecoveryMode' });
    server.routes.set('GET /api/config', json(200, config));
    // The Hub is Ready in status, so its children use the hub already.
    isReady();
    expect(await volumeIn(uncheckedClaim)).toBeUndefined();
    readError = undefined;
    expect(await volumeIn(uncheckedClaim)).toBe('read-villa-config');
  });

  test.each([
    ['a policy', new ApiError(403, 'Forbidden', 'no')],
    ['a webhook', new ApiError(500, 'InternalError', 'failed calling webhook "w": timeout')],
  ])('need not have a version recorded by %s', async (_, error) => {
    recordError = error;
    expect(await volumeIn({ claim: aClaim })).toBe('uid-of-villa-config');
  });
});

describe('Connector', () => {
  test('requeues after 10 s for a pod that is not ready, and sends no request to the hub', async () => {
    isPodReady = false;
    const { outcome } = await reconcile();
    expect(outcome).toMatchObject({ type: 'Waiting', reason: 'PodNotReady', after: 10_000 });
    expect(server.requests).toEqual([]);
  });

  test('reports why the claim of a pod that is not ready has no volume', async () => {
    isPodReady = false;
    const message = 'villa-config is Pending: storageclass.storage.k8s.io "fast-ssd" not found';
    const withReason = async (reason: 'Pending' | 'Expanding') => {
      const context = { ...aHubContext(hub), ...uncheckedClaim, url: server.url };
      context.conditions['StorageReady'] = { status: 'False', reason, message };
      return ((await connector.connect(context)) as Outcome).message;
    };
    expect(await withReason('Pending')).toMatch(/\w\. villa-config is Pending: .* "fast-ssd" not found$/);
    expect(await withReason('Expanding')).not.toContain('fast-ssd');
  });

  test('reports the refusal of the init container to start an older version', async () => {
    isPodReady = false;
    initMessage = JSON.stringify({ result: 'downgrade', version: '2026.10.0', ran: '2026.11.0' });
    expect((await reconcile()).outcome).toMatchObject({
      type: 'Stalled',
      reason: 'DowngradeRefused',
      message: expect.stringContaining('2026.11.0'),
      status: { phase: 'Failed' },
    });
    initMessage = 'no space left on device';
    expect((await reconcile()).outcome).toMatchObject({ type: 'Waiting', reason: 'PodNotReady' });
  });

  test('records the volume with the phase, by which children know that the hub can be used', async () => {
    const claim = { metadata: { name: 'villa-config', uid: 'of-the-claim' }, spec: {} };
    const context = { ...aHubContext(hub), claim, url: server.url };
    await connector.connect(context);
    expect(context.status).toMatchObject({ phase: 'Running', volumeID: 'of-the-claim' });
  });

  test('uses a hub whose version may not be recorded on the claim', async () => {
    recordError = new ApiError(403, 'Forbidden', 'may not patch');
    const claim = { metadata: { name: 'villa-config', uid: '1' }, spec: {} };
    const context = { ...aHubContext(hub), claim, url: server.url };
    expect(await connector.connect(context)).toMatchObject({ client });
    recordError = new ApiError(500, 'InternalError', 'etcd');
    await expect(connector.connect(context)).rejects.toThrow('etcd');
  });

  test('reports the replacement of a pod that was ready as Normal, and once', async () => {
    podDeletedAt = '2026-01-01T00:00:00Z';
    const conditions = [
      { type: 'Ready', status: 'True', reason: 'HubRunning', message: '', lastTransitionTime: '' },
    ];
    hub = aHub({ status: { bootstrap: { state: 'Done' }, conditions } as never });
    const { outcome } = await reconcile();
    expect(outcome).toMatchObject({
      reason: 'PodNotReady',
      events: [{ type: 'Normal', reason: 'PodNotReady', message: 'Pod villa-0 is being replaced.' }],
    });
    expect(transitionEvents(hub, outcome as Outcome)).toEqual([]);
    conditions[0]!.status = 'False';
    expect((await reconcile()).outcome).toMatchObject({ events: [] });
  });

  test('reports once in a Warning the remedy for a lost node, even if the hub did not answer before', async () => {
    isNodeLost = true;
    const conditions = [
      { type: 'Ready', status: 'False', reason: 'HubUnreachable', message: '', lastTransitionTime: '' },
    ];
    hub = aHub({ status: { bootstrap: { state: 'Done' }, conditions } as never });
    const { outcome } = await reconcile();
    const { message } = outcome as Outcome;
    expect(message).toMatch(/^The node attic of pod villa-0 .* Delete the node if it is gone for good\.$/);
    expect(outcome).toMatchObject({ events: [{ type: 'Warning', reason: 'PodNotReady', message }] });
    Object.assign(conditions[0]!, { reason: 'PodNotReady', message });
    expect((await reconcile()).outcome).toMatchObject({ message, events: [] });
    Object.assign(conditions[0]!, { reason: 'InvalidSpec', message: `A problem of the Hub. ${message}` });
    expect((await reconcile()).outcome).toMatchObject({ message, events: [] });
  });

  test('reports a pod that is replaced, and no unreachable hub, if the hub was lost before the watch event of its pod', async () => {
    const conditions = [
      { type: 'Ready', status: 'True', reason: 'HubRunning', message: '', lastTransitionTime: '' },
    ];
    hub = aHub({ status: { bootstrap: { state: 'Done' }, conditions } as never });
    server.routes.set('GET /api/config', (_, response) => {
      podDeletedAt = '2026-01-01T00:00:00Z';
      response.destroy();
    });
    const { outcome } = await reconcile();
    expect(outcome).toMatchObject({
      reason: 'PodNotReady',
      events: [{ type: 'Normal', reason: 'PodNotReady', message: 'Pod villa-0 is being replaced.' }],
    });
    expect(transitionEvents(hub, outcome as Outcome)).toEqual([]);
  });

  test('reports a version that is not supported once, and continues', async () => {
    const old = { ...config, version: '2025.10.4' };
    server.routes.set('GET /api/config', json(200, old));
    const { context } = await reconcile();
    expect(context.events).toEqual([
      {
        type: 'Warning',
        reason: 'UnsupportedVersion',
        message: expect.stringContaining('2025.10.4') as string,
      },
    ]);
    expect(context.status).toMatchObject({ phase: 'Running', version: '2025.10.4' });
    hub = aHub({ status: { bootstrap: { state: 'Done' }, version: '2025.10.4' } as never });
    expect((await reconcile()).context.events).toEqual([]);
  });

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

  test.each([
    ['a quota', new ObjectRejected('exceeded quota: small', {}, true), 'Forbidden'],
    [
      'another owner',
      new NameConflict('the Secret villa-api-token belongs to another', false),
      'NameConflict',
    ],
    ['a webhook', new ApiError(500, 'InternalError', 'failed calling webhook "x"'), 'ApiServerError'],
  ])('goes on with a valid token whose successor %s refuses', async (_, error, reason) => {
    secretError = error;
    const at = clock.now() / 1_000;
    const claims = { iss: 'x', iat: at - 9 * 86_400, exp: at + 60 };
    token = `h.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.s`;
    const { outcome, context } = await reconcile();
    expect(outcome).toMatchObject({ client, core: config });
    expect(context.problem).toMatchObject({ reason, after: expect.any(Number) as number });
    expect(context.status).toMatchObject({ phase: 'Running', bootstrap: { state: 'Done' } });
    expect(server.commands.map(({ type }) => type)).toContain('config/core/update');
    answers['config/core/update'] = ({ fail }) => fail('invalid_info', 'No such currency');
    const { conditions, problem } = (await reconcile()).context;
    expect(problem).toMatchObject({ reason });
    const { message } = conditions['BootstrapReady']!;
    const first = error.message.replace(/^the/, 'The');
    expect(message).toContain(`${first}. The hub does not accept a setting in spec.bootstrap`);
    expect(message).toMatch(/No such currency\.$/);
  });

  test('retries a setting at which the hub fails, and leaves the Hub ready', async () => {
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

  test('names each setting that is not set up: a later one does not hide an earlier one', async () => {
    server.routes.set('GET /api/config', json(200, { ...config, config_source: 'yaml' }));
    hub = aHub({ spec: { bootstrap: { analytics: true, location: { currency: 'CHF' } } } });
    answers['auth/refresh_tokens'] = ({ fail }) => fail('unknown_error', 'No tokens');
    answers['analytics'] = ({ fail }) => fail('unknown_error', 'No analytics');
    token = `h.${Buffer.from('{"iss":"x"}').toString('base64url')}.s`;
    const { context } = await reconcile();
    const condition = context.conditions['BootstrapReady']!;
    for (const words of ['No tokens', 'differ in bootstrap: currency', 'No analytics'])
      expect(condition.message).toContain(words);
    expect(context.events).toHaveLength(1);
    const conditions = [{ type: 'BootstrapReady', lastTransitionTime: '', ...condition }];
    hub = { ...hub, status: { conditions } };
    expect((await reconcile()).context.events).toEqual([]);
  });

  test.each([
    ['NOT_RUNNING', 'Starting: the hub is loading its integrations (NOT_RUNNING).'],
    ['STARTING', 'Starting: the hub is loading its integrations (STARTING).'],
    ['STOPPING', 'Stopping: the hub is shutting down (STOPPING).'],
  ])('waits for a hub that is %s, and writes nothing to it', async (state, message) => {
    server.routes.set('GET /api/config', json(200, { ...config, state }));
    const { outcome, context } = await reconcile();
    expect(outcome).toMatchObject({
      type: 'Waiting',
      reason: 'ApiNotLoaded',
      after: 5_000,
      message,
      status: { phase: 'Pending' },
    });
    expect(context.conditions['BootstrapReady']).toMatchObject({ status: 'True' });
    expect(server.commands.map(({ type }) => type)).not.toContain('config/core/update');
  });

  test('requeues the Hub when the hub reports that it has started', async () => {
    server.routes.set('GET /api/config', json(200, { ...config, state: 'STARTING' }));
    let started: () => void = () => undefined;
    answers['subscribe_events'] = ({ message: { id }, socket, succeed }) => {
      succeed();
      const event = { event_type: 'homeassistant_started', data: {} };
      started = () => socket.send(JSON.stringify({ id, type: 'event', event }));
    };
    await reconcile();
    await reconcile();
    expect(requeued).toEqual([]);
    started();
    await client.connection.command('auth/current_user'); // the answer to this command comes after the event
    expect(requeued).toEqual(['Hub/home/villa']);
    expect(server.commands.filter(({ type }) => type === 'subscribe_events')).toHaveLength(1);
  });

  test('is connected to a hub that started before the subscription', async () => {
    server.routes.set('GET /api/config', json(200, { ...config, state: 'STARTING' }));
    answers['subscribe_events'] = ({ succeed }) => {
      server.routes.set('GET /api/config', json(200, config));
      succeed();
    };
    expect((await reconcile()).outcome).toMatchObject({ core: { state: 'RUNNING' } });
  });

  test('asks again whether the user is an administrator after the hub has rejected the token', async () => {
    hub = { ...hub, spec: { bootstrap: { enabled: false } } };
    expect((await reconcile()).outcome).toMatchObject({ client });
    answers['auth/current_user'] = ({ succeed }) => succeed({ id: 'ada', name: 'Ada', is_admin: false });
    server.routes.set('GET /api/config', text(401, '401: Unauthorized'));
    expect((await reconcile()).outcome).toMatchObject({ reason: 'TokenRejected' });
    jest.spyOn(client.rest, 'isDown').mockResolvedValue(true); // the hub restarts
    await clock.advance(5_000);
    clock.freeze(5 * 60_000);
    server.routes.set('GET /api/config', json(200, config));
    expect((await reconcile()).outcome).toMatchObject({
      reason: 'TokenRejected',
      message: expect.stringContaining('no administrator'),
    });
  });

  test('replaces a token of a user who is not an administrator, and asks once about that of an administrator', async () => {
    await reconcile();
    await reconcile();
    const asked = () => server.commands.filter(({ type }) => type === 'auth/current_user').length;
    expect(asked()).toBe(1);
    answers['auth/current_user'] = ({ succeed }) => succeed({ id: 'eve', name: 'Eve', is_admin: false });
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

  test('reports a restart that lifts a ban while the hub does not respond', async () => {
    server.routes.set('GET /api/config', text(503, ''));
    const restartedAt = (secondsAgo: number) => {
      const time = new Date(clock.now() - secondsAgo * 1_000).toISOString();
      hub = {
        ...hub,
        status: { ...hub.status, lastSelfUnban: time, banWindow: { startedAt: time, restarts: 1 } },
      };
    };
    restartedAt(20);
    expect((await reconcile()).outcome).toMatchObject({ reason: 'HubBanned', status: { phase: 'Unknown' } });
    restartedAt(121);
    expect((await reconcile()).outcome).toMatchObject({ reason: 'HubUnreachable' });
  });

  test('reports that a bootstrap in progress waits for the end of a ban', async () => {
    const before = { type: 'BootstrapReady', status: 'False', reason: 'InProgress', message: 'Onboarding.' };
    hub = { ...hub, status: { conditions: [before as never] } };
    server.routes.set('GET /api/config', text(403, '403: Forbidden'));
    server.routes.set('GET /manifest.json', text(403, '403: Forbidden'));
    const { context } = await reconcile();
    expect(context.conditions['BootstrapReady']).toMatchObject({
      message: 'The bootstrap continues when the hub has lifted its ban of the operator.',
    });
  });
});
