import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import type { HubClient } from '../../../operator/client/hub-client';
import type { Settings } from '../../../operator/client/registries/settings';
import { freshNamespace, until } from '../../cluster';
import { kubectlHub } from '../../cluster/command-line';
import {
  area,
  configuration,
  DEFAULT_CONFIGURATION,
  entity as entityResource,
  helper,
  Home,
  hub,
  label,
  type Manifest,
  person,
} from '../../cluster/home';
import type { HubRecorder } from '../../cluster/hub-recorder';
import { recorderOf, throughRecorders } from '../../cluster/recorded-hub';
import { restoreOnboarded } from '../../cluster/onboarded-volume';
import { startTestOperator, type TestOperator } from '../../cluster/operator';

// `spec.entity` of helpers and persons: their entities get an area, labels and other settings.

const HUB = 'villa';
const TEXT = `${DEFAULT_CONFIGURATION}input_boolean:\ntimer:\n`;

let home: Home;
let operator: TestOperator;
let recorder: HubRecorder;
let client: HubClient;

beforeAll(async () => {
  home = new Home(await freshNamespace('entries-entity'));
  operator = await startTestOperator(home.namespace, { settings: throughRecorders });
  await restoreOnboarded(home, HUB);
  await home.apply(hub(HUB), configuration(HUB, TEXT));
  recorder = await recorderOf(home, HUB);
  await home.ready('hubconfiguration', HUB);
  client = await home.client(HUB);
  await home.apply(area(HUB, 'hall', { name: 'Hall' }), label(HUB, 'energy', { name: 'Energy' }));
  await home.ready('hublabel', 'energy');
  await home.ready('hubarea', 'hall');
});

afterAll(() => recorder?.stop());

const kindOf = ({ kind }: Manifest) => kind.toLowerCase();
const statusOf = async (resource: Manifest) =>
  (await home.get(kindOf(resource), resource.metadata.name)).status!;

async function settingsOf(entityId: string): Promise<Settings> {
  const { all } = await client.settings.entity.entries();
  return [...all].find((each) => each.entityId === entityId)!.settings;
}

async function becomes(entityId: string, settings: object): Promise<void> {
  await until(`${entityId} is ${JSON.stringify(settings)}`, async () => {
    expect(await settingsOf(entityId)).toMatchObject(settings);
    return true;
  });
}

const change = (entityId: string, fields: object) =>
  client.connection.command('config/entity_registry/update', { entity_id: entityId, ...fields });

const entity = { areaName: 'Hall', labels: ['Energy'], icon: 'mdi:sheep', hidden: true };
const expected = { areaName: 'hall', labels: ['energy'], icon: 'mdi:sheep', hidden: true };
const kinds = [
  [
    'helper',
    'input_boolean',
    (name: string, more: object) => helper(HUB, name, { name: `The ${name}`, type: 'boolean', ...more }),
  ],
  ['person', 'person', (name: string, more: object) => person(HUB, name, { name: `The ${name}`, ...more })],
] as const;

describe.each(kinds)('the entity of a %s', (noun, domain, make) => {
  const named = (name: string, more: object = {}) => make(`${noun}-${name}`, more);
  const entityIdOf = (name: string) => `${domain}.${noun}_${name}`;

  test('gets the settings, keeps additions of others, and a restart writes nothing', async () => {
    const given = named('one', { entity });
    await home.apply(given);
    await home.ready(kindOf(given), given.metadata.name);
    expect(await settingsOf(entityIdOf('one'))).toMatchObject(expected);
    expect(await statusOf(given)).toMatchObject({
      registryId: expect.any(String),
      settingsHash: expect.stringContaining('sha256:'),
      previous: { areaName: { ours: ['hall'] }, labels: { was: [], ours: ['energy'] } },
    });
    await change(entityIdOf('one'), { icon: 'mdi:cow', name: 'Mine' });
    await becomes(entityIdOf('one'), { icon: 'mdi:sheep', name: 'Mine' });
    await home.event(given.kind, given.metadata.name, /^Warning DriftDetected: .*icon: hub has "mdi:cow"/);
    await operator.calm();
    const before = await statusOf(given);
    recorder.sent.length = 0;
    await operator.stop();
    await operator.start();
    await home.annotate(kindOf(given), given.metadata.name, 'hub-operator.dev/reconcile-requested-at=1');
    await until('it was looked at', async () => (await statusOf(given))['lastHandledReconcileAt'] === '1');
    expect(recorder.changes()).toEqual([]);
    expect(await statusOf(given)).toMatchObject({
      registryId: before['registryId'],
      previous: before['previous'],
    });
  });

  test('is renamed and set in one change of the spec', async () => {
    const given = named('both');
    await home.apply(given);
    await home.ready(kindOf(given), given.metadata.name);
    await home.change(kindOf(given), given.metadata.name, { name: 'Other', entity: { icon: 'mdi:cow' } });
    await becomes(entityIdOf('both'), { icon: 'mdi:cow' });
    await home.ready(kindOf(given), given.metadata.name);
    const [entry] = [...(await client.registries[domain].entries()).values()].filter(
      ({ name }) => name === 'Other',
    );
    expect(entry).toMatchObject({ id: `${noun}_both` });
    await home.delete(kindOf(given), given.metadata.name);
  });

  test('has no settings without spec.entity, and the former ones when they are removed', async () => {
    const given = named('former');
    await home.apply(given);
    await home.ready(kindOf(given), given.metadata.name);
    await change(entityIdOf('former'), { icon: 'mdi:cow' });
    await operator.calm();
    expect(await settingsOf(entityIdOf('former'))).toMatchObject({ icon: 'mdi:cow', areaName: null });
    for (const field of ['registryId', 'previous', 'settingsHash'])
      expect(await statusOf(given)).not.toHaveProperty(field);
    await home.change(kindOf(given), given.metadata.name, { entity });
    await becomes(entityIdOf('former'), expected);
    await home.change(kindOf(given), given.metadata.name, { entity: null });
    await becomes(entityIdOf('former'), { icon: 'mdi:cow', areaName: null, labels: [], hidden: false });
    await home.ready(kindOf(given), given.metadata.name);
    for (const field of ['registryId', 'previous', 'settingsHash'])
      expect(await statusOf(given)).not.toHaveProperty(field);
  });

  test('waits for a missing area, while the definition is in the hub', async () => {
    const given = named('late', { entity: { areaName: `Attic of the ${noun}` } });
    await home.apply(given);
    const { name } = given.metadata;
    await home.ready(kindOf(given), name, { status: 'False', reason: 'AreaNotFound' });
    expect(await statusOf(given)).toMatchObject({ id: `${noun}_late`, entityId: entityIdOf('late') });
    await home.apply(area(HUB, `${noun}-attic`, { name: `Attic of the ${noun}` }));
    await home.ready(kindOf(given), name);
    expect((await settingsOf(entityIdOf('late')))['areaName']).toMatch(/^attic/);
  });

  test('of an adopted one gets its former settings back when the resource is deleted', async () => {
    const command = `${domain}/create` as const;
    await client.connection.command(command, { name: `${noun} adopted` });
    await change(entityIdOf('adopted'), { icon: 'mdi:old' });
    const given = named('adopted', { name: `${noun} adopted`, entity });
    await home.apply(given);
    await home.ready(kindOf(given), given.metadata.name);
    expect(await statusOf(given)).toMatchObject({ adopted: true, previous: { icon: { was: 'mdi:old' } } });
    await home.delete(kindOf(given), given.metadata.name);
    expect(await settingsOf(entityIdOf('adopted'))).toMatchObject({
      icon: 'mdi:old',
      areaName: null,
      labels: [],
    });
  });

  test('is compared by diff, and pull takes over what was changed in the hub', async () => {
    const file = join(await mkdtemp(join(tmpdir(), 'own-entity-')), `${noun}.yaml`);
    const given = named('shown', { driftPolicy: 'Warn', entity });
    await home.apply(given);
    await home.ready(kindOf(given), given.metadata.name);
    const diff = async (resource: Manifest) => {
      await writeFile(file, stringify(resource));
      const { code, stdout } = await kubectlHub(home.namespace, ['diff', '-f', file, '-o', 'json']);
      const [found] = JSON.parse(stdout) as { hub?: { fields: { field: string }[] } }[];
      return { code, fields: (found?.hub?.fields ?? []).map(({ field }) => field) };
    };
    expect(await diff(given)).toEqual({ code: 0, fields: [] });
    const other = { ...given, spec: { ...given.spec, entity: { ...entity, icon: 'mdi:cow', labels: [] } } };
    expect(await diff(other)).toEqual({ code: 1, fields: ['entity.icon', 'entity.labels'] });
    await change(entityIdOf('shown'), { icon: 'mdi:pig' });
    await home.ready(kindOf(given), given.metadata.name, { status: 'False', reason: 'DriftDetected' });
    await writeFile(file, stringify(given));
    const name = `${kindOf(given)}/${given.metadata.name}`;
    expect(await kubectlHub(home.namespace, ['pull', name, '--write', file])).toMatchObject({ code: 0 });
    expect(parse(await readFile(file, 'utf8'))).toMatchObject({
      spec: { entity: { ...entity, icon: 'mdi:pig' } },
    });
  });

  test('is not set by a HubEntity, which names the resource', async () => {
    const given = named('claimed', { entity });
    await home.apply(given);
    await home.ready(kindOf(given), given.metadata.name);
    await home.apply(
      entityResource(HUB, `${noun}-other`, {
        select: { unique: { integration: domain, domain, uniqueId: `${noun}_claimed` } },
        icon: 'mdi:cow',
      }),
    );
    const { message } = await home.ready('hubentity', `${noun}-other`, {
      status: 'False',
      reason: 'DuplicateId',
    });
    expect(message).toContain(`set entity in the ${given.kind} ${noun}-claimed`);
    await home.delete('hubentity', `${noun}-other`);
    expect(await settingsOf(entityIdOf('claimed'))).toMatchObject(expected);
  });
});

test('a helper of another sort with the same id has nothing to do with the entity', async () => {
  await home.apply(helper(HUB, 'same-timer', { id: 'same', name: 'Same', type: 'timer', entity }));
  await home.ready('hubhelper', 'same-timer');
  await client.connection.command('input_boolean/create', { name: 'Same' });
  const select = { unique: { integration: 'input_boolean', domain: 'input_boolean', uniqueId: 'same' } };
  await home.apply(entityResource(HUB, 'same', { select, icon: 'mdi:cow' }));
  await home.ready('hubentity', 'same');
  await becomes('input_boolean.same', { icon: 'mdi:cow', areaName: null });
  await becomes('timer.same', { icon: 'mdi:sheep', areaName: 'hall' });
});

test('the category of a helper is one of the page Helpers', async () => {
  await home.apply(helper(HUB, 'sorted', { name: 'Sorted', type: 'timer', entity: { category: 'Garden' } }));
  await home.ready('hubhelper', 'sorted');
  const [garden] = await client.connection.command('config/category_registry/list', { scope: 'helpers' });
  expect(garden).toMatchObject({ name: 'Garden' });
  expect(await settingsOf('timer.sorted')).toMatchObject({ 'categories.helpers': garden!.category_id });
});
