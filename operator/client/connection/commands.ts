import type {
  AnalyticsPreferences,
  BackupAgent,
  BackupConfig,
  BackupConfigUpdate,
  BackupInfo,
  CoreConfig,
  CoreConfigUpdate,
  EntityRegistryUpdated,
  HttpConfig,
  HttpSettings,
  HubUser,
  IssueEvent,
  LogRecord,
  PersonRecord,
  RegistryEntity,
  RegistryFields,
  RegistryRecord,
  RegistryUpdated,
  Notification,
  RepairIssue,
  RunTrace,
  TokenRecord,
  TraceStep,
  TriggerMessage,
  UserRecord,
} from './api-types';
import type { CollectionChanges, CollectionType, ConfigRegistryType, RegistryPrefix } from './registry-types';
import type { EntityPayload } from './config-entity';
import type { RequestType } from './errors';
import type { ConfigEntry, ConfigSubentry, FlowInProgress } from './flow-step';

type NoFields = Readonly<Record<string, never>>;
type ValidatedPart = 'triggers' | 'conditions' | 'actions';
type Command<Fields, Result> = { readonly fields: Fields; readonly result: Result };
type Stream<Fields, Message> = { readonly fields: Fields; readonly message: Message };

/**
 * The WebSocket commands whose answer the operator uses: the fields beside `id` and `type`, and the `result` of the answer.
 * Source: `websocket_api.websocket_command` of Home Assistant's integrations.
 */
export interface AnsweredCommands extends RegistryCommands {
  get_config: Command<NoFields, CoreConfig>;
  analytics: Command<NoFields, { readonly preferences: AnalyticsPreferences }>;
  /** How long each component took to be set up in this start of the hub. */
  'integration/setup_info': Command<
    NoFields,
    readonly { readonly domain: string; readonly seconds: number }[]
  >;
  /** The services of each domain. */
  get_services: Command<NoFields, Readonly<Record<string, Readonly<Record<string, unknown>>>>>;
  /** Rejected with `not_found` for an unknown integration. */
  'manifest/get': Command<
    { readonly integration: string },
    {
      readonly is_built_in?: boolean;
      /** The integration allows one entry at most. */
      readonly single_config_entry?: boolean;
      readonly version?: string;
      readonly requirements?: readonly string[];
    }
  >;
  /** Whether the hub accepts each part, and its words if not. */
  validate_config: Command<
    { readonly [Part in ValidatedPart]?: unknown },
    { readonly [Part in ValidatedPart]?: { readonly error: string | null } }
  >;
  /** The newest records at WARNING and above, 50 unless `system_log:` says otherwise. */
  'system_log/list': Command<NoFields, readonly LogRecord[]>;
  'frontend/get_themes': Command<NoFields, { readonly themes: Readonly<Record<string, unknown>> }>;
  /** Scripts and styles that the dashboards load. The commands that change them exist only in storage mode. */
  'lovelace/resources': Command<
    NoFields,
    readonly { readonly id?: string; readonly url: string; readonly type: string }[]
  >;
  'http/config': Command<NoFields, HttpConfig>;
  'http/config/configure': Command<{ readonly config: HttpSettings }, { readonly restart: boolean }>;
  'auth/current_user': Command<NoFields, HubUser>;
  /** `lifespan` in days. The result is the token, which the hub never shows again. */
  'auth/long_lived_access_token': Command<
    { readonly client_name: string; readonly lifespan: number },
    string
  >;
  'auth/refresh_tokens': Command<NoFields, TokenRecord[]>;
  'config/auth/list': Command<NoFields, UserRecord[]>;
  'person/list': Command<NoFields, { readonly storage: PersonRecord[] }>;
  'backup/info': Command<NoFields, BackupInfo>;
  'backup/agents/info': Command<NoFields, { readonly agents: readonly BackupAgent[] }>;
  'backup/config/info': Command<NoFields, { readonly config: BackupConfig }>;
  'config/entity_registry/list': Command<NoFields, RegistryEntity[]>;
  /** By entity id; null: no such entity. */
  'config/entity_registry/get_entries': Command<
    { readonly entity_ids: readonly string[] },
    Readonly<Record<string, RegistryEntity | null>>
  >;
  'config_entries/get': Command<NoFields, readonly ConfigEntry[]>;
  'config_entries/flow/progress': Command<NoFields, readonly FlowInProgress[]>;
  'config_entries/subentries/list': Command<{ readonly entry_id: string }, readonly ConfigSubentry[]>;
  /** Texts by their path, such as `component.mqtt.config.error.cannot_connect`. */
  'frontend/get_translations': Command<
    { readonly language: string; readonly category: string; readonly integration: string },
    { readonly resources: Readonly<Record<string, string>> }
  >;
  'persistent_notification/get': Command<NoFields, readonly Notification[]>;
  'repairs/list_issues': Command<NoFields, { readonly issues: readonly RepairIssue[] }>;
  'automation/config': Command<{ readonly entity_id: string }, { readonly config: EntityPayload }>;
  'script/config': Command<{ readonly entity_id: string }, { readonly config: EntityPayload }>;
  /** The runs of an automation or script that the hub keeps, oldest first. */
  'trace/list': Command<
    { readonly domain: 'automation' | 'script'; readonly item_id: string },
    readonly RunTrace[]
  >;
  'trace/get': Command<
    { readonly domain: 'automation' | 'script'; readonly item_id: string; readonly run_id: string },
    RunTrace & { readonly trace: Readonly<Record<string, readonly TraceStep[]>> }
  >;
  /** By path. */
  'blueprint/list': Command<
    { readonly domain: 'automation' | 'script' },
    Readonly<Record<string, Readonly<Record<string, unknown>>>>
  >;
  /** Entity ids by domain, of what uses an item. */
  'search/related': Command<
    { readonly item_type: 'automation_blueprint' | 'script_blueprint'; readonly item_id: string },
    Readonly<Record<string, readonly string[]>>
  >;
  'blueprint/substitute': Command<
    { readonly domain: 'automation' | 'script'; readonly path: string; readonly input: object },
    { readonly substituted_config: EntityPayload }
  >;
}

/** Also those whose answer is not used. */
export interface Commands extends AnsweredCommands, RegistryDeletions {
  'config/core/update': Command<CoreConfigUpdate, void>;
  'analytics/preferences': Command<{ readonly preferences: AnalyticsPreferences }, void>;
  'lovelace/resources/create': Command<{ readonly res_type: 'module'; readonly url: string }, unknown>;
  'lovelace/resources/update': Command<
    { readonly resource_id: string; readonly res_type: 'module'; readonly url: string },
    unknown
  >;
  'lovelace/resources/delete': Command<{ readonly resource_id: string }, unknown>;
  'http/config/promote': Command<NoFields, void>;
  'auth/delete_refresh_token': Command<{ readonly refresh_token_id: string }, void>;
  'config/auth/delete': Command<{ readonly user_id: string }, void>;
  'config/auth_provider/homeassistant/delete': Command<{ readonly username: string }, void>;
  'config/auth_provider/homeassistant/admin_change_username': Command<
    { readonly user_id: string; readonly username: string },
    void
  >;
  /** Device trackers that are left out are reset; the other fields stay. */
  'person/update': Command<
    { readonly person_id: string; readonly user_id: string; readonly device_trackers: readonly string[] },
    void
  >;
  'person/delete': Command<{ readonly person_id: string }, void>;
  'backup/config/update': Command<BackupConfigUpdate, void>;
  'config/entity_registry/remove': Command<{ readonly entity_id: string }, void>;
  'config/entity_registry/update': Command<
    {
      readonly entity_id: string;
      readonly disabled_by?: 'user' | null;
      readonly new_entity_id?: string;
      /** Replaces all labels of the entity. */
      readonly labels?: readonly string[];
    },
    void
  >;
  'config_entries/update': Command<{ readonly entry_id: string; readonly title: string }, unknown>;
  'config_entries/disable': Command<
    { readonly entry_id: string; readonly disabled_by: 'user' | null },
    unknown
  >;
  'config_entries/subentries/update': Command<
    { readonly entry_id: string; readonly subentry_id: string; readonly title: string },
    void
  >;
  'config_entries/subentries/delete': Command<
    { readonly entry_id: string; readonly subentry_id: string },
    void
  >;
}

/** All registries and collections have the same commands. `update` and `delete` have the id in `<type>_id`. */
export type RegistryCommands = Readonly<
  Record<`${RegistryPrefix}/list`, Command<NoFields, readonly RegistryRecord[]>> &
    Record<`${RegistryPrefix}/${'create' | 'update'}`, Command<RegistryFields, RegistryRecord>>
>;
type RegistryDeletions = Readonly<Record<`${RegistryPrefix}/delete`, Command<RegistryFields, unknown>>>;

type RegistryEvents = Readonly<Record<`${ConfigRegistryType}_registry_updated`, RegistryUpdated>>;

/** The last part of the names of the commands that change something; the others, subscriptions and pings only ask. */
const WRITES =
  /\/(create|update|delete|remove|delete_refresh_token|admin_change_username|long_lived_access_token|preferences)$/;

export const requestTypeOf = (type: string): RequestType => (WRITES.test(type) ? 'write' : 'read');

export type CollectionStreams = {
  readonly [T in CollectionType as `${T}/subscribe`]: Stream<NoFields, CollectionChanges>;
};

/** The commands that the hub answers with a stream of messages until they are cancelled. */
export interface Streams extends CollectionStreams {
  subscribe_trigger: Stream<{ readonly trigger: readonly object[] }, TriggerMessage>;
  /** `manager_state` is missing in events of a single backup agent. */
  'backup/subscribe_events': Stream<NoFields, { readonly manager_state?: string }>;
  /** The first message has all entries, with `type` null. */
  'config_entries/subscribe': Stream<
    NoFields,
    readonly { readonly type: 'added' | 'updated' | 'removed' | null; readonly entry: ConfigEntry }[]
  >;
  /** Flows that the hub started itself. The first message has all of them, with `type` null. */
  'config_entries/flow/subscribe': Stream<
    NoFields,
    readonly {
      readonly type: 'added' | 'removed' | null;
      readonly flow_id: string;
      readonly flow?: FlowInProgress;
    }[]
  >;
}

/** The events that the operator subscribes to by name, with their data. */
export interface EventsWithData extends RegistryEvents {
  entity_registry_updated: EntityRegistryUpdated;
  repairs_issue_registry_updated: IssueEvent;
  call_service: {
    readonly domain: string;
    readonly service: string;
    /** A reload of one automation names it in `id`. */
    readonly service_data: { readonly id?: unknown; readonly entity_id?: unknown };
  };
  component_loaded: { readonly component: string };
}

/** Also those whose data is not used. */
export interface Events extends EventsWithData {
  homeassistant_started: object;
  automation_reloaded: object;
  device_registry_updated: object;
  scene_reloaded: object;
  service_registered: object;
  service_removed: object;
}

export type CommandFields<K extends keyof Commands> = Commands[K]['fields'];
export type CommandResult<K extends keyof Commands> = Commands[K]['result'];
export type StreamFields<K extends keyof Streams> = Streams[K]['fields'];
export type StreamMessage<K extends keyof Streams> = Streams[K]['message'];

/** What follows the command's name: its fields, which are left out only if the command has none. */
export type CommandArguments<K extends keyof Commands, Options> =
  NoFields extends CommandFields<K>
    ? [fields?: CommandFields<K>, options?: Options]
    : [fields: CommandFields<K>, options?: Options];
