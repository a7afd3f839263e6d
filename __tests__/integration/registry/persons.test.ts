import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PersonRecord, RegistryFields } from '../../../operator/client/connection/api-types';
import type { HubClient } from '../../../operator/client/hub-client';
import { callService } from '../../../operator/client/services';
import { freshNamespace, mustKubectl, until } from '../../cluster';
import { kubectlHub } from '../../cluster/command-line';
import { configuration, DEFAULT_CONFIGURATION, Home, hub, person } from '../../cluster/home';
import type { HubRecorder } from '../../cluster/hub-recorder';
import { recorderOf, throughRecorders } from '../../cluster/recorded-hub';
import { restoreOnboarded } from '../../cluster/onboarded-volume';
import { startTestOperator, type TestOperator } from '../../cluster/operator';

const HUB = 'villa';
const TEXT = `${DEFAULT_CONFIGURATION}kitchen_sink:\n`;
/** An entity with an entry in the registry, and a picture of the household. */
const TRACKER = 'device_tracker.demo_scanner';
const PICTURE = '/local/anna.png';

let home: Home;
let operator: TestOperator;
let recorder: HubRecorder;
let client: HubClient;

beforeAll(async () => {
  home = new Home(await freshNamespace('persons'));
  operator = await startTestOperator(home.namespace, { settings: throughRecorders });
  await restoreOnboarded(home, HUB);
  await home.apply(hub(HUB), configuration(HUB, TEXT));
  recorder = await recorderOf(home, HUB);
  await home.ready('hubconfiguration', HUB);
  client = await home.client(HUB);
});

afterAll(() => recorder?.stop());

const inHub = async (): Promise<readonly PersonRecord[]> =>
  (await client.connection.command('person/list')).storage;
const withId = async (id: string) => (await inHub()).find((each) => each['id'] === id);
const create = (fields: RegistryFields) => client.connection.command('person/create', fields);
const update = (id: string, fields: RegistryFields) =>
  client.connection.command('person/update', { person_id: id, ...fields });
const statusOf = async (name: string) => (await home.get('hubperson', name)).status!;
const writes = () => recorder.changes().filter((each) => each.startsWith('command person/'));

/** Adds a user with a login, as the UI does. Resolves with the id. */
async function addUser(username: string): Promise<string> {
  const { user } = await client.connection.command('config/auth/create', {
    name: username,
    group_ids: ['system-users'],
  });
  await client.connection.command('config/auth_provider/homeassistant/create', {
    user_id: user.id,
    username,
    password: 'correct horse',
  });
  return user.id;
}

async function becomes(id: string, fields: object): Promise<void> {
  await until(`person ${id} is ${JSON.stringify(fields)}`, async () => {
    expect(await withId(id)).toMatchObject(fields);
    return true;
  });
}

describe('persons', () => {
  test('a person is created by one write with all four fields, and kubectl shows the user', async () => {
    const anna = await addUser('anna');
    recorder.sent.length = 0;
    await home.apply(person(HUB, 'anna', { name: 'Anna', username: 'Anna ', deviceTrackers: [TRACKER] }));
    await home.ready('hubperson', 'anna', { reason: 'PersonRegistered' });
    expect(writes()).toEqual(['command person/create']);
    const fields = { name: 'Anna', user_id: anna, device_trackers: [TRACKER], picture: null };
    expect(await withId('anna')).toEqual({ id: 'anna', ...fields });
    expect(await statusOf('anna')).toMatchObject({ id: 'anna', entityId: 'person.anna', userId: anna });
    const shown = await mustKubectl(['get', 'hapr'], { namespace: home.namespace });
    expect(shown).toMatch(/^NAME +HUB +NAME +USER +READY +AGE\nanna +villa +Anna +Anna +True /);
  });

  test('a chosen id is the one of the entity too, and a rename keeps both', async () => {
    await home.apply(person(HUB, 'grandpa', { id: 'opa_karl', name: 'Großvater' }));
    await home.ready('hubperson', 'grandpa');
    expect(await withId('opa_karl')).toEqual({
      id: 'opa_karl',
      name: 'Großvater',
      user_id: null,
      device_trackers: [],
      picture: null,
    });
    expect(await statusOf('grandpa')).toMatchObject({ id: 'opa_karl', entityId: 'person.opa_karl' });
    await home.change('hubperson', 'grandpa', { name: 'Karl' });
    await becomes('opa_karl', { name: 'Karl' });
  });

  test('adopted with fields that the resource does not set, then renamed: they stay', async () => {
    const user = await addUser('berta');
    const made = { user_id: user, device_trackers: [TRACKER], picture: PICTURE };
    await create({ name: 'Berta', ...made });
    recorder.sent.length = 0;
    await home.apply(person(HUB, 'berta', { name: 'Berta' }));
    await home.ready('hubperson', 'berta');
    expect(writes()).toEqual([]);
    expect(await statusOf('berta')).toMatchObject({ adopted: true, userId: user });
    await home.change('hubperson', 'berta', { name: 'Bertha' });
    await becomes('berta', { name: 'Bertha', ...made });
    await home.delete('hubperson', 'berta');
    expect(await withId('berta')).toMatchObject({ name: 'Bertha', ...made });
    await client.connection.command('person/delete', { person_id: 'berta' });
  });

  test('a person is adopted by the user, and without one by the name', async () => {
    const user = await addUser('carl');
    await create({ name: 'Carlo', user_id: user, device_trackers: [], picture: PICTURE });
    await create({ name: 'Dora', user_id: null });
    await home.apply(
      person(HUB, 'my-carl', { name: 'Carl', username: 'carl' }),
      person(HUB, 'my-dora', { name: 'Dora' }),
    );
    await home.ready('hubperson', 'my-carl');
    await home.ready('hubperson', 'my-dora');
    expect(await statusOf('my-carl')).toMatchObject({ id: 'carlo', adopted: true });
    expect(await statusOf('my-dora')).toMatchObject({ id: 'dora', adopted: true });
    expect(await withId('carlo')).toMatchObject({ name: 'Carl', user_id: user, picture: PICTURE });
    expect(await withId('my_carl')).toBeUndefined();
    await home.delete('hubperson', 'my-carl');
    await home.delete('hubperson', 'my-dora');
  });

  test('a person of the same name with another user keeps the user, and the resource gets a person of its own', async () => {
    const [father, son] = [await addUser('max'), await addUser('max2')];
    await create({ name: 'Max', user_id: father, device_trackers: [TRACKER] });
    await home.apply(person(HUB, 'junior', { name: 'Max', username: 'max2' }));
    await home.ready('hubperson', 'junior', { reason: 'PersonRegistered' });
    expect(await withId('max')).toMatchObject({ user_id: father, device_trackers: [TRACKER] });
    expect(await withId('junior')).toMatchObject({ name: 'Max', user_id: son, device_trackers: [] });
    await home.delete('hubperson', 'junior');
    await client.connection.command('person/delete', { person_id: 'max' });
  });

  test('two resources never have one person, and the second of one user is rejected', async () => {
    await home.apply(person(HUB, 'second', { name: 'Second', username: 'anna' }));
    const { message } = await home.ready('hubperson', 'second', { status: 'False', reason: 'RejectedByHub' });
    expect(message).toContain('User already taken');
    expect(await withId('second')).toBeUndefined();
    await home.change('hubperson', 'anna', { username: '' });
    await home.ready('hubperson', 'second');
    await becomes('anna', { user_id: null, device_trackers: [TRACKER] });
    await home.delete('hubperson', 'second');
    await home.change('hubperson', 'anna', { username: 'anna' });
    await home.ready('hubperson', 'anna');
  });

  test('two persons exchange their users, and keep their trackers', async () => {
    const [nora, oskar] = [await addUser('nora'), await addUser('oskar')];
    const named = (id: string, username: string) =>
      person(HUB, id, { name: id, username, deviceTrackers: [TRACKER] });
    await home.apply(named('nora', 'nora'), named('oskar', 'oskar'));
    for (const name of ['nora', 'oskar']) await home.ready('hubperson', name);
    await home.apply(named('nora', 'oskar'), named('oskar', 'nora'));
    await becomes('nora', { user_id: oskar, device_trackers: [TRACKER] });
    await becomes('oskar', { user_id: nora, device_trackers: [TRACKER] });
    for (const name of ['nora', 'oskar']) await home.ready('hubperson', name);
    expect(await statusOf('nora')).toMatchObject({ userId: oskar });
    for (const name of ['nora', 'oskar']) await home.delete('hubperson', name);
  });

  test('an unknown user is waited for, and wakes the resource', async () => {
    await home.apply(person(HUB, 'late', { name: 'Late', username: 'late' }));
    const { message } = await home.ready('hubperson', 'late', { status: 'False', reason: 'UserNotFound' });
    expect(message).toContain('the user “late” in username');
    expect(await withId('late')).toBeUndefined();
    const user = await addUser('late');
    const at = Date.now();
    await home.ready('hubperson', 'late');
    expect(Date.now() - at).toBeLessThan(10_000);
    expect(await withId('late')).toMatchObject({ user_id: user });
  });

  test('a change and a removal in the hub are reverted, and the picture of the household stays', async () => {
    await update('anna', { name: 'Anna', device_trackers: [TRACKER], picture: PICTURE });
    await update('anna', { name: 'Other', device_trackers: [] });
    const anna = (await statusOf('anna'))['userId'];
    await becomes('anna', { name: 'Anna', user_id: anna, device_trackers: [TRACKER], picture: PICTURE });
    await home.event('HubPerson', 'anna', /^Warning DriftDetected: .*name: hub has "Other"/);
    await client.connection.command('person/delete', { person_id: 'anna' });
    await becomes('anna', { name: 'Anna', user_id: anna, device_trackers: [TRACKER] });
    await home.ready('hubperson', 'anna');
  });

  test('with driftPolicy Warn a change is reported', async () => {
    await home.apply(person(HUB, 'warned', { name: 'Warned', driftPolicy: 'Warn' }));
    await home.ready('hubperson', 'warned');
    await update('warned', { name: 'Other' });
    await home.ready('hubperson', 'warned', { status: 'False', reason: 'DriftDetected' });
    expect(await withId('warned')).toMatchObject({ name: 'Other' });
  });

  test('a tracker whose entity is removed is named, and is put back when the entity exists again', async () => {
    const entry = await client.settings.entity.entries();
    const tracker = [...entry.all].find(({ entityId }) => entityId === TRACKER)!;
    recorder.sent.length = 0;
    await client.connection.command('config/entity_registry/remove', { entity_id: TRACKER });
    await becomes('anna', { device_trackers: [] });
    await until('the message names it', async () =>
      (await home.ready('hubperson', 'anna')).message.includes(TRACKER),
    );
    expect(writes()).toEqual([]);
    await home.change('hubperson', 'anna', { name: 'Annabel' });
    await becomes('anna', { name: 'Annabel' });
    await home.change('hubperson', 'anna', { name: 'Anna' });
    await becomes('anna', { name: 'Anna' });
    await callService(client.rest, 'homeassistant', 'reload_config_entry', {
      entry_id: tracker.configEntryId,
    });
    await becomes('anna', { device_trackers: [TRACKER] });
    await until(
      'the message is the usual one',
      async () => !(await home.ready('hubperson', 'anna')).message.includes(TRACKER),
    );
  });

  test('a tracker that does not exist is written, and named', async () => {
    await home.apply(person(HUB, 'typo', { name: 'Typo', deviceTrackers: ['device_tracker.nope'] }));
    const { message } = await home.ready('hubperson', 'typo');
    expect(message).toContain('There is no entity device_tracker.nope yet');
    expect(await withId('typo')).toMatchObject({ device_trackers: ['device_tracker.nope'] });
  });

  test('after the removal of another user the hub has no error, and a removed user is waited for', async () => {
    const other = await addUser('other');
    await client.connection.command('config/auth/delete', { user_id: other });
    const late = String((await statusOf('late'))['userId']);
    await client.connection.command('config/auth/delete', { user_id: late });
    await home.ready('hubperson', 'late', { status: 'False', reason: 'UserNotFound' });
    await becomes('late', { user_id: null });
    const records = await client.connection.command('system_log/list');
    expect(records.length).toBeGreaterThan(0);
    expect(JSON.stringify(records)).not.toContain('KeyError');
  });

  test('the deletion removes the person, and the user stays', async () => {
    await home.delete('hubperson', 'anna');
    expect(await withId('anna')).toBeUndefined();
    expect(await client.users.find('anna')).toBeDefined();
  });

  test('a person of the YAML is waited for, by id, name or user, and the resource gets its own after it', async () => {
    const user = await client.users.find('anna');
    const section = `person:\n  - id: yaml\n    name: Yamila\n    user_id: ${user}\n    device_trackers: []\n`;
    await home.apply(configuration(HUB, `${TEXT}${section}`));
    await home.ready('hubconfiguration', HUB);
    await until('the hub has it', async () =>
      (await client.connection.command('person/list')).config.some(({ name }) => name === 'Yamila'),
    );
    const names = ['yaml', 'by-name', 'by-user'];
    await home.apply(
      person(HUB, 'yaml', { name: 'Other' }),
      person(HUB, 'by-name', { name: 'YAMILA' }),
      person(HUB, 'by-user', { name: 'User', username: 'anna' }),
    );
    for (const name of names) {
      const conflict = { status: 'False', reason: 'NameConflict' } as const;
      const { message } = await home.ready('hubperson', name, conflict);
      expect(message).toContain('part of the hub’s YAML');
    }
    await home.apply(configuration(HUB, TEXT));
    await home.ready('hubconfiguration', HUB);
    for (const name of names) await home.ready('hubperson', name);
    // The hub remembers the entity of the YAML.
    expect(await statusOf('yaml')).toMatchObject({ id: 'yaml', entityId: 'person.yamila' });
  });

  test('a user name without a value is absent, and diff and pull show what differs', async () => {
    const file = join(await mkdtemp(join(tmpdir(), 'persons-')), 'eva.yaml');
    const eva = (more: string) =>
      writeFile(
        file,
        `apiVersion: hub-operator.dev/v1\nkind: HubPerson\nmetadata: { name: eva }\nspec:\n  hubRef: { name: ${HUB} }\n  name: Eva\n${more}`,
      );
    await eva('  username:\n');
    const user = await addUser('eva');
    await create({ name: 'Eva', user_id: user, device_trackers: [TRACKER], picture: PICTURE });
    const { namespace } = home;
    await mustKubectl(['apply', '--server-side', `--filename=${file}`], { namespace });
    await home.ready('hubperson', 'eva');
    expect(await withId('eva')).toMatchObject({ user_id: user, device_trackers: [TRACKER] });
    await eva('  username: ""\n  deviceTrackers: [device_tracker.other]\n');
    const { code, stdout } = await kubectlHub(namespace, ['diff', '-f', file]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/user_id/);
    expect(stdout).toMatch(/device_tracker\.other/);

    await eva(`  driftPolicy: Warn\n  username: eva\n  deviceTrackers: [${TRACKER}]\n`);
    await mustKubectl(['apply', '--server-side', `--filename=${file}`], { namespace });
    await operator.calm();
    await home.ready('hubperson', 'eva');
    await update('eva', { user_id: await addUser('fay'), device_trackers: [] });
    await home.ready('hubperson', 'eva', { status: 'False', reason: 'DriftDetected' });
    expect(await kubectlHub(namespace, ['pull', 'hapr/eva', '--write', file])).toMatchObject({ code: 0 });
    const text = await readFile(file, 'utf8');
    expect(text).toContain('  username: fay\n');
    expect(text).not.toContain('deviceTrackers');
  });

  test('nothing is written again while nothing changes, and a restarted operator knows its persons', async () => {
    await operator.calm();
    const versions = async () =>
      mustKubectl(['get', 'hapr', '-o', 'jsonpath={.items[*].metadata.resourceVersion}'], {
        namespace: home.namespace,
      });
    const before = await versions();
    recorder.sent.length = 0;
    await operator.stop();
    await operator.start();
    await until('it is reconciled', async () =>
      (await operator.outcomes()).some(({ kind, name }) => kind === 'HubPerson' && name === 'typo'),
    );
    await operator.calm();
    expect(await versions()).toBe(before);
    expect(writes()).toEqual([]);
  });
});
