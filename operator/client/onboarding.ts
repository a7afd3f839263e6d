import type { Clock } from '../clock';
import { HubRejected, HubUnreachable, LoginFailed, NotFound, UserExists } from './errors';
import { ONBOARDING_STEPS, type OnboardingStep } from './health';
import type { RestClient } from './rest';

/** The steps after the user has been made; they need a login's access token. */
export type LaterStep = Exclude<OnboardingStep, 'user'>;
export const LATER_STEPS = ONBOARDING_STEPS.filter((step): step is LaterStep => step !== 'user');

export interface Credentials {
  /** The hub knows only lower case without blanks around; that is what is sent. */
  readonly username: string;
  readonly password: string;
}

export interface FirstUser extends Credentials {
  /** Shown name. */
  readonly name: string;
  /** `en`, `de`, …: names the three rooms that the hub makes. */
  readonly language: string;
}

export interface Login {
  /** Good for half an hour, as bearer and for the WebSocket. */
  readonly accessToken: string;
  readonly refreshToken: string;
}

const LOGIN_ATTEMPTS = 2;
const LOGIN_PAUSE = 1_000;

/**
 * Makes the owner and logs in as him. `undefined`: the user step was done before (by us before a crash, or by
 * somebody else): `login` with the known password goes on from there.
 *
 * @throws UserExists the step was begun before, and interrupted: see interrupted-onboarding.ts
 */
export async function createUser(rest: RestClient, user: FirstUser): Promise<Login | undefined> {
  const body = {
    ...user,
    username: normaliseUsername(user.username),
    client_id: clientIdentity(rest).client_id,
  };
  const making = rest.post<{ auth_code: string }>('/api/onboarding/users', body, anonymous);
  const answer = await unlessDone(making).catch((error: unknown) => {
    // The hub gives no code with it.
    const exists =
      error instanceof HubRejected && error.code === '400' && / already exists/.test(error.message);
    throw exists ? new UserExists(error.message) : error;
  });
  return answer && exchangeCode(rest, answer.auth_code);
}

/** Turns an authorization code (single use, ten minutes) into tokens. */
export async function exchangeCode(rest: RestClient, code: string): Promise<Login> {
  const { client_id } = clientIdentity(rest);
  const answer = await rest.postForm<TokenAnswer>(
    '/auth/token',
    { grant_type: 'authorization_code', code, client_id },
    anonymous,
  );
  return { accessToken: answer.access_token, refreshToken: answer.refresh_token };
}

/** A new access token for the same login. @throws HubRejected when that login is gone */
export async function refreshLogin(rest: RestClient, refreshToken: string): Promise<Login> {
  const { client_id } = clientIdentity(rest);
  const answer = await rest.postForm<Omit<TokenAnswer, 'refresh_token'>>(
    '/auth/token',
    { grant_type: 'refresh_token', refresh_token: refreshToken, client_id },
    anonymous,
  );
  return { accessToken: answer.access_token, refreshToken };
}

/** Ends a login: its access token dies at once, and its entry leaves the user's profile page. */
export async function endLogin(rest: RestClient, login: Login): Promise<void> {
  await rest.postForm('/auth/revoke', { token: login.refreshToken }, anonymous);
}

/**
 * Logs in with user name and password. A refused pair is tried twice in all, since a hub that has just started may
 * not know its users yet; more would only feed the hub's ban, and so would another try after any other refusal: of a
 * user who is deactivated, or by a hub without users of its own.
 *
 * @throws LoginFailed wrong user name or password, a second factor is asked for, or the hub refuses the login
 */
export async function login(rest: RestClient, credentials: Credentials, clock: Clock): Promise<Login> {
  const code = await authorize(rest, credentials, clock);
  return asLoginFailure(credentials.username, exchangeCode(rest, code));
}

/** The first half of a {@link login}: the hub knows that pair, and gives an authorization code for it. */
export async function authorize(rest: RestClient, credentials: Credentials, clock: Clock): Promise<string> {
  const { username, password } = credentials;
  const { client_id, redirect_uri } = clientIdentity(rest);
  const start = { client_id, redirect_uri, handler: ['homeassistant', null] };
  const flow = await asLoginFailure(username, rest.post<LoginStep>('/auth/login_flow', start, anonymous));
  if (flow.type === 'abort') throw loginFailure(username, flow.reason);
  const path = `/auth/login_flow/${encodeURIComponent(flow.flow_id)}`;
  const answer = { client_id, username: normaliseUsername(username), password };
  for (let attempt = 1; ; attempt++) {
    const step = await asLoginFailure(
      username,
      unlessFlowLost(rest.post<LoginStep>(path, answer, anonymous)),
    );
    if (step.type === 'create_entry') return step.result;
    if (step.type === 'abort') throw loginFailure(username, step.reason);
    const secondFactor = step.step_id !== 'init';
    if (attempt < LOGIN_ATTEMPTS && !secondFactor) {
      await clock.sleep(LOGIN_PAUSE);
      continue;
    }
    await abortFlow(rest, path);
    throw new LoginFailed(
      secondFactor
        ? `the hub asks user ${username} for a second factor`
        : `the hub refuses user name and password of ${username}`,
    );
  }
}

/**
 * Marks a step as done; done before counts as done. The hub takes no settings here: location and analytics have
 * their own commands (`core.ts`).
 *
 * @param accessToken a login's: with a long-lived one the hub refuses `integration`
 */
export async function completeStep(rest: RestClient, step: LaterStep, accessToken: string): Promise<void> {
  const body = step === 'integration' ? clientIdentity(rest) : undefined;
  await unlessDone(rest.post(`/api/onboarding/${step}`, body, { token: accessToken }));
}

const anonymous = { token: null };

interface TokenAnswer {
  readonly access_token: string;
  readonly refresh_token: string;
}

type LoginStep =
  | { readonly type: 'form'; readonly flow_id: string; readonly step_id: string }
  | { readonly type: 'create_entry'; readonly flow_id: string; readonly result: string }
  | { readonly type: 'abort'; readonly flow_id: string; readonly reason: string };

/**
 * As whom we log in. The hub accepts its own address as client, and a redirect under the same origin without
 * fetching anything.
 */
function clientIdentity(rest: RestClient): { client_id: string; redirect_uri: string } {
  const { origin } = new URL(rest.address.url);
  return { client_id: `${origin}/`, redirect_uri: `${origin}/?auth_callback=1` };
}

function normaliseUsername(username: string): string {
  return username.trim().toLowerCase();
}

/** 403: that step is done. 404: all were done when the hub started, so it does not offer them any more. */
async function unlessDone<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof NotFound || (error instanceof HubRejected && error.code === '403')) return undefined;
    throw error;
  }
}

/** What the hub refuses of a login it will refuse again, and count as a failed login again. */
async function asLoginFailure<T>(username: string, call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    // 409: two answers to one login at the same time.
    if (error instanceof HubRejected && error.code !== '409') throw loginFailure(username, error.message);
    throw error;
  }
}

const loginFailure = (username: string, words: string): LoginFailed =>
  new LoginFailed(`the hub refuses the login of ${username}: ${words}`);

/** A login that was begun a moment ago and is not known any more: the hub was restarted, and nobody is refused. */
async function unlessFlowLost<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof NotFound) throw new HubUnreachable('the hub was restarted during the login');
    throw error;
  }
}

async function abortFlow(rest: RestClient, path: string): Promise<void> {
  try {
    await rest.delete(path, anonymous);
  } catch (error) {
    if (!(error instanceof NotFound)) throw error; // the hub has ended the flow by itself
  }
}
