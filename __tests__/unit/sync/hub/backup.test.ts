import type {
  BackupConfig,
  BackupConfigUpdate,
  BackupContents,
} from '../../../../operator/client/connection/backup-types';
import { hub as definition } from '../../../../operator/kinds';
import { backup as schema } from '../../../../operator/kinds/hub/backup';
import { defaulted } from '../../../../operator/kinds/schema';
import { HubRejected } from '../../../../operator/client/connection/errors';
import { backupDifference, backupStatus, ensureBackupSchedule } from '../../../../operator/sync/hub/backup';
import { agentsOfIntegrations, chooseAgents } from '../../../../operator/sync/hub/backup-agents';
import fc from '../../../fast-check';
import { aHub, aHubContext, secretReader, services } from '../fixtures';
import { hubClient } from '../../stand-in-hub/hub-client';

const fresh: BackupConfig = {
  automatic_backups_configured: false,
  create_backup: { agent_ids: [], include_database: true, password: null },
  schedule: { recurrence: 'never', days: [], time: null },
  retention: { copies: null, days: null },
  last_attempted_automatic_backup: null,
  last_completed_automatic_backup: null,
  next_automatic_backup: null,
};

/**
 * Returns the config after a command, as the hub does: `create_backup` is merged, `schedule` and `retention`
 * are rebuilt from the sent values.
 */
function after(
  config: BackupConfig,
  { create_backup, schedule, retention, ...rest }: BackupConfigUpdate,
): BackupConfig {
  return {
    ...config,
    ...rest,
    create_backup: { ...config.create_backup, ...create_backup },
    schedule: schedule ? { ...fresh.schedule, ...schedule } : config.schedule,
    retention: retention ? { ...fresh.retention, ...retention } : config.retention,
  };
}

const spec = fc.record(
  {
    recurrence: fc.constantFrom(...schema.properties.recurrence.enum),
    time: fc.constantFrom('03:00:00', '23:59:59'),
    retentionCopies: fc.integer({ min: 1, max: 9 }),
    retentionDays: fc.integer({ min: 1, max: 9 }),
    includeDatabase: fc.boolean(),
    agentIDs: fc.uniqueArray(fc.constantFrom('backup.local', 'cloud.cloud', 'nas.x'), { minLength: 1 }),
  },
  { requiredKeys: [] },
);
const config = fc.record({
  automatic_backups_configured: fc.boolean(),
  create_backup: fc.record({
    agent_ids: fc.uniqueArray(fc.constantFrom('backup.local', 'cloud.cloud', 'nas.x')),
    include_database: fc.boolean(),
    password: fc.constantFrom(null, 'old', 'new'),
  }),
  schedule: fc.record({
    recurrence: fc.constantFrom('never' as const, 'daily' as const, 'custom_days' as const),
    days: fc.uniqueArray(fc.constantFrom('mon' as const, 'tue' as const)),
    time: fc.constantFrom(null, '03:00:00'),
  }),
  retention: fc.record({ copies: fc.constantFrom(null, 3), days: fc.constantFrom(null, 7) }),
  last_attempted_automatic_backup: fc.constant(null),
  last_completed_automatic_backup: fc.constant(null),
  next_automatic_backup: fc.constant(null),
});
const filled = (value: object) => defaulted(definition.spec, { backup: value }).backup!;

/**
 * Returns contents of a backup as the step requests them: the agents of the spec, or the hub's own volume.
 */
const contents = (value: { agentIDs?: string[]; includeDatabase?: boolean }, password?: string) =>
  ({
    agent_ids: value.agentIDs ?? ['backup.local'],
    include_database: value.includeDatabase ?? true,
    password: password ?? null,
  }) satisfies BackupContents;

describe('backupDifference', () => {
  test('gives the hub the desired schedule from any previous one, and is then empty', () => {
    fc.assert(
      fc.property(
        spec,
        config,
        fc.option(fc.constantFrom('old', 'new'), { nil: undefined }),
        (value, before, password) => {
          const expected = filled(value);
          const update = backupDifference(expected, contents(value, password), before);
          const result = update ? after(before, update) : before;
          expect(backupDifference(expected, contents(value, password), result)).toBeUndefined();
          const { recurrence, time, retentionCopies, retentionDays } = value;
          expect(result.retention).toEqual({ copies: retentionCopies ?? null, days: retentionDays ?? null });
          expect(result.schedule.time).toBe(time ?? null);
          expect(result.schedule.recurrence === 'never').toBe(recurrence === 'never');
          expect(result.create_backup.password).toBe(password ?? null);
          expect([...result.create_backup.agent_ids].sort()).toEqual(
            [...(value.agentIDs ?? ['backup.local'])].sort(),
          );
        },
      ),
    );
  });

  test.each([
    ['daily', {}, { recurrence: 'daily', days: [], time: null }],
    [
      'one day',
      { recurrence: 'thu', time: '04:00:00' },
      { recurrence: 'custom_days', days: ['thu'], time: '04:00:00' },
    ],
  ])('sends a complete schedule: %s', (_what, value, schedule) => {
    expect(backupDifference(filled(value), contents({}), fresh)).toMatchObject({
      schedule,
      automatic_backups_configured: true,
    });
  });

  test('does not mark backups as configured when they are off', () => {
    expect(backupDifference(filled({ recurrence: 'never' }), contents({}), fresh)).toEqual({
      create_backup: { agent_ids: ['backup.local'], include_database: true, password: null },
    });
  });
});

describe('chooseAgents', () => {
  const chosen = (...ids: string[]) => ({
    ...fresh,
    create_backup: { ...fresh.create_backup, agent_ids: ids },
  });
  const nas = { agentIDs: ['nas.backups'] };

  test.each([
    ['those of the spec', nas, chosen('backup.local'), ['backup.local', 'nas.backups'], ['nas.backups']],
    ['those that the hub has', {}, chosen('cloud.cloud'), ['hassio.local', 'cloud.cloud'], ['cloud.cloud']],
    ['the own volume of a hub in a container', {}, fresh, ['nas.backups', 'backup.local'], ['backup.local']],
    [
      'none to switch backups off on a hub that has none',
      { recurrence: 'never' },
      fresh,
      ['nas.backups'],
      [],
    ],
    ['the own volume of a hub with the Supervisor', {}, fresh, ['hassio.local'], ['hassio.local']],
  ])('takes %s', (_, spec, present, agents, ids) =>
    expect(chooseAgents(filled(spec), present, agents)).toEqual({ ids }),
  );

  test.each([
    [
      'its own volume, not that of the Supervisor',
      ['hassio.local', 'hassio.share'],
      ['backup.local'],
      ['backup.local'],
    ],
    ['those that a hub with the Supervisor has', ['hassio.local'], ['hassio.local'], ['hassio.local']],
    ['another place of the Supervisor', ['hassio.nas'], ['hassio.local', 'hassio.nas'], ['hassio.nas']],
    [
      'what is there, also while another one is away',
      ['cloud.cloud', 'nas.x', 'hassio.local'],
      ['backup.local', 'nas.x'],
      ['cloud.cloud', 'nas.x'],
    ],
  ])('keeps %s', (_, ids, agents, kept) =>
    expect(chooseAgents(filled({}), chosen(...ids), agents)).toEqual({ ids: kept }),
  );

  test('refuses the agents that the hub has chosen when none of them exists, and leaves them when backups are off', () => {
    expect(chooseAgents(filled({}), chosen('cloud.cloud'), ['backup.local'])).toEqual({
      missing:
        'The hub has chosen the backup agent cloud.cloud, which is not there, so each backup would fail. The hub has backup.local: name one of these in agentIDs, or set up the integration that provides the other.',
    });
    const off = filled({ recurrence: 'never' });
    expect(chooseAgents(off, chosen('cloud.cloud'), ['backup.local'])).toEqual({ ids: ['cloud.cloud'] });
  });

  test('refuses an agent that the hub does not have, and names the existing ones', () =>
    expect(chooseAgents(filled(nas), fresh, ['backup.local', 'cloud.cloud'])).toEqual({
      missing:
        'agentIDs: the hub has no backup agent nas.backups. The hub has backup.local, cloud.cloud: name one of these, or add the integration that provides it.',
    }));
});

describe('agentsOfIntegrations', () => {
  const integrations: Readonly<Record<string, object>> = {
    s3: integration('aws_s3', { entryID: '01A', title: 'Bucket' }),
    drive: integration('google_drive', { entryID: '01B', title: 'Drive of Ada' }),
    twin: integration('google_drive', { entryID: '01C', title: 'Twin' }),
    waiting: integration('aws_s3', {}),
    cottage: integration('aws_s3', { entryID: '01A' }, 'cottage'),
    sun: integration('sun', { entryID: '01D', title: 'Sun' }),
  };
  const present = [
    { agent_id: 'backup.local', name: 'Sun' },
    { agent_id: 'aws_s3.01A', name: 'Another title' },
    { agent_id: 'aws_s3.01Z', name: 'Bucket' },
    { agent_id: 'google_drive.ada_example_org', name: 'Drive of Ada' },
    { agent_id: 'google_drive.one', name: 'Twin' },
    { agent_id: 'google_drive.two', name: 'Twin' },
  ];
  function integration(domain: string, status: object, hub = 'villa') {
    return { spec: { hubRef: { name: hub }, domain }, status };
  }
  const found = (...names: string[]) =>
    agentsOfIntegrations(
      filled({ agents: names.map((name) => ({ integrationRef: { name } })) }),
      aHub(),
      { get: (_kind: string, _namespace: string | undefined, name: string) => integrations[name] as never },
      present,
    );

  test('are found by the id of the entry, or else by its title', () =>
    expect(found('s3', 'drive')).toEqual({ ids: ['aws_s3.01A', 'google_drive.ada_example_org'] }));

  test.each([
    ['away', 'agents: The HubIntegration away does not exist: create it'],
    ['cottage', 'belongs to the Hub cottage: name one of the Hub villa.'],
    ['waiting', 'has no entry in the hub yet'],
    ['twin', 'has the title Twin, as other entries of google_drive have'],
    ['sun', 'provides no backup agent that the hub knows. It has backup.local, aws_s3.01A,'],
  ])('name the missing part of %s', (name, message) =>
    expect(found('s3', name)).toEqual({ missing: expect.stringContaining(message) as string }),
  );

  test('are used together with those of agentIDs', () => {
    const spec = filled({ agentIDs: ['backup.local'], agents: [{ integrationRef: { name: 's3' } }] });
    expect(chooseAgents(spec, fresh, ['backup.local', 'aws_s3.01A'], ['aws_s3.01A'])).toEqual({
      ids: ['backup.local', 'aws_s3.01A'],
    });
    expect(chooseAgents(filled({}), fresh, ['backup.local'], ['aws_s3.01A'])).toEqual({
      ids: ['aws_s3.01A'],
    });
  });
});

describe('backupStatus', () => {
  const at = (minute: number) => `2026-11-20T04:${minute}:17.123456+01:00`;
  test.each([
    ['never made', {}, {}],
    [
      'completed',
      { last_attempted_automatic_backup: at(45), last_completed_automatic_backup: at(46) },
      { lastTime: '2026-11-20T03:45:17Z', lastResult: 'Completed' },
    ],
    [
      'failed',
      { last_attempted_automatic_backup: at(45), last_completed_automatic_backup: at(44) },
      { lastTime: '2026-11-20T03:45:17Z', lastResult: 'Failed' },
    ],
    [
      'failed the first time',
      { last_attempted_automatic_backup: at(45) },
      { lastTime: '2026-11-20T03:45:17Z', lastResult: 'Failed' },
    ],
    ['planned', { next_automatic_backup: at(45) }, { nextTime: '2026-11-20T03:45:17Z' }],
  ])('reports a backup that was %s', (_what, fields, told) =>
    expect(backupStatus({ ...fresh, ...fields }, false)).toEqual(told),
  );

  test('reports a backup that is being made', () =>
    expect(backupStatus({ ...fresh, last_attempted_automatic_backup: at(45) }, true)).toMatchObject({
      lastResult: 'InProgress',
    }));
});

/** A fake hub with this configuration of backups, and an answer for each command. */
class BackupHub {
  config: BackupConfig = {
    ...fresh,
    automatic_backups_configured: true,
    create_backup: { agent_ids: ['backup.local'], include_database: true, password: null },
    schedule: { recurrence: 'daily', days: [], time: null },
  };
  agents = ['backup.local'];
  info: object = { state: 'idle', backups: [] };
  log: readonly object[] = [];
  updates: BackupConfigUpdate[] = [];

  async reconcile(status: object = {}, recurrence: 'daily' | 'never' = 'daily') {
    const answers: Record<string, (update: BackupConfigUpdate) => unknown> = {
      'backup/config/info': () => ({ config: this.config }),
      'backup/agents/info': () => ({ agents: this.agents.map((id) => ({ agent_id: id, name: id })) }),
      'backup/info': () => this.info,
      'system_log/list': () => this.log,
      'backup/config/update': (update) => {
        this.updates.push(update);
        this.config = after(this.config, update);
      },
    };
    const connection = {
      command: (type: string, update: BackupConfigUpdate) => Promise.resolve(answers[type]!(update)),
      subscribe: () => Promise.resolve(() => Promise.resolve()),
    };
    const hub = aHub({ spec: { backup: { recurrence } }, status });
    const client = hubClient({ connection });
    const context = { ...aHubContext(hub), url: 'http://villa', client, core: {} as never };
    await ensureBackupSchedule(services({ cache: { get: () => undefined, list: function* () {} } })).run(
      context,
    );
    return {
      condition: context.conditions['BackupConfigured']!,
      events: context.events,
      status: context.status,
    };
  }
}

describe('the settings of a restored backup with the Supervisor', () => {
  const ofBox = {
    agent_ids: ['hassio.local'],
    include_database: true,
    password: null,
    include_addons: ['core_mosquitto'],
    include_all_addons: true,
    include_folders: ['share'],
  };

  test('are replaced in a container by possible ones, with one event', async () => {
    const hub = new BackupHub();
    hub.config = { ...hub.config, create_backup: ofBox };
    const { condition, events } = await hub.reconcile();
    expect(hub.config.create_backup).toEqual({
      agent_ids: ['backup.local'],
      include_database: true,
      password: null,
      include_addons: null,
      include_all_addons: false,
      include_folders: null,
    });
    expect(condition.reason).toBe('Applied');
    expect(events).toEqual([
      {
        type: 'Normal',
        reason: 'BackupSettingsCleared',
        message:
          "The hub's settings of automatic backups named the destination hassio.local, the add-ons core_mosquitto, all, the folders share, which a hub without the Supervisor does not have: each backup would have failed. They were removed.",
      },
    ]);
    expect((await hub.reconcile()).events).toEqual([]);
    expect(hub.updates).toHaveLength(1);
  });

  test('stay while backups are switched off', async () => {
    const hub = new BackupHub();
    hub.config = { ...hub.config, create_backup: ofBox };
    expect((await hub.reconcile({}, 'never')).events).toEqual([]);
    expect(hub.config.create_backup).toEqual(ofBox);
  });

  test.each([
    { include_addons: ['core_mosquitto'] },
    { include_folders: ['share'] },
    { include_all_addons: true },
  ])('are replaced also where only %j is left', async (left) => {
    const hub = new BackupHub();
    hub.config = { ...hub.config, create_backup: { ...hub.config.create_backup, ...left } };
    expect((await hub.reconcile()).events).toHaveLength(1);
    expect(hub.updates).toHaveLength(1);
  });

  test('stay in a hub that has the Supervisor', async () => {
    const hub = new BackupHub();
    hub.config = { ...hub.config, create_backup: ofBox };
    hub.agents = ['hassio.local'];
    expect((await hub.reconcile()).events).toEqual([]);
    expect(hub.config.create_backup).toEqual(ofBox);
  });
});

describe('the last backup', () => {
  const began = '2026-11-20T04:45:17.123456+01:00';
  const told = { lastTime: '2026-11-20T03:45:17Z', lastResult: 'Failed' };
  const record = (message: string, timestamp: string, fields: object = {}) => ({
    name: 'homeassistant.components.backup',
    level: 'ERROR',
    message: ['An older text', message],
    timestamp: Date.parse(timestamp) / 1_000,
    ...fields,
  });
  const failed = (...log: object[]) => {
    const hub = new BackupHub();
    hub.config = { ...hub.config, last_attempted_automatic_backup: began };
    hub.log = log;
    return hub;
  };
  const later = '2026-11-20T04:45:18+01:00';

  test('that failed is reported in the hub’s words', async () => {
    const text =
      'Error creating backup: At least one available backup agent must be selected,\n got lemon-tree';
    const hub = failed(
      record('a warning', later, { level: 'WARNING' }),
      record('of another part', later, { name: 'homeassistant.components.sun' }),
      record('of before', '2026-11-20T04:45:16+01:00'),
      record(text, later),
    );
    hub.config = { ...hub.config, create_backup: { ...hub.config.create_backup, password: 'lemon-tree' } };
    const { condition, status } = await hub.reconcile();
    expect(condition).toEqual({
      status: 'False',
      reason: 'LastBackupFailed',
      message:
        'The automatic backup of 2026-11-20T03:45:17Z failed: Error creating backup: At least one available backup agent must be selected, got ***. Correct the cause, then make a backup with the automatic settings in the hub: Settings → System → Backups.',
    });
    expect(status['backup']).toEqual(told);
  });

  test('that failed is reported by its reason for a hub that logs nothing, and without one after the hub’s start', async () => {
    const hub = failed();
    hub.info = { state: 'idle', backups: [], last_action_event: { reason: 'upload_failed' } };
    expect((await hub.reconcile()).condition.message).toContain('failed: upload_failed. Correct');
    hub.info = { state: 'idle', backups: [] };
    expect((await hub.reconcile()).condition.message).toContain('failed: the hub was started since and does');
  });

  const known = {
    type: 'BackupConfigured',
    status: 'False',
    reason: 'LastBackupFailed',
    message: 'Disk full.',
  };

  test('keeps its cause after a start of the hub, and loses it with the next attempt', async () => {
    const hub = failed();
    const conditions = [known];
    expect((await hub.reconcile({ conditions, backup: told })).condition.message).toBe('Disk full.');
    const other = { ...told, lastTime: '2026-11-19T03:45:17Z' };
    expect((await hub.reconcile({ conditions, backup: other })).condition.message).toContain(
      'was started since',
    );
  });

  test('that was interrupted by an end of the hub is not reported in the words of the previous one', async () => {
    const running = { ...told, lastResult: 'InProgress' };
    const { condition } = await failed().reconcile({ conditions: [known], backup: running });
    expect(condition.message).toContain('was started since');
  });

  test('is the previous one while another is being made', async () => {
    const hub = failed();
    hub.info = { state: 'create_backup', backups: [] };
    expect((await hub.reconcile({ conditions: [known] })).condition.message).toBe('Disk full.');
    expect((await hub.reconcile()).condition.reason).toBe('Applied');
  });
});

describe('ensureBackupSchedule', () => {
  test('listens to the backups of a client once, and once more after a failure', async () => {
    const failures = [new HubRejected('not_loaded', 'no backups yet')];
    const subscribe = jest.fn(() => {
      const failure = failures.shift();
      return failure ? Promise.reject(failure) : Promise.resolve(() => Promise.resolve());
    });
    const answers: Record<string, object> = {
      'backup/config/info': { config: fresh },
      'backup/agents/info': { agents: [{ agent_id: 'backup.local', name: 'This system' }] },
    };
    const command = (type: string) => Promise.resolve(answers[type]);
    const client = hubClient({ connection: { command, subscribe } });
    const step = ensureBackupSchedule(services({ cache: { get: () => undefined, list: function* () {} } }));
    for (const calls of [1, 2, 2]) {
      const context = { ...aHubContext(aHub({ spec: { backup: {} } })), url: '', client, core: {} as never };
      await step.run(context);
      expect(subscribe).toHaveBeenCalledTimes(calls);
    }
  });

  test('quotes rejections of the hub without the current and the former password', async () => {
    const answers: Record<string, () => Promise<unknown>> = {
      'backup/config/info': () =>
        Promise.resolve({
          config: { ...fresh, create_backup: { ...fresh.create_backup, password: 'lemon-tree' } },
        }),
      'backup/agents/info': () =>
        Promise.resolve({ agents: [{ agent_id: 'backup.local', name: 'This system' }] }),
      'backup/config/update': () =>
        Promise.reject(new HubRejected('invalid_format', "got 'tulip-bulb', had 'lemon-tree'")),
    };
    const connection = {
      command: (type: string) => answers[type]!(),
      subscribe: () => Promise.resolve(() => Promise.resolve()),
    };
    const given = services({
      cache: { get: () => ({ metadata: { name: 'backups' } }) as never, list: function* () {} },
      secrets: secretReader(() => new Map([['password', 'tulip-bulb']])),
    });
    const hub = aHub({
      spec: { backup: { recurrence: 'daily', passwordSecretRef: { name: 'backups', key: 'password' } } },
    });
    const client = hubClient({ connection });
    const context = { ...aHubContext(hub), url: 'http://villa', client, core: {} as never };
    await ensureBackupSchedule(given).run(context);
    expect(context.conditions['BackupConfigured']).toEqual({
      status: 'False',
      reason: 'Failed',
      message: "The hub rejects the backup settings: got '***', had '***'",
    });
    expect(context.requeueAfter).toBe(30_000);
  });
});
