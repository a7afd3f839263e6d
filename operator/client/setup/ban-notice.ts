import { isIP } from 'node:net';
import type { HubConnection } from '../connection/connection';

/**
 * The address that the hub banned last since its start, from the hub's notification; undefined if there is
 * none, or it was dismissed.
 */
export async function lastBannedAddress(connection: HubConnection): Promise<string | undefined> {
  const notifications = await connection.command('persistent_notification/get');
  const notice = notifications.find(({ notification_id: id }) => id === 'ip-ban');
  return notice?.message.split(/\s+/).find((word) => isIP(word) > 0);
}
