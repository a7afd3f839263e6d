import type { HubConnection } from '../../../client/connection/connection';
import {
  resumeOwnerCreation,
  type TemporaryOwner,
  transferUsername,
} from '../../../client/setup/interrupted-onboarding';
import { type Credentials, type FirstUser, login } from '../../../client/setup/onboarding';
import type { RestClient } from '../../../client/connection/rest';
import type { Clock } from '../../../base/clock';
import type { HubEndpoint, OwnerSessions } from './owner-sessions';

/**
 * An operator that was killed, or not answered in time, while it created the owner leaves a hub that neither creates
 * that user again nor completes the step. How this is repaired is in client/setup/interrupted-onboarding.ts.
 */
export class InterruptedOnboarding {
  constructor(
    private readonly sessions: OwnerSessions,
    private readonly clock: Clock,
  ) {}

  /** @throws LoginFailed the user of that name has another password, or the operator did not create it */
  async finish({ hub }: HubEndpoint, owner: FirstUser, rest: RestClient): Promise<void> {
    let connection: HubConnection | undefined;
    try {
      const session = await resumeOwnerCreation(rest, owner, {
        clock: this.clock,
        connect: (made) => (connection = this.sessions.connect(rest, made)),
      });
      if (session) this.sessions.set(hub, session);
    } finally {
      connection?.close();
    }
  }

  /** The temporary user became the owner: it gets the owner's name. @throws LoginFailed another user has that */
  async renameTemporaryUser(
    endpoint: HubEndpoint,
    { username, replaces }: TemporaryOwner,
    credentials: Credentials,
  ): Promise<void> {
    await this.sessions.withRest(endpoint, credentials, async (rest) => {
      const session = await login(rest, { ...credentials, username }, this.clock);
      const connection = this.sessions.connect(rest, session);
      try {
        await transferUsername(connection, credentials.username, replaces);
        this.sessions.set(endpoint.hub, session);
      } finally {
        connection.close();
      }
    });
  }
}
