import { HubBanned, LoginFailed, UserExists } from '../../../client/connection/errors';
import { type Health, probeHealth } from '../../../client/setup/health';
import { removeTemporaryUsers } from '../../../client/setup/interrupted-onboarding';
import { completeStep, createUser } from '../../../client/setup/onboarding';
import type { Hub, HubSpec, HubStatus } from '../../../kinds/index';
import { API_NOT_LOADED_REQUEUE, POD_NOT_READY_REQUEUE } from '../../../base/limits';
import { ensureAnalytics, ensureCoreSettings, initialCoreDifference } from './core-settings';
import {
  type CredentialServices,
  type OwnerCredentials,
  ownerCredentials,
  RejectedCredentials,
  type Stuck,
} from './credentials';
import { type HubEndpoint, type OwnerSession, OwnerSessions, type SessionServices } from './owner-sessions';
import { issueToken, revokeOtherTokens, type TokenServices } from '../../hub-connection/token';

export type BootstrapState = NonNullable<NonNullable<HubStatus['bootstrap']>['state']>;

/** The next state of the bootstrap. `after`: milliseconds until its step. */
interface NextState {
  readonly type: 'next';
  readonly state: BootstrapState;
  readonly after: number;
  readonly message: string;
}

export type Step = NextState | Stuck;

interface BootstrapContext extends HubEndpoint {
  readonly spec: HubSpec;
  /** A full reconcile was requested: credentials that the hub rejected are sent again. */
  readonly forced: boolean;
}

export type BootstrapServices = SessionServices & CredentialServices & TokenServices;

const next = (state: BootstrapState, message: string, after = 0): NextState => ({
  type: 'next',
  state,
  message,
  after,
});

const unreachable = (): NextState =>
  next('WaitForAPIReady', 'The hub stopped responding.', API_NOT_LOADED_REQUEUE);

/**
 * The state machine of the bootstrap: one function per state, one step per reconcile, the state in
 * `status.bootstrap.state` (rules.md, "Bootstrap"). Every step may be repeated: a step that the hub has
 * completed is skipped, and a login with the stored credentials replaces one that was lost in a crash.
 */
export class Bootstrap {
  private readonly sessions: OwnerSessions;
  private readonly rejectedCredentials: RejectedCredentials;

  constructor(private readonly services: BootstrapServices) {
    this.sessions = new OwnerSessions(services);
    this.rejectedCredentials = new RejectedCredentials(services.cache);
  }

  private readonly states: Readonly<Record<BootstrapState, (context: BootstrapContext) => Promise<Step>>> = {
    WaitForHealth: async (context) => {
      const health = await this.probe(context);
      return health.state === 'unreachable' || health.state === 'not-home-assistant'
        ? next('WaitForHealth', health.detail, POD_NOT_READY_REQUEUE)
        : next('WaitForAPIReady', 'The hub responds.');
    },

    WaitForAPIReady: async (context) => {
      const health = await this.probe(context);
      return health.state === 'not-loaded'
        ? next('WaitForAPIReady', 'The hub has not loaded its API yet.', API_NOT_LOADED_REQUEUE)
        : next('CheckOnboarding', 'The hub has loaded its API.');
    },

    CheckOnboarding: async (context) => {
      const health = await this.probe(context);
      if (health.state === 'onboarding') return next('PerformOnboarding', 'The hub is not onboarded yet.');
      if (health.state === 'onboarded') return next('CreateAPIToken', 'The hub is already onboarded.');
      return { ...unreachable(), state: 'WaitForHealth' };
    },

    // The credentials are stored before they are used, so that a crash costs only another login.
    PerformOnboarding: async (context) => {
      const health = await this.probe(context);
      const mayGenerate = health.state === 'onboarding' && !health.done.user;
      return this.withCredentials(context, mayGenerate, () =>
        next('CreateUser', 'The credentials of the owner are available.'),
      );
    },

    CreateUser: (context) => this.withCredentials(context, true, (owner) => this.createOwner(context, owner)),

    SetCoreConfig: (context) =>
      this.asOwner(context, async ({ rest, connection, login }) => {
        const present = await connection.command('get_config');
        const difference = initialCoreDifference(context.hub, context.spec, present);
        await ensureCoreSettings(connection, difference);
        await completeStep(rest, 'core_config', login.accessToken);
        return next('SetAnalytics', 'Core settings are set.');
      }),

    SetAnalytics: (context) =>
      this.asOwner(context, async ({ rest, connection, login }) => {
        await ensureAnalytics(context.hub, connection);
        await completeStep(rest, 'analytics', login.accessToken);
        return next('SetIntegration', `Analytics are ${context.spec.bootstrap.analytics ? 'on' : 'off'}.`);
      }),

    SetIntegration: (context) =>
      this.asOwner(context, async ({ rest, login }) => {
        await completeStep(rest, 'integration', login.accessToken);
        return next('CreateAPIToken', 'Onboarding is complete.');
      }),

    CreateAPIToken: (context) =>
      this.asOwner(context, async (session) => {
        const { hub, spec } = context;
        const { connection, credentials } = session;
        const temporaryOwner = await removeTemporaryUsers(connection);
        if (temporaryOwner) {
          await this.sessions.renameTemporaryUser(context, temporaryOwner, credentials);
          return next('SetCoreConfig', `Created the owner ${credentials.username} (attempt 3).`);
        }
        const token = await issueToken(this.services, hub, spec, connection);
        await revokeOtherTokens(connection, token);
        await this.sessions.logOut(hub, session);
        return next('Done', 'The API token is stored.');
      }),

    Done: () => Promise.resolve(next('Done', 'Bootstrap is complete.')),
  };

  /**
   * Runs the step of `state`.
   *
   * @throws HubError the hub fails in a way that no state handles
   */
  step(state: BootstrapState, context: BootstrapContext): Promise<Step> {
    return this.states[state](context);
  }

  /** The digest of the credentials that the hub rejected, for the status. Null when none were rejected. */
  rejectedDigest(hub: Hub): string | null {
    return this.rejectedCredentials.digest(hub);
  }

  private probe(context: BootstrapContext): Promise<Health> {
    return this.sessions.withRest(context, undefined, async (rest) => {
      const health = await probeHealth(rest);
      if (health.state === 'banned') throw new HubBanned();
      return health;
    });
  }

  private async withCredentials(
    { hub, spec }: BootstrapContext,
    mayGenerate: boolean,
    use: (owner: OwnerCredentials) => Step | Promise<Step>,
  ): Promise<Step> {
    const found = await ownerCredentials(this.services, hub, spec, mayGenerate);
    if ('credentials' in found) return use(found);
    const reason = found.isRefused ? 'SecretRefused' : 'MissingCredentials';
    return { type: 'stuck', reason, message: found.missing };
  }

  private createOwner(context: BootstrapContext, { credentials, digest }: OwnerCredentials): Promise<Step> {
    const { hub, spec, forced } = context;
    const { username } = credentials;
    const { language, ownerName: name = username } = spec.bootstrap;
    const owner = { ...credentials, name, language };
    return this.sessions.withRest(context, credentials, async (rest) => {
      try {
        const login = await createUser(rest, owner);
        if (login) {
          this.sessions.set(hub, login);
          // Rejected credentials are from an earlier hub, on another volume.
          this.rejectedCredentials.clear(hub);
        }
        return next('SetCoreConfig', `Created the owner ${username}.`);
      } catch (error) {
        if (!(error instanceof UserExists)) throw error;
      }
      const rejected = forced ? undefined : this.rejectedCredentials.find(hub, digest);
      if (rejected) return rejected;
      try {
        await this.sessions.resume(context, owner, rest);
        return next('SetCoreConfig', `Created the owner ${username} (attempt 2).`);
      } catch (error) {
        if (error instanceof LoginFailed) return this.rejectedCredentials.record(hub, digest, error);
        throw error;
      }
    });
  }

  private asOwner(context: BootstrapContext, use: (session: OwnerSession) => Promise<Step>): Promise<Step> {
    const { hub, forced } = context;
    return this.withCredentials(context, false, async ({ credentials, digest }) => {
      const rejected = forced ? undefined : this.rejectedCredentials.find(hub, digest);
      if (rejected) return rejected;
      try {
        return await this.sessions.run(context, credentials, (session) => {
          this.rejectedCredentials.clear(hub);
          return use(session);
        });
      } catch (error) {
        if (error instanceof LoginFailed) return await this.loginFailed(context, digest, error);
        throw error;
      }
    });
  }

  /**
   * Decides what follows a failed login. If the hub has no owner yet, its volume is new, and the owner is
   * created. In every other case a person has to correct the credentials.
   */
  private async loginFailed(context: BootstrapContext, digest: string, error: LoginFailed): Promise<Step> {
    const health = await this.probe(context);
    if (health.state === 'onboarding' && !health.done.user)
      return next('CreateUser', 'The hub is not onboarded yet.');
    // A hub that is starting has not loaded its users yet.
    if (health.state !== 'onboarding' && health.state !== 'onboarded') return unreachable();
    return this.rejectedCredentials.record(context.hub, digest, error);
  }
}
