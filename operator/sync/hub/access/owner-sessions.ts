import { HubConnection } from '../../../client/connection/connection';
import { HubUnreachable, LoginFailed, TokenRejected } from '../../../client/connection/errors';
import {
  type Credentials,
  endLogin,
  type FirstUser,
  login,
  type Login,
} from '../../../client/setup/onboarding';
import { redactor } from '../../../client/connection/redact';
import { RestClient } from '../../../client/connection/rest';
import { currentUser } from '../../../client/setup/tokens';
import type { Hub } from '../../../kinds';
import type { Services } from '../../services';
import { PerHub } from '../../hub-connection/per-hub';
import { type ConnectionServices, hubConnection } from '../../hub-connection/service-address';
import {
  resumeOwnerCreation,
  type TemporaryOwner,
  transferUsername,
} from '../../../client/setup/interrupted-onboarding';

/** The hub that is being bootstrapped, and its address. */
export interface HubEndpoint {
  readonly hub: Hub;
  readonly url: string;
}

/**
 * A session of the hub's owner. Its connections are closed when the callback that received it ends. The login
 * is kept.
 */
export interface OwnerSession {
  readonly rest: RestClient;
  readonly connection: HubConnection;
  readonly login: Login;
  readonly credentials: Credentials;
}

export type SessionServices = ConnectionServices & Pick<Services, 'clock' | 'log' | 'assertLeader'>;

/**
 * Sessions of the owners of hubs. A login is kept between reconciles, so that not every step logs in again.
 */
export class OwnerSessions {
  private readonly logins: PerHub<Login>;

  constructor(private readonly services: SessionServices) {
    this.logins = new PerHub(services.cache);
  }

  /** Keeps a login that was made without {@link run}, for later sessions. */
  set(hub: Hub, session: Login): void {
    this.logins.set(hub, session);
  }

  /**
   * Calls `use` with a session of the owner.
   *
   * @throws LoginFailed the hub rejects the credentials, or their user is no administrator
   * @throws HubUnreachable the kept login is no longer valid: the next call logs in again
   */
  async run<T>(
    endpoint: HubEndpoint,
    credentials: Credentials,
    use: (session: OwnerSession) => Promise<T>,
  ): Promise<T> {
    const { hub } = endpoint;
    const kept = this.logins.get(hub);
    return this.withRest(endpoint, credentials, async (rest) => {
      const made = kept ?? (await login(rest, credentials, this.services.clock));
      this.logins.set(hub, made);
      const connection = this.connect(rest, made);
      const session = { rest, connection, login: made, credentials };
      try {
        if (!kept) await this.requireAdmin(hub, session);
        return await use(session);
      } catch (error) {
        if (!(error instanceof TokenRejected)) throw error;
        // The hub was restarted since the login.
        this.logins.delete(hub);
        throw new HubUnreachable('the login is no longer valid');
      } finally {
        connection.close();
      }
    });
  }

  /** Ends the login. Otherwise the hub would list it in the user's profile for 90 days. */
  async logOut(hub: Hub, { rest, login: session }: OwnerSession): Promise<void> {
    await endLogin(rest, session);
    this.logins.delete(hub);
  }

  /**
   * Calls `use` with a REST client of the hub that sends no token and masks the password in every message.
   */
  async withRest<T>(
    { hub, url }: HubEndpoint,
    credentials: Credentials | undefined,
    use: (rest: RestClient) => Promise<T>,
  ): Promise<T> {
    const { clock, assertLeader } = this.services;
    const redact = redactor(credentials ? [credentials.password] : []);
    const connection = hubConnection(this.services, hub);
    const rest = new RestClient({ url, ...connection, clock, assertLeader, redact });
    try {
      return await use(rest);
    } finally {
      rest.close();
    }
  }

  /**
   * Completes the creation of the owner that was interrupted, because the operator was killed or the hub did
   * not respond in time. Such a hub neither creates that user again nor completes the onboarding step.
   *
   * @throws LoginFailed the user of that name has another password, or the operator did not create it
   */
  async resume({ hub }: HubEndpoint, owner: FirstUser, rest: RestClient): Promise<void> {
    let connection: HubConnection | undefined;
    try {
      const session = await resumeOwnerCreation(rest, owner, {
        clock: this.services.clock,
        connect: (made) => (connection = this.connect(rest, made)),
      });
      if (session) this.set(hub, session);
    } finally {
      connection?.close();
    }
  }

  /**
   * Gives the owner's name to the temporary user that became the owner.
   *
   * @throws LoginFailed another user has that name
   */
  async renameTemporaryUser(
    endpoint: HubEndpoint,
    { username, replaces }: TemporaryOwner,
    credentials: Credentials,
  ): Promise<void> {
    await this.withRest(endpoint, credentials, async (rest) => {
      const session = await login(rest, { ...credentials, username }, this.services.clock);
      const connection = this.connect(rest, session);
      try {
        await transferUsername(connection, credentials.username, replaces);
        this.set(endpoint.hub, session);
      } finally {
        connection.close();
      }
    });
  }

  /** Opens a WebSocket with the access token of `login`. The caller closes it. */
  private connect(rest: RestClient, { accessToken: token }: Login): HubConnection {
    const { clock, log } = this.services;
    return new HubConnection({ rest, token, clock, log });
  }

  /**
   * Checks that the user is an administrator. With the token of another user the hub would reject every
   * write, and count each as a failed login.
   */
  private async requireAdmin(hub: Hub, session: OwnerSession): Promise<void> {
    const { name, is_admin: isAdmin } = await currentUser(session.connection);
    if (isAdmin) return;
    await this.logOut(hub, session);
    throw new LoginFailed(`the user ${name} is no administrator of the hub`);
  }
}
