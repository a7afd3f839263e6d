/**
 * The objects of the hub's API, as far as the operator uses them: keys and values as they are sent. Each type follows from the
 * shape that the hub's answers are checked against. Source: the Home Assistant integrations of the same name (`config`, `auth`,
 * `backup`, `http`, `person`, `analytics`).
 */

import {
  anyObject,
  flag,
  list,
  nullable,
  number,
  object,
  type Of,
  type OfFields,
  optional,
  record,
  scalar,
  type Shape,
  text,
  time,
  unchecked,
  word,
} from './shape';

type Weekday = 'mon' | 'tue' | 'wed' | 'thu' | 'fri' | 'sat' | 'sun';

/** When automatic backups are made. */
const backupSchedule = object({
  recurrence: unchecked<'never' | 'daily' | 'custom_days'>(),
  /** For `custom_days`. */
  days: list(word<Weekday>()),
  /** `HH:MM:SS` in the hub's time zone; null: the hub chooses. */
  time: unchecked<string | null>(),
});

/** How many backups are kept, and for how long; null: no limit. */
const backupRetention = object({ copies: unchecked<number | null>(), days: unchecked<number | null>() });

/** The content and the destinations of an automatic backup. */
const backupContents = object({
  agent_ids: list(text),
  include_database: flag,
  /** Encryption password in clear text, as the hub keeps it; null: not encrypted. */
  password: nullable(text),
  /** Only a hub with the Supervisor has add-ons and folders beside its configuration. Others fail at each backup that asks for them. */
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
 * An update of {@link BackupConfig}. In `create_backup` an omitted key keeps its value; the hub replaces `schedule` and
 * `retention` as a whole, so they are always complete.
 */
export type BackupConfigUpdate = Partial<
  Pick<BackupConfig, 'automatic_backups_configured' | 'schedule' | 'retention'>
> & { readonly create_backup?: Partial<BackupContents> };

/** A destination of backups: the hub's own volume, a network drive, a cloud. */
export const backupAgent = object({ agent_id: text, name: text });
export type BackupAgent = Of<typeof backupAgent>;

/** The backups that exist, and the state of the hub's backup manager. */
export const backupInfo = object({
  /** `idle`, `create_backup`, `restore_backup`, … */
  state: text,
  /** How the last creation or restoration since the start of the hub ended. `reason` is a word such as `upload_failed`. */
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

export const hubState = word<'NOT_RUNNING' | 'STARTING' | 'RUNNING' | 'STOPPING' | 'FINAL_WRITE'>();

/** The hub's core configuration and state (`get_config`). */
export const coreConfig = object({
  version: text,
  state: hubState,
  /** The hub could not load its configuration. Its API answers, but registries and entities read empty: write nothing. */
  recovery_mode: flag,
  /** Started without custom integrations. */
  safe_mode: flag,
  components: unchecked<readonly string[]>(),
  config_source: unchecked<'default' | 'storage' | 'yaml'>(),
  location_name: unchecked<string>(),
  latitude: unchecked<number>(),
  longitude: unchecked<number>(),
  elevation: unchecked<number>(),
  radius: unchecked<number>(),
  /** Units by quantity; `length` is `km` in the metric system, `mi` in the other. */
  unit_system: record(text),
  time_zone: unchecked<string>(),
  currency: unchecked<string>(),
  country: unchecked<string | null>(),
  language: unchecked<string>(),
  internal_url: unchecked<string | null>(),
  external_url: unchecked<string | null>(),
});
export type CoreConfig = Of<typeof coreConfig>;

type Setting = 'location_name' | 'latitude' | 'longitude' | 'elevation' | 'radius' | 'time_zone' | 'currency';

/** An update of {@link CoreConfig}; an omitted key keeps its value. `elevation` and `radius` (of the home zone) in metres. */
export type CoreConfigUpdate = Partial<
  Pick<CoreConfig, Setting | 'language' | 'internal_url' | 'external_url'>
> & {
  readonly unit_system?: 'metric' | 'us_customary';
  /** Cannot be unset. */
  readonly country?: string;
};

/** Which usage data the hub reports; an omitted key keeps its value. */
export const analyticsPreferences = object({
  base: optional(flag),
  diagnostics: optional(flag),
  usage: optional(flag),
  statistics: optional(flag),
  snapshots: optional(flag),
});
export type AnalyticsPreferences = Of<typeof analyticsPreferences>;

/** The user of a connection's token. */
export const hubUser = object({ id: text, name: nullable(text), is_owner: flag, is_admin: flag });
export type HubUser = Of<typeof hubUser>;

/** A refresh token of the user: a login or a long-lived token, without the token itself. Times are ISO 8601. */
export const tokenRecord = object({
  id: text,
  type: unchecked<'normal' | 'long_lived_access_token' | 'system'>(),
  /** URL of the web page or program that logged in; null: a long-lived token. */
  client_id: unchecked<string | null>(),
  client_name: nullable(text),
  created_at: unchecked<string>(),
  is_current: flag,
});
export type TokenRecord = Of<typeof tokenRecord>;

/** Entities of other integrations may have a number or nothing there, which can stand in a text all the same. */
const nearlyText = <T extends string | null>(): Shape<T> => scalar as Shape<never>;

/** An entry of the hub's entity registry. */
export const registryEntity = object({
  entity_id: text,
  unique_id: unchecked<string>(),
  /** The integration that provides the entity. */
  platform: text,
  /** `user`, `integration`, …: the entity is disabled and has no state. */
  disabled_by: nearlyText<string | null>(),
  /** Name and icon from the definition, without changes by a user. */
  original_name: unchecked<string | null>(),
  original_icon: unchecked<string | null | undefined>(),
  /** Label ids. */
  labels: optional(list(text)),
  config_entry_id: unchecked<string | null | undefined>(),
  /** `user`, `integration`, …: dashboards do not show it by themselves. */
  hidden_by: unchecked<string | null | undefined>(),
  /** `config` or `diagnostic`: no main entity of its device. */
  entity_category: unchecked<string | null | undefined>(),
});
export type RegistryEntity = Of<typeof registryEntity>;

const maybeText = optional(nullable(text));

/** A value that an integration sets, and that the hub does not check: a number, or a list. One odd entry must not hide all others. */
const ofIntegration = unchecked();

/** An entry of the hub's entity registry with its settings (`config/entity_registry/get_entries`). */
export const detailedEntity = object({
  entity_id: text,
  /** The entry keeps this id when the entity gets another entity id. */
  id: text,
  unique_id: ofIntegration,
  platform: text,
  device_id: maybeText,
  config_entry_id: maybeText,
  translation_key: ofIntegration,
  original_name: ofIntegration,
  original_device_class: ofIntegration,
  name: maybeText,
  icon: maybeText,
  area_id: maybeText,
  labels: list(text),
  /** Null stands for the name of the entity. */
  aliases: list(nullable(text)),
  hidden_by: maybeText,
  disabled_by: maybeText,
  device_class: maybeText,
  /** By domain or assistant. Those of locks and alarm panels have codes. */
  options: unchecked<Readonly<Record<string, unknown>> | null | undefined>(),
});
export type DetailedEntity = Of<typeof detailedEntity>;

/** An entry of the hub's device registry. */
export const registryDevice = object({
  id: text,
  name: ofIntegration,
  name_by_user: maybeText,
  area_id: maybeText,
  labels: list(text),
  disabled_by: maybeText,
  serial_number: ofIntegration,
  /** Pairs of integration and id; those of some integrations have more parts, or numbers. */
  identifiers: ofIntegration,
  /** Pairs of type and address. A device that is a part of another one has none. */
  connections: ofIntegration,
  /** A hub of 2025 has several for one device, a later one has one. */
  config_entries: optional(list(text)),
  config_entry_id: maybeText,
});
export type RegistryDevice = Of<typeof registryDevice>;

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
export const registryUpdated = object({
  action: word<'create' | 'update' | 'remove' | 'reorder'>(),
  floor_id: optional(text),
  label_id: optional(text),
  area_id: optional(nullable(text)),
});
export type RegistryUpdated = Of<typeof registryUpdated>;

/** Data of `device_registry_updated`. */
export const deviceRegistryUpdated = object({ action: text, device_id: optional(text) });

/** Data of `entity_registry_updated`. */
export const entityRegistryUpdated = object({
  action: word<'create' | 'update' | 'remove'>(),
  entity_id: text,
  /** The entity id was changed. */
  old_entity_id: optional(text),
  /** The former values of what an `update` changed. */
  changes: optional(anyObject),
});
export type EntityRegistryUpdated = Of<typeof entityRegistryUpdated>;

/** The settings of the hub's web server. */
const httpSettings = {
  server_host: unchecked<readonly string[] | undefined>(),
  server_port: optional(nullable(number)) as Shape<number | undefined>,
  ssl_certificate: unchecked<string | undefined>(),
  ssl_key: unchecked<string | undefined>(),
  ssl_peer_certificate: unchecked<string | undefined>(),
  ssl_profile: optional(text),
  cors_allowed_origins: unchecked<readonly string[] | undefined>(),
  use_x_forwarded_for: optional(flag),
  /** CIDR */
  trusted_proxies: optional(list(text)),
  /** Failed logins until an address is banned; -1: never. */
  login_attempts_threshold: unchecked<number | undefined>(),
  ip_ban_enabled: optional(flag),
  use_x_frame_options: optional(flag),
};
export type HttpSettings = OfFields<typeof httpSettings>;

/** Settings with the notes of the hub about them. */
const httpSlot = object({
  ...httpSettings,
  created_at: unchecked<string | undefined>(),
  /** `apply_failed` or `not_promoted`: they were tried and given up. */
  error: optional(nullable(text)),
  error_message: optional(nullable(text)),
});
export type HttpSlot = Of<typeof httpSlot>;

/** The web server's settings in their three slots; null: the slot is empty. */
export const httpConfig = object({
  stable: nullable(httpSlot),
  /** On trial: reverted after five minutes unless promoted. */
  pending: nullable(httpSlot),
  default: nullable(httpSlot),
  /** The slot that the server was started with. */
  active_config_type: unchecked<'stable' | 'pending' | 'default' | 'default_legacy_port'>(),
});
export type HttpConfig = Of<typeof httpConfig>;

/** A user as an administrator sees it. */
export const userRecord = object({
  id: text,
  /** User name of the auth provider `homeassistant`; null: the user has another auth provider. */
  username: nullable(text),
  is_owner: flag,
  /** An internal user of the hub, without a login. */
  system_generated: flag,
});
export type UserRecord = Of<typeof userRecord>;

/** An entry of the `person` integration. */
export const personRecord = object({
  id: text,
  /** The person's user; null or absent: a person who does not log in. */
  user_id: optional(nullable(text)),
  device_trackers: optional(list(text)),
});
export type PersonRecord = Of<typeof personRecord>;

/** Data of the events that the operator's triggers wait for. */
export const triggerEventData = object({
  /** Field of the event `device_registry_updated`. */
  action: optional(text),
  domain: optional(text),
  service: optional(text),
  component: optional(text),
  service_data: optional(object({ id: unchecked() })),
});
export type TriggerEventData = Of<typeof triggerEventData>;

/** A notification that the hub shows to everyone who is logged in, until someone dismisses it or the hub restarts. */
export const notification = object({
  notification_id: text,
  message: text,
  /** ISO 8601. */
  created_at: text,
});
export type Notification = Of<typeof notification>;

/** An issue of the `repairs` integration. */
export const repairIssue = object({
  domain: text,
  issue_id: text,
  translation_key: text,
  translation_placeholders: nullable(record(scalar)),
  /** `critical`, `error` or `warning`. */
  severity: unchecked<string | undefined>(),
  /** A person has chosen to ignore it. */
  ignored: optional(flag),
});
export type RepairIssue = Of<typeof repairIssue>;

/** Data of `repairs_issue_registry_updated`. */
export const issueEvent = object({
  domain: text,
  /** `<entity id>_<translation key>`. */
  issue_id: text,
});
export type IssueEvent = Of<typeof issueEvent>;

/** Records of the hub's log that were written at one place of its code. */
export const logRecord = object({
  /** The logger. */
  name: text,
  level: text,
  /** Up to five different texts, in the order of their first occurrence. */
  message: list(text),
  /** File and line of the code. */
  source: unchecked<readonly [string, number]>(),
  /** How often one of the texts was logged. */
  count: unchecked<number>(),
  /** When the record was logged first, in seconds since 1970. */
  first_occurred: unchecked<number>(),
  /** When it was logged last, in seconds since 1970. */
  timestamp: unchecked<number>(),
});
export type LogRecord = Of<typeof logRecord>;

const runFields = {
  run_id: text,
  /** `running`, `stopped`, `debugged`. */
  state: text,
  /** How it ended: `finished`, `failed_conditions`, `failed_single`, `error`, `aborted`, … */
  script_execution: optional(nullable(text)),
  /** ISO 8601. */
  timestamp: object({ start: text, finish: nullable(text) }),
  error: optional(nullable(text)),
  /** The trigger of an automation in words. */
  trigger: optional(nullable(text)),
};
/** A run of an automation or script, as the hub remembers it. */
export const runTrace = object(runFields);
export type RunTrace = Of<typeof runTrace>;

/** One execution of a step. Its path is that in the definition, such as `action/0/then/1`. */
const traceStep = object({
  path: text,
  timestamp: text,
  result: optional(nullable(anyObject)),
  error: optional(nullable(text)),
});
export type TraceStep = Of<typeof traceStep>;

export const tracedRun = object({ ...runFields, trace: record(list(traceStep)) });
