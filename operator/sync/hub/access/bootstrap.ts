import { HubConnection } from '../../../client/connection';
import type { CoreConfig } from '../../../client/core';
import {
  resumeOwnerCreation,
  removeTemporaryUsers,
  transferUsername,
} from '../../../client/interrupted-onboarding';
import { HubBanned, HubUnreachable, LoginFailed, TokenRejected, UserExists } from '../../../client/errors';
import { type Health, probeHealth } from '../../../client/health';
import {
  completeStep,
  createUser,
  type Credentials,
  endLogin,
  type FirstUser,
  login,
  type Login,
} from '../../../client/onboarding';
import { RestClient } from '../../../client/rest';
import { redactor } from '../../../client/redact';
import { currentUser, revokeOldTokens } from '../../../client/tokens';
import type { Hub, HubSpec, HubStatus } from '../../../kinds/index';
import { API_NOT_LOADED_REQUEUE, POD_NOT_READY_REQUEUE } from '../../../limits';
import type { Services } from '../../services';
import { ensureAnalytics, ensureCoreSettings } from './core-settings';
import { ownerCredentials } from './credentials';
import { PerHub } from '../per-hub';
import { RejectedCredentials, type Stuck } from './rejected-credentials';
import { issueToken, tokenNamePrefix } from './token';

export type BootstrapState = NonNullable<NonNullable<HubStatus['bootstrap']>['state']>;

/** Where a step leads. `after`: milliseconds until the next step. */
export type Step =
  | {
      readonly type: 'next';
      readonly state: BootstrapState;
      readonly after: number;
      readonly message: string;
    }
  | Stuck;

/** The hub that is set up, and how to reach it. */
export interface BootstrapContext {
  readonly hub: Hub;
  readonly spec: HubSpec;
  readonly url: string;
  /** Somebody asks for a full pass: credentials that were refused are tried again. */
  readonly forced: boolean;
}

/** Logged in as the owner. */
interface OwnerSession {
  readonly rest: RestClient;
  readonly connection: HubConnection;
  readonly session: Login;
  readonly credentials: Credentials;
}

const next = (state: BootstrapState, message: string, after = 0): Step => ({
  type: 'next',
  state,
  message,
  after,
});

/**
 * "Bootstrap state machine" (spec.md): one row a state, one step a pass, the state kept in `status.bootstrap.state`.
 * Every step may be repeated: a step that the hub has behind it is passed over, and a login with the stored
 * credentials takes the place of a session that was lost in a crash.
 */
export class Bootstrap {
  /** Logins, so that not every step logs in anew. */
  private readonly sessions: PerHub<Login>;
  private readonly rejectedCredentials: RejectedCredentials;

  constructor(private readonly services: Services) {
    this.sessions = new PerHub(services.view);
    this.rejectedCredentials = new RejectedCredentials(services.view);
  }

  private readonly table: Readonly<Record<BootstrapState, (subject: BootstrapContext) => Promise<Step>>> = {
    WaitForHealth: async (subject) => {
      const health = await this.probe(subject);
      if (health.state === 'unreachable' || health.state === 'not-home-assistant') {
        return next('WaitForHealth', health.detail, POD_NOT_READY_REQUEUE);
      }
      return next('WaitForAPIReady', 'The hub answers.');
    },

    WaitForAPIReady: async (subject) => {
      const health = await this.probe(subject);
      if (health.state === 'not-loaded') {
        return next('WaitForAPIReady', 'The hub has not loaded its API yet.', API_NOT_LOADED_REQUEUE);
      }
      return next('CheckOnboarding', 'The API of the hub is loaded.');
    },

    CheckOnboarding: async (subject) => {
      const health = await this.probe(subject);
      if (health.state === 'onboarding') return next('PerformOnboarding', 'The hub is new.');
      if (health.state === 'onboarded') return next('CreateAPIToken', 'The hub has been set up before.');
      return next('WaitForHealth', 'The hub stopped answering.', API_NOT_LOADED_REQUEUE);
    },

    // The credentials are stored before they are used: from here on a crash costs nothing but a login.
    PerformOnboarding: async (subject) => {
      const health = await this.probe(subject);
      const mayGenerate = health.state === 'onboarding' && !health.done.user;
      return this.withCredentials(
        subject,
        () => next('CreateUser', 'The credentials of the owner are there.'),
        mayGenerate,
      );
    },

    CreateUser: (subject) =>
      this.withCredentials(subject, (credentials) => this.makeOwner(subject, credentials), true),

    SetCoreConfig: (subject) =>
      this.loggedIn(subject, async ({ rest, connection, session }) => {
        const present = await connection.command<CoreConfig>('get_config');
        await ensureCoreSettings(subject.hub, subject.spec, present, connection);
        await completeStep(rest, 'core_config', session.accessToken);
        return next('SetAnalytics', 'The location is set.');
      }),

    SetAnalytics: (subject) =>
      this.loggedIn(subject, async ({ rest, connection, session }) => {
        await ensureAnalytics(subject.hub, connection);
        await completeStep(rest, 'analytics', session.accessToken);
        return next('SetIntegration', `Analytics are ${subject.spec.bootstrap.analytics ? 'on' : 'off'}.`);
      }),

    SetIntegration: (subject) =>
      this.loggedIn(subject, async ({ rest, session }) => {
        await completeStep(rest, 'integration', session.accessToken);
        return next('CreateAPIToken', 'The first set-up is complete.');
      }),

    CreateAPIToken: (subject) =>
      this.loggedIn(subject, async ({ rest, connection, session, credentials }) => {
        const { hub, spec } = subject;
        const standIn = await removeTemporaryUsers(connection);
        if (standIn !== undefined) return this.nameOwner(standIn, subject, credentials);
        const token = await issueToken(this.services, hub, spec, connection);
        // Only now: one that a crash kept out of the Secret, or one that does not work any more.
        await revokeOldTokens(connection, tokenNamePrefix(hub), token);
        await this.logOut(subject, rest, session);
        return next('Done', 'The API token is stored.');
      }),

    Done: () => Promise.resolve(next('Done', 'The hub is set up.')),
  };

  /** Makes one step from `state`. Throws errors of `client/errors.ts` that do not belong to a state. */
  step(state: BootstrapState, subject: BootstrapContext): Promise<Step> {
    return this.table[state](subject);
  }

  private async probe({ url }: BootstrapContext): Promise<Health> {
    const rest = this.anonymous(url);
    try {
      const health = await probeHealth(rest);
      if (health.state === 'banned')
        throw new HubBanned('the hub has banned our address (HTTP 403 to everything)');
      return health;
    } finally {
      rest.close();
    }
  }

  private async withCredentials(
    { hub, spec }: BootstrapContext,
    run: (credentials: Credentials) => Step | Promise<Step>,
    mayGenerate = false,
  ): Promise<Step> {
    const found = await ownerCredentials(this.services, hub, spec, mayGenerate);
    if ('credentials' in found) return run(found.credentials);
    return { type: 'stuck', reason: 'MissingCredentials', message: found.missing };
  }

  private async makeOwner(subject: BootstrapContext, credentials: Credentials): Promise<Step> {
    const { hub, spec, url } = subject;
    const { language, ownerName } = spec.bootstrap;
    const owner = { ...credentials, name: ownerName ?? credentials.username, language };
    const made = next('SetCoreConfig', `The owner ${credentials.username} is made.`);
    const rest = this.anonymous(url, credentials.password);
    try {
      const session = await createUser(rest, owner);
      if (session) {
        this.sessions.set(hub, session);
        // Of the volume that was there before.
        this.rejectedCredentials.clear(hub);
      }
      return made;
    } catch (error) {
      if (error instanceof UserExists) return await this.finishOwner(subject, owner, rest);
      throw error;
    } finally {
      rest.close();
    }
  }

  /** An operator that was killed, or was not answered in time, has begun to make the owner. */
  private async finishOwner(
    { hub, forced }: BootstrapContext,
    owner: FirstUser,
    rest: RestClient,
  ): Promise<Step> {
    const rejected = forced ? undefined : this.rejectedCredentials.find(hub, owner);
    if (rejected) return rejected;
    const { clock, log } = this.services;
    let connection: HubConnection | undefined;
    const connect = ({ accessToken: token }: Login) =>
      (connection = new HubConnection({ rest, token, clock, log }));
    try {
      const session = await resumeOwnerCreation(rest, owner, { clock, connect });
      if (session) this.sessions.set(hub, session);
      return next('SetCoreConfig', `The owner ${owner.username} is made, at the second attempt.`);
    } catch (error) {
      if (error instanceof LoginFailed) return this.rejectedCredentials.record(hub, owner, error);
      throw error;
    } finally {
      connection?.close();
    }
  }

  /** The crash was between the making of the stand-in, who is the owner, and his new name. */
  private async nameOwner(
    standIn: string,
    { hub, url }: BootstrapContext,
    credentials: Credentials,
  ): Promise<Step> {
    const { clock, log } = this.services;
    const rest = this.anonymous(url, credentials.password);
    let connection: HubConnection | undefined;
    try {
      const session = await login(rest, { ...credentials, username: standIn }, clock);
      connection = new HubConnection({ rest, token: session.accessToken, clock, log });
      await transferUsername(connection, credentials.username);
      this.sessions.set(hub, session);
      return next('SetCoreConfig', `The owner ${credentials.username} is made, at the third attempt.`);
    } finally {
      connection?.close();
      rest.close();
    }
  }

  private loggedIn(subject: BootstrapContext, run: (visit: OwnerSession) => Promise<Step>): Promise<Step> {
    const { hub, url, forced } = subject;
    const { clock, log } = this.services;
    return this.withCredentials(subject, async (credentials) => {
      const rejected = forced ? undefined : this.rejectedCredentials.find(hub, credentials);
      if (rejected) return rejected;
      const rest = this.anonymous(url, credentials.password);
      let connection: HubConnection | undefined;
      try {
        const before = this.sessions.get(hub);
        const session = before ?? (await login(rest, credentials, clock));
        this.sessions.set(hub, session);
        connection = new HubConnection({ rest, token: session.accessToken, clock, log });
        if (!before) await this.requireAdmin(subject, { rest, connection, session, credentials });
        this.rejectedCredentials.clear(hub);
        return await run({ rest, connection, session, credentials });
      } catch (error) {
        if (error instanceof LoginFailed) return await this.loginFailed(subject, credentials, error);
        if (error instanceof TokenRejected) {
          // The hub was restarted since the login: the next pass logs in again.
          this.sessions.delete(hub);
          throw new HubUnreachable('the login is no longer valid');
        }
        throw error;
      } finally {
        connection?.close();
        rest.close();
      }
    });
  }

  /** A token of anybody else would be refused with every write, and each of those counts as a failed login. */
  private async requireAdmin(
    subject: BootstrapContext,
    { rest, connection, session }: OwnerSession,
  ): Promise<void> {
    const { name, is_admin: isAdmin } = await currentUser(connection);
    if (isAdmin) return;
    await this.logOut(subject, rest, session);
    throw new LoginFailed(`the user ${name} is no administrator of the hub`);
  }

  /** Else the login would stand in the user's profile for 90 days. */
  private async logOut({ hub }: BootstrapContext, rest: RestClient, session: Login): Promise<void> {
    await endLogin(rest, session);
    this.sessions.delete(hub);
  }

  /** Nobody of that name, since the volume is another one by now? Else only a person can help. */
  private async loginFailed(
    subject: BootstrapContext,
    credentials: Credentials,
    error: LoginFailed,
  ): Promise<Step> {
    const health = await this.probe(subject);
    if (health.state === 'onboarding' && !health.done.user) return next('CreateUser', 'The hub is new.');
    // One that is starting does not know its users yet.
    if (health.state !== 'onboarding' && health.state !== 'onboarded')
      return next('WaitForAPIReady', 'The hub stopped answering.', API_NOT_LOADED_REQUEUE);
    return this.rejectedCredentials.record(subject.hub, credentials, error);
  }

  private anonymous(url: string, ...secrets: string[]): RestClient {
    const { clock, mayWrite, settings } = this.services;
    const localAddress = settings.hubSourceAddress || undefined;
    return new RestClient({ url, localAddress, clock, assertLeader: mayWrite, redact: redactor(secrets) });
  }
}
