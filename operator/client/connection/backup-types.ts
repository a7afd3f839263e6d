/** The objects of the hub's API about backups, with the fields that the operator uses. Source: the Home Assistant integration `backup`. */

import { flag, list, nullable, object, type Of, optional, text, time, unchecked, word } from './shape';

type Weekday = 'mon' | 'tue' | 'wed' | 'thu' | 'fri' | 'sat' | 'sun';

/** When automatic backups are made. */
const backupSchedule = object({
  recurrence: unchecked<'never' | 'daily' | 'custom_days'>(),
  /** Days of the week, for the recurrence `custom_days`. */
  days: list(word<Weekday>()),
  /** `HH:MM:SS` in the hub's time zone. Null lets the hub choose. */
  time: unchecked<string | null>(),
});

/** How many backups are kept, and for how many days; null stands for no limit. */
const backupRetention = object({ copies: unchecked<number | null>(), days: unchecked<number | null>() });

/** The content and the locations of an automatic backup. */
const backupContents = object({
  agent_ids: list(text),
  include_database: flag,
  /** Encryption password in clear text, as the hub stores it; null if backups are not encrypted. */
  password: nullable(text),
  /**
   * Add-ons and folders exist only in a hub with the Supervisor. In other hubs, every backup that includes
   * them fails.
   */
  include_addons: optional(nullable(list(text))),
  include_all_addons: optional(flag),
  include_folders: optional(nullable(list(text))),
});
export type BackupContents = Of<typeof backupContents>;

/** The hub's automatic backups. Times are ISO 8601. */
export const backupConfig = object({
  automatic_backups_configured: flag,
  create_backup: backupContents,
  schedule: backupSchedule,
  retention: backupRetention,
  last_attempted_automatic_backup: nullable(time),
  last_completed_automatic_backup: nullable(time),
  next_automatic_backup: nullable(time),
});
export type BackupConfig = Of<typeof backupConfig>;

/**
 * An update of {@link BackupConfig}. In `create_backup`, an omitted key keeps its value. The hub replaces
 * `schedule` and `retention` as a whole, so they are always complete.
 */
export type BackupConfigUpdate = Partial<
  Pick<BackupConfig, 'automatic_backups_configured' | 'schedule' | 'retention'>
> & { readonly create_backup?: Partial<BackupContents> };

/** A location for backups: the hub's own volume, a network drive, or a cloud. */
export const backupAgent = object({ agent_id: text, name: text });
export type BackupAgent = Of<typeof backupAgent>;

/** The backups that exist, and the state of the hub's backup manager. */
export const backupInfo = object({
  /** State of the manager, such as `idle`, `create_backup` or `restore_backup`. */
  state: text,
  /**
   * The end of the last creation or restoration of a backup since the start of the hub. `reason` is a key
   * such as `upload_failed`.
   */
  last_action_event: optional(nullable(object({ reason: optional(nullable(text)) }))),
  backups: unchecked<
    readonly {
      readonly backup_id: string;
      readonly with_automatic_settings: boolean | null;
      readonly agents: Readonly<Record<string, { readonly protected: boolean }>>;
    }[]
  >(),
});
export type BackupInfo = Of<typeof backupInfo>;
