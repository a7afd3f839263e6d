/**
 * The objects of the hub's API, with the fields that the operator uses: keys and values are those on the
 * wire. Each type is derived from the shape that answers are checked against. Source: the Home Assistant
 * integrations of the same name (`config`, `auth`, `http`, `person`, `analytics`).
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
  unchecked,
  word,
} from './shape';

export const hubState = word<'NOT_RUNNING' | 'STARTING' | 'RUNNING' | 'STOPPING' | 'FINAL_WRITE'>();

/** The hub's core configuration and state (`get_config`). */
export const coreConfig = object({
  version: text,
  state: hubState,
  /**
   * True if the hub could not load its configuration. Its API answers, but registries and entities appear
   * empty: nothing may be written.
   */
  recovery_mode: flag,
  /** True if the hub was started without custom integrations. */
  safe_mode: flag,
  components: unchecked<readonly string[]>(),
  config_source: unchecked<'default' | 'storage' | 'yaml'>(),
  location_name: unchecked<string>(),
  latitude: unchecked<number>(),
  longitude: unchecked<number>(),
  elevation: unchecked<number>(),
  radius: unchecked<number>(),
  /** Units by quantity. `length` is `km` in the metric system and `mi` in the US customary system. */
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

/**
 * An update of {@link CoreConfig}; an omitted key keeps its value. `elevation`, and `radius` of the home
 * zone, are in metres.
 */
export type CoreConfigUpdate = Partial<
  Pick<CoreConfig, Setting | 'language' | 'internal_url' | 'external_url'>
> & {
  readonly unit_system?: 'metric' | 'us_customary';
  /** Once set, the country can be changed but not removed. */
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

/**
 * A refresh token of the user, without the token itself: of a login, or of a long-lived token. Times are ISO
 * 8601.
 */
export const tokenRecord = object({
  id: text,
  type: unchecked<'normal' | 'long_lived_access_token' | 'system'>(),
  /** URL of the web page or program that logged in; null for a long-lived token. */
  client_id: unchecked<string | null>(),
  client_name: nullable(text),
  created_at: unchecked<string>(),
  is_current: flag,
});
export type TokenRecord = Of<typeof tokenRecord>;

/**
 * A text field in which some integrations put a number or nothing. Such values can be part of a message too.
 */
const nearlyText = <T extends string | null>(): Shape<T> => scalar as Shape<never>;

/** An entry of the hub's entity registry. */
export const registryEntity = object({
  entity_id: text,
  /** The entry keeps this id when the entity gets another entity id. */
  id: optional(text),
  unique_id: unchecked<string>(),
  /** The integration that provides the entity. */
  platform: text,
  /**
   * Who disabled the entity: `user`, `integration`, …; null if it is enabled. A disabled entity has no state.
   */
  disabled_by: nearlyText<string | null>(),
  /** Name and icon from the definition, without the user's changes. */
  original_name: unchecked<string | null>(),
  original_icon: unchecked<string | null | undefined>(),
  /** Label ids. */
  labels: optional(list(text)),
  config_entry_id: unchecked<string | null | undefined>(),
  /** Who hid the entity: `user`, `integration`, …. Automatic dashboards do not show a hidden entity. */
  hidden_by: unchecked<string | null | undefined>(),
  /** `config` or `diagnostic` for an entity that is not a main entity of its device. */
  entity_category: unchecked<string | null | undefined>(),
});
export type RegistryEntity = Of<typeof registryEntity>;

const maybeText = optional(nullable(text));

/**
 * A value that an integration sets and that the hub does not check, such as a number or a list. Any value is
 * accepted, since one unusual entry must not make all others unreadable.
 */
const ofIntegration = unchecked();

/** An entry of the hub's entity registry with its settings (`config/entity_registry/get_entries`). */
export const detailedEntity = object({
  entity_id: text,
  /** Id of the registry entry, which does not change with the entity id. */
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
  /** A null in the list stands for the entity's name. */
  aliases: list(nullable(text)),
  hidden_by: maybeText,
  disabled_by: maybeText,
  device_class: maybeText,
  /** Ids by scope. */
  categories: unchecked<Readonly<Record<string, unknown>> | null | undefined>(),
  /** By domain or assistant. The options of locks and alarm panels contain codes. */
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
  /** Pairs of integration and id. Some integrations use more parts, or numbers. */
  identifiers: ofIntegration,
  /** Pairs of type and address. A device that is part of another one has none. */
  connections: ofIntegration,
  /** A hub of 2025 lists several config entries for a device; a later one has a single id. */
  config_entries: optional(list(text)),
  config_entry_id: maybeText,
});
export type RegistryDevice = Of<typeof registryDevice>;

/**
 * Fields of a registry entry. Null clears a field, except in a zone. Lists are replaced as a whole, and the
 * hub does not keep their order.
 */
export type RegistryFields = Readonly<Record<string, RegistryValue>>;
export type RegistryValue = string | number | boolean | readonly string[] | readonly object[] | null;

/**
 * An entry of a registry or a collection, with its id in `<type>_id`. In collections the hub itself calls
 * that field `id`.
 */
export interface RegistryRecord {
  readonly name: string;
  readonly [field: string]: unknown;
}

/** Data of the event `<type>_registry_updated`; the action `reorder` has no id. */
export const registryUpdated = object({
  action: word<'create' | 'update' | 'remove' | 'reorder'>(),
  floor_id: optional(text),
  label_id: optional(text),
  area_id: optional(nullable(text)),
});
export type RegistryUpdated = Of<typeof registryUpdated>;

/** Data of the event `device_registry_updated`. */
export const deviceRegistryUpdated = object({ action: text, device_id: optional(text) });

/** Data of the event `entity_registry_updated`. */
export const entityRegistryUpdated = object({
  action: word<'create' | 'update' | 'remove'>(),
  entity_id: text,
  /** The previous entity id, if it was changed. */
  old_entity_id: optional(text),
  /** The previous values of the fields that an `update` changed. */
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
  /** Addresses or networks in CIDR notation. */
  trusted_proxies: optional(list(text)),
  /** Number of failed logins after which an address is banned; -1 disables the ban. */
  login_attempts_threshold: unchecked<number | undefined>(),
  ip_ban_enabled: optional(flag),
  use_x_frame_options: optional(flag),
};
export type HttpSettings = OfFields<typeof httpSettings>;

/** Settings with the hub's metadata about them. */
const httpSlot = object({
  ...httpSettings,
  created_at: unchecked<string | undefined>(),
  /** Error key: `apply_failed` or `not_promoted` if the settings were tried and discarded. */
  error: optional(nullable(text)),
  error_message: optional(nullable(text)),
});
export type HttpSlot = Of<typeof httpSlot>;

/** The web server's settings in three slots; null if a slot is empty. */
export const httpConfig = object({
  stable: nullable(httpSlot),
  /** Settings on trial, which the hub reverts after five minutes unless they are promoted. */
  pending: nullable(httpSlot),
  default: nullable(httpSlot),
  /** The slot with which the server was started. */
  active_config_type: unchecked<'stable' | 'pending' | 'default' | 'default_legacy_port'>(),
});
export type HttpConfig = Of<typeof httpConfig>;

/** A user as an administrator sees it. */
export const userRecord = object({
  id: text,
  /** User name in the auth provider `homeassistant`; null if the user has another auth provider. */
  username: nullable(text),
  is_owner: flag,
  /** Whether this is an internal user of the hub, without a login. */
  system_generated: flag,
});
export type UserRecord = Of<typeof userRecord>;

/** The fields of a person that the operator reads, besides id and name. */
export const personFields = {
  /** Id of the person's user; null or absent if the person has no login. */
  user_id: optional(nullable(text)),
  device_trackers: optional(list(text)),
};
export type PersonRecord = RegistryRecord & {
  readonly [Field in keyof typeof personFields]?: Of<(typeof personFields)[Field]>;
};

/** Data of the events that fire the operator's triggers. */
export const triggerEventData = object({
  /** Field of the event `device_registry_updated`. */
  action: optional(text),
  domain: optional(text),
  service: optional(text),
  component: optional(text),
  service_data: optional(object({ id: unchecked() })),
  /** Fields of the events of states and registries: the id of what they are about. */
  entity_id: optional(text),
  old_entity_id: optional(text),
  device_id: optional(text),
  area_id: optional(text),
  label_id: optional(text),
  floor_id: optional(text),
});
export type TriggerEventData = Of<typeof triggerEventData>;

/**
 * A notification that the hub shows to all users who are logged in, until one of them dismisses it or the hub
 * restarts.
 */
export const notification = object({
  notification_id: text,
  message: text,
  /** Time in ISO 8601. */
  created_at: text,
});
export type Notification = Of<typeof notification>;

/** An issue of the `repairs` integration. */
export const repairIssue = object({
  domain: text,
  issue_id: text,
  translation_key: text,
  translation_placeholders: nullable(record(scalar)),
  /** Severity: `critical`, `error` or `warning`. */
  severity: unchecked<string | undefined>(),
  /** Whether a user has chosen to ignore the issue. */
  ignored: optional(flag),
});
export type RepairIssue = Of<typeof repairIssue>;

/** Data of `repairs_issue_registry_updated`. */
export const issueEvent = object({
  domain: text,
  /** Id of the issue: `<entity id>_<translation key>`. */
  issue_id: text,
});
export type IssueEvent = Of<typeof issueEvent>;

/** The log records of the hub that come from one place in its code. */
export const logRecord = object({
  /** Name of the logger. */
  name: text,
  level: text,
  /** Up to five different texts, in order of their first occurrence. */
  message: list(text),
  /** File and line of the code. */
  source: unchecked<readonly [string, number]>(),
  /** Number of times that any of the texts was logged. */
  count: unchecked<number>(),
  /** Time of the first record, in seconds since 1970. */
  first_occurred: unchecked<number>(),
  /** Time of the last record, in seconds since 1970. */
  timestamp: unchecked<number>(),
});
export type LogRecord = Of<typeof logRecord>;

const runFields = {
  run_id: text,
  /** `running`, `stopped` or `debugged`. */
  state: text,
  /** How the run ended: `finished`, `failed_conditions`, `failed_single`, `error`, `aborted`, … */
  script_execution: optional(nullable(text)),
  /** Times in ISO 8601. */
  timestamp: object({ start: text, finish: nullable(text) }),
  error: optional(nullable(text)),
  /** Description of the trigger of an automation. */
  trigger: optional(nullable(text)),
};
/** A run of an automation or script that the hub has stored. */
export const runTrace = object(runFields);
export type RunTrace = Of<typeof runTrace>;

/** One execution of a step. `path` is the place of the step in the definition, such as `action/0/then/1`. */
const traceStep = object({
  path: text,
  timestamp: text,
  result: optional(nullable(anyObject)),
  error: optional(nullable(text)),
});
export type TraceStep = Of<typeof traceStep>;

export const tracedRun = object({ ...runFields, trace: record(list(traceStep)) });
