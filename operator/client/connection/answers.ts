import type {
  BackupConfig,
  BackupInfo,
  CoreConfig,
  HttpConfig,
  HttpSlot,
  RegistryEntity,
  RegistryRecord,
  RegistryUpdated,
  RunTrace,
  TraceStep,
  TriggerEventData,
} from './api-types';
import type {
  AnsweredCommands,
  CollectionStreams,
  CommandResult,
  Commands,
  Events,
  EventsWithData,
  RegistryCommands,
  StreamMessage,
  Streams,
} from './commands';
import type { EntityPayload } from './config-entity';
import type { ConfigEntry, FlowInProgress, FlowStep, FormField, Placeholders } from './flow-step';
import { type CollectionChanges, collectionTypes, configRegistryTypes } from './registry-types';
import {
  type Fields,
  anything,
  byType,
  checked,
  fieldName,
  length,
  list,
  nullable,
  number,
  object,
  optional,
  record,
  scalar,
  type Shape,
  text,
  time,
  word,
} from './shape';

// The forms of all answers and messages of a hub that the operator uses (rules.md, "Answers of another form").

const settings = {
  location_name: anything,
  latitude: anything,
  longitude: anything,
  elevation: anything,
  radius: anything,
  time_zone: anything,
  currency: anything,
  country: anything,
  language: anything,
  internal_url: anything,
  external_url: anything,
};
export const coreConfig = object<CoreConfig>({
  ...settings,
  version: text,
  state: word,
  components: anything,
  config_source: anything,
  unit_system: record(text),
});
export const coreState = object<{
  readonly state: CoreConfig['state'];
  readonly recorder_state?: { readonly migration_in_progress?: boolean };
}>({ state: word, recorder_state: optional(object()) });
/** The result of the hub's check of its configuration files. The texts may quote the files, including secrets. */
export interface ConfigCheck {
  readonly result: 'valid' | 'invalid';
  readonly errors: string | null;
  readonly warnings: string | null;
}
export const configCheck = object<ConfigCheck>({
  result: word,
  errors: nullable(text),
  warnings: nullable(text),
});
export const components = list(text);
export const entityPayload: Shape<EntityPayload> = object<EntityPayload>();
export const onboardingSteps = list(
  object<{ readonly step: string; readonly done: boolean }>({ step: text }),
);
/** A zone of the hub's configuration file. */
export interface YamlZone {
  readonly entityId: string;
  readonly name: string;
}
export const templateText = text;
export const yamlZones = list(object<YamlZone>({ entityId: text, name: text }));
export const authCode = object<{ readonly auth_code: string }>({ auth_code: text });
export const uploadedFile = object<{ readonly file_id: string }>({ file_id: text });

export const tokens = object<{ readonly access_token: string; readonly refresh_token: string }>({
  access_token: text,
  refresh_token: text,
});

type LoginStep =
  | { readonly type: 'form'; readonly flow_id: string; readonly step_id: string }
  | { readonly type: 'create_entry'; readonly flow_id: string; readonly result: string }
  | { readonly type: 'abort'; readonly reason: string };
export const loginStep = byType<LoginStep>({
  form: object({ flow_id: text, step_id: text }),
  create_entry: object({ flow_id: text, result: text }),
  abort: object({ reason: text }),
});

export interface EntityState {
  /** `on`, `off`, `unavailable`, … */
  readonly state: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** ISO 8601. */
  readonly last_updated: string;
  /** The context of the change that led to this state. */
  readonly context: { readonly id: string };
}
export const entityState = object<EntityState>({
  state: text,
  attributes: object(),
  last_updated: text,
  context: object({ id: text }),
});

const runTrace = object<RunTrace>({
  run_id: text,
  state: text,
  script_execution: optional(nullable(text)),
  timestamp: object({ start: text, finish: nullable(text) }),
  error: optional(nullable(text)),
  trigger: optional(nullable(text)),
});
const traceStep = object<TraceStep>({
  path: text,
  timestamp: text,
  result: optional(nullable(object())),
  error: optional(nullable(text)),
});
const configEntry = object<ConfigEntry>({
  entry_id: text,
  domain: text,
  title: text,
  source: text,
  state: text,
  disabled_by: nullable(text),
  reason: nullable(text),
  supported_subentry_types: optional(record(object())),
  error_reason_translation_key: optional(nullable(text)),
  created_at: optional(number),
  modified_at: optional(number),
});
const flowInProgress = object<FlowInProgress>({
  flow_id: text,
  handler: text,
  context: object({
    source: text,
    entry_id: optional(text),
    title_placeholders: optional(record(scalar)),
  }),
});

const limit = optional(nullable(number));
const formField: Shape<FormField> = (value) => formFieldShape(value);
const formFieldShape = object<FormField>({
  name: fieldName,
  description: anything,
  type: optional(text),
  options: anything,
  schema: optional(list(formField)),
  valueMin: limit,
  valueMax: limit,
  lengthMin: optional(nullable(length)),
  lengthMax: optional(nullable(length)),
  selector: optional(record(nullable(object({ min: limit, max: limit })))),
});
/** A schema that is no mapping is shown as an object. */
const formFields: Shape<readonly FormField[] | null> = (value) =>
  Array.isArray(value) ? list(formField)(value) : undefined;
const placeholders: Shape<Placeholders | undefined> = optional(nullable(record(scalar)));
const openStep = { flow_id: text, step_id: text, description_placeholders: placeholders };
export const flowStep = byType<FlowStep>({
  form: object({ ...openStep, data_schema: formFields, errors: optional(nullable(record(text))) }),
  menu: object({
    ...openStep,
    menu_options: (value) => (Array.isArray(value) ? list(text) : object())(value),
  }),
  external: object(openStep),
  external_done: object(openStep),
  progress: object(openStep),
  progress_done: object(openStep),
  create_entry: object({ flow_id: text, result: optional(configEntry) }),
  abort: object({
    flow_id: text,
    reason: text,
    description_placeholders: placeholders,
    translation_domain: optional(text),
  }),
});

/** Entities of other integrations may have a number or nothing there, which can stand in a text all the same. */
const nearlyText: Shape<never> = (value) => scalar(value);
const entity = object<RegistryEntity>({
  entity_id: text,
  unique_id: nearlyText,
  platform: text,
  disabled_by: nearlyText,
  original_name: anything,
  original_icon: anything,
  labels: optional(list(text)),
  config_entry_id: anything,
});
const httpSlot = nullable(
  object<HttpSlot>({
    server_host: anything,
    server_port: (value) => optional(nullable(number))(value),
    ssl_certificate: anything,
    ssl_key: anything,
    ssl_peer_certificate: anything,
    ssl_profile: optional(text),
    cors_allowed_origins: anything,
    trusted_proxies: optional(list(text)),
    login_attempts_threshold: anything,
    created_at: anything,
    error: optional(nullable(text)),
    error_message: optional(nullable(text)),
  }),
);
const moment = nullable(time);
const running = object<{ readonly config: EntityPayload }>({ config: entityPayload });
const registryAnswers = Object.fromEntries(
  [
    ...configRegistryTypes.map((type) => [`config/${type}_registry`, `${type}_id`] as const),
    ...collectionTypes.map((type) => [type, 'id'] as const),
  ].flatMap(([prefix, idField]) => {
    const entry = object<RegistryRecord>({ name: text, [idField]: text });
    return [
      [`${prefix}/list`, list(entry)],
      [`${prefix}/create`, entry],
      [`${prefix}/update`, entry],
    ] as const;
  }),
) as { readonly [K in keyof RegistryCommands]: Shape<CommandResult<K>> };

const triggerEventData = object<TriggerEventData>({
  action: optional(text),
  domain: optional(text),
  service: optional(text),
  component: optional(text),
  service_data: optional(object()),
});

const validatedPart = object<{ readonly error: string | null }>({ error: nullable(text) });

export const results: { readonly [K in keyof AnsweredCommands]: Shape<CommandResult<K>> } = {
  get_config: coreConfig,
  analytics: object({ preferences: object() }),
  'integration/setup_info': list(object({ domain: text, seconds: number })),
  get_services: record(object()),
  'manifest/get': object({
    version: optional(text),
    requirements: optional(list(text)),
  }),
  validate_config: object({
    triggers: optional(validatedPart),
    conditions: optional(validatedPart),
    actions: optional(validatedPart),
  }),
  'system_log/list': list(
    object({
      name: text,
      level: text,
      message: list(text),
      source: anything,
      count: anything,
      first_occurred: anything,
    }),
  ),
  'frontend/get_themes': object({ themes: object() }),
  'lovelace/resources': list(object({ id: optional(text), url: text, type: text })),
  'http/config': object<HttpConfig>({
    stable: httpSlot,
    pending: httpSlot,
    default: httpSlot,
    active_config_type: anything,
  }),
  'http/config/configure': object(),
  'auth/current_user': object({ id: text, name: nullable(text) }),
  'auth/long_lived_access_token': text,
  'auth/refresh_tokens': list(
    object({
      id: text,
      type: anything,
      client_id: anything,
      client_name: nullable(text),
      created_at: anything,
    }),
  ),
  'config/auth/list': list(object({ id: text, username: nullable(text) })),
  'person/list': object({
    storage: list(
      object({ id: text, user_id: optional(nullable(text)), device_trackers: optional(list(text)) }),
    ),
  }),
  'backup/info': object<BackupInfo>({ state: text, backups: anything }),
  'backup/agents/info': object({ agents: list(object({ agent_id: text, name: text })) }),
  'backup/config/info': object({
    config: object<BackupConfig>({
      create_backup: object({ agent_ids: list(text), password: nullable(text) }),
      schedule: object({ recurrence: anything, days: list(word), time: anything }),
      retention: object({ copies: anything, days: anything }),
      last_attempted_automatic_backup: moment,
      last_completed_automatic_backup: moment,
      next_automatic_backup: moment,
    }),
  }),
  'config/entity_registry/list': list(entity),
  'config/entity_registry/get_entries': record(nullable(entity)),
  'config_entries/get': list(configEntry),
  'config_entries/flow/progress': list(flowInProgress),
  'config_entries/subentries/list': list(object({ subentry_id: text, subentry_type: text, title: text })),
  'frontend/get_translations': object({ resources: record(text) }),
  'persistent_notification/get': list(object({ notification_id: text, message: text, created_at: text })),
  'repairs/list_issues': object({
    issues: list(
      object({
        domain: text,
        issue_id: text,
        translation_key: text,
        translation_placeholders: nullable(record(scalar)),
        severity: anything,
      }),
    ),
  }),
  'automation/config': running,
  'script/config': running,
  'trace/list': list(runTrace),
  'trace/get': object({
    run_id: text,
    state: text,
    script_execution: optional(nullable(text)),
    timestamp: object({ start: text, finish: nullable(text) }),
    error: optional(nullable(text)),
    trigger: optional(nullable(text)),
    trace: record(list(traceStep)),
  }),
  'blueprint/list': record(object()),
  'search/related': record(list(text)),
  'blueprint/substitute': object({ substituted_config: entityPayload }),
  ...registryAnswers,
};

/** @throws HubFailed the hub answered in another form */
export function checkedResult<K extends keyof Commands>(
  command: K,
  result: CommandResult<K>,
): CommandResult<K> {
  const shape = (results as Partial<Record<keyof Commands, Shape<unknown>>>)[command];
  return shape ? checked(command, result, shape) : result;
}

const collectionMessages = Object.fromEntries(
  collectionTypes.map((type): [string, Shape<CollectionChanges>] => [
    `${type}/subscribe`,
    // The compiler does not know the name of a field that is made of a type.
    list(
      object<CollectionChanges[number]>({ change_type: word, [`${type}_id`]: text } as unknown as Fields<
        CollectionChanges[number]
      >),
    ),
  ]),
) as { readonly [K in keyof CollectionStreams]: Shape<CollectionChanges> };

export const messages: { readonly [K in keyof Streams]: Shape<StreamMessage<K>> } = {
  subscribe_trigger: object({
    variables: object({ trigger: object({ id: text, event: object({ data: triggerEventData }) }) }),
  }),
  'backup/subscribe_events': object({ manager_state: optional(text) }),
  ...collectionMessages,
  'config_entries/subscribe': list(object({ type: nullable(word), entry: configEntry })),
  'config_entries/flow/subscribe': list(
    object({ type: nullable(word), flow_id: text, flow: optional(flowInProgress) }),
  ),
};

const registryUpdated = object<RegistryUpdated>({
  action: word,
  floor_id: optional(text),
  label_id: optional(text),
  area_id: optional(nullable(text)),
});

const events: { readonly [K in keyof EventsWithData]: Shape<EventsWithData[K]> } = {
  entity_registry_updated: object({
    action: word,
    entity_id: text,
    old_entity_id: optional(text),
    changes: optional(object()),
  }),
  floor_registry_updated: registryUpdated,
  label_registry_updated: registryUpdated,
  area_registry_updated: registryUpdated,
  repairs_issue_registry_updated: object({ domain: text, issue_id: text }),
  call_service: object({
    domain: text,
    service: text,
    service_data: object(),
  }),
  component_loaded: object({ component: text }),
};

export function eventShape<K extends keyof Events>(type: K): Shape<{ readonly data: Events[K] }> {
  const data = (events as Partial<Record<keyof Events, Shape<never>>>)[type] ?? triggerEventData;
  const event: Shape<unknown> = object<{ readonly data: object }>({ data });
  return event as Shape<{ readonly data: Events[K] }>;
}
