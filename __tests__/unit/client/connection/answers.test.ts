import { type results } from '../../../../operator/client/connection/answers';
import type {
  CollectionStreams,
  Commands,
  RegistryCommands,
  Streams,
} from '../../../../operator/client/connection/commands';
import { collectionTypes, configRegistryTypes } from '../../../../operator/client/connection/registry-types';
import { checkConfig, getConfig, getCoreState } from '../../../../operator/client/setup/core';
import { HubFailed, HubUnreachable, NotHomeAssistant } from '../../../../operator/client/connection/errors';
import { probeHealth } from '../../../../operator/client/setup/health';
import { HubClient } from '../../../../operator/client/hub-client';
import { authorize, createUser, exchangeCode } from '../../../../operator/client/setup/onboarding';
import { listComponents } from '../../../../operator/client/services';
import { getEntityState } from '../../../../operator/client/config-entities/states';
import { yamlZones } from '../../../../operator/client/registries/yaml-zones';
import { systemClock } from '../../../../operator/base/clock';
import { RecordingLog } from '../../runtime/recording-log';
import { until } from '../../until';
import { CONFIG, FakeHub, json, text } from '../fake-hub';

const NAME = 'a';
const configEntry = {
  entry_id: NAME,
  domain: NAME,
  title: NAME,
  source: NAME,
  state: NAME,
  disabled_by: NAME,
  reason: NAME,
  supported_subentry_types: { [NAME]: { supports_reconfigure: true } },
};
const flow = {
  flow_id: NAME,
  handler: NAME,
  context: { source: NAME, entry_id: NAME, title_placeholders: { [NAME]: NAME } },
};
const entity = { entity_id: NAME, platform: NAME, disabled_by: NAME, labels: [NAME] };
const slot = { trusted_proxies: [NAME], ssl_profile: NAME, error: NAME, error_message: NAME };

const run = {
  run_id: NAME,
  state: NAME,
  script_execution: NAME,
  timestamp: { start: NAME, finish: NAME },
  error: NAME,
  trigger: NAME,
};

const registryAnswers = Object.fromEntries(
  [
    ...configRegistryTypes.map((type) => [`config/${type}_registry`, `${type}_id`] as const),
    ...collectionTypes.map((type) => [type, 'id'] as const),
  ].flatMap(([prefix, idField]) => {
    const isPerson = prefix === 'person';
    const entry = {
      name: NAME,
      [idField]: NAME,
      ...(isPerson && { user_id: NAME, device_trackers: [NAME] }),
    };
    const list = isPerson ? { storage: [entry], config: [entry] } : [entry];
    return Object.entries({ list, create: entry, update: entry }).map(
      ([command, answer]) => [`${prefix}/${command}`, answer] as const,
    );
  }),
) as Readonly<Record<keyof RegistryCommands, unknown>>;

/** Valid answers to the commands, with every part that the operator uses. */
const answers: Readonly<Record<keyof typeof results, unknown>> = {
  get_config: CONFIG,
  analytics: { preferences: {} },
  'integration/setup_info': [{ domain: NAME, seconds: 1 }],
  get_services: { [NAME]: {} },
  'manifest/get': { version: NAME, requirements: [NAME] },
  validate_config: { triggers: { error: NAME } },
  'system_log/list': [{ name: NAME, level: NAME, message: [NAME] }],
  'frontend/get_themes': { themes: {} },
  'lovelace/resources': [{ id: NAME, url: NAME, type: NAME }],
  'http/config': { stable: slot, pending: slot, default: slot },
  'http/config/configure': {},
  'persistent_notification/get': [{ notification_id: NAME, message: NAME, created_at: NAME }],
  'auth/current_user': { id: NAME, name: NAME },
  'auth/long_lived_access_token': NAME,
  'auth/refresh_tokens': [{ id: NAME, client_name: NAME }],
  'config/auth/list': [{ id: NAME, username: NAME }],
  'backup/info': { state: NAME },
  'backup/agents/info': { agents: [{ agent_id: NAME, name: NAME }] },
  'backup/config/info': {
    config: {
      create_backup: { agent_ids: [NAME], password: NAME },
      schedule: { days: ['mon'] },
      retention: {},
      last_attempted_automatic_backup: '2026-01-01T00:00:00Z',
      last_completed_automatic_backup: '2026-01-01T00:00:00Z',
      next_automatic_backup: '2026-01-01T00:00:00Z',
    },
  },
  'config/entity_registry/list': [entity],
  'config/device_registry/list': [
    { id: NAME, labels: [NAME], disabled_by: NAME, config_entries: [NAME], config_entry_id: NAME },
  ],
  'config/entity_registry/get_entries': { [NAME]: entity },
  'config/category_registry/list': [{ category_id: NAME, name: NAME }],
  'config/category_registry/create': { category_id: NAME },
  'homeassistant/expose_new_entities/get': { expose_new: true },
  'config_entries/get': [configEntry],
  'config_entries/flow/progress': [flow],
  'config_entries/subentries/list': [{ subentry_id: NAME, subentry_type: NAME, title: NAME }],
  'frontend/get_translations': { resources: { [NAME]: NAME } },
  'repairs/list_issues': {
    issues: [
      { domain: NAME, issue_id: NAME, translation_key: NAME, translation_placeholders: { [NAME]: NAME } },
    ],
  },
  'trace/list': [run],
  'trace/get': { ...run, trace: { [NAME]: [{ path: NAME, timestamp: NAME, result: {}, error: NAME }] } },
  'automation/config': { config: {} },
  'script/config': { config: {} },
  'blueprint/list': { [NAME]: {} },
  'blueprint/save': { overrides_existing: false },
  'search/related': { [NAME]: [NAME] },
  'blueprint/substitute': { substituted_config: {} },
  ...registryAnswers,
};

const step = { flow_id: NAME, step_id: NAME, description_placeholders: { [NAME]: NAME } };
const field = { name: NAME, type: NAME, valueMin: 1, lengthMin: 1, selector: { number: { min: 1 } } };
const FORM = {
  ...step,
  type: 'form',
  data_schema: [{ ...field, schema: [field] }],
  errors: { [NAME]: NAME },
};
/** Fields that may be a list or an object. */
const LIST_OR_OBJECT: ReadonlySet<string> = new Set(['data_schema', 'menu_options']);

const collectionChanges = Object.fromEntries(
  collectionTypes.map((type) => [`${type}/subscribe`, [{ change_type: NAME, [`${type}_id`]: NAME }]]),
) as Readonly<Record<keyof CollectionStreams, unknown>>;
const streams: Readonly<Record<keyof Streams, unknown>> = {
  subscribe_trigger: {
    variables: { trigger: { id: NAME, event: { data: { domain: NAME, service_data: {} } } } },
  },
  ...collectionChanges,
  'backup/subscribe_events': { manager_state: NAME },
  'config_entries/subscribe': [{ type: 'added', entry: configEntry }],
  'config_entries/flow/subscribe': [{ type: 'added', flow_id: NAME, flow }],
};

const events = {
  entity_registry_updated: { action: NAME, entity_id: NAME, old_entity_id: NAME, changes: {} },
  floor_registry_updated: { action: NAME, floor_id: NAME },
  repairs_issue_registry_updated: { domain: NAME, issue_id: NAME },
  call_service: { domain: NAME, service: NAME, service_data: {} },
  component_loaded: { component: NAME },
  service_registered: { domain: NAME, service: NAME },
} as const;

/** Yields the value with itself or one of its parts replaced by a value of another type. */
function* wrongForms(value: unknown): Generator<unknown> {
  if (typeof value === 'boolean') return;
  yield typeof value === 'object' && !Array.isArray(value) ? [] : {};
  if (Array.isArray(value)) for (const each of wrongForms(value[0])) yield [each];
  else if (typeof value === 'object' && value !== null)
    for (const [key, part] of Object.entries(value))
      for (const each of wrongForms(part))
        if (!LIST_OR_OBJECT.has(key) || Array.isArray(each)) yield { ...value, [key]: each };
}

const failureOf = (call: Promise<unknown>): Promise<unknown> => call.then(String, (error: unknown) => error);

let hub: FakeHub;
let client: HubClient;
let log: RecordingLog;

beforeEach(async () => {
  hub = await FakeHub.start();
  log = new RecordingLog();
  client = new HubClient({ url: hub.url, token: hub.token, clock: systemClock, log });
});
afterEach(async () => {
  client.close();
  await hub.close();
});

describe('a command that the hub answers in another form', () => {
  test.each(Object.entries(answers) as [keyof Commands, unknown][])('%s', async (command, right) => {
    let answer = right;
    hub.onCommand = ({ socket, message: { id } }) =>
      socket.send(JSON.stringify({ id, type: 'result', success: true, result: answer }));
    const send = () => client.connection.command(command as 'get_config');
    expect(await send()).toEqual(right);
    for (answer of [null, 1, ...wrongForms(right)]) {
      const failure = await failureOf(send());
      expect([answer, failure]).toEqual([answer, expect.any(HubFailed)]);
      expect((failure as Error).message).toMatch(
        new RegExp(`^the hub answered ${command} with (an?|null|nothing) .*instead of (a|an|one of) `),
      );
    }
  });
});

describe('an answer over HTTP of another form', () => {
  const login = { ...CONFIG, username: 'ada', password: 'secret', name: 'Ada', language: 'en' };
  const LOGIN_FLOW = { type: 'form', flow_id: 'f', step_id: 'init' };
  const calls: [request: string, right: unknown, call: (client: HubClient) => Promise<unknown>][] = [
    ['GET /api/core/state', { state: NAME, recorder_state: {} }, ({ rest }) => getCoreState(rest)],
    [
      'POST /api/config/core/check_config',
      { result: NAME, errors: NAME, warnings: NAME },
      ({ rest }) => checkConfig(rest),
    ],
    ['GET /api/components', [NAME], ({ rest }) => listComponents(rest)],
    [
      'GET /api/states/a',
      { state: NAME, attributes: {}, last_updated: NAME, context: { id: NAME } },
      ({ rest }) => getEntityState(rest, NAME),
    ],
    [
      'POST /auth/token',
      { access_token: NAME, refresh_token: NAME },
      ({ rest }) => exchangeCode(rest, 'code'),
    ],
    ['POST /auth/login_flow', LOGIN_FLOW, ({ rest }) => authorize(rest, login, systemClock)],
    ['POST /api/onboarding/users', { auth_code: NAME }, ({ rest }) => createUser(rest, login)],
    ['GET /api/config/automation/config/a', {}, ({ entities }) => entities.read('automation', NAME)],
    ['GET /api/config/config_entries/flow_handlers', [NAME], ({ flows }) => flows.domains()],
    ['POST /api/file_upload', { file_id: NAME }, ({ flows }) => flows.upload(Buffer.from(''), NAME)],
    ...[
      FORM,
      { ...step, type: 'menu', menu_options: [NAME] },
      { ...step, type: 'external' },
      { ...step, type: 'progress' },
      { type: 'create_entry', flow_id: NAME, result: configEntry },
      { type: 'abort', reason: NAME, description_placeholders: { [NAME]: NAME }, translation_domain: NAME },
    ].map((right): (typeof calls)[number] => [
      'POST /api/config/config_entries/flow',
      right,
      ({ flows }) => flows.start({ kind: 'config', domain: NAME }),
    ]),
  ];

  test.each(calls)('%s, valid: %j', async (request, right, call) => {
    for (const answer of [null, 1, ...wrongForms(right)]) {
      hub.routes.set(request, json(200, answer));
      expect([answer, await failureOf(call(client))]).toEqual([answer, expect.any(HubFailed)]);
    }
  });

  test('GET /api/config of a hub', async () => {
    for (const answer of wrongForms({ ...CONFIG, unit_system: { length: 'km' } })) {
      hub.routes.set('GET /api/config', json(200, answer));
      const failure = await failureOf(getConfig(client.rest));
      const isOfHub = typeof (answer as { version?: unknown }).version === 'string';
      expect([answer, failure]).toEqual([answer, expect.any(isOfHub ? HubFailed : NotHomeAssistant)]);
    }
  });

  test.each(['', '1', '[null]', '[{"entityId": 1}]', `[${'{},'.repeat(100_000)}{}]`])(
    'zones in a text of a template',
    async (answer) => {
      hub.routes.set('POST /api/template', text(200, answer));
      expect(await failureOf(yamlZones(client.rest))).toBeInstanceOf(HubFailed);
    },
  );

  test('GET /api/onboarding', async () => {
    for (const answer of [null, {}, [null], [{ step: 1 }]]) {
      hub.routes.set('GET /api/onboarding', json(200, answer));
      expect(await probeHealth(client.rest)).toMatchObject({
        state: 'unreachable',
        detail: expect.stringContaining('the hub answered GET /api/onboarding with'),
      });
    }
  });
});

describe('a message of a subscription of another form is not passed on, and is logged', () => {
  async function expectOnly(
    right: unknown,
    subscribe: (listener: (message: unknown) => void) => Promise<unknown>,
    messageOf: (message: unknown) => unknown,
  ): Promise<void> {
    const seen: unknown[] = [];
    await subscribe((message) => seen.push(message));
    const { id } = hub.commands.at(-1)!;
    const wrong = [null, 1, ...wrongForms(right)];
    for (const message of [...wrong, right])
      for (const socket of hub.clients)
        socket.send(JSON.stringify({ id, type: 'event', event: messageOf(message) }));
    await until(() => seen.length > 0);
    expect(seen).toEqual([right]);
    expect(log.at('error')).toEqual([]);
    expect(log.at('warn')).toEqual(['messages of hub are not used']); // one line per minute
    expect(hub.connects).toBe(1);
  }

  test.each(Object.entries(streams) as [keyof Streams, unknown][])('%s', async (type, right) => {
    await expectOnly(
      right,
      (listener) => client.connection.subscribe(type, { trigger: [] }, listener),
      (message) => message,
    );
  });

  test.each(Object.entries(events) as [keyof typeof events, unknown][])('%s', async (type, right) => {
    await expectOnly(
      right,
      (listener) => client.connection.subscribeEvents(type, listener),
      (data) => ({ event_type: type, data }),
    );
  });
});

test.each(['null', '1', '{"id": 1, "type": "event"}', '[null]', 'no JSON'])(
  'a frame %s ends the connection, not the process',
  async (frame) => {
    const failure = failureOf(client.connection.command('get_config'));
    hub.onCommand = ({ socket }) => socket.send(frame);
    expect(await failure).toBeInstanceOf(HubUnreachable);
    expect(log.at('error')).toEqual([]);
  },
);
