import type { HubConnection } from '../connection/connection';
import type { BackupAgent, BackupConfig, BackupConfigUpdate, BackupInfo } from '../connection/backup-types';
import { readLog } from './log-records';

/** @throws HubRejected `unknown_command` while the integration `backup` is not loaded */
export async function getBackupConfig(connection: HubConnection): Promise<BackupConfig> {
  return (await connection.command('backup/config/info')).config;
}

/**
 * @throws HubRejected `invalid_format`; locations that do not exist are accepted, but then fail when a backup
 * is made
 */
export async function updateBackupConfig(
  connection: HubConnection,
  update: BackupConfigUpdate,
): Promise<void> {
  await connection.command('backup/config/update', update);
}

/** The backup locations that are available now. Those of an integration are available once it is loaded. */
export async function listBackupAgents(connection: HubConnection): Promise<readonly BackupAgent[]> {
  return (await connection.command('backup/agents/info')).agents;
}

/** Whether a backup is being created or restored. */
export async function isBackupRunning(connection: HubConnection): Promise<boolean> {
  return isBusy(await getBackupInfo(connection));
}

export const getBackupInfo = (connection: HubConnection): Promise<BackupInfo> =>
  connection.command('backup/info');

export const isBusy = ({ state }: BackupInfo): boolean => state !== 'idle';

/**
 * Why the last backup failed: the newest error that the hub has logged since the backup began, or else the
 * hub's key for the reason. Undefined if the hub was restarted since.
 *
 * @param began start of the backup in milliseconds since 1970
 */
export async function backupFailure(
  connection: HubConnection,
  { last_action_event: last }: BackupInfo,
  began: number,
): Promise<string | undefined> {
  const record = (await readLog({ connection })).find(
    ({ name, level, timestamp }) =>
      name.startsWith(BACKUP_LOGGER) && level === 'ERROR' && timestamp * 1_000 >= began,
  );
  return record?.message.at(-1) ?? last?.reason ?? undefined;
}

const BACKUP_LOGGER = 'homeassistant.components.backup';

/**
 * Calls `listener` when the creation or restoration of a backup has succeeded or failed. @returns a function
 * that cancels the subscription
 */
export function onBackupEnded(connection: HubConnection, listener: () => void): Promise<() => Promise<void>> {
  let busy = false;
  return connection.subscribe('backup/subscribe_events', {}, ({ manager_state: state }) => {
    if (state === undefined) return; // an event of a single agent
    if (busy && state === 'idle') listener();
    busy = state !== 'idle';
  });
}
