import { HubFailed, HubUnreachable, LoginFailed } from '../../../../operator/client/connection/errors';
import { completeStep, createUser, login } from '../../../../operator/client/setup/onboarding';
import { RestClient } from '../../../../operator/client/connection/rest';
import { tokenId } from '../../../../operator/client/setup/tokens';
import { type Answer, FakeHub, json, text } from '../fake-hub';
import { ManualClock } from '../../manual-clock';

// Cases that a real hub cannot be made to show. Integration tests cover the normal onboarding.

const credentials = { username: 'owner', password: 'correct horse' };
let hub: FakeHub;
let rest: RestClient;

beforeEach(async () => {
  hub = await FakeHub.start();
  rest = new RestClient({ url: hub.url, clock: new ManualClock(), redact: (words) => words });
  hub.routes.set('POST /auth/login_flow', json(200, { type: 'form', flow_id: 'f1', step_id: 'init' }));
  hub.routes.set('DELETE /auth/login_flow/f1', json(200, { message: 'Flow aborted' }));
});

afterEach(async () => {
  rest.close();
  await hub.close();
});

describe('login', () => {
  test('fails without a second try when the hub asks for a second factor, and ends the flow', async () => {
    hub.routes.set('POST /auth/login_flow/f1', json(200, { type: 'form', flow_id: 'f1', step_id: 'mfa' }));
    await expect(login(rest, credentials, new ManualClock())).rejects.toThrow(/second factor/);
    expect(hub.requests.map((request) => request.method)).toEqual(['POST', 'POST', 'DELETE']);
  });

  test.each<[string, string, Answer, RegExp]>([
    [
      'a deactivated user',
      'POST /auth/login_flow/f1',
      json(403, { message: 'Login blocked: User is not active' }),
      /rejects the login of owner: Login blocked: User is not active/,
    ],
    [
      'a login that the hub gives up',
      'POST /auth/login_flow/f1',
      json(200, { type: 'abort', flow_id: 'f1', reason: 'no_available_tfa' }),
      /rejects the login of owner: no_available_tfa/,
    ],
    [
      'a hub without users of its own',
      'POST /auth/login_flow',
      json(404, { message: 'Invalid handler specified' }),
      /the hub has no login by password, since auth_providers in its configuration lacks type: homeassistant/,
    ],
    [
      'a flow that is lost at once',
      'POST /auth/login_flow',
      json(404, { message: 'Not found' }),
      /rejects the login of owner: Not found/,
    ],
    [
      'a code that opens nothing',
      'POST /auth/token',
      json(400, { error: 'access_denied', error_description: 'User is not active' }),
      /rejects the login of owner: User is not active/,
    ],
  ])('tries %s once', async (_what, route, answer, words) => {
    hub.routes.set(
      'POST /auth/login_flow/f1',
      json(200, { type: 'create_entry', flow_id: 'f1', result: 'c' }),
    );
    hub.routes.set(route, answer);
    const failure = await login(rest, credentials, new ManualClock()).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(LoginFailed);
    expect((failure as Error).message).toMatch(words);
    expect(hub.asked(route.replace('POST ', '')).length).toBe(1);
  });

  test('throws HubUnreachable, not LoginFailed, when the hub was restarted during the login', async () => {
    hub.routes.set('POST /auth/login_flow/f1', json(404, { message: 'Invalid flow specified' }));
    await expect(login(rest, credentials, new ManualClock())).rejects.toThrow(HubUnreachable);
  });

  test('sends rejected credentials twice, a second apart, and no more', async () => {
    const clock = new ManualClock();
    const begin = clock.now();
    let firstTry: () => void;
    const tried = new Promise<void>((resolve) => (firstTry = resolve));
    hub.routes.set('POST /auth/login_flow/f1', (request, response) => {
      json(200, { type: 'form', flow_id: 'f1', step_id: 'init', errors: { base: 'invalid_auth' } })(
        request,
        response,
      );
      firstTry();
    });
    const failure = expect(login(rest, credentials, clock)).rejects.toThrow(LoginFailed);
    await tried;
    while (clock.pendingTimers === 0) await new Promise(setImmediate);
    expect(hub.asked('/auth/login_flow/f1')).toHaveLength(1);
    await clock.advance(1_000);
    await failure;
    expect(hub.asked('/auth/login_flow/f1').filter((request) => request.method === 'POST')).toHaveLength(2);
    expect(clock.now() - begin).toBe(1_000);
  });
});

describe('createUser, completeStep', () => {
  test('a step is not treated as completed when the hub fails', async () => {
    hub.routes.set('POST /api/onboarding/users', text(500, 'no space left on device'));
    hub.routes.set('POST /api/onboarding/analytics', text(500, 'no space left on device'));
    await expect(createUser(rest, { ...credentials, name: 'Owner', language: 'en' })).rejects.toThrow(
      /no space left on device: the log of the hub has the cause\. It is the configuration if .*auth_providers/,
    );
    await expect(completeStep(rest, 'analytics', 'token')).rejects.toThrow(HubFailed);
  });
});

test.each([
  ['a token', `x.${Buffer.from('{"iss":"abc"}').toString('base64url')}.y`, 'abc'],
  ['something else', 'not-a-token', undefined],
  ['nothing', '', undefined],
])('reads the id of %s', (_what, token, id) => {
  expect(tokenId(token)).toBe(id);
});
