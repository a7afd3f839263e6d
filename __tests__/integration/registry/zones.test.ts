import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { RegistryFields, RegistryRecord } from '../../../operator/client/connection/api-types';
import type { HubClient } from '../../../operator/client/hub-client';
import { yamlZones } from '../../../operator/client/registries/yaml-zones';
import { freshNamespace, until } from '../../cluster';
import { kubectlHub } from '../../cluster/command-line';
import { configuration, DEFAULT_CONFIGURATION, Home, type Manifest, zone } from '../../cluster/home';
import { startHub } from '../../cluster/onboarded-volume';
import { startTestOperator, type TestOperator } from '../../cluster/operator';

let home: Home;
let operator: TestOperator;
let client: HubClient;

beforeAll(async () => {
  home = new Home(await freshNamespace('zones'));
  operator = await startTestOperator(home.namespace);
  await startHub(home, 'villa');
  client = await home.client('villa');
});

const inHub = (): Promise<readonly RegistryRecord[]> => client.connection.command('zone/list');
const withId = async (id: string) => (await inHub()).find((each) => each['id'] === id);
const create = (fields: RegistryFields) => client.connection.command('zone/create', fields);
const update = (id: string, fields: RegistryFields) =>
  client.connection.command('zone/update', { zone_id: id, ...fields });
const place = { latitude: '52.5200', longitude: '13.4050' };
const statusOf = async (name: string) => (await home.get('hubzone', name)).status!;

/** Returns the output of `kubectl hub diff` for a file with one resource. */
async function preview(resource: Manifest) {
  const folder = await mkdtemp(join(tmpdir(), 'zones-'));
  try {
    const file = join(folder, 'zone.yaml');
    await writeFile(file, stringify(resource));
    const { code, stdout, stderr } = await kubectlHub(home.namespace, ['diff', '-f', file, '-o', 'json']);
    expect(stderr).toBe('');
    return { code, diffs: JSON.parse(stdout) as unknown };
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function becomes(id: string, fields: object): Promise<void> {
  await until(`zone ${id} is ${JSON.stringify(fields)}`, async () => {
    expect(await withId(id)).toMatchObject(fields);
    return true;
  });
}

describe('zones', () => {
  test('every field arrives, a removed one gets the default of a new zone, and a rename keeps the id', async () => {
    await home.apply(
      zone('villa', 'school', { name: 'School', ...place, radius: 150, passive: true, icon: 'mdi:school' }),
    );
    await home.ready('hubzone', 'school', { reason: 'ZoneRegistered' });
    expect(await withId('school')).toMatchObject({
      name: 'School',
      latitude: 52.52,
      longitude: 13.405,
      radius: 150,
      passive: true,
      icon: 'mdi:school',
    });
    expect(await statusOf('school')).toMatchObject({ zoneID: 'school', entityId: 'zone.school' });
    await home.change('hubzone', 'school', { name: 'College', radius: null, passive: null, icon: null });
    await home.ready('hubzone', 'school');
    expect(await withId('school')).toMatchObject({
      name: 'College',
      radius: 100,
      passive: false,
      icon: 'mdi:school',
    });
    expect(await statusOf('school')).toMatchObject({ entityId: 'zone.school', zoneID: 'school' });
    await home.delete('hubzone', 'school');
    expect(await withId('school')).toBeUndefined();
  });

  test('a user’s zone is adopted with its radius, and stays when the resource is deleted', async () => {
    await create({ name: 'Work', latitude: 52.52, longitude: 13.405, radius: 333, passive: true });
    await home.apply(zone('villa', 'work', { name: 'work', ...place }));
    await home.ready('hubzone', 'work');
    expect(await statusOf('work')).toMatchObject({ zoneID: 'work', adopted: true });
    await home.event('HubZone', 'work', /^Warning Adopted: The hub already had the zone work/);
    expect(await withId('work')).toMatchObject({ name: 'work', radius: 333, passive: true });
    await home.delete('hubzone', 'work');
    expect(await withId('work')).toBeDefined();
  });

  test('a change and a removal in the hub are reverted, or only reported with driftPolicy Warn', async () => {
    await home.apply(
      zone('villa', 'gym', { name: 'Gym', ...place, radius: 50 }),
      zone('villa', 'pool', { name: 'Pool', ...place, radius: 50, driftPolicy: 'Warn' }),
    );
    await home.ready('hubzone', 'gym');
    await home.ready('hubzone', 'pool');
    await update('gym', { radius: 51, latitude: 1.5 });
    await becomes('gym', { radius: 50, latitude: 52.52 });
    await home.event('HubZone', 'gym', /^Warning DriftDetected: .*radius: hub has 51, resource says 50/);
    await client.connection.command('zone/delete', { zone_id: 'gym' });
    await becomes('gym', { radius: 50 });
    await home.ready('hubzone', 'gym');
    expect(await statusOf('gym')).toMatchObject({ entityId: 'zone.gym' });
    await update('pool', { radius: 51 });
    const { message } = await home.ready('hubzone', 'pool', { status: 'False', reason: 'DriftDetected' });
    expect(message).toContain('radius: hub has 51, resource says 50');
    expect(await withId('pool')).toMatchObject({ radius: 51 });
  });

  test('nothing is written again while nothing changes, and a restarted operator recognizes its zone', async () => {
    await home.apply(zone('villa', 'park', { name: 'Park', ...place }));
    await home.ready('hubzone', 'park');
    await operator.calm();
    const version = async () => (await home.get('hubzone', 'park')).metadata.resourceVersion;
    const before = await version();
    await operator.stop();
    await operator.start();
    await until('it is reconciled', async () =>
      (await operator.outcomes()).some(({ kind, name }) => kind === 'HubZone' && name === 'park'),
    );
    await operator.calm();
    expect(await version()).toBe(before);
    expect((await inHub()).filter(({ name }) => name === 'Park')).toHaveLength(1);
  });

  test('a zone in the YAML of the hub is named in the condition and by diff, and the resource gets its own after that', async () => {
    const section = 'zone:\n  - name: Cabin\n    latitude: 47.1\n    longitude: 11.2\n';
    await home.apply(configuration('villa', `${DEFAULT_CONFIGURATION}\n${section}`));
    await until('the hub has loaded it', async () => (await yamlZones(client.rest)).length === 1);
    const cabin = zone('villa', 'cabin', { name: 'CABIN', ...place });
    const before = await preview(cabin);
    await home.apply(cabin);
    const { message } = await home.ready('hubzone', 'cabin', { status: 'False', reason: 'NameConflict' });
    expect(message).toContain('“Cabin” (zone.cabin) is part of the hub’s YAML');
    expect(await home.condition('hubzone', 'cabin', 'Stalled')).toMatchObject({ status: 'True' });
    const refused = { action: 'refused', fields: [], notes: [message] };
    expect(before).toMatchObject({ code: 1, diffs: [{ cluster: { action: 'create' }, hub: refused }] });
    expect(await preview(cabin)).toMatchObject({
      code: 1,
      diffs: [{ cluster: { action: 'none' }, hub: refused }],
    });
    expect(await withId('cabin')).toBeUndefined();
    await home.change('hubzone', 'cabin', { name: 'Hut' });
    await home.ready('hubzone', 'cabin');
    expect(await withId('hut')).toMatchObject({ name: 'Hut' });
  });
});
