import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { getBackupConfig } from '../../../operator/client/setup/backup';
import { getConfig } from '../../../operator/client/setup/core';
import type { HubClient } from '../../../operator/client/hub-client';
import { callService } from '../../../operator/client/services';
import { freshNamespace, until } from '../../cluster';
import { forceReconcile } from '../../cluster/forced-reconcile';
import { configuration, Home, hub, secret } from '../../cluster/home';
import { ObjectHistory } from '../../cluster/object-history';
import { startTestOperator, type TestOperator } from '../../cluster/operator';
import { running } from '../../cluster/http-settings';
import { hubPid } from './hub-in-sandbox';

const PASSWORD = 'quite a secret 42';

let home: Home;
let operator: TestOperator;
let client: HubClient;
let history: ObjectHistory;

const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
/** A day and an hour far from now, so that the schedule makes no backup during the test. */
const day = (new Date().getUTCDay() + 3) % 7;
const hour = String((new Date().getUTCHours() + 12) % 24).padStart(2, '0');

const config = () => getBackupConfig(client.connection);
const condition = () => home.condition('hub', 'h', 'BackupConfigured');
const status = async () => (await home.get('hub', 'h')).status ?? {};
/** Waits for the condition of the current generation. */
const settled = (reason: string) =>
  until(`backups are ${reason}`, async () => {
    const seen = await condition();
    return seen?.reason === reason && seen;
  });

beforeAll(async () => {
  home = new Home(await freshNamespace('backup'));
  operator = await startTestOperator(home.namespace);
  history = await ObjectHistory.of(home, 'hub', 'h');
  await home.apply(
    hub('h', {
      backup: { recurrence: DAYS[day], time: '03:30:00', retentionCopies: 3, agentIDs: ['backup.local'] },
    }),
    configuration('h'),
  );
});

// All tests use one hub, and run in this order.
describe('the backups of a hub', () => {
  test('wait for the token, and are then as the spec says', async () => {
    await history.condition({ status: 'False', reason: 'TokenNotAvailable' }, 'BackupConfigured');
    await home.ready('hub', 'h');
    await running((client = await home.client('h')));
    expect(await settled('Applied')).toMatchObject({ status: 'True' });
    expect(await config()).toMatchObject({
      automatic_backups_configured: true,
      schedule: { recurrence: 'custom_days', days: [DAYS[day]], time: '03:30:00' },
      retention: { copies: 3, days: null },
      create_backup: { agent_ids: ['backup.local'], include_database: true, password: null },
    });
    const { backup } = (await status()) as { backup: { nextTime: string } };
    expect(new Date(backup.nextTime).getUTCDay()).toBe(day);
    expect(backup).not.toHaveProperty('lastTime');
  });

  test('are not written again while they are equal', async () => {
    // The hub writes this file at each update.
    const written = async () => (await client.connection.command('backup/config/info')).config;
    const before = await written();
    const { metadata } = await home.get('hub', 'h');
    await forceReconcile(home, 'hub', 'h');
    await home.ready('hub', 'h');
    expect(await written()).toEqual(before);
    expect((await home.get('hub', 'h')).metadata.generation).toBe(metadata.generation);
  });

  test('follow a change, and lose fields that were removed from the spec', async () => {
    await home.change('hub', 'h', {
      backup: {
        recurrence: 'daily',
        time: null,
        retentionCopies: null,
        retentionDays: 14,
        includeDatabase: false,
      },
    });
    await until('it arrives', async () => (await config()).retention.days === 14);
    await settled('Applied');
    expect(await config()).toMatchObject({
      schedule: { recurrence: 'daily', days: [], time: null },
      retention: { copies: null, days: 14 },
      create_backup: { include_database: false },
    });
    // Without a time the hub chooses one in the night, which may be now.
    await home.change('hub', 'h', { backup: { time: `${hour}:30:00` } });
    await settled('Applied');
  });

  test('are restored after a change in the hub', async () => {
    await client.connection.command('backup/config/update', { retention: { copies: 1, days: null } });
    await forceReconcile(home, 'hub', 'h');
    await until('they are back', async () => (await config()).retention.days === 14);
  });

  test('are held back while the password is missing, and never lose it silently', async () => {
    await home.change('hub', 'h', {
      backup: { passwordSecretRef: { name: 'vault', key: 'word' }, retentionDays: 15 },
    });
    expect((await settled('Failed')).message).toContain('The Secret vault does not exist');
    expect((await config()).retention.days).toBe(14);
    await home.ready('hub', 'h');
    await home.apply(secret('vault', { word: PASSWORD }));
    await settled('Applied');
    expect(await config()).toMatchObject({ create_backup: { password: PASSWORD }, retention: { days: 15 } });
    expect(await operator.log()).not.toContain(PASSWORD);
    expect(JSON.stringify(await status())).not.toContain(PASSWORD);
  });

  test('report the last one as soon as it is made', async () => {
    const began = Date.now();
    await client.connection.command('backup/generate_with_automatic_settings');
    const backup = await until('it is told', async () => {
      const { backup: told } = (await status()) as { backup?: { lastTime?: string; lastResult?: string } };
      return told?.lastResult === 'Completed' && told;
    });
    const lastTime = Date.parse(backup.lastTime!); // the status has whole seconds
    expect(lastTime).toBeGreaterThan(began - 1_000);
    expect(lastTime).toBeLessThanOrEqual(Date.now());
    const { backups } = await client.connection.command('backup/info');
    expect(backups).toHaveLength(1);
    expect(backups[0]).toMatchObject({
      with_automatic_settings: true,
      agents: { 'backup.local': { protected: true } },
    });
  });

  test('refuse a destination that the hub does not have', async () => {
    await home.change('hub', 'h', { backup: { agentIDs: ['nowhere.at_all'] } });
    expect((await settled('Failed')).message).toContain(
      'the hub has no backup agent nowhere.at_all. The hub has backup.local:',
    );
    expect(await config()).toMatchObject({ create_backup: { agent_ids: ['backup.local'] } });
    await home.change('hub', 'h', { backup: { agentIDs: null } });
    await settled('Applied');
    expect(await config()).toMatchObject({ create_backup: { agent_ids: ['backup.local'] } });
  });

  test('report a failed one', async () => {
    const backups = join(await home.volumeOf('h'), 'backups');
    await rename(backups, `${backups}.away`);
    await writeFile(backups, 'no directory: no backup can be written');
    // the command may fail immediately
    await client.connection.command('backup/generate_with_automatic_settings').catch(() => undefined);
    await until(
      'it is told',
      async () => ((await status())['backup'] as { lastResult?: string }).lastResult === 'Failed',
    );
    expect((await settled('LastBackupFailed')).message).toMatch(/^The automatic backup of \S+ failed: \S/);
    expect((await operator.events('Hub', 'h')).join()).toContain('BackupFailed');
    await rm(backups);
    await rename(`${backups}.away`, backups);
    await client.connection.command('backup/generate_with_automatic_settings');
    await settled('Applied');
  });

  test('can be made after the restore of a backup with the Supervisor', async () => {
    const ofBox = {
      agent_ids: ['hassio.local'],
      include_addons: ['core_mosquitto'],
      include_folders: ['share'],
      include_all_addons: true,
    };
    await client.connection.command('backup/config/update', { create_backup: ofBox });
    await expect(client.connection.command('backup/generate_with_automatic_settings')).rejects.toThrow(
      "At least one available backup agent must be selected, got ['hassio.local']",
    );
    await forceReconcile(home, 'hub', 'h');
    await until('the destination is its own volume', async () =>
      (await config()).create_backup.agent_ids.includes('backup.local'),
    );
    expect((await operator.events('Hub', 'h')).join()).toContain('BackupSettingsCleared');
    await client.connection.command('backup/generate_with_automatic_settings');
    await settled('Applied');
    await until(
      'it is made',
      async () => ((await status())['backup'] as { lastResult?: string }).lastResult === 'Completed',
    );
  });

  test('are off with never, and unchanged without the block', async () => {
    await home.change('hub', 'h', { backup: { recurrence: 'never' } });
    await until('they are off', async () => (await config()).schedule.recurrence === 'never');
    expect((await settled('Applied')).message).toContain('off');
    await home.change('hub', 'h', { backup: null });
    await until('nothing is said of them', async () => {
      const { status: present, metadata } = await home.get('hub', 'h');
      const conditions = present?.conditions ?? [];
      return (
        present?.['observedGeneration'] === metadata.generation &&
        !conditions.some(({ type }) => type === 'BackupConfigured')
      );
    });
    await client.connection.command('backup/config/update', {
      schedule: { recurrence: 'daily', days: [], time: `${hour}:45:00` },
    });
    await forceReconcile(home, 'hub', 'h');
    await home.ready('hub', 'h');
    expect((await config()).schedule).toEqual({ recurrence: 'daily', days: [], time: `${hour}:45:00` });
    expect(await status()).not.toHaveProperty('backup');
  });

  test('are no error while the hub restarts', async () => {
    await home.change('hub', 'h', {
      backup: { recurrence: 'daily', time: `${hour}:30:00`, agentIDs: ['backup.local'] },
    });
    await settled('Applied');
    await running(client);
    const failures = await operator.failures();
    const restart = await ObjectHistory.of(home, 'hub', 'h');
    const pid = await hubPid(home, 'h');
    // the hub may go down before it answers
    await callService(client.rest, 'homeassistant', 'restart').catch(() => undefined);
    // Reconciles happen at every moment of the restart.
    await until('it is up again', async () => {
      await forceReconcile(home, 'hub', 'h');
      return (await hubPid(home, 'h')) !== pid && (await getConfig(client.rest)).state === 'RUNNING';
    });
    await home.ready('hub', 'h');
    const reasons = restart.states.flatMap((state) => state.status?.conditions?.map(({ reason }) => reason));
    expect(reasons).not.toContain('InternalError');
    expect(await operator.failures()).toEqual(failures);
    expect(await settled('Applied')).toMatchObject({ status: 'True' });
  });

  test('and a token that is younger than a restored backup is recreated', async () => {
    // The connection of the client may not be back yet.
    const { backups } = await until('the hub answers', () => client.connection.command('backup/info'));
    const before = await home.secret('h-api-token', 'token');
    await home.delete('secret', 'h-api-token');
    const younger = await until('another token is stored', async () => {
      const now = await home.secret('h-api-token', 'token');
      return now !== before && now;
    });
    await home.ready('hub', 'h');
    client = await home.client('h');
    await until('the hub answers', config); // the hub ignores a restore while it starts
    const restore = {
      backup_id: backups[0]!.backup_id,
      agent_id: 'backup.local',
      password: PASSWORD,
      restore_database: false,
      restore_homeassistant: true,
    };
    // the hub goes down instead of answering
    await client.connection.command('backup/restore', restore, { timeout: 60_000 }).catch(() => undefined);
    await until(
      'the token is another one',
      async () => (await home.secret('h-api-token', 'token')) !== younger,
    );
    await home.ready('hub', 'h');
  });
});

describe('the generated credentials', () => {
  const owners = async () =>
    ((await home.get('secret', 'h-admin')).metadata.ownerReferences ?? []).map(({ kind }) => kind);

  test('are deleted with the Hub, or stay with its volume, and are then deleted with that of the next Hub', async () => {
    expect(await owners()).toEqual(['Hub']);
    const password = await home.secret('h-admin', 'password');
    await home.change('hub', 'h', { storage: { retain: true } });
    await until('they stay', async () => (await owners()).length === 0);
    await home.delete('hub', 'h');
    await until(
      'the rest goes',
      async () => !(await home.exists('statefulset', 'h')) && !(await home.exists('secret', 'h-api-token')),
    );
    expect(await home.secret('h-admin', 'password')).toBe(password);

    // Only with these credentials can a Hub of the same name log in to the hub on the volume.
    await home.apply(hub('h', { storage: { retain: false } }));
    await home.ready('hub', 'h');
    expect(await home.secret('h-admin', 'password')).toBe(password);
    expect(await owners()).toEqual([]);
    await home.delete('hub', 'h');
    await until('the rest goes', async () => !(await home.exists('statefulset', 'h')));
    expect(await home.secret('h-admin', 'password')).toBe(password);
    expect(await home.exists('pvc', 'h-config')).toBe(true);
  });
});
