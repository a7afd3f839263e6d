import type { Notification } from '../connection/api-types';
import type { HubConnection } from '../connection/connection';
import type { RestClient } from '../connection/rest';
import { callService } from '../services';

const DOMAIN = 'persistent_notification';

/** Creates a notification, or replaces the one with this id. The texts are Markdown. */
export function createNotification(
  rest: RestClient,
  { id, title, message }: { readonly id: string; readonly title: string; readonly message: string },
): Promise<void> {
  return callService(rest, DOMAIN, 'create', { notification_id: id, title, message });
}

export function listNotifications(connection: HubConnection): Promise<readonly Notification[]> {
  return connection.command('persistent_notification/get');
}

/** Dismisses a notification. One that does not exist is not an error. */
export function dismissNotification(rest: RestClient, id: string): Promise<void> {
  return callService(rest, DOMAIN, 'dismiss', { notification_id: id });
}
