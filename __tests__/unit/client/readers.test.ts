import { ManualClock } from '../manual-clock';
import { resource } from '../resource';
import { RepairIssues } from '../../../operator/client/setup/repair-issues';
import { checkedResult, eventShape, messages, results } from '../../../operator/client/connection/answers';
import type { Commands, Events, Streams } from '../../../operator/client/connection/commands';
import type { HubConnection } from '../../../operator/client/connection/connection';
import { HubError } from '../../../operator/client/connection/errors';
import { ConfigEntryRegistry } from '../../../operator/client/entries/config-entry-registry';
import { FlowsInProgress } from '../../../operator/client/entries/flows-in-progress';
import { Translations } from '../../../operator/client/entries/translations';
import type { HubClient } from '../../../operator/client/hub-client';
import { EntityRegistry } from '../../../operator/client/registries/entity-registry';
import { LabelRegistry } from '../../../operator/client/registries/label-registry';
import { Registry } from '../../../operator/client/registries/registry';
import { Users } from '../../../operator/client/registries/users';
import {
  getBackupConfig,
  isBackupRunning,
  listBackupAgents,
  onBackupEnded,
} from '../../../operator/client/setup/backup';
import { lastBannedAddress } from '../../../operator/client/setup/ban-notice';
import {
  customIntegration,
  integrationError,
  pythonScripts,
  themeNames,
} from '../../../operator/client/setup/community-content';
import { getAnalytics } from '../../../operator/client/setup/core';
import { getReverseProxySettings } from '../../../operator/client/setup/http-settings';
import { hubStartId } from '../../../operator/client/setup/hub-start-id';
import { instanceId } from '../../../operator/client/setup/instance-id';
import {
  removeTemporaryUsers,
  transferUsername,
} from '../../../operator/client/setup/interrupted-onboarding';
import { loggedBetween, readLog } from '../../../operator/client/setup/log-records';
import { createToken, revokeOldTokens } from '../../../operator/client/setup/tokens';
import { analyticsDifference } from '../../../operator/sync/hub/access/core-settings';
import { backupDifference, backupStatus } from '../../../operator/sync/hub/backup';
import { agentsOfIntegrations, chooseAgents } from '../../../operator/sync/hub/backup-agents';
import { completeSettings, nextHttpStep } from '../../../operator/sync/configuration/load/http-settings';
import { entryDiff } from '../../../operator/sync/registry/desired';
import { type EntryResource, floors } from '../../../operator/sync/registry/entry-types';
import { persons } from '../../../operator/sync/registry/persons';
import { formatDiff } from '../../../operator/sync/objects/field-diff';
import { OwnReloadTracker } from '../../../operator/client/config-entities/own-reload-tracker';
import type { Shape } from '../../../operator/client/connection/shape';
import { HubEvents } from '../../../operator/client/hub-events';
import type { Hub } from '../../../operator/kinds';
import { listsOf } from './kept';
import { withWrongParts } from './wrong-values';

// A hub may answer each command with any JSON: the reader of the answer returns a value, or throws an error
// that names the hub's fault.

const NAME = 'a';
const clock = new ManualClock();
/** A token with an id. */
const TOKEN = `a.${Buffer.from(JSON.stringify({ iss: NAME })).toString('base64url')}.a`;
const entry = {
  entry_id: NAME,
  domain: NAME,
  title: NAME,
  source: 'user',
  state: 'loaded',
  disabled_by: null,
  reason: null,
  supports_options: true,
  created_at: 1,
};
const flow = {
  flow_id: NAME,
  handler: NAME,
  context: { source: 'reauth', entry_id: NAME, title_placeholders: { name: NAME } },
};
const owner = { id: 'me', username: 'ada', is_owner: true, system_generated: false };
const temporary = { ...owner, id: NAME, username: 'hub-operator-set-up-1', is_owner: false };
const me = { id: 'me', name: 'Me', is_owner: true, is_admin: true };
const token = {
  id: NAME,
  type: 'long_lived_access_token',
  client_id: null,
  client_name: 'x 2026-01-01T00:00:00.000Z 12345678',
  created_at: '',
  is_current: false,
};
const slot = {
  server_port: 8123,
  use_x_forwarded_for: true,
  trusted_proxies: ['10.0.0.0/8'],
  ssl_profile: 'modern_v4',
  error: null,
};
const http = {
  stable: slot,
  pending: { ...slot, error: 'apply_failed', error_message: NAME },
  default: slot,
  active_config_type: 'stable',
};
const backup = {
  config: {
    automatic_backups_configured: true,
    create_backup: { agent_ids: ['backup.local'], include_database: true, password: null },
    schedule: { recurrence: 'daily', days: ['mon'], time: null },
    retention: { copies: 1, days: null },
    last_attempted_automatic_backup: '2026-01-01T00:00:00Z',
    last_completed_automatic_backup: null,
    next_automatic_backup: '2026-01-01T00:00:00Z',
  },
};
const issue = {
  domain: 'automation',
  issue_id: 'automation.a_validation_failed_b',
  translation_key: 'validation_failed_b',
  translation_placeholders: { entity_id: 'automation.a', error: NAME },
};
const automation = {
  entity_id: 'automation.a',
  unique_id: NAME,
  platform: 'automation',
  disabled_by: null,
  original_name: NAME,
  labels: [NAME],
};
const personOfUser = { id: NAME, name: NAME, user_id: NAME, device_trackers: [NAME] };
const label = { label_id: NAME, name: 'A label', icon: null };

/** Valid answers to the commands of the readers. */
const answers: Partial<Record<keyof Commands, unknown>> = {
  get_config: { version: '2026.11.0', state: 'RUNNING', unit_system: {} },
  get_services: { python_script: { reload: {} } },
  'persistent_notification/get': [
    { notification_id: 'ip-ban', message: 'Too many from 10.0.0.1', created_at: '' },
  ],
  'manifest/get': { is_built_in: false, version: '1', requirements: [NAME] },
  validate_config: { triggers: { valid: false, error: 'it could not be loaded' } },
  'system_log/list': [
    {
      name: NAME,
      level: 'ERROR',
      message: ['Unable to install package a: b'],
      source: [NAME, 1],
      count: 1,
      first_occurred: 1,
    },
  ],
  'frontend/get_themes': { themes: { [NAME]: {} } },
  'http/config': http,
  'integration/setup_info': [{ domain: 'api', seconds: 1 }],
  'config/auth/list': [owner, temporary],
  'auth/current_user': me,
  'auth/refresh_tokens': [token],
  'auth/long_lived_access_token': NAME,
  'person/list': { storage: [personOfUser], config: [personOfUser] },
  'person/update': personOfUser,
  'repairs/list_issues': { issues: [issue] },
  'config/entity_registry/list': [automation],
  'config/entity_registry/get_entries': { 'automation.a': automation },
  'config/label_registry/list': [label],
  'zone/list': [{ id: NAME, name: NAME, latitude: 1 }],
  'config_entries/get': [entry],
  'config_entries/subentries/list': [{ subentry_id: NAME, subentry_type: NAME, title: NAME }],
  'config_entries/flow/progress': [flow],
  'frontend/get_translations': { resources: { 'component.a.config.error.b': 'No {host}' } },
  'backup/info': { state: 'idle', backups: [] },
  'backup/agents/info': { agents: [{ agent_id: 'backup.local', name: 'local' }] },
  'backup/config/info': backup,
  analytics: { preferences: { base: true } },
};

function connectionWith(wrong: keyof Commands | undefined, answer: unknown): HubConnection {
  return {
    command: async (command: keyof Commands) => {
      await Promise.resolve();
      const given = command === wrong ? answer : answers[command];
      if (command !== wrong && command in results && !(command in answers))
        throw new Error(`there is no answer to ${command} in \`answers\` of readers.test.ts`);
      return checkedResult(command, given as never);
    },
    subscribe: () => Promise.resolve(),
    subscribeEvents: () => Promise.resolve(),
    lists: listsOf(),
    onLost: () => undefined,
    onReconnect: () => undefined,
    onMissedChanges: () => undefined,
  } as unknown as HubConnection;
}

const desired = { recurrence: 'daily', includeDatabase: true } as never;
const rest = { writeTimeout: 1 } as never;

/** The readers of each command, including those in `operator/sync` that get the answer unchanged. */
const readers: Partial<Record<keyof Commands, readonly ((connection: HubConnection) => Promise<unknown>)[]>> =
  {
    get_services: [(connection) => pythonScripts({ connection } as HubClient)],
    'persistent_notification/get': [lastBannedAddress],
    'manifest/get': [
      (connection) => customIntegration({ connection } as HubClient, NAME),
      (connection) => new ConfigEntryRegistry(rest, connection).isSingle(NAME),
    ],
    validate_config: [
      (connection) =>
        integrationError({ connection } as HubClient, { domain: NAME, version: '1', requirements: [NAME] }),
    ],
    'system_log/list': [
      (connection) =>
        integrationError({ connection } as HubClient, { domain: NAME, version: '1', requirements: [NAME] }),
      async (connection) => loggedBetween(await readLog({ connection }), await readLog({ connection })),
    ],
    'frontend/get_themes': [(connection) => themeNames({ connection } as HubClient)],
    'http/config': [
      async (connection) => {
        const settings = await getReverseProxySettings(connection);
        return settings?.trustedProxies.map((proxy) => proxy.trim());
      },
      async (connection) => {
        const config = await connection.command('http/config');
        return nextHttpStep(
          config,
          completeSettings(config, { ssl_profile: 'modern', ssl_certificate: NAME }),
        );
      },
    ],
    'integration/setup_info': [hubStartId],
    'config/auth/list': [
      instanceId,
      removeTemporaryUsers,
      (connection) => transferUsername(connection, 'eve'),
      (connection) => new Users(connection).find('eve'),
      (connection) => new Users(connection).names(),
    ],
    'auth/current_user': [removeTemporaryUsers],
    'auth/refresh_tokens': [
      (connection) => revokeOldTokens(connection, (owner) => owner.startsWith('x'), TOKEN),
    ],
    'auth/long_lived_access_token': [
      async (connection) => (await createToken(connection, { owner: 'x', lifespanDays: 1, clock })).trim(),
    ],
    'person/list': [
      removeTemporaryUsers,
      (connection) => new Registry(connection, 'person').entries(),
      async (connection) =>
        persons.conflict!({ connection } as HubClient, resource(NAME, { name: 'b' }) as EntryResource, {
          user_id: NAME,
        }),
    ],
    'person/update': [removeTemporaryUsers],
    'repairs/list_issues': [
      (connection) => new RepairIssues(connection).validationErrorOf('automation.a'),
      (connection) => new RepairIssues(connection).unsupportedPlatforms(['sensor.template']),
    ],
    'config/entity_registry/list': [(connection) => new EntityRegistry(connection).find('automation', NAME)],
    'config/entity_registry/get_entries': [
      (connection) => new EntityRegistry(connection).withLabel(NAME),
      (connection) => new EntityRegistry(connection).findNow('automation', NAME),
    ],
    'config/label_registry/list': [
      (connection) => new LabelRegistry(new Registry(connection, 'label')).find('a label'),
      async (connection) => {
        const entries = await new Registry(connection, 'label').entries();
        const fields = { name: NAME, icon: 'mdi:a', aliases: [NAME] };
        return [...entries.values()].map((record) =>
          formatDiff(entryDiff(floors, record, { declared: [], fields, cleared: {}, hash: '' }), String),
        );
      },
    ],
    'zone/list': [(connection) => new Registry(connection, 'zone').entries()],
    'config_entries/get': [(connection) => new ConfigEntryRegistry(rest, connection).all()],
    'config_entries/subentries/list': [
      (connection) => new ConfigEntryRegistry(rest, connection).subentries(NAME),
    ],
    'config_entries/flow/progress': [
      (connection) => new FlowsInProgress(connection).reauthOf(NAME),
      (connection) => new FlowsInProgress(connection).discovered(NAME),
    ],
    'frontend/get_translations': [
      (connection) =>
        new Translations(connection).ofFlow(
          NAME,
          { kind: 'config' },
          { kind: 'error', key: 'b' },
          { host: 'c' },
        ),
    ],
    'backup/info': [isBackupRunning],
    'backup/agents/info': [
      async (connection) =>
        chooseAgents(
          desired,
          await getBackupConfig(connection),
          (await listBackupAgents(connection)).map(({ agent_id: id }) => id),
        ),
      async (connection) => {
        const agents = [{ integrationRef: { name: NAME } }];
        const integration = { spec: { hubRef: { name: NAME } }, status: { entryID: NAME, title: NAME } };
        const hub = { metadata: { namespace: NAME, name: NAME } };
        return agentsOfIntegrations(
          { recurrence: 'daily', includeDatabase: true, agents },
          hub as Hub,
          { get: () => integration as never },
          await listBackupAgents(connection),
        );
      },
    ],
    'backup/config/info': [
      async (connection) => {
        const present = await getBackupConfig(connection);
        const contents = { agent_ids: [NAME], include_database: true, password: NAME };
        return [backupDifference(desired, contents, present), backupStatus(present, true)];
      },
    ],
    analytics: [async (connection) => analyticsDifference(false, await getAnalytics(connection))],
  };

describe('any answer to a command is read, or is an error of the hub', () => {
  test.each(Object.entries(readers) as [keyof Commands, NonNullable<(typeof readers)['analytics']>][])(
    '%s',
    async (command, ofCommand) => {
      const bugs: unknown[] = [];
      for (const read of ofCommand) {
        await read(connectionWith(undefined, undefined));
        for (const answer of withWrongParts(answers[command]))
          await read(connectionWith(command, answer)).catch((error: unknown) => {
            if (!(error instanceof HubError)) bugs.push([answer, error]);
          });
      }
      expect(bugs).toEqual([]);
    },
  );
});

test('a hub that names a slot of settings that it does not show has no such slot', async () => {
  const other = { ...http, other: { trusted_proxies: 5 }, active_config_type: 'other' };
  expect(await getReverseProxySettings(connectionWith('http/config', other))).toEqual({
    enabled: false,
    trustedProxies: [],
  });
});

describe('any message of a subscription is used, or reported as having another form', () => {
  const trigger = (id: string, data: object) => ({ variables: { trigger: { id, event: { data } } } });
  const written = { domain: 'automation', service: 'reload', service_data: { id: NAME } };

  /** Listeners by the name of their subscription. */
  type Followers = Map<string, { readonly shape: Shape<unknown>; readonly tell: (message: unknown) => void }>;
  function following(): { readonly followers: Followers; readonly connection: HubConnection } {
    const followers: Followers = new Map();
    const connection = {
      ...connectionWith(undefined, undefined),
      subscribe: (type: keyof Streams, _fields: object, tell: (message: unknown) => void) =>
        Promise.resolve(followers.set(type, { shape: messages[type], tell })),
      subscribeEvents: (type: keyof Events, onEvent: (data: unknown) => void) =>
        Promise.resolve(
          followers.set(type, {
            shape: eventShape(type),
            tell: (event) => onEvent((event as { data: unknown }).data),
          }),
        ),
    } as unknown as HubConnection;
    return { followers, connection };
  }

  test.each<[string, unknown, (connection: HubConnection) => Promise<unknown>]>([
    [
      'subscribe_trigger',
      trigger('reload', written),
      (connection) => new HubEvents(connection, new OwnReloadTracker(clock)).watch(),
    ],
    [
      'subscribe_trigger',
      trigger('script', { service: NAME }),
      (connection) => new HubEvents(connection, new OwnReloadTracker(clock)).watch(),
    ],
    [
      'zone/subscribe',
      [{ change_type: 'added', zone_id: NAME }],
      (connection) => new Registry(connection, 'zone').entries(),
    ],
    [
      'label_registry_updated',
      { data: { action: 'create', label_id: NAME } },
      (connection) => new Registry(connection, 'label').entries(),
    ],
    [
      'backup/subscribe_events',
      { manager_state: 'idle' },
      (connection) => onBackupEnded(connection, () => undefined),
    ],
    [
      'config_entries/subscribe',
      [{ type: 'added', entry }],
      (connection) => new ConfigEntryRegistry(rest, connection).all(),
    ],
    [
      'config_entries/flow/subscribe',
      [{ type: 'added', flow_id: NAME, flow }],
      (connection) => new FlowsInProgress(connection).reauthOf(NAME),
    ],
    [
      'entity_registry_updated',
      { data: { action: 'update', entity_id: 'automation.a', changes: { disabled_by: null } } },
      (connection) => new EntityRegistry(connection).find('automation', NAME),
    ],
    [
      'repairs_issue_registry_updated',
      { data: { domain: 'automation', issue_id: 'automation.a_validation_failed_b' } },
      (connection) => new RepairIssues(connection).validationErrorOf(NAME),
    ],
  ])('%s', async (type, right, follow) => {
    const { followers, connection } = following();
    await follow(connection);
    const { shape, tell } = followers.get(type)!;
    const bugs: unknown[] = [];
    let used = 0;
    for (const message of [right, ...withWrongParts(right)]) {
      if (shape(message)) continue;
      used += 1;
      try {
        tell(message);
      } catch (error) {
        bugs.push([message, error]);
      }
    }
    expect(bugs).toEqual([]);
    expect(used).toBeGreaterThan(0);
    await follow(connection);
  });
});
