import { Stopping } from '../../../../../operator/base/errors';
import { hub as definition, type Hub } from '../../../../../operator/kinds/index';
import { defaulted } from '../../../../../operator/kinds/schema';
import { Bootstrap, type BootstrapState } from '../../../../../operator/sync/hub/access/bootstrap';
import { FakeHub, json } from '../../../client/fake-hub';
import { services } from '../../fixtures';

// Cases that a real hub cannot be made to show in short time. Integration tests cover the normal bootstrap.

const hub = {
  apiVersion: 'hub-operator.dev/v1',
  kind: 'Hub',
  metadata: { namespace: 'home', name: 'h', uid: '1' },
  spec: {},
} as Hub;
const spec = defaulted(definition.spec, hub.spec);
const onboarding = (user: boolean) =>
  json(200, [
    { step: 'user', done: user },
    { step: 'core_config', done: user },
    { step: 'analytics', done: user },
    { step: 'integration', done: user },
  ]);

let server: FakeHub;
let bootstrap: Bootstrap;
let isAdmin: boolean;
let isLeader: boolean;
/** The claim that the pod of the hub mounts, and its uid if the operator has created it. */
let claim: { readonly name: string; readonly uid?: string };

beforeEach(async () => {
  server = await FakeHub.start();
  claim = { name: 'h-config', uid: '1' };
  isAdmin = true;
  isLeader = true;
  const form = { type: 'form', flow_id: 'f1', step_id: 'init' };
  const tokens = { access_token: server.token, refresh_token: 'r' };
  server.routes.set('GET /api/onboarding', onboarding(true));
  server.routes.set('POST /auth/login_flow', json(200, form));
  server.routes.set(
    'POST /auth/login_flow/f1',
    json(200, { type: 'create_entry', flow_id: 'f1', result: 'code' }),
  );
  server.routes.set('POST /auth/token', json(200, tokens));
  server.routes.set('POST /auth/revoke', json(200, {}));
  server.onCommand = ({ message, succeed, fail }) =>
    message.type === 'auth/current_user'
      ? succeed({ id: 'ada', name: 'Ada', is_admin: isAdmin })
      : fail('unknown_command', 'no');
  const given = services({
    assertLeader: () => {
      if (!isLeader) throw new Stopping('no longer the leader');
    },
    secrets: { get: () => Promise.resolve(new Map(Object.entries({ username: 'ada', password: 'right' }))) },
    cache: {
      get: (kind: string) => {
        const config = { name: 'config', persistentVolumeClaim: { claimName: claim.name } };
        if (kind === 'Pod') return { metadata: {}, spec: { volumes: [config] } } as never;
        if (kind === 'PersistentVolumeClaim') return (claim.uid ? { metadata: claim } : undefined) as never;
        return hub as never;
      },
    },
    applier: { dryRun: () => Promise.resolve(undefined as never) },
  });
  bootstrap = new Bootstrap(given);
});
afterEach(() => server.close());

const step = (state: BootstrapState, forced = false) =>
  bootstrap.step(state, { hub, spec, url: server.url, forced });
const logins = () => server.asked('/auth/login_flow').length;

describe('Bootstrap', () => {
  test('requeues after 10 s for a hub that does not answer, after 5 s for one without its API', async () => {
    server.routes.set('GET /manifest.json', json(500, {}));
    expect(await step('WaitForHealth')).toMatchObject({ state: 'WaitForHealth', after: 10_000 });
    server.routes.delete('GET /manifest.json');
    expect(await step('WaitForHealth')).toMatchObject({ state: 'WaitForAPIReady', after: 0 });
    expect(await step('WaitForAPIReady')).toMatchObject({ state: 'WaitForAPIReady', after: 5_000 });
  });

  test('sends nothing that changes the hub once another process may lead', async () => {
    server.routes.set('GET /api/onboarding', onboarding(false));
    isLeader = false;
    for (const state of ['CreateUser', 'SetCoreConfig', 'CreateAPIToken'] as const)
      await expect(step(state)).rejects.toBeInstanceOf(Stopping);
    expect(server.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
    expect(server.commands).toEqual([]);
  });

  test('reports an owner who is not an administrator, logs in once and creates no token', async () => {
    isAdmin = false;
    const stuck = { type: 'stuck', reason: 'LoginFailed' };
    expect(await step('CreateAPIToken')).toMatchObject({
      ...stuck,
      message: expect.stringContaining('Ada is no administrator of the hub: correct the Secret'),
    });
    expect(await step('CreateAPIToken')).toMatchObject(stuck);
    expect(logins()).toBe(1);
    expect(server.asked('/auth/revoke')).toHaveLength(1);
    expect(server.commands.map(({ type }) => type)).toEqual(['auth/current_user']);
  });

  test('sends the credentials of a deactivated owner once, and again in a forced reconcile', async () => {
    server.routes.set(
      'POST /auth/login_flow/f1',
      json(403, { message: 'Login blocked: User is not active' }),
    );
    for (let run = 0; run < 3; run++)
      expect(await step('CreateAPIToken')).toMatchObject({
        type: 'stuck',
        message: expect.stringContaining('User is not active'),
      });
    expect(server.asked('/auth/login_flow/f1')).toHaveLength(1);
    await step('CreateAPIToken', true);
    expect(server.asked('/auth/login_flow/f1')).toHaveLength(2);
  });

  test('does not record credentials that the hub rejects while it starts', async () => {
    server.routes.delete('POST /auth/login_flow');
    server.routes.delete('GET /manifest.json');
    expect(await step('CreateAPIToken')).toMatchObject({ type: 'next', state: 'WaitForAPIReady' });
  });

  test.each([
    ['another claim', { name: 'attic' }],
    ['a new claim of the same name', { name: 'h-config', uid: '2' }],
  ])('sends credentials that the hub rejected to a hub that is set up on %s, once', async (_, other) => {
    server.routes.set('POST /auth/login_flow/f1', json(403, { message: 'Login blocked' }));
    const stuck = { type: 'stuck', reason: 'LoginFailed' };
    for (let run = 0; run < 2; run++) expect(await step('CreateAPIToken')).toMatchObject(stuck);
    expect(server.asked('/auth/login_flow/f1')).toHaveLength(1);
    claim = other;
    for (let run = 0; run < 2; run++) expect(await step('CreateAPIToken')).toMatchObject(stuck);
    expect(server.asked('/auth/login_flow/f1')).toHaveLength(2);
  });

  test('sends credentials that the hub of an earlier volume rejected to the hub of a new one', async () => {
    server.routes.set('POST /auth/login_flow/f1', json(403, { message: 'Login blocked' }));
    expect(await step('CreateAPIToken')).toMatchObject({ type: 'stuck' });
    server.routes.set('GET /api/onboarding', onboarding(false));
    server.routes.set('POST /api/onboarding/users', json(200, { auth_code: 'code' }));
    expect(await step('CreateUser')).toMatchObject({ type: 'next', state: 'SetCoreConfig' });
    server.routes.set('POST /api/onboarding/integration', json(200, {}));
    expect(await step('SetIntegration')).toMatchObject({ type: 'next', state: 'CreateAPIToken' });
  });
});
