import { copyFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { HubClient } from '../../../operator/client/hub-client';
import { getBackupConfig } from '../../../operator/client/setup/backup';
import { freshNamespace, until } from '../../cluster';
import { DeviceIntegration } from '../../cluster/device-integration';
import { configuration, Home, hub, integration } from '../../cluster/home';
import { running } from '../../cluster/http-settings';
import { restoreOnboarded } from '../../cluster/onboarded-volume';
import { startTestOperator } from '../../cluster/operator';

// The destinations of backups that integrations provide, referred to by their HubIntegration.

let home: Home;
let client: HubClient;
let volume: string;
/** An hour far from now, so that the schedule makes no backup during the test. */
const hour = String((new Date().getUTCHours() + 12) % 24).padStart(2, '0');
const backup = (...agents: string[]) => ({
  backup: {
    time: `${hour}:30:00`,
    agentIDs: ['backup.local'],
    agents: agents.map((name) => ({ integrationRef: { name } })),
  },
});
const chosen = async () => (await getBackupConfig(client.connection)).create_backup.agent_ids;
const agentOf = async (name: string) =>
  `nas.${String((await home.get('HubIntegration', name)).status!['entryID'])}`;
const condition = (about: string) =>
  until(`BackupConfigured is about ${about}`, async () => {
    const seen = await home.condition('hub', 'h', 'BackupConfigured');
    return seen?.message.includes(about) ? seen : undefined;
  });

beforeAll(async () => {
  home = new Home(await freshNamespace('backup-agents'));
  await startTestOperator(home.namespace);
  volume = await restoreOnboarded(home, 'h');
  await DeviceIntegration.add(volume, 'nas');
  await copyFile(
    join(__dirname, '..', '..', 'cluster', 'backup-agent.py'),
    join(volume, 'custom_components', 'nas', 'backup.py'),
  );
  // All are applied at the same time, as from Git, before any entry exists.
  await home.apply(hub('h', backup('attic')), configuration('h'));
  await home.ready('hub', 'h');
  await running((client = await home.client('h')));
});

describe('backup.agents', () => {
  test('wait for the integration, and are then the agent of its entry', async () => {
    await condition('agents: The HubIntegration attic does not exist: create it');
    await home.apply(
      integration('h', 'attic', 'nas', { title: 'Attic', configuration: { host: { value: 'attic' } } }),
      integration('h', 'cellar', 'nas', { title: 'Cellar', configuration: { host: { value: 'cellar' } } }),
    );
    await condition('The hub has the schedule of spec.backup.');
    expect(await chosen()).toEqual(['backup.local', await agentOf('attic')]);
  });

  test('get the backups', async () => {
    await client.connection.command('backup/generate_with_automatic_settings');
    await until('it is told', async () => {
      const { backup: told } = (await home.get('hub', 'h')).status as { backup?: { lastResult?: string } };
      return told?.lastResult === 'Completed';
    });
    const kept = await readdir(join(volume, 'elsewhere', 'attic'));
    expect(kept.filter((name) => name.endsWith('.tar'))).toHaveLength(1);
  });

  test('follow another integration', async () => {
    await home.ready('HubIntegration', 'cellar');
    const cellar = await agentOf('cellar');
    await home.change('hub', 'h', backup('cellar'));
    await until('it is chosen', async () => (await chosen()).includes(cellar));
    expect(await chosen()).toHaveLength(2);
  });
});
