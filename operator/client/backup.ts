import type { HubConnection } from './connection';
import { type BackupConfig, type BackupConfigUpdate } from './api-types';

/** @throws HubRejected `unknown_command` while the hub has not loaded its backups */
export async function getBackupConfig(connection: HubConnection): Promise<BackupConfig> {
  return (await connection.command('backup/config/info')).config;
}

/** @throws HubRejected `invalid_format`; agents that do not exist are accepted and fail when a backup is made */
export async function updateBackupConfig(
  connection: HubConnection,
  update: BackupConfigUpdate,
): Promise<void> {
  await connection.command('backup/config/update', update);
}

/** Whether a backup is being made or restored right now. */
export async function isBackupRunning(connection: HubConnection): Promise<boolean> {
  return (await connection.command('backup/info')).state !== 'idle';
}

/** Calls `listener` whenever the hub has finished with a backup, well or badly. */
export function onBackupEnded(connection: HubConnection, listener: () => void): Promise<() => Promise<void>> {
  let busy = false;
  return connection.subscribe('backup/subscribe_events', {}, ({ manager_state: state }) => {
    if (state === undefined) return; // news of one agent
    if (busy && state === 'idle') listener();
    busy = state !== 'idle';
  });
}
