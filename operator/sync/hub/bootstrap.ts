import { HubConnection } from '../../client/connection';
import { getAnalytics, setAnalytics, updateCoreConfig } from '../../client/core';
import { HubUnreachable, LoginFailed, TokenRejected } from '../../client/errors';
import { type Health, probeHealth } from '../../client/health';
import { completeStep, createUser, login, type Login } from '../../client/onboarding';
import { Rest } from '../../client/rest';
import { scrubber } from '../../client/scrub';
import { createToken, removeOldTokens } from '../../client/tokens';
import type { Hub, HubSpec, HubStatus } from '../../kinds';
import { API_NOT_LOADED_REQUEUE, POD_NOT_READY_REQUEUE } from '../../limits';
import type { Services } from '../services';
import { ownerCredentials } from './credentials';
import { locationUpdate } from './location';
import { storeToken } from './token';

export type BootstrapState = NonNullable<NonNullable<HubStatus['bootstrap']>['state']>;

/** Where a step leads. `after`: milliseconds until the next step. */
export type Step =
  | { readonly type: 'next'; readonly state: BootstrapState; readonly after?: number; readonly message: string }
  /** Only a person can help; `reason` is the one of the condition `BootstrapReady`. */
  | { readonly type: 'stuck'; readonly reason: 'MissingCredentials' | 'LoginFailed'; readonly message: string };

/** The hub that is set up, and how to reach it. */
export interface Subject {
  readonly hub: Hub;
  readonly spec: HubSpec;
  readonly url: string;
}

const next = (state: BootstrapState, message: string, after = 0): Step => ({ type: 'next', state, message, after });

/**
 * "Bootstrap state machine" (spec.md): one row a state, one step a pass, the state kept in `status.bootstrap.state`.
 * Every step may be repeated: a step that the hub has behind it is passed over, and a login with the stored
 * credentials takes the place of a session that was lost in a crash.
 */
export class Bootstrap {
  /** Logins by the Hub's uid, so that not every step logs in anew. */
  private readonly sessions = new Map<string, Login>();

  constructor(private readonly services: Services) {}

  private readonly table: Readonly<Record<BootstrapState, (subject: Subject) => Promise<Step>>> = {
    WaitForHealth: async (subject) => {
      const health = await this.probe(subject);
      if (health.state === 'unreachable' || health.state === 'foreign') {
        return next('WaitForHealth', health.detail, POD_NOT_READY_REQUEUE);
      }
      if (health.state === 'banned') return next('WaitForHealth', 'The hub refuses our address.', POD_NOT_READY_REQUEUE);
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
    PerformOnboarding: ({ hub, spec }) => this.withCredentials(hub, spec, () => Promise.resolve(next('CreateUser', 'The credentials of the owner are there.'))),

    CreateUser: ({ hub, spec, url }) =>
      this.withCredentials(hub, spec, async (credentials) => {
        const rest = this.anonymous(url, credentials.password);
        const name = spec.bootstrap.ownerName ?? credentials.username;
        try {
          const session = await createUser(rest, { ...credentials, name, language: spec.bootstrap.language });
          if (session) this.sessions.set(hub.metadata.uid, session);
          return next('SetCoreConfig', `The owner ${credentials.username} is made.`);
        } finally {
          rest.close();
        }
      }),

    SetCoreConfig: (subject) =>
      this.loggedIn(subject, async ({ rest, connection, session }) => {
        const update = locationUpdate(subject.spec);
        await updateCoreConfig(connection, update);
        await completeStep(rest, 'core_config', session.accessToken);
        return next('SetAnalytics', 'The location is set.');
      }),

    SetAnalytics: (subject) =>
      this.loggedIn(subject, async ({ rest, connection, session }) => {
        const { analytics } = subject.spec.bootstrap;
        const wanted = { base: analytics, diagnostics: analytics, usage: analytics, statistics: analytics };
        const present = await getAnalytics(connection);
        if (Object.entries(wanted).some(([key, value]) => (present[key as keyof typeof wanted] ?? false) !== value)) {
          await setAnalytics(connection, wanted);
        }
        await completeStep(rest, 'analytics', session.accessToken);
        return next('SetIntegration', `Analytics are ${analytics ? 'on' : 'off'}.`);
      }),

    SetIntegration: (subject) =>
      this.loggedIn(subject, async ({ rest, session }) => {
        await completeStep(rest, 'integration', session.accessToken);
        return next('CreateAPIToken', 'The first set-up is complete.');
      }),

    CreateAPIToken: (subject) =>
      this.loggedIn(subject, async ({ connection }) => {
        const { hub, spec } = subject;
        const owner = `Hub Operator ${hub.metadata.uid}`;
        const { tokenLifespanDays: lifespanDays } = spec.bootstrap;
        const token = await createToken(connection, { owner, lifespanDays, clock: this.services.clock });
        await storeToken(this.services, hub, spec, token);
        // Only now: a token of ours that a crash kept out of the Secret, or one that does not work any more.
        await removeOldTokens(connection, owner, token);
        this.forget(hub.metadata.uid);
        return next('Done', 'The API token is stored.');
      }),

    Done: () => Promise.resolve(next('Done', 'The hub is set up.')),
  };

  /** Makes one step from `state`. Throws errors of `client/errors.ts` that do not belong to a state. */
  step(state: BootstrapState, subject: Subject): Promise<Step> {
    return this.table[state](subject);
  }

  forget(uid: string): void {
    this.sessions.delete(uid);
  }

  private async probe({ url }: Subject): Promise<Health> {
    const rest = this.anonymous(url);
    try {
      return await probeHealth(rest);
    } finally {
      rest.close();
    }
  }

  private async withCredentials(
    hub: Hub,
    spec: HubSpec,
    run: (credentials: { username: string; password: string }) => Promise<Step>,
  ): Promise<Step> {
    const found = await ownerCredentials(this.services, hub, spec);
    if ('credentials' in found) return run(found.credentials);
    return { type: 'stuck', reason: 'MissingCredentials', message: found.missing };
  }

  private loggedIn(
    subject: Subject,
    run: (session: { rest: Rest; connection: HubConnection; session: Login }) => Promise<Step>,
  ): Promise<Step> {
    const { hub, spec, url } = subject;
    const { clock, log } = this.services;
    return this.withCredentials(hub, spec, async (credentials) => {
      const rest = this.anonymous(url, credentials.password);
      let connection: HubConnection | undefined;
      try {
        const session = this.sessions.get(hub.metadata.uid) ?? (await login(rest, credentials, clock));
        this.sessions.set(hub.metadata.uid, session);
        connection = new HubConnection({ rest, token: session.accessToken, clock, log });
        return await run({ rest, connection, session });
      } catch (error) {
        this.forget(hub.metadata.uid);
        if (error instanceof LoginFailed) {
          const message = `${error.message}: correct the Secret with the owner's credentials, or the password in the hub.`;
          return { type: 'stuck', reason: 'LoginFailed', message };
        }
        // The hub was restarted since the login: the next pass logs in again.
        if (error instanceof TokenRejected) throw new HubUnreachable('the login is no longer valid');
        throw error;
      } finally {
        connection?.close();
        rest.close();
      }
    });
  }

  private anonymous(url: string, ...secrets: string[]): Rest {
    const { clock, settings } = this.services;
    const localAddress = settings.hubSourceAddress || undefined;
    return new Rest({ url, localAddress, clock, scrub: scrubber(secrets) });
  }
}
