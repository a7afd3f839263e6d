import type { AnalyticsPreferences, CoreConfigUpdate, HttpSettings, RegistryFields } from './api-types';
import type { BackupConfigUpdate } from './backup-types';
import type { events, messages, results } from './answers';
import type { BlueprintDomain, ConfigEntityKind } from './config-entity';
import type { RequestType } from './errors';
import type { CategoryScope, CollectionType, RegistryPrefix } from './registry-types';
import type { Of } from './shape';

type NoFields = Readonly<Record<string, never>>;
type Command<Fields, Result> = { readonly fields: Fields; readonly result: Result };

/**
 * The fields, other than `id` and `type`, of the commands whose answer the operator uses. Commands that are
 * not listed have none.
 */
interface FieldsOfAnswered extends RegistryFieldsOf<'create' | 'update'> {
  'manifest/get': { readonly integration: string };
  validate_config: { readonly [Part in 'triggers' | 'conditions' | 'actions']?: unknown };
  'http/config/configure': { readonly config: HttpSettings };
  /** `lifespan` is in days. */
  'auth/long_lived_access_token': { readonly client_name: string; readonly lifespan: number };
  'config/entity_registry/get_entries': { readonly entity_ids: readonly string[] };
  'config/category_registry/list': { readonly scope: CategoryScope };
  'config/category_registry/create': { readonly scope: CategoryScope; readonly name: string };
  'homeassistant/expose_new_entities/get': { readonly assistant: string };
  'config_entries/subentries/list': { readonly entry_id: string };
  'frontend/get_translations': {
    readonly language: string;
    readonly category: string;
    readonly integration: string;
  };
  'automation/config': { readonly entity_id: string };
  'script/config': { readonly entity_id: string };
  'trace/list': { readonly domain: 'automation' | 'script'; readonly item_id: string };
  'trace/get': {
    readonly domain: 'automation' | 'script';
    readonly item_id: string;
    readonly run_id: string;
  };
  'blueprint/list': { readonly domain: BlueprintDomain };
  'blueprint/save': {
    readonly domain: BlueprintDomain;
    readonly path: string;
    readonly yaml: string;
    readonly source_url?: string;
    readonly allow_override: boolean;
  };
  'search/related': {
    readonly item_type: 'automation_blueprint' | 'script_blueprint' | 'entity' | ConfigEntityKind;
    readonly item_id: string;
  };
  'blueprint/substitute': {
    readonly domain: BlueprintDomain;
    readonly path: string;
    readonly input: object;
  };
}

/** Fields of the registry commands. `update` and `delete` also have the id, in `<type>_id`. */
type RegistryFieldsOf<Action extends string> = Readonly<
  Record<`${RegistryPrefix}/${Action}`, RegistryFields>
>;

type AnsweredCommands = {
  readonly [K in keyof typeof results]: Command<
    K extends keyof FieldsOfAnswered ? FieldsOfAnswered[K] : NoFields,
    Of<(typeof results)[K]>
  >;
};
export type RegistryCommands = Pick<AnsweredCommands, `${RegistryPrefix}/${'list' | 'create' | 'update'}`>;
type RegistryDeletions = Readonly<Record<`${RegistryPrefix}/delete`, Command<RegistryFields, unknown>>>;

/** All commands, including those whose answer is not used. */
export interface Commands extends AnsweredCommands, RegistryDeletions {
  'config/core/update': Command<CoreConfigUpdate, void>;
  'blueprint/delete': Command<{ readonly domain: BlueprintDomain; readonly path: string }, unknown>;
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
  'backup/config/update': Command<BackupConfigUpdate, void>;
  'config/entity_registry/remove': Command<{ readonly entity_id: string }, void>;
  'config/entity_registry/update': Command<EntityUpdate, unknown>;
  'config/device_registry/update': Command<DeviceUpdate, unknown>;
  'homeassistant/expose_entity': Command<
    {
      readonly assistants: readonly string[];
      readonly entity_ids: readonly string[];
      readonly should_expose: boolean;
    },
    unknown
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

/** An omitted key keeps its value; null clears a value. Labels and aliases are replaced as a whole. */
interface EntityUpdate {
  readonly entity_id: string;
  readonly name?: string | null;
  readonly icon?: string | null;
  readonly area_id?: string | null;
  readonly labels?: readonly string[];
  /** Category ids by scope. Null removes one. Scopes that are left out stay. */
  readonly categories?: Readonly<Partial<Record<CategoryScope, string | null>>>;
  /** A null in the list stands for the entity's name. */
  readonly aliases?: readonly (string | null)[];
  readonly device_class?: string | null;
  readonly hidden_by?: 'user' | null;
  /** Null enables the entity, unless its device or config entry is disabled. */
  readonly disabled_by?: 'user' | null;
  readonly new_entity_id?: string;
  /** The domain whose options are replaced as a whole; null for `options` removes them. */
  readonly options_domain?: string;
  readonly options?: Readonly<Record<string, unknown>> | null;
}

/** An omitted key keeps its value, as in {@link EntityUpdate}. */
interface DeviceUpdate {
  readonly device_id: string;
  readonly name_by_user?: string | null;
  readonly area_id?: string | null;
  readonly labels?: readonly string[];
  readonly disabled_by?: 'user' | null;
}

/**
 * The last part of the names of commands that change something. Other commands, subscriptions and pings only
 * read.
 */
const WRITES =
  /\/(create|save|update|delete|remove|expose_entity|delete_refresh_token|admin_change_username|long_lived_access_token|preferences)$/;

export const requestTypeOf = (type: string): RequestType => (WRITES.test(type) ? 'write' : 'read');

export type Streams = typeof messages;
export type CollectionStreams = Pick<Streams, `${CollectionType}/subscribe`>;

type EventsWithData = { readonly [K in keyof typeof events]: Of<(typeof events)[K]> };

/** All events, including those whose data is not used. */
export interface Events extends EventsWithData {
  homeassistant_started: object;
  automation_reloaded: object;
  scene_reloaded: object;
  service_registered: object;
  service_removed: object;
}

export type CommandFields<K extends keyof Commands> = Commands[K]['fields'];
export type CommandResult<K extends keyof Commands> = Commands[K]['result'];
export type StreamFields<K extends keyof Streams> = K extends 'subscribe_trigger'
  ? { readonly trigger: readonly object[] }
  : NoFields;
export type StreamMessage<K extends keyof Streams> = Of<Streams[K]>;

/** The arguments after the command's name. The fields may be omitted only if the command has none. */
export type CommandArguments<K extends keyof Commands, Options> =
  NoFields extends CommandFields<K>
    ? [fields?: CommandFields<K>, options?: Options]
    : [fields: CommandFields<K>, options?: Options];
