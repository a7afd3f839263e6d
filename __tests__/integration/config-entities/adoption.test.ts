import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { load } from 'js-yaml';
import type { HubClient } from '../../../operator/client/hub-client';
import type { ConfigEntityKind, EntityPayload } from '../../../operator/client/connection/config-entity';
import { freshNamespace, until } from '../../cluster';
import {
  area,
  automation,
  configuration,
  floor,
  Home,
  hub,
  integration,
  label,
  type Manifest,
  scene,
  script,
  zone,
} from '../../cluster/home';
import type { HubRecorder } from '../../cluster/hub-recorder';
import { recorderOf, throughRecorders } from '../../cluster/recorded-hub';
import { restoreOnboarded } from '../../cluster/onboarded-volume';
import { startTestOperator } from '../../cluster/operator';

// A home whose automations, scripts, scenes, areas and helpers were made in the hub's own UI is described by
// resources: the hub must not be asked to change anything.

const FILES = ['automations.yaml', 'scenes.yaml', 'scripts.yaml'] as const;

/** An object in the hub, and the resource that describes it. */
interface Pair {
  readonly kind: ConfigEntityKind;
  readonly id: string;
  readonly stored: EntityPayload;
  readonly resource: Manifest;
}

let home: Home;
let client: HubClient;
let recorder: HubRecorder;
let volume: string;

const NAMES = [
  'on',
  '光',
  '🛋 Sofa',
  'Anna\'s "light"',
  'a: b # c',
  '0123',
  'Ä'.repeat(120),
  ' x ',
  '{{ 1 }}',
  'null',
];
const odd = (index: number) => `${NAMES[index % NAMES.length]} ${index}`;
/** Ids as the editor makes them, and some that users have written. */
const ID_NAMES = ['Bad Zimmer 1', '光', 'a/b', '🛋', 'Küche: an?', '100%'];
const oddId = (index: number) => ID_NAMES[index] ?? String(1_699_999_999_999 + index);

const isOn = { condition: 'state', entity_id: 'light.a', state: 'on' };
const values = {
  nothing: null,
  float: 0.1,
  on: 'on',
  template: "{{ states('sun.sun') }}",
  text: 'long '.repeat(4_000),
};
/** Triggers as the editor saves them, and as a user writes them. */
const TRIGGERS = [
  [{ trigger: 'state', entity_id: ['light.a'], to: ['on'], for: { hours: 0, minutes: 5, seconds: 0 } }],
  [{ trigger: 'time', at: '07:30:00', id: 'early' }],
  [{ trigger: 'numeric_state', entity_id: ['sensor.a'], above: 20.5 }],
];
const SHORT_TRIGGERS = [
  [{ trigger: 'state', entity_id: 'light.a', to: ['on'], for: '00:05:00' }],
  TRIGGERS[1]!,
  [{ trigger: 'numeric_state', entity_id: 'sensor.a', above: 20.5 }],
];
const actions = [
  { action: 'light.turn_on', metadata: {}, target: { entity_id: 'light.a' }, data: {} },
  { if: [isOn], then: [{ delay: { hours: 0, minutes: 0, seconds: 30, milliseconds: 0 } }] },
  { event: 'x', event_data: values },
];
const shortActions = [
  { service: 'light.turn_on', target: { entity_id: ['light.a'] } },
  { if: isOn, then: { delay: 30 } },
  actions[2]!,
];

function automationPair(index: number): Pair {
  const [id, alias] = [oddId(index), odd(index)];
  const isShort = index % 2 === 0;
  const saved = { description: '', mode: 'single', triggers: TRIGGERS[index % 3]!, conditions: [], actions };
  const written = {
    triggers: isShort ? SHORT_TRIGGERS[index % 3]! : TRIGGERS[index % 3]!,
    actions: isShort ? shortActions : actions,
  };
  const empty = { description: '', mode: 'single', triggers: [], conditions: [], actions: [] };
  const [stored, spec] = index % 10 === 7 ? [empty, { triggers: [], actions: [] }] : [saved, written];
  const resource = automation('villa', `automation-${index}`, { ...spec, alias, hubId: id });
  return { kind: 'automation', id, stored: { ...stored, alias }, resource };
}

function blueprintPair(index: number): Pair {
  const [id, alias] = [oddId(index), odd(index)];
  const input = {
    motion_entity: 'binary_sensor.motion',
    light_target: { entity_id: ['light.a'] },
    ...(index % 2 === 0 && { no_motion_wait: 120 }), // the default value
  };
  const path = 'homeassistant/motion_light.yaml';
  const spec = { alias, hubId: id, useBlueprint: { path, input: { ...input, no_motion_wait: undefined } } };
  return {
    kind: 'automation',
    id,
    stored: { description: '', alias, use_blueprint: { path, input } },
    resource: automation('villa', `automation-${index}`, { ...spec, triggers: null, actions: null }),
  };
}

function scriptPair(index: number): Pair {
  const id = index % 2 === 0 ? `script_${index}` : String(1_700_000_000_000 + index);
  const alias = odd(index);
  const isEmpty = index % 8 === 3;
  const runs = index % 5 === 0 ? { mode: 'queued', max: 10 } : {};
  const sequence = isEmpty ? [] : actions;
  return {
    kind: 'script',
    id,
    stored: { alias, description: '', sequence, ...runs },
    resource: script('villa', `script-${index}`, {
      alias,
      hubId: id,
      sequence: isEmpty || index % 2 === 0 ? sequence : shortActions,
      ...(index % 5 === 0 && { mode: 'queued' }),
    }),
  };
}

function scenePair(index: number): Pair {
  const [id, name] = [oddId(index), odd(index)];
  const attributes = {
    friendly_name: 'A',
    supported_features: 44,
    brightness: 128.5,
    rgb_color: [255, 160, 0],
    effect: null,
  };
  return {
    kind: 'scene',
    id,
    stored: {
      name,
      entities: { 'light.a': { ...attributes, state: 'on' }, 'cover.b': { state: 'closed' } },
      metadata: { 'light.a': { entity_only: true } },
    },
    resource: scene('villa', `scene-${index}`, {
      name,
      hubId: id,
      entities: [
        { entity_id: 'light.a', state: 'on', attributes },
        { entity_id: 'cover.b', state: 'closed' },
      ],
    }),
  };
}

const some = (count: number, pair: (index: number) => Pair, first = 0) =>
  Array.from({ length: count }, (_, index) => pair(first + index));
const pairs = [
  ...some(80, automationPair),
  ...some(20, blueprintPair, 80),
  ...some(40, scriptPair),
  ...some(30, scenePair),
];

/** Creates registry entries and helpers in the hub. Returns the resources that describe them. */
async function furnish(): Promise<Manifest[]> {
  const { connection, rest } = client;
  const made: Manifest[] = [];
  for (let index = 0; index < 6; index++) {
    const [name, icon] = [`Level ${odd(index)}`, 'mdi:stairs'];
    const { floor_id: floorId } = await connection.command('config/floor_registry/create', {
      name,
      level: index,
      icon,
    });
    made.push(floor('villa', `floor-${index}`, { name, level: index, icon }));
    const labelName = `Label ${odd(index)}`;
    const { label_id: labelId } = await connection.command('config/label_registry/create', {
      name: labelName,
      color: 'red',
    });
    made.push(label('villa', `label-${index}`, { name: labelName, color: 'red' }));
    const areaName = `Room ${odd(index)}`;
    await connection.command('config/area_registry/create', {
      name: areaName,
      floor_id: String(floorId),
      labels: [String(labelId)],
    });
    made.push(area('villa', `area-${index}`, { name: areaName, floorName: name, labels: [labelName] }));
    const zoneName = `Zone ${odd(index)}`;
    await connection.command('zone/create', {
      name: zoneName,
      latitude: 52.5,
      longitude: 13.25,
      radius: 100,
      passive: false,
    });
    made.push(zone('villa', `zone-${index}`, { name: zoneName, latitude: '52.5', longitude: '13.25' }));
    const answers = { name: `Evening ${index}`, after_time: '18:00:00', before_time: '20:00:00' };
    const { flow_id: flow } = await rest.post<{ flow_id: string }>('/api/config/config_entries/flow', {
      handler: 'tod',
    });
    await rest.post(`/api/config/config_entries/flow/${flow}`, answers);
    const given = Object.entries(answers).map(([field, value]) => [field, { value }]);
    made.push(
      integration('villa', `helper-${index}`, 'tod', {
        title: answers.name,
        configuration: Object.fromEntries(given) as object,
      }),
    );
  }
  return made;
}

const nameOf = ({ kind, metadata }: Manifest) => [kind.toLowerCase(), metadata.name] as const;
const files = () => Promise.all(FILES.map((name) => readFile(join(volume, name), 'utf8')));
beforeAll(async () => {
  home = new Home(await freshNamespace('adoption'));
  await startTestOperator(home.namespace, { settings: throughRecorders });
  await restoreOnboarded(home, 'villa');
  await home.apply(hub('villa', { markManaged: false }), configuration('villa'));
  recorder = await recorderOf(home, 'villa');
  await home.ready('hub', 'villa');
  await home.ready('hubconfiguration', 'villa');
  client = await home.client('villa');
  volume = await home.volumeOf('villa');
});

afterAll(() => recorder?.stop());

test('200 existing objects of the hub are adopted, and the hub is asked to change nothing', async () => {
  for (const { id, kind, stored } of pairs) await client.entities.write(kind, id, stored);
  const others = await furnish();
  for (const { id, kind } of pairs)
    await until(`${kind} ${id} is registered`, () => client.entityRegistry.findNow(kind, id));
  // The hub reloads once more after the last write.
  const before = await files();
  expect((load(before[0]!) as object[]).length).toBe(100);
  recorder.sent.length = 0;
  const resources = [...pairs.map(({ resource }) => resource), ...others];
  expect(resources.length).toBe(200);
  await home.apply(...resources);
  for (const resource of resources) await home.ready(...nameOf(resource));
  for (const { id, kind, resource } of pairs)
    expect((await home.get(...nameOf(resource))).status).toMatchObject({ adopted: true, [`${kind}Id`]: id });
  expect(recorder.changes()).toEqual([]);

  // A full reconcile changes nothing either.
  for (const resource of resources)
    await home.annotate(...nameOf(resource), 'hub-operator.dev/reconcile-requested-at=1');
  for (const resource of resources)
    await until(`${resource.metadata.name} was looked at`, async () => {
      const { status } = await home.get(...nameOf(resource));
      return status?.['lastHandledReconcileAt'] === '1';
    });
  for (const resource of resources) await home.ready(...nameOf(resource));
  expect(recorder.changes()).toEqual([]);
  expect(await files()).toEqual(before);
});

test('an automation that was adopted says that no reload was needed', async () => {
  expect(await home.condition('hubautomation', 'automation-0', 'ReloadReady')).toMatchObject({
    status: 'True',
    reason: 'ReloadNotNeeded',
  });
});

test('keys that the spec cannot express stay when the object is changed', async () => {
  await home.change('hubscene', 'scene-0', { icon: 'mdi:film' });
  await home.ready('hubscene', 'scene-0');
  expect(recorder.changes()).toEqual([
    `POST /api/config/scene/config/${encodeURIComponent(oddId(0))}`,
    'POST /api/services/scene/reload',
  ]);
  const { stored } = pairs.find(({ kind }) => kind === 'scene')!;
  expect(await client.entities.read('scene', oddId(0))).toEqual({
    ...stored,
    id: oddId(0),
    icon: 'mdi:film',
  });
});

test('an object with any id is changed, found again when it was removed, and kept when its resource is deleted', async () => {
  for (const index of ID_NAMES.keys()) {
    const name = `automation-${index}`;
    await home.change('hubautomation', name, { description: 'changed' });
    await home.ready('hubautomation', name);
    expect(await client.entities.read('automation', oddId(index))).toMatchObject({ description: 'changed' });
    await client.entities.remove('automation', oddId(index));
    await until(
      `${name} is made again`,
      async () => (await client.entities.read('automation', oddId(index))) !== undefined,
    );
    await home.ready('hubautomation', name);
    await home.delete('hubautomation', name);
    // the operator removes the automation, because it created it again after the removal
    expect(await client.entities.read('automation', oddId(index))).toBeUndefined();
  }
  await home.delete('hubscene', 'scene-1');
  expect(await client.entities.read('scene', oddId(1))).toBeDefined();
});
