import type { Clock } from '../../base/clock';
import { undefinedIf } from '../../base/undefined-if';
import { authCode, loginStep, tokens } from '../connection/answers';
import {
  HubRejected,
  HubUnreachable,
  isNotFound,
  LoginFailed,
  NoPasswordLogin,
  NotFound,
  UserExists,
  withCauseOf500,
} from '../connection/errors';
import { ONBOARDING_STEPS, type OnboardingStep } from './health';
import type { RestClient } from '../connection/rest';

/** The onboarding steps after `user`, which need the access token of a login. */
type LaterStep = Exclude<OnboardingStep, 'user'>;
export const LATER_STEPS = ONBOARDING_STEPS.filter((step): step is LaterStep => step !== 'user');

export interface Credentials {
  /** Sent without surrounding spaces and in lower case, as the hub stores it. */
  readonly username: string;
  readonly password: string;
}

export interface FirstUser extends Credentials {
  /** Display name. */
  readonly name: string;
  /** Language of the names of the three areas that the hub creates, such as `en` or `de`. */
  readonly language: string;
}

export interface Login {
  /** Valid for 30 minutes, as bearer token and for the WebSocket. */
  readonly accessToken: string;
  readonly refreshToken: string;
}

const LOGIN_ATTEMPTS = 2;
/** Milliseconds between two attempts. */
const LOGIN_PAUSE = 1_000;

/**
 * Creates the owner (onboarding step `user`) and logs in.
 *
 * @returns undefined if the step is completed already, by this operator before a crash or by another client:
 * continue with {@link login} and the known password
 * @throws UserExists an earlier attempt was interrupted: see interrupted-onboarding.ts
 */
export async function createUser(rest: RestClient, user: FirstUser): Promise<Login | undefined> {
  const body = {
    ...user,
    username: normaliseUsername(user.username),
    client_id: clientIdentity(rest).client_id,
  };
  const making = rest.post('/api/onboarding/users', body, { ...anonymous, answer: authCode });
  const answer = await unlessDone(making).catch((error: unknown) => {
    // The hub sends no error code, so the text is compared.
    const exists =
      error instanceof HubRejected && error.code === '400' && / already exists/.test(error.message);
    throw exists ? new UserExists(error.message) : withCauseOf500(error, PROVIDER_MAY_LACK);
  });
  return answer && exchangeCode(rest, answer.auth_code);
}

/** Exchanges an authorization code (single use, valid for ten minutes) for tokens. */
export async function exchangeCode(rest: RestClient, code: string): Promise<Login> {
  const { client_id } = clientIdentity(rest);
  const answer = await rest.postForm(
    '/auth/token',
    { grant_type: 'authorization_code', code, client_id },
    { ...anonymous, answer: tokens },
  );
  return { accessToken: answer.access_token, refreshToken: answer.refresh_token };
}

/** Ends a login: revokes its access token and removes its entry from the user's profile page. */
export async function endLogin(rest: RestClient, login: Login): Promise<void> {
  await rest.postForm('/auth/revoke', { token: login.refreshToken }, anonymous);
}

/**
 * Logs in with user name and password. Rejected credentials are sent at most twice: a hub that has just
 * started may not have loaded its users yet, but each attempt counts toward a ban. Any other rejection (a
 * deactivated user, a hub without the provider `homeassistant`) is not retried.
 *
 * @throws LoginFailed wrong user name or password, a second factor is required, or the hub rejects the login;
 * NoPasswordLogin
 */
export async function login(rest: RestClient, credentials: Credentials, clock: Clock): Promise<Login> {
  const code = await authorize(rest, credentials, clock);
  return asLoginFailure(credentials.username, exchangeCode(rest, code));
}

/** The first half of a {@link login}: checks the credentials and returns an authorization code. */
export async function authorize(rest: RestClient, credentials: Credentials, clock: Clock): Promise<string> {
  const { username, password } = credentials;
  const { client_id, redirect_uri } = clientIdentity(rest);
  const start = { client_id, redirect_uri, handler: ['homeassistant', null] };
  const begin = rest.post('/auth/login_flow', start, { ...anonymous, answer: loginStep });
  const flow = await asLoginFailure(username, undefinedIf(isUnknownProvider, begin));
  if (!flow) throw new NoPasswordLogin();
  if (flow.type === 'abort') throw loginFailure(username, flow.reason);
  const path = `/auth/login_flow/${encodeURIComponent(flow.flow_id)}`;
  const answer = { client_id, username: normaliseUsername(username), password };
  for (let attempt = 1; ; attempt++) {
    const step = await asLoginFailure(
      username,
      unlessFlowLost(rest.post(path, answer, { ...anonymous, answer: loginStep })),
    );
    if (step.type === 'create_entry') return step.result;
    if (step.type === 'abort') throw loginFailure(username, step.reason);
    const secondFactor = step.step_id !== 'init';
    if (attempt < LOGIN_ATTEMPTS && !secondFactor) {
      await clock.sleep(LOGIN_PAUSE);
      continue;
    }
    await undefinedIf(isNotFound, rest.delete(path, anonymous)); // the hub itself may have ended the flow
    throw new LoginFailed(
      secondFactor
        ? `the hub requires a second factor of user ${username}`
        : `the hub rejects user name and password of ${username}`,
    );
  }
}

/**
 * Marks an onboarding step as completed; idempotent. The step contains no settings: location and analytics
 * have their own commands (`core.ts`).
 *
 * @param accessToken access token of a login: with a long-lived token, the hub rejects `integration`
 */
export async function completeStep(rest: RestClient, step: LaterStep, accessToken: string): Promise<void> {
  const body = step === 'integration' ? clientIdentity(rest) : undefined;
  await unlessDone(rest.post(`/api/onboarding/${step}`, body, { token: accessToken }));
}

const PROVIDER_MAY_LACK =
  'the log of the hub has the cause. It is the configuration if that has homeassistant.auth_providers without type: homeassistant';

/** The hub sends no error code, so the text is compared. */
const isUnknownProvider = (error: unknown): boolean =>
  isNotFound(error) && /^Invalid handler/.test((error as NotFound).message);

const anonymous = { token: null };

/**
 * The OAuth client. The hub accepts its own address as client id, with a redirect to the same origin, without
 * fetching that address.
 */
function clientIdentity(rest: RestClient): { client_id: string; redirect_uri: string } {
  const { origin } = new URL(rest.address.url);
  return { client_id: `${origin}/`, redirect_uri: `${origin}/?auth_callback=1` };
}

function normaliseUsername(username: string): string {
  return username.trim().toLowerCase();
}

/**
 * Settles like `call`, but resolves to undefined for 403 (the step is completed) and 404 (all steps were
 * completed when the hub started).
 */
function unlessDone<T>(call: Promise<T>): Promise<T | undefined> {
  return undefinedIf((error) => error instanceof HubRejected && ['403', '404'].includes(error.code), call);
}

/**
 * Converts a rejection to a {@link LoginFailed}, which must not be retried: a retry would be rejected again
 * and count as another failed login.
 */
async function asLoginFailure<T>(username: string, call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    // 409: two concurrent answers to one login flow.
    if (error instanceof HubRejected && error.code !== '409') throw loginFailure(username, error.message);
    throw error;
  }
}

const loginFailure = (username: string, reason: string): LoginFailed =>
  new LoginFailed(`the hub rejects the login of ${username}: ${reason}`);

/**
 * Converts the error for a login flow that the hub no longer knows: the hub was restarted, so the login was
 * not rejected.
 */
async function unlessFlowLost<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof NotFound) throw new HubUnreachable('the hub was restarted during the login');
    throw error;
  }
}
