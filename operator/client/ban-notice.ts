import { isIP } from 'node:net';
import type { HubConnection } from './connection';

/** The address that the hub has banned last since its start, by the notification that it shows until it is dismissed. */
export async function lastBannedAddress(connection: HubConnection): Promise<string | undefined> {
  const notifications = await connection.command('persistent_notification/get');
  const notice = notifications.find(({ notification_id: id }) => id === 'ip-ban');
  return notice?.message.split(/\s+/).find((word) => isIP(word) > 0);
}
