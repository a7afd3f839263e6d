import type { HubConnection } from './connection';

export const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

/** When automatic backups are made. `time`: `HH:MM:SS` in the hub's time zone; null: the hub chooses. */
export interface BackupSchedule {
  readonly recurrence: 'never' | 'daily' | 'custom_days';
  /** For `custom_days`. */
  readonly days: readonly (typeof WEEKDAYS)[number][];
  readonly time: string | null;
}

/** What is kept; null: no limit. */
export interface BackupRetention {
  readonly copies: number | null;
  readonly days: number | null;
}

/** What goes into an automatic backup, and where it goes. */
export interface BackupContents {
  readonly agent_ids: readonly string[];
  readonly include_database: boolean;
  /** In clear text, as the hub keeps it; null: not encrypted. */
  readonly password: string | null;
}

/** The hub's automatic backups, as far as we use them. Times are ISO 8601. */
export interface BackupConfig {
  readonly automatic_backups_configured: boolean;
  readonly create_backup: BackupContents;
  readonly schedule: BackupSchedule;
  readonly retention: BackupRetention;
  readonly last_attempted_automatic_backup: string | null;
  readonly last_completed_automatic_backup: string | null;
  readonly next_automatic_backup: string | null;
}

/**
 * What can be set. Of `create_backup` a key that is left out stays; `schedule` and `retention` are rebuilt by the hub
 * from what is sent, so they are always complete.
 */
export interface BackupConfigUpdate {
  readonly automatic_backups_configured?: boolean;
  readonly create_backup?: Partial<BackupContents>;
  readonly schedule?: BackupSchedule;
  readonly retention?: BackupRetention;
}

/** @throws HubRejected `unknown_command` while the hub has not loaded its backups */
export async function getBackupConfig(connection: HubConnection): Promise<BackupConfig> {
  return (await connection.command<{ config: BackupConfig }>('backup/config/info')).config;
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
  return (await connection.command<{ state: string }>('backup/info')).state !== 'idle';
}

/** Calls `listener` whenever the hub has finished with a backup, well or badly. */
export function onBackupEnded(connection: HubConnection, listener: () => void): Promise<() => Promise<void>> {
  let busy = false;
  return connection.subscribe<{ manager_state?: string }>(
    'backup/subscribe_events',
    {},
    ({ manager_state: state }) => {
      if (state === undefined) return; // news of one agent
      if (busy && state === 'idle') listener();
      busy = state !== 'idle';
    },
  );
}
