import {
  analyticsPreferences,
  coreConfig,
  deviceRegistryUpdated,
  entityRegistryUpdated,
  httpConfig,
  hubState,
  hubUser,
  issueEvent,
  logRecord,
  notification,
  personFields,
  type PersonRecord,
  registryDevice,
  registryEntity,
  type RegistryRecord,
  registryUpdated,
  repairIssue,
  runTrace,
  tokenRecord,
  tracedRun,
  triggerEventData,
  userRecord,
} from './api-types';
import { backupAgent, backupConfig, backupInfo } from './backup-types';
import type { EntityPayload } from './config-entity';
import { configEntry, configSubentry, flowInProgress } from './flow-step';
import {
  type CollectionChanges,
  type CollectionType,
  collectionTypes,
  configRegistryTypes,
  type RegistryPrefix,
} from './registry-types';
import {
  anyObject,
  byType,
  checked,
  flag,
  list,
  nullable,
  number,
  object,
  type Of,
  optional,
  record,
  type Shape,
  text,
  unchecked,
  word,
} from './shape';

// The shapes of all answers and messages of a hub that the operator uses (rules.md, "Answers of another
// form").

export const coreState = object({
  state: hubState,
  recorder_state: optional(object({ migration_in_progress: optional(flag) })),
});
/** The result of the hub's check of its configuration files. The texts may quote the files, including secrets. */
export const configCheck = object({
  result: word<'valid' | 'invalid'>(),
  errors: nullable(text),
  warnings: nullable(text),
});
export type ConfigCheck = Of<typeof configCheck>;
export const components = list(text);
/** The domains of integrations with a config flow. */
export const flowHandlers = list(text);
export const entityPayload: Shape<EntityPayload> = anyObject;
export const onboardingSteps = list(object({ step: text, done: flag }));
/** A zone of the hub's configuration file. */
const yamlZone = object({ entityId: text, name: text });
export type YamlZone = Of<typeof yamlZone>;
export const templateText = text;
export const yamlZones = list(yamlZone);
export const authCode = object({ auth_code: text });
export const uploadedFile = object({ file_id: text });
export const tokens = object({ access_token: text, refresh_token: text });
export const loginStep = byType({
  form: object({ flow_id: text, step_id: text }),
  create_entry: object({ flow_id: text, result: text }),
  abort: object({ reason: text }),
});
export const entityState = object({
  /** The state, such as `on`, `off` or `unavailable`. */
  state: text,
  attributes: anyObject,
  /** Time in ISO 8601. */
  last_updated: text,
  /** The context of the change that led to this state. */
  context: object({ id: text }),
});
export type EntityState = Of<typeof entityState>;

/** The list of persons. Those in `config` are of the hub's YAML, and no command changes them. */
type Persons = Readonly<Record<'storage' | 'config', readonly PersonRecord[]>>;
/** The answers of the registries and collections, which all have the same commands. */
type RegistryAnswers = Readonly<
  Record<`${Exclude<RegistryPrefix, 'person'>}/list`, Shape<readonly RegistryRecord[]>> &
    Record<'person/list', Shape<Persons>> &
    Record<`${RegistryPrefix}/${'create' | 'update'}`, Shape<RegistryRecord>>
>;
const registryAnswers = Object.fromEntries(
  [
    ...configRegistryTypes.map((type) => [`config/${type}_registry`, `${type}_id`] as const),
    ...collectionTypes.map((type) => [type, 'id'] as const),
  ].flatMap(([prefix, idField]) => {
    const entry = object({ name: text, [idField]: text, ...(prefix === 'person' && personFields) });
    const entries = list(entry);
    return [
      [`${prefix}/list`, prefix === 'person' ? object({ storage: entries, config: entries }) : entries],
      [`${prefix}/create`, entry],
      [`${prefix}/update`, entry],
    ];
  }),
) as unknown as RegistryAnswers;

/** A blueprint in the hub's list. It has no metadata if the hub cannot read the file. */
const listedBlueprint = object({ metadata: optional(anyObject) });
const definition = object({ config: entityPayload });
const validatedPart = optional(object({ error: nullable(text) }));

/**
 * The WebSocket commands whose answer the operator uses, with the shape of their `result`. Source:
 * `websocket_api.websocket_command` in Home Assistant's integrations.
 */
export const results = {
  get_config: coreConfig,
  analytics: object({ preferences: analyticsPreferences }),
  /** Duration of the setup of each component in this start of the hub. */
  'integration/setup_info': list(object({ domain: text, seconds: number })),
  /** The services of each domain. */
  get_services: record(anyObject),
  /** Rejected with `not_found` for an unknown integration. */
  'manifest/get': object({
    is_built_in: optional(flag),
    /** Whether the integration allows only one config entry. */
    single_config_entry: optional(flag),
    version: optional(text),
    requirements: optional(list(text)),
  }),
  /** Whether the triggers, conditions and actions are valid, each with the hub's error message if not. */
  validate_config: object({ triggers: validatedPart, conditions: validatedPart, actions: validatedPart }),
  /**
   * The newest records at level WARNING and above: 50 of them, unless the section `system_log:` sets another
   * number.
   */
  'system_log/list': list(logRecord),
  'frontend/get_themes': object({ themes: anyObject }),
  /**
   * Scripts and styles that the dashboards load. Resources without an id are from `configuration.yaml`, which
   * the API cannot change. The commands that change resources exist only in storage mode.
   */
  'lovelace/resources': list(object({ id: optional(text), url: text, type: text })),
  'http/config': httpConfig,
  'http/config/configure': object({ restart: flag }),
  'auth/current_user': hubUser,
  /** The new token, which the hub does not show again. */
  'auth/long_lived_access_token': text,
  'auth/refresh_tokens': list(tokenRecord),
  'config/auth/list': list(userRecord),
  'backup/info': backupInfo,
  'backup/agents/info': object({ agents: list(backupAgent) }),
  'backup/config/info': object({ config: backupConfig }),
  'config/entity_registry/list': list(registryEntity),
  /** Entries by entity id; null if there is no such entity. */
  'config/entity_registry/get_entries': record(nullable(registryEntity)),
  'config/device_registry/list': list(registryDevice),
  /** The hub draws the ids. */
  'config/category_registry/list': list(object({ category_id: text, name: text })),
  'config/category_registry/create': object({ category_id: text }),
  /** Whether new entities are exposed to an assistant by default. */
  'homeassistant/expose_new_entities/get': object({ expose_new: flag }),
  'config_entries/get': list(configEntry),
  'config_entries/flow/progress': list(flowInProgress),
  'config_entries/subentries/list': list(configSubentry),
  /** Texts by path, such as `component.mqtt.config.error.cannot_connect`. */
  'frontend/get_translations': object({ resources: record(text) }),
  'persistent_notification/get': list(notification),
  'repairs/list_issues': object({ issues: list(repairIssue) }),
  'automation/config': definition,
  'script/config': definition,
  /** The runs of an automation or script that the hub has stored, the oldest first. */
  'trace/list': list(runTrace),
  'trace/get': tracedRun,
  /** Blueprints by path. */
  'blueprint/list': record(listedBlueprint),
  'blueprint/save': object({ overrides_existing: flag }),
  /** Ids of the items that use a given item, by type. For the type `automation` the ids are entity ids. */
  'search/related': record(list(text)),
  'blueprint/substitute': object({ substituted_config: entityPayload }),
  ...registryAnswers,
};

/** @throws HubFailed the hub's answer has another shape */
export function checkedResult<T>(command: string, result: T): T {
  const shape = (results as Readonly<Record<string, Shape<unknown>>>)[command];
  return shape ? (checked(command, result, shape) as T) : result;
}

const collectionMessages = Object.fromEntries(
  collectionTypes.map((type) => [
    `${type}/subscribe`,
    list(object({ change_type: word(), [`${type}_id`]: text })),
  ]),
) as unknown as { readonly [T in CollectionType as `${T}/subscribe`]: Shape<CollectionChanges> };

/**
 * The commands that the hub answers with a stream of messages until they are cancelled, with the shape of the
 * messages.
 */
export const messages = {
  /** An event trigger has fired. `id` is the one in the trigger's configuration. */
  subscribe_trigger: object({
    variables: object({ trigger: object({ id: text, event: object({ data: triggerEventData }) }) }),
  }),
  /** `manager_state` is missing in events of a single backup agent. */
  'backup/subscribe_events': object({ manager_state: optional(text) }),
  ...collectionMessages,
  /** The first message has all entries, with `type` null. */
  'config_entries/subscribe': list(
    object({ type: nullable(word<'added' | 'updated' | 'removed'>()), entry: configEntry }),
  ),
  /** Flows that the hub started itself. The first message has all of them, with `type` null. */
  'config_entries/flow/subscribe': list(
    object({ type: nullable(word<'added' | 'removed'>()), flow_id: text, flow: optional(flowInProgress) }),
  ),
};

/** The events to which the operator subscribes by type, with the shape of their data. */
export const events = {
  entity_registry_updated: entityRegistryUpdated,
  device_registry_updated: deviceRegistryUpdated,
  category_registry_updated: object({ scope: text }),
  floor_registry_updated: registryUpdated,
  label_registry_updated: registryUpdated,
  area_registry_updated: registryUpdated,
  repairs_issue_registry_updated: issueEvent,
  /** The event for a reload of a single automation has its id in `id`. */
  call_service: object({
    domain: text,
    service: text,
    service_data: object({ id: unchecked(), entity_id: unchecked() }),
  }),
  component_loaded: object({ component: text }),
  user_added: object({ user_id: text }),
  user_updated: object({ user_id: text }),
  user_removed: object({ user_id: text }),
};

export function eventShape(type: string): Shape<{ readonly data: unknown }> {
  const data = (events as Readonly<Record<string, Shape<object>>>)[type] ?? triggerEventData;
  return object({ data });
}
