import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { ConfigEntityKind } from '../../../operator/client/connection/config-entity';
import type { HubClient } from '../../../operator/client/hub-client';
import { userAnnotations } from '../../../operator/kinds/annotations';
import { automations } from '../../../operator/sync/config-entities/automation';
import { diff } from '../../../operator/sync/config-entities/diff';
import { scenes } from '../../../operator/sync/config-entities/scene';
import { scripts } from '../../../operator/sync/config-entities/script';
import { freshNamespace, until } from '../../cluster';
import { kubectlHub } from '../../cluster/command-line';
import { area, automation, floor, Home, label, type Manifest, scene, script, zone } from '../../cluster/home';
import { startHub } from '../../cluster/onboarded-volume';
import { startTestOperator, type TestOperator } from '../../cluster/operator';
import { randomNumbers, seed } from '../../seed';

// Makes random changes in files and in the hub, asks `kubectl hub diff` about them, and compares its answer
// with the operator's actions.

const ENTITY_TYPES = { automation: automations, scene: scenes, script: scripts };
const REGISTRIES = {
  floor: 'config/floor_registry',
  label: 'config/label_registry',
  area: 'config/area_registry',
  zone: 'zone',
} as const;
type Registry = keyof typeof REGISTRIES;
type Fields = Readonly<Record<string, unknown>>;

let home: Home;
let operator: TestOperator;
let client: HubClient;
let folder: string;

beforeAll(async () => {
  home = new Home(await freshNamespace('preview'));
  folder = await mkdtemp(join(tmpdir(), 'preview-'));
  operator = await startTestOperator(home.namespace);
  await startHub(home, 'villa');
  client = await home.client('villa');
});
afterAll(() => rm(folder, { recursive: true }));

const action = { action: 'light.turn_on', target: { entity_id: 'light.a' } };
const resources: Manifest[] = [
  floor('villa', 'attic', { name: 'Attic', level: 2 }),
  label('villa', 'night', { name: 'Night' }),
  area('villa', 'bath', { name: 'Bath', floorName: 'attic', labels: ['night'] }),
  zone('villa', 'work', { name: 'Work', latitude: '52.5', longitude: '13.4' }),
  ...['wake', 'porch'].map((name) => automation('villa', name, { actions: [action] })),
  automation('villa', 'hall', {
    triggers: null,
    actions: null,
    useBlueprint: {
      path: 'homeassistant/motion_light.yaml',
      input: { motion_entity: 'binary_sensor.m', light_target: { entity_id: 'light.a' } },
    },
  }),
  script('villa', 'bed', { sequence: [action] }),
  scene('villa', 'dusk'),
  scene('villa', 'film'),
];

/**
 * A change in the hub. `edited` changes a field of a registry entry that no spec here sets, `renamed` the
 * name, which every spec sets.
 */
type Edit = 'edited' | 'renamed' | 'removed';

/** A change for one resource: other fields of its spec, an edit of its object in the hub, or both. */
interface Change {
  readonly spec?: Fields;
  readonly inHub?: Edit;
}

const either = { driftPolicy: 'Warn' };
/** Placeholder for a new id, since two resources may draw this change and need different ids. */
const ANOTHER_ID = 'another_id';
const changes: Readonly<Record<string, readonly Change[]>> = {
  HubAutomation: [
    { spec: { alias: 'Another name' } },
    { spec: { description: 'by day' } },
    { spec: { description: '', mode: 'single' } }, // equal to the default
    { spec: { mode: 'queued', max: 3 } },
    { spec: { mode: 'queued', max: 10 } },
    { spec: { conditions: [{ condition: 'sun', after: 'sunset' }] } },
    { spec: { conditions: [5] } }, // the hub would refuse this condition
    { spec: { enabled: false } },
    { spec: { enabled: true } },
    { spec: { suspend: true, alias: 'Suspended' } },
    { spec: { id: ANOTHER_ID } },
    { inHub: 'edited' },
    { inHub: 'edited', spec: either },
    { inHub: 'removed' },
    { inHub: 'removed', spec: either },
  ],
  HubScript: [
    { spec: { alias: 'Another name' } },
    // equal, in legacy syntax
    { spec: { sequence: [{ service: 'light.turn_on', target: { entity_id: ['light.a'] } }] } },
    { spec: { sequence: [{ delay: 5 }] } },
    { spec: { fields: { a: { name: 'A' } } } },
    { inHub: 'edited' },
    { inHub: 'edited', spec: either },
    { inHub: 'removed' },
  ],
  HubScene: [
    { spec: { name: 'Another name' } },
    { spec: { icon: 'mdi:film' } },
    { spec: { entities: [{ entity_id: 'light.sofa', state: 'off' }] } },
    { inHub: 'edited' },
    { inHub: 'edited', spec: either },
    { inHub: 'removed', spec: either },
  ],
  HubFloor: [
    { spec: { level: 3 } },
    { spec: { name: 'Loft' } },
    { inHub: 'edited' },
    { inHub: 'renamed' },
    { inHub: 'renamed', spec: either },
  ],
  HubLabel: [
    { spec: { color: 'red' } },
    { spec: { name: 'Dark' } },
    { inHub: 'edited' },
    { inHub: 'renamed', spec: { color: 'blue' } },
  ],
  HubArea: [
    { spec: { aliases: ['wash', 'Spa'] } },
    { spec: { floorName: 'Nowhere' } }, // the resource waits for that floor
    { spec: { name: 'Bathroom', labels: [] } },
    { inHub: 'renamed', spec: either },
  ],
  HubZone: [
    { spec: { radius: 250 } },
    { spec: { name: 'Office', passive: true } },
    { inHub: 'removed' },
    { inHub: 'removed', spec: either },
    { inHub: 'renamed' },
  ],
};

const typeOf = ({ kind }: Manifest) => kind.slice('Hub'.length).toLowerCase() as ConfigEntityKind | Registry;
const isEntity = (type: ConfigEntityKind | Registry): type is ConfigEntityKind => type in ENTITY_TYPES;
const objectId = ({ metadata, spec }: Manifest) => (spec['id'] as string | undefined) ?? metadata.name;

/** Returns the entry in the hub's registry that belongs to the resource. */
async function entryOf(type: Registry, { kind, metadata }: Manifest): Promise<Fields | undefined> {
  const { status } = await home.get(kind, metadata.name);
  const listed = await client.connection.command(`${REGISTRIES[type]}/list` as 'zone/list');
  const id = type === 'zone' ? 'id' : `${type}_id`;
  const found = listed.find((each) => (each as unknown as Fields)[id] === status?.[`${type}ID`]);
  const { modified_at: _, created_at: __, ...fields } = (found ?? {}) as unknown as Fields;
  return found && fields;
}

async function objectOf(resource: Manifest): Promise<Fields | undefined> {
  const type = typeOf(resource);
  return isEntity(type) ? client.entities.read(type, objectId(resource)) : entryOf(type, resource);
}

/** Changes the object in the hub as another client. The operator is stopped. */
async function changeInHub(resource: Manifest, how: Edit): Promise<void> {
  const type = typeOf(resource);
  const before = (await objectOf(resource))!;
  if (!isEntity(type)) {
    const id = type === 'zone' ? 'zone_id' : `${type}_id`;
    const key = { [id]: String(before[type === 'zone' ? 'id' : id]) };
    const { connection } = client;
    const edited = how === 'edited' ? { icon: 'mdi:pencil' } : { name: `${type} of the browser` };
    if (how === 'removed') await connection.command('zone/delete', key);
    else await connection.command(`${REGISTRIES[type]}/update` as 'zone/update', { ...key, ...edited });
    return;
  }
  const id = objectId(resource);
  if (how === 'removed') {
    await client.entities.remove(type, id);
    return void (await until(
      `${type} ${id} is gone`,
      async () => !(await client.entityRegistry.findNow(type, id)),
    ));
  }
  const { id: _, ...payload } = before;
  const edited = { ...payload, [type === 'scene' ? 'name' : 'alias']: 'Edited in the browser' };
  await client.entities.write(type, id, edited);
  if (type === 'scene') return; // scenes are read from the file
  const { entity_id: entityId } = (await client.entityRegistry.findNow(type, id))!;
  await until(
    `the hub runs ${id} as it was edited`,
    async () => (await client.entities.running(entityId))?.['alias'] === edited['alias'],
  );
}

interface Preview {
  readonly name: string;
  readonly kind: string;
  readonly hub?: {
    readonly action: 'create' | 'update' | 'none' | 'waits' | 'refused';
    readonly fields: readonly { readonly field: string }[];
    readonly notes: readonly string[];
  };
}

async function preview(applied: readonly Manifest[]) {
  const path = join(folder, 'all.yaml');
  await writeFile(path, applied.map((each) => stringify(each, { version: '1.1' })).join('---\n'));
  const { code, stdout, stderr } = await kubectlHub(home.namespace, ['diff', '-f', path, '-o', 'json']);
  expect(stderr).toBe('');
  return { code, previews: JSON.parse(stdout) as readonly Preview[] };
}

/** Waits until the operator has reconciled the resource and made all its changes. */
async function settled({ kind, metadata: { name }, spec }: Manifest, round: number, hub: Preview['hub']) {
  if (spec['suspend'])
    return void (await until(`${kind} ${name} is suspended`, () => home.condition(kind, name, 'Suspended')));
  await until(
    `${kind} ${name} was looked at`,
    async () => (await home.get(kind, name)).status?.['lastHandledReconcileAt'] === String(round),
  );
  const stays =
    ['waits', 'refused'].includes(hub?.action ?? '') || hub?.notes.join().includes('driftPolicy is Warn');
  await home.ready(kind, name, { status: stays ? 'False' : 'True' });
}

/** Returns the fields that differ between two states of an object. */
function changedFields(resource: Manifest, before: Fields, after: Fields): readonly string[] {
  const type = typeOf(resource);
  if (isEntity(type)) {
    const form = ENTITY_TYPES[type] as unknown as typeof automations;
    return diff(form, objectId(resource), before, after).map(({ field }) => field);
  }
  const names = Object.keys({ ...before, ...after });
  return names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name])).sort();
}

test(`diff says of 50 random changes what the operator then does (SEED=${seed})`, async () => {
  const random = randomNumbers(seed);
  await home.apply(...resources);
  for (const { kind, metadata } of resources) await home.ready(kind, metadata.name);
  for (let round = 1; round <= 50 / resources.length; round += 1) {
    await operator.stop();
    const changed: Manifest[] = [];
    for (const resource of resources) {
      const possible = changes[resource.kind]!;
      const { inHub, spec = {} } = possible[Math.floor(random() * possible.length)]!;
      if (inHub) await changeInHub(resource, inHub);
      const id = spec['id'] === ANOTHER_ID && { id: `${ANOTHER_ID}_of_${resource.metadata.name}` };
      changed.push({ ...resource, spec: { ...resource.spec, ...spec, ...id } });
    }
    const before = await Promise.all(changed.map(objectOf));
    const { code, previews } = await preview(changed);
    const previewOf = ({ kind, metadata }: Manifest) =>
      previews.find((each) => each.kind === kind && each.name === metadata.name)?.hub;
    expect(code).toBe(previews.length > 0 ? 1 : 0);
    // `kubectl hub diff` has changed nothing.
    expect(await Promise.all(changed.map(objectOf))).toEqual(before);

    await home.apply(...changed);
    for (const { kind, metadata } of changed)
      await home.annotate(kind, metadata.name, `${userAnnotations.reconcileAt}=${round}`);
    await operator.start();
    for (const each of changed) await settled(each, round, previewOf(each));
    for (const [index, resource] of changed.entries()) {
      const said = previewOf(resource) ?? { action: 'none', fields: [], notes: [] };
      const [was, is] = [before[index], await objectOf(resource)];
      const what = { round, name: resource.metadata.name, spec: resource.spec, said };
      const happened = !is || JSON.stringify(was) === JSON.stringify(is) ? 'none' : was ? 'update' : 'create';
      const expected = ['waits', 'refused'].includes(said.action) ? 'none' : said.action;
      expect({ ...what, happened }).toEqual({ ...what, happened: expected });
      if (happened !== 'update') continue;
      const fields = said.fields.map(({ field }) => field).sort();
      expect({ ...what, fields: changedFields(resource, was!, is!) }).toEqual({ ...what, fields });
    }

    // Restores the first state for the next changes.
    await home.apply(...resources);
    for (const { kind, metadata } of resources) await home.ready(kind, metadata.name);
  }
});
