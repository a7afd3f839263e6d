import type { HubClient } from '../../../operator/client/hub-client';
import { freshNamespace } from '../../cluster';
import { outliveCreation } from '../../cluster/creation-time';
import {
  area,
  automation,
  blueprint,
  DEFAULT_CONFIGURATION,
  floor,
  helper,
  Home,
  integration,
  label,
  type Manifest,
  person,
  scene,
  script,
  zone,
} from '../../cluster/home';
import type { HubProxy } from '../../cluster/hub-proxy';
import { startTestOperator, type TestOperator } from '../../cluster/operator';
import { proxiedHub, throughProxies } from '../config-entities/proxied-hub';

// A resource gets another metadata.name in Git. The GitOps tool applies the new one and deletes the old one,
// in either order.

let home: Home;
let operator: TestOperator;
let client: HubClient;
let proxy: HubProxy;

beforeAll(async () => {
  home = new Home(await freshNamespace('renamed'));
  operator = await startTestOperator(home.namespace, { settings: throughProxies });
  proxy = await proxiedHub(home, 'villa', undefined, `${DEFAULT_CONFIGURATION}input_boolean:\n`);
  client = await home.client('villa');
});

afterAll(() => proxy?.stop());

const texts = (fields: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(fields).map(([field, value]) => [field, { value }]));
/** Integrations with a title, and without one. */
const titled = (name: string) =>
  integration('villa', name, 'tod', {
    title: 'Evening',
    configuration: texts({ name: 'Evening', after_time: '18:00:00', before_time: '20:00:00' }),
  });
const untitled = (name: string) =>
  integration('villa', name, 'random', {
    steps: [
      { stepId: 'user', menuOption: 'sensor' },
      { stepId: 'sensor', values: texts({ name: 'Dice', minimum: '1', maximum: '6' }) },
    ],
  });

const REGISTRY = [
  (name: string) => floor('villa', `floor-${name}`, { name: 'Attic', level: 2 }),
  (name: string) => label('villa', `label-${name}`, { name: 'Quiet', icon: 'mdi:sleep' }),
  (name: string) => area('villa', `area-${name}`, { name: 'Loft', floorName: 'Attic', labels: ['Quiet'] }),
  (name: string) => person('villa', `person-${name}`, { id: 'grandma', name: 'Grandma' }),
  (name: string) => zone('villa', `zone-${name}`, { name: 'School', latitude: '52.5', longitude: '13.4' }),
  (name: string) => helper('villa', `helper-${name}`, { type: 'boolean', id: 'guests', name: 'Guests' }),
];
const INTEGRATIONS = [
  (name: string) => titled(`titled-${name}`),
  (name: string) => untitled(`untitled-${name}`),
];
const ENTITIES = [
  (name: string) =>
    automation('villa', `automation-${name}`, { id: 'porch', alias: 'Porch', actions: [{ delay: 1 }] }),
  (name: string) => scene('villa', `scene-${name}`, { id: 'movie', name: 'Movie' }),
  (name: string) => script('villa', `script-${name}`, { id: 'night', alias: 'Night' }),
];
const BLUEPRINTS = [
  (name: string) =>
    blueprint('villa', `blueprint-${name}`, {
      path: 'tests/lamp.yaml',
      content: 'blueprint: { name: Lamp, domain: automation }\ntriggers: []\nactions: []\n',
    }),
];
const ALL = [...BLUEPRINTS, ...REGISTRY, ...INTEGRATIONS, ...ENTITIES];
const named = (name: string) => ALL.map((each) => each(name));

const DRY_RUN = { 'hub-operator.dev/dry-run': 'true' };
const nameOf = ({ metadata }: Manifest) => metadata.name;
const allReady = async (resources: readonly Manifest[]) => {
  for (const resource of resources) await home.ready(resource.kind, nameOf(resource));
};
/** Returns the fields of status that identify the object in the hub. */
const recordOf = async (resource: Manifest) => {
  const {
    conditions: _,
    observedGeneration: __,
    ...record
  } = (await home.get(resource.kind, nameOf(resource))).status!;
  return record;
};
const ENTITY_IDS = [
  'input_boolean.guests',
  'sensor.dice',
  'binary_sensor.evening',
  'automation.porch',
  'scene.movie',
  'script.night',
];

/** Returns the hub's records of the area and of the entities in it. */
async function places() {
  const areas = await client.connection.command('config/area_registry/list');
  const all: readonly object[] = await client.connection.command('config/entity_registry/list');
  const entities = all as readonly { entity_id: string; area_id: string | null; labels: string[] }[];
  return {
    area: areas.find(({ name }) => name === 'Loft'),
    entities: ENTITY_IDS.map((id) => {
      const { area_id = undefined, labels = [] } = entities.find(({ entity_id }) => entity_id === id) ?? {};
      return { id, area_id, labels: [...labels].sort() };
    }),
  };
}

/** Returns the requests that changed something in the hub. A test leaves out those of flows. */
const writes = () => proxy.passed.map(({ what }) => what).filter((what) => !what.startsWith('GET'));

/** Puts every entity into the area and gives it the label. */
async function furnish(): Promise<void> {
  const { entities } = await places();
  for (const { id, labels } of entities) {
    const placed = { entity_id: id, area_id: 'loft', labels: [...labels, 'quiet'] };
    await client.connection.command('config/entity_registry/update', placed);
  }
  await operator.calm();
}

describe('a resource that is renamed in Git', () => {
  test('keeps its object in the hub and all references to it: the new one first, and the old one first', async () => {
    const first = named('one');
    await home.apply(...first);
    await allReady(first);
    await furnish();
    const before = await places();
    expect(before.area).toMatchObject({ floor_id: 'attic', labels: ['quiet'] });
    const records = await Promise.all(first.map(recordOf));
    const written = writes().length;

    const second = named('two');
    for (const resource of first) await outliveCreation(home, resource.kind, nameOf(resource));
    await home.apply(...second);
    for (const resource of second)
      await home.ready(resource.kind, nameOf(resource), { status: 'False', reason: 'DuplicateId' });
    // Deleted from the last to the first, so that no resource waits for a deleted one.
    for (const resource of first) await home.delete(resource.kind, nameOf(resource));
    await allReady(second);
    await operator.calm();
    expect(await places()).toEqual(before);
    expect(await Promise.all(second.map(recordOf))).toEqual(records);
    for (const resource of second)
      await home.event(resource.kind, nameOf(resource), /^Normal TakenOver: .* stays in the hub/);

    expect(writes().slice(written)).toEqual([]);

    const third = named('three');
    // All are renamed at the same time, since an entry stays for three seconds without a resource.
    await Promise.all(
      second.map(async (resource, index) => {
        await home.delete(resource.kind, nameOf(resource), { wait: false });
        await home.apply(third[index]!);
      }),
    );
    await allReady(third);
    await operator.calm();
    // The hub restores the registry settings of an automation, a scene or a script that is created again.
    expect(await places()).toEqual(before);
    const lasting = REGISTRY.length + INTEGRATIONS.length;
    expect(await Promise.all(third.slice(0, lasting).map(recordOf))).toEqual(records.slice(0, lasting));
  });

  test('keeps the mark that the object was adopted, and the last of several removes its object', async () => {
    await client.connection.command('config/area_registry/create', { name: 'Garden' });
    const garden = (name: string, spec: object = {}) => area('villa', name, { name: 'Garden', ...spec });
    await home.apply(garden('garden-1'));
    await home.ready('HubArea', 'garden-1');
    await outliveCreation(home, 'HubArea', 'garden-1');
    await home.apply(garden('garden-2', { suspend: true }));
    await home.delete('HubArea', 'garden-1');
    await home.change('HubArea', 'garden-2', { suspend: false });
    await home.ready('HubArea', 'garden-2');
    expect((await home.get('HubArea', 'garden-2')).status).toMatchObject({ areaID: 'garden', adopted: true });
    expect(await operator.events('HubArea', 'garden-2')).not.toContainEqual(
      expect.stringContaining('Adopted'),
    );
    await home.change('HubArea', 'garden-2', { deletionPolicy: 'Delete' });
    await home.delete('HubArea', 'garden-2');
    const areas = await client.connection.command('config/area_registry/list');
    expect(areas.map(({ name }) => name)).not.toContain('Garden');
  });

  test('under dry-run takes over the object, and nothing is sent', async () => {
    const cellar = (name: string) => area('villa', name, { name: 'Cellar' });
    await home.apply(cellar('cellar-1'));
    await home.ready('HubArea', 'cellar-1');
    await outliveCreation(home, 'HubArea', 'cellar-1');
    const preview = { ...cellar('cellar-2'), metadata: { name: 'cellar-2', annotations: DRY_RUN } };
    await home.apply(preview);
    await operator.calm();
    const written = writes().length;
    await home.delete('HubArea', 'cellar-1');
    await home.ready('HubArea', 'cellar-2', { reason: 'DryRun' });
    expect((await home.get('HubArea', 'cellar-2')).status).toMatchObject({ areaID: 'cellar' });
    expect(writes().slice(written)).toEqual([]);
    await home.annotate('HubArea', 'cellar-2', 'hub-operator.dev/dry-run-');
    await home.ready('HubArea', 'cellar-2', { reason: 'AreaRegistered' });
    expect(writes().slice(written)).toEqual([]);
  });

  test('under dry-run and without a successor leaves the entry in the hub', async () => {
    const preview = titled('preview');
    const kept = { ...preview, spec: { ...preview.spec, title: 'Kept' } };
    await home.apply(kept);
    await home.ready(kept.kind, 'preview');
    const { entryID } = (await home.get(kept.kind, 'preview')).status!;
    await home.annotate(kept.kind, 'preview', 'hub-operator.dev/dry-run=true');
    await home.delete(kept.kind, 'preview');
    const entries = await client.configEntries.refreshed();
    expect(entries.get(String(entryID))).toMatchObject({ title: 'Kept' });
    await client.configEntries.remove(String(entryID));
  });
});

test('two integrations that exchange title and answers keep an entry each, and no other one is created', async () => {
  const tod = (name: string, title: string, after: string) =>
    integration('villa', name, 'tod', {
      title,
      configuration: texts({ name: title, after_time: after, before_time: '22:00:00' }),
    });
  const both = ['left', 'right'] as const;
  await home.apply(tod('left', 'Dawn', '05:00:00'), tod('right', 'Dusk', '17:00:00'));
  for (const name of both) await home.ready('HubIntegration', name);
  const entryIdOf = async (name: string) => (await home.get('HubIntegration', name)).status!['entryID'];
  const ids = [await entryIdOf('left'), await entryIdOf('right')];
  const before = (await client.configEntries.refreshed()).size;
  await home.apply(tod('left', 'Dusk', '17:00:00'), tod('right', 'Dawn', '05:00:00'));
  for (const name of both) await home.ready('HubIntegration', name, { reason: 'EntryLoaded' });
  await operator.calm();
  expect([await entryIdOf('left'), await entryIdOf('right')]).toEqual(ids);
  const entries = await client.configEntries.refreshed();
  expect(entries.size).toBe(before);
  expect(ids.map((id) => entries.get(String(id))?.title)).toEqual(['Dusk', 'Dawn']);
  for (const name of both) await home.ready('HubIntegration', name, { reason: 'EntryLoaded' });
});
