/**
 * Shapes of the hub's API, as far as the operator uses them: keys and values as they are sent. Source: the Home
 * Assistant integrations of the same name (`config`, `auth`, `backup`, `http`, `person`, `analytics`).
 */

import type { Scalar } from './shape';

export const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

/** When automatic backups are made. */
export interface BackupSchedule {
  readonly recurrence: 'never' | 'daily' | 'custom_days';
  /** For `custom_days`. */
  readonly days: readonly (typeof WEEKDAYS)[number][];
  /** `HH:MM:SS` in the hub's time zone; null: the hub chooses. */
  readonly time: string | null;
}

/** How many backups are kept, and for how long; null: no limit. */
export interface BackupRetention {
  readonly copies: number | null;
  readonly days: number | null;
}

/** The content and the destinations of an automatic backup. */
export interface BackupContents {
  readonly agent_ids: readonly string[];
  readonly include_database: boolean;
  /** Encryption password in clear text, as the hub keeps it; null: not encrypted. */
  readonly password: string | null;
}

/** The hub's automatic backups. Times are ISO 8601. */
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
 * An update of {@link BackupConfig}. In `create_backup` an omitted key keeps its value; the hub replaces `schedule` and
 * `retention` as a whole, so they are always complete.
 */
export interface BackupConfigUpdate {
  readonly automatic_backups_configured?: boolean;
  readonly create_backup?: Partial<BackupContents>;
  readonly schedule?: BackupSchedule;
  readonly retention?: BackupRetention;
}

/** A destination of backups: the hub's own volume, a network drive, a cloud. */
export interface BackupAgent {
  readonly agent_id: string;
  readonly name: string;
}

/** The backups that exist, and the state of the hub's backup manager. */
export interface BackupInfo {
  /** `idle`, `create_backup`, `restore_backup`, … */
  readonly state: string;
  readonly backups: readonly {
    readonly backup_id: string;
    readonly with_automatic_settings: boolean | null;
    readonly agents: Readonly<Record<string, { readonly protected: boolean }>>;
  }[];
}

/** The hub's core configuration and state (`get_config`). */
export interface CoreConfig {
  readonly version: string;
  readonly state: 'NOT_RUNNING' | 'STARTING' | 'RUNNING' | 'STOPPING' | 'FINAL_WRITE';
  /**
   * The hub could not load its configuration. Its API answers, but registries and entities read empty: write nothing.
   */
  readonly recovery_mode: boolean;
  /** Started without custom integrations. */
  readonly safe_mode: boolean;
  readonly components: readonly string[];
  readonly config_source: 'default' | 'storage' | 'yaml';
  readonly location_name: string;
  readonly latitude: number;
  readonly longitude: number;
  readonly elevation: number;
  readonly radius: number;
  /** Units by quantity; `length` is `km` in the metric system, `mi` in the other. */
  readonly unit_system: Readonly<Record<string, string>>;
  readonly time_zone: string;
  readonly currency: string;
  readonly country: string | null;
  readonly language: string;
  readonly internal_url: string | null;
  readonly external_url: string | null;
}

/**
 * An update of {@link CoreConfig}; an omitted key keeps its value. `elevation` and `radius` (of the home zone) in
 * metres.
 */
export interface CoreConfigUpdate {
  readonly location_name?: string;
  readonly latitude?: number;
  readonly longitude?: number;
  readonly elevation?: number;
  readonly radius?: number;
  readonly unit_system?: 'metric' | 'us_customary';
  readonly time_zone?: string;
  readonly currency?: string;
  /** Cannot be unset. */
  readonly country?: string;
  readonly language?: string;
  readonly internal_url?: string | null;
  readonly external_url?: string | null;
}

/** Which usage data the hub reports; an omitted key keeps its value. */
export interface AnalyticsPreferences {
  readonly base?: boolean;
  readonly diagnostics?: boolean;
  readonly usage?: boolean;
  readonly statistics?: boolean;
  readonly snapshots?: boolean;
}

/** The user of a connection's token. */
export interface HubUser {
  readonly id: string;
  readonly name: string | null;
  readonly is_owner: boolean;
  readonly is_admin: boolean;
}

/** A refresh token of the user: a login or a long-lived token, without the token itself. Times are ISO 8601. */
export interface TokenRecord {
  readonly id: string;
  readonly type: 'normal' | 'long_lived_access_token' | 'system';
  /** URL of the web page or program that logged in; null: a long-lived token. */
  readonly client_id: string | null;
  readonly client_name: string | null;
  readonly created_at: string;
  readonly is_current: boolean;
}

/** An entry of the hub's entity registry. */
export interface RegistryEntity {
  readonly entity_id: string;
  readonly unique_id: string;
  /** The integration that provides the entity. */
  readonly platform: string;
  /** `user`, `integration`, …: the entity is disabled and has no state. */
  readonly disabled_by: string | null;
  /** Name and icon from the definition, without changes by a user. */
  readonly original_name: string | null;
  readonly original_icon?: string | null | undefined;
  /** Label ids. */
  readonly labels?: readonly string[] | undefined;
  readonly config_entry_id?: string | null;
}

/**
 * Fields of a registry entry; null clears one, but not one of a zone. Lists are replaced as a whole, and the hub does not
 * keep their order.
 */
export type RegistryFields = Readonly<Record<string, string | number | boolean | readonly string[] | null>>;

/** An entry of a registry or a collection, with its id in `<type>_id`; the hub itself calls that of a collection `id`. */
export interface RegistryRecord {
  readonly name: string;
  readonly [field: string]: unknown;
}

/** Data of `<type>_registry_updated`; `reorder` has no id. */
export interface RegistryUpdated {
  readonly action: 'create' | 'update' | 'remove' | 'reorder';
  readonly floor_id?: string;
  readonly label_id?: string;
  readonly area_id?: string | null;
}

/** Data of `entity_registry_updated`. */
export interface EntityRegistryUpdated {
  readonly action: 'create' | 'update' | 'remove';
  readonly entity_id: string;
  /** The entity id was changed. */
  readonly old_entity_id?: string;
  /** The former values of what an `update` changed. */
  readonly changes?: Readonly<Record<string, unknown>>;
}

/** The settings of the hub's web server. */
export interface HttpSettings {
  readonly server_host?: readonly string[];
  readonly server_port?: number;
  readonly ssl_certificate?: string;
  readonly ssl_key?: string;
  readonly ssl_peer_certificate?: string;
  readonly ssl_profile?: string;
  readonly cors_allowed_origins?: readonly string[];
  readonly use_x_forwarded_for?: boolean;
  /** CIDR */
  readonly trusted_proxies?: readonly string[];
  /** Failed logins until an address is banned; -1: never. */
  readonly login_attempts_threshold?: number;
  readonly ip_ban_enabled?: boolean;
  readonly use_x_frame_options?: boolean;
}

/** Settings with the notes of the hub about them. */
export interface HttpSlot extends HttpSettings {
  readonly created_at?: string;
  /** `apply_failed` or `not_promoted`: they were tried and given up. */
  readonly error?: string | null;
  readonly error_message?: string | null;
}

/** The web server's settings in their three slots; null: the slot is empty. */
export interface HttpConfig {
  readonly stable: HttpSlot | null;
  /** On trial: reverted after five minutes unless promoted. */
  readonly pending: HttpSlot | null;
  readonly default: HttpSlot | null;
  /** The slot that the server was started with. */
  readonly active_config_type: 'stable' | 'pending' | 'default' | 'default_legacy_port';
}

/** A user as an administrator sees it. */
export interface UserRecord {
  readonly id: string;
  /** User name of the auth provider `homeassistant`; null: the user has another auth provider. */
  readonly username: string | null;
  readonly is_owner: boolean;
  /** An internal user of the hub, without a login. */
  readonly system_generated: boolean;
}

/** An entry of the `person` integration. */
export interface PersonRecord {
  readonly id: string;
  /** The person's user; null or absent: a person who does not log in. */
  readonly user_id?: string | null | undefined;
  readonly device_trackers?: readonly string[] | undefined;
}

/** What `subscribe_trigger` sends when an event trigger fires. */
export interface TriggerMessage {
  readonly variables: {
    readonly trigger: {
      /** As given in the trigger's configuration. */
      readonly id: string;
      readonly event: { readonly data: TriggerEventData };
    };
  };
}

/** Data of the events that the operator's triggers wait for. */
export interface TriggerEventData {
  /** Field of the event `device_registry_updated`. */
  readonly action?: string;
  readonly domain?: string;
  readonly service?: string;
  readonly component?: string;
  readonly service_data?: { readonly id?: unknown };
}
/** An issue of the `repairs` integration. */
/** A notification that the hub shows to everyone who is logged in, until someone dismisses it or the hub restarts. */
export interface Notification {
  readonly notification_id: string;
  readonly message: string;
  /** ISO 8601. */
  readonly created_at: string;
}

export interface RepairIssue {
  readonly domain: string;
  readonly issue_id: string;
  readonly translation_key: string;
  readonly translation_placeholders: Readonly<Record<string, Scalar>> | null;
  /** `critical`, `error` or `warning`. */
  readonly severity?: string;
  /** A person has chosen to ignore it. */
  readonly ignored?: boolean;
}

/** Data of `repairs_issue_registry_updated`. */
export interface IssueEvent {
  readonly domain: string;
  /** `<entity id>_<translation key>`. */
  readonly issue_id: string;
}

/** Records of the hub's log that were written at one place of its code. */
export interface LogRecord {
  /** The logger. */
  readonly name: string;
  readonly level: string;
  /** Up to five different texts, in the order of their first occurrence. */
  readonly message: readonly string[];
  /** File and line of the code. */
  readonly source: readonly [string, number];
  /** How often one of the texts was logged. */
  readonly count: number;
  /** Seconds since 1970. */
  readonly first_occurred: number;
}

/** A run of an automation or script, as the hub remembers it. */
export interface RunTrace {
  readonly run_id: string;
  /** `running`, `stopped`, `debugged`. */
  readonly state: string;
  /** How it ended: `finished`, `failed_conditions`, `failed_single`, `error`, `aborted`, … */
  readonly script_execution?: string | null | undefined;
  /** ISO 8601. */
  readonly timestamp: { readonly start: string; readonly finish: string | null };
  readonly error?: string | null | undefined;
  /** The trigger of an automation in words. */
  readonly trigger?: string | null | undefined;
}

/** One execution of a step. Its path is that in the definition, such as `action/0/then/1`. */
export interface TraceStep {
  readonly path: string;
  readonly timestamp: string;
  readonly result?: object | null | undefined;
  readonly error?: string | null | undefined;
}
