import { checkConfig, type CoreConfig } from '../../../client/core';
import { HubBanned, HubError, TokenRejected } from '../../../client/errors';
import type { HubClient } from '../../../client/hub-client';
import { currentUser } from '../../../client/tokens';
import type { Hub } from '../../../kinds/index';
import { DEPENDENCY_REQUEUE } from '../../../limits';
import { type Outcome, waiting } from '../../../runtime/outcome';
import type { Services } from '../../services';
import { scrubOf } from '../../hub-secrets';

/** A hub that answers, but is not itself: in recovery mode or in safe mode. Undefined: it is well. Nothing is written to it then. */
export async function hubModeProblem(
  services: Services,
  hub: Hub,
  core: CoreConfig,
  client: HubClient,
): Promise<Outcome | undefined> {
  if (core.recovery_mode) {
    const words = await recoveryModeCause(services, hub, client);
    const message = `The hub runs in recovery mode: ${words}`;
    return waiting('RecoveryMode', message, DEPENDENCY_REQUEUE, { status: { phase: 'Failed' } });
  }
  if (core.safe_mode) {
    const message =
      'The hub runs in safe mode, without custom integrations. It leaves it when it is restarted.';
    return waiting('SafeMode', message, DEPENDENCY_REQUEUE, { status: { phase: 'Running' } });
  }
  return undefined;
}

/** A token that somebody gave us may be of a user who may look and not touch. Each try would count as a failed login. */
export async function requireAdmin({ connection }: HubClient): Promise<Outcome | undefined> {
  if ((await currentUser(connection)).is_admin) return undefined;
  const message =
    'The API token is of a user who is no administrator of the hub: store one of an administrator.';
  return waiting('TokenRejected', message, DEPENDENCY_REQUEUE, { status: { phase: 'Unknown' } });
}

/** The hub's own words; they quote its files, and so its secrets. */
async function recoveryModeCause(services: Services, hub: Hub, client: HubClient): Promise<string> {
  const otherwise = 'its configuration or its storage is broken. See its log.';
  try {
    const { result, errors } = await checkConfig(client.rest);
    if (result === 'valid')
      return 'its configuration is valid by now. It leaves this mode when it is restarted.';
    if (!errors) return otherwise;
    return (await scrubOf(services, hub))(errors);
  } catch (error) {
    const isOurs = error instanceof TokenRejected || error instanceof HubBanned;
    if (!(error instanceof HubError) || isOurs) throw error;
    return otherwise; // it is too broken, or too slow, to check itself
  }
}
