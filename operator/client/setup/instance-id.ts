import { undefinedIf } from '../../base/undefined-if';
import type { HubConnection } from '../connection/connection';
import { isRejected } from '../connection/errors';

/**
 * Identifies the data of a hub. No command returns the hub's instance id, so the id of the owner's account is
 * used: it is random and lasts as long as the data. @returns undefined if the hub does not list its accounts
 */
export async function instanceId(connection: Pick<HubConnection, 'command'>): Promise<string | undefined> {
  const accounts = await undefinedIf(isRejected, connection.command('config/auth/list'));
  return accounts?.find(({ is_owner: isOwner }) => isOwner)?.id;
}
