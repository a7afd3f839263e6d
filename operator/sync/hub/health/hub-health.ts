import type { CoreConfig } from '../../../client/connection/api-types';
import { checkConfig } from '../../../client/setup/core';
import { HubBanned, HubError, TokenRejected } from '../../../client/connection/errors';
import type { HubClient } from '../../../client/hub-client';
import { currentUser } from '../../../client/setup/tokens';
import type { Hub } from '../../../kinds/index';
import { DEPENDENCY_REQUEUE } from '../../../base/limits';
import { type Outcome, waiting } from '../../../runtime/outcome';
import { hubRedactor } from '../../hub-access/hub-secrets';
import type { Services } from '../../services';

/**
 * The outcome for a hub that answers in recovery mode or safe mode; undefined: it runs normally. In these modes the
 * hub hides most of its state, so nothing is written to it (rules.md, "Health of a hub").
 */
export async function hubModeProblem(
  services: Pick<Services, 'secrets'>,
  hub: Hub,
  core: CoreConfig,
  client: HubClient,
): Promise<Outcome | undefined> {
  if (core.recovery_mode) {
    const message = `The hub runs in recovery mode: ${await recoveryModeCause(services, hub, client)}`;
    return waiting('RecoveryMode', message, DEPENDENCY_REQUEUE, { status: { phase: 'Failed' } });
  }
  if (core.safe_mode) {
    const message = 'The hub runs in safe mode, without custom integrations. Restart it to leave this mode.';
    return waiting('SafeMode', message, DEPENDENCY_REQUEUE, { status: { phase: 'Failed' } });
  }
  return undefined;
}

/**
 * The outcome for a token of a user who is no administrator; undefined: it is one. The hub rejects every write of
 * other users and counts each as a failed login.
 */
export async function requireAdmin({ connection }: HubClient): Promise<Outcome | undefined> {
  if ((await currentUser(connection)).is_admin) return undefined;
  const message =
    'The API token belongs to a user who is no administrator of the hub. Store a token of an administrator.';
  return waiting('TokenRejected', message, DEPENDENCY_REQUEUE, { status: { phase: 'Unknown' } });
}

/** The errors of the hub's own check, which quotes the files and so the secrets of the hub. */
async function recoveryModeCause(
  services: Pick<Services, 'secrets'>,
  hub: Hub,
  client: HubClient,
): Promise<string> {
  const unknownCause = 'its configuration or its storage is broken. See its log.';
  try {
    const { result, errors } = await checkConfig(client.rest);
    if (result === 'valid') return 'its configuration is valid now. Restart the hub to leave this mode.';
    return errors ? (await hubRedactor(services, hub))(errors) : unknownCause;
  } catch (error) {
    const isOurs = error instanceof TokenRejected || error instanceof HubBanned;
    if (!(error instanceof HubError) || isOurs) throw error;
    return unknownCause; // it is too broken, or too slow, to check itself
  }
}
