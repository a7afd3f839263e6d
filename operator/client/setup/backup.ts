import type { HubConnection } from '../connection/connection';
import type { BackupAgent, BackupConfig, BackupConfigUpdate } from '../connection/api-types';

/** @throws HubRejected `unknown_command` while the integration `backup` is not loaded */
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

/** The destinations that the hub has now. Those of an integration are there when that is loaded. */
export async function listBackupAgents(connection: HubConnection): Promise<readonly BackupAgent[]> {
  return (await connection.command('backup/agents/info')).agents;
}

/** Whether a backup is being created or restored. */
export async function isBackupRunning(connection: HubConnection): Promise<boolean> {
  return (await connection.command('backup/info')).state !== 'idle';
}

/**
 * Calls `listener` when the creation or restoration of a backup has succeeded or failed. Resolves with a function that
 * cancels.
 */
export function onBackupEnded(connection: HubConnection, listener: () => void): Promise<() => Promise<void>> {
  let busy = false;
  return connection.subscribe('backup/subscribe_events', {}, ({ manager_state: state }) => {
    if (state === undefined) return; // an event of a single agent
    if (busy && state === 'idle') listener();
    busy = state !== 'idle';
  });
}
