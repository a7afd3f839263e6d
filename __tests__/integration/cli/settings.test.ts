import { readFile, writeFile } from 'node:fs/promises';
import { systemClock } from '../../../operator/base/clock';
import { HubClient } from '../../../operator/client/hub-client';
import type { Settings } from '../../../operator/client/registries/settings';
import type { ListedEntity } from '../../../cli/entities/command';
import { freshNamespace, mustKubectl, until } from '../../cluster';
import { kubectlHub } from '../../cluster/command-line';
import { Home, hub } from '../../cluster/home';
import { HubToExport } from '../../cluster/hub-to-export';
import { startTestOperator } from '../../cluster/operator';
import { silentLog } from '../../cluster/silent-log';

// The settings of entities and devices of a real hub are exported into files, and the files are compared with
// the hub.

let home: Home;
let villa: HubToExport;
let client: HubClient;

beforeAll(async () => {
  home = new Home(await freshNamespace('settings-cli'));
  villa = await HubToExport.start({}, '\ndemo:\nkitchen_sink:\n');
  client = new HubClient({ url: villa.process.url, token: villa.token, clock: systemClock, log: silentLog });
  await until('the integrations have made their entities', async () => {
    const { all } = await client.settings.entity.entries();
    return [...all].length > 100;
  });
  const { area, label } = client.registries;
  await area.create({ name: 'Garden' });
  for (const name of ['Energy', 'Managed by Hub Operator']) await label.create({ name });
});
afterAll(async () => {
  client?.close();
  await villa?.dispose();
});

const setEntity = (entityId: string, fields: object) =>
  client.connection.command('config/entity_registry/update', { entity_id: entityId, ...fields });

async function setDevice(originalName: string, fields: object): Promise<void> {
  const found = [...(await client.settings.device.entries()).all].find(
    (each) => each.originalName === originalName,
  );
  if (!found) throw new Error(`the hub has no device ${originalName}`);
  await client.connection.command('config/device_registry/update', { device_id: found.id, ...fields });
}

async function settingsOf(entityId: string): Promise<Settings> {
  const { all } = await client.settings.entity.entries();
  return [...all].find((each) => each.entityId === entityId)!.settings;
}

const expose = (assistant: string, entityId: string, isExposed: boolean) =>
  client.connection.command('homeassistant/expose_entity', {
    assistants: [assistant],
    entity_ids: [entityId],
    should_expose: isExposed,
  });

const isSettings = (path: string) => path.startsWith('devices/') || path.startsWith('entities/');

/** Makes all changes to entities and devices that a user can make in the hub's UI. */
async function customize(): Promise<void> {
  await setDevice('Kitchen Lights', { name_by_user: 'Ceiling lamp', area_id: 'kitchen', labels: ['energy'] });
  await setEntity('light.kitchen_lights', {
    icon: 'mdi:ceiling-light',
    aliases: [null, 'Cooker', 'Big light'],
    labels: ['managed_by_hub_operator', 'energy'],
  });
  await expose('conversation', 'light.kitchen_lights', false);
  await expose('cloud.alexa', 'light.kitchen_lights', true);
  await setEntity('lawn_mower.mower_can_mow', { name: 'Shaun', area_id: 'garden', hidden_by: 'user' });
  await setEntity('lawn_mower.mower_can_dock', { disabled_by: 'user' });
  await setEntity('sensor.outside_temperature', {
    options_domain: 'sensor',
    options: { unit_of_measurement: '°F', display_precision: 2 },
  });
  // Values that are equal to the hub's defaults.
  await expose('conversation', 'light.bed_light', true);
  await expose('conversation', 'lawn_mower.mower_can_pause', false);
  await setEntity('light.bed_light', { labels: ['managed_by_hub_operator'] });
  // The unique ids and identifiers of these contain the id of the config entry.
  await setDevice('Sun', { area_id: 'garden' });
  await setEntity('sensor.sun_next_dawn', { icon: 'mdi:weather-sunset-up' });
  await setEntity('todo.shopping_list', { icon: 'mdi:cart' });
  // A user changes the entity of an automation.
  const { category_id: night } = await client.connection.command('config/category_registry/create', {
    scope: 'automation',
    name: 'Night',
  });
  await setEntity(HALL_OFF, {
    area_id: 'garden',
    labels: ['energy'],
    categories: { automation: night },
    icon: 'mdi:bed',
  });
}

const HALL_OFF = 'automation.hall_off';

/** Creates an automation like the editor of the hub. */
async function makeAutomation(): Promise<void> {
  const trigger = { trigger: 'time', at: '23:00:00' };
  await client.entities.write('automation', 'hall_off', () => ({
    alias: 'Hall off',
    triggers: [trigger],
    conditions: [],
    actions: [],
  }));
  await until('the hub has loaded it', () => client.entityRegistry.findNow('automation', 'hall_off'));
}

test('the settings that a user has changed become files; when they are applied they are Ready, and nothing is written to the hub', async () => {
  await makeAutomation();
  const untouched = await villa.export(home.namespace, 'untouched');
  expect(untouched.written.map(({ path }) => path).filter(isSettings)).toEqual([]);
  expect(untouched.contents['automations/hall-off.yaml']).not.toContain('entity:');
  await customize();
  const { written, notExpressed, contents, stdout } = await villa.export(home.namespace, 'villa');
  expect(notExpressed).toEqual([]);
  const paths = written.map(({ path }) => path).filter(isSettings);
  expect(paths.sort()).toEqual([
    'devices/ceiling-lamp.light-kitchen-lights.yaml',
    'devices/ceiling-lamp.yaml',
    'devices/outside-temperature.sensor-outside-temperature.yaml',
    'devices/sun.sensor-sun-next-dawn.yaml',
    'devices/sun.yaml',
    'entities/lawn-mower-mower-can-dock.yaml',
    'entities/lawn-mower-mower-can-mow.yaml',
    'entities/todo-shopping-list.yaml',
  ]);
  expect(contents['devices/ceiling-lamp.light-kitchen-lights.yaml']).toBe(`apiVersion: hub-operator.dev/v1
kind: HubEntity
metadata:
  name: light-kitchen-lights
spec:
  hubRef:
    name: villa
  select:
    unique:
      integration: demo
      domain: light
      uniqueId: light_3
  icon: mdi:ceiling-light
  labels:
    - Energy
  aliases:
    - Big light
    - Cooker
  expose:
    conversation: false
    alexa: true
`);
  expect(contents['devices/ceiling-lamp.yaml']).toContain(`  select:
    identifier:
      integration: demo
      id: light_3
  name: Ceiling lamp
  areaName: Kitchen
  labels:
    - Energy
`);
  expect(contents['devices/sun.yaml']).toContain(`  select:
    name: Sun
    integrationRef:
      name: sun-sun
`);
  expect(contents['devices/sun.sensor-sun-next-dawn.yaml']).toContain('translationKey: next_dawn');
  expect(contents['entities/lawn-mower-mower-can-mow.yaml']).toContain(
    '  name: Shaun\n  areaName: Garden\n  hidden: true\n',
  );
  expect(contents['automations/hall-off.yaml']).toContain(`  entity:
    areaName: Garden
    labels:
      - Energy
    icon: mdi:bed
    category: Night
`);
  expect(contents['entities/todo-shopping-list.yaml']).toContain('entityId: todo.shopping_list');
  expect(stdout).toContain('entities/todo-shopping-list.yaml');
  const ids = [...(await client.configEntries.all()).keys()];
  const texts = paths.map((path) => contents[path]).join();
  expect(ids.filter((id) => texts.includes(id))).toEqual([]);

  const compared = await kubectlHub(home.namespace, [
    'diff',
    '--recursive',
    ...villa.address,
    `--filename=${villa.path('villa')}`,
  ]);
  expect(compared).toMatchObject({ code: 0, stdout: expect.stringMatching(/, 0 would change/) as string });

  await startTestOperator(home.namespace, { settings: { ALLOW_LOCAL_HUBS: 'true' } });
  // The hub of the sandbox lacks the package of Google Translate, and the kitchen sink always asks for a new
  // login.
  const usable = written.filter(({ name }) => !/^(google-translate|kitchen-sink)/.test(name));
  expect(await villa.adopt(home, villa.path('villa'), usable)).toEqual([]);
  expect((await villa.export(home.namespace, 'again')).contents).toEqual(contents);
  await home.apply({
    ...hub('villa'),
    spec: {
      external: { url: villa.process.url, tokenSecretRef: { name: 'villa-token' } },
      markManaged: false,
    },
  });
  await home.ready('hub', 'villa');
});

test('entities: prints the selectors of an entity and of its device, as a table and for copying', async () => {
  const { code, stdout } = await kubectlHub(home.namespace, ['entities', 'villa']);
  expect(code).toBe(0);
  const lines = stdout.split('\n').map((line) => line.split(/ {3,}/));
  expect(lines[0]).toEqual(['ENTITY', 'NAME', 'DEVICE', 'INTEGRATION', 'UNIQUE ID', 'AREA']);
  expect(lines).toContainEqual([
    'lawn_mower.mower_can_mow',
    'Shaun',
    'kitchen_sink',
    expect.any(String),
    'Garden',
  ]);
  const listed = JSON.parse(
    (await kubectlHub(home.namespace, ['entities', 'villa', '--output=json'])).stdout,
  ) as ListedEntity[];
  const ids = listed.map(({ entity }) => entity);
  expect(ids).toEqual([...ids].sort());
  expect(listed.find(({ entity }) => entity === 'light.kitchen_lights')).toEqual({
    entity: 'light.kitchen_lights',
    device: 'Ceiling lamp',
    integration: 'demo',
    uniqueId: 'light_3',
    area: 'Kitchen',
    select: { unique: { integration: 'demo', domain: 'light', uniqueId: 'light_3' } },
    deviceSelect: { identifier: { integration: 'demo', id: 'light_3' } },
  });
  // This unique id contains the id of the config entry.
  expect(listed.find(({ entity }) => entity === 'sensor.sun_next_dawn')).toMatchObject({
    select: {
      device: {
        name: 'Sun',
        integrationRef: { name: 'sun-sun' },
        domain: 'sensor',
        translationKey: 'next_dawn',
      },
    },
    deviceSelect: { name: 'Sun', integrationRef: { name: 'sun-sun' } },
  });
  expect(listed.find(({ entity }) => entity === 'lawn_mower.mower_can_dock')).toMatchObject({
    disabled: true,
  });
});

test('diff says what a resource waits for, and why it would be refused', async () => {
  const entity = (name: string, spec: object) => ({
    apiVersion: 'hub-operator.dev/v1',
    kind: 'HubEntity',
    metadata: { name },
    spec: { hubRef: { name: 'villa' }, ...spec },
  });
  const light = (uniqueId: string) => ({ unique: { integration: 'demo', domain: 'light', uniqueId } });
  const device = (fields: object) => ({
    device: { identifier: { integration: 'demo', id: 'sensor_1' }, domain: 'sensor', ...fields },
  });
  const file = villa.path('more.json');
  const items = [
    entity('absent', { select: light('light_99'), icon: 'mdi:lamp' }),
    entity('no-area', { select: light('light_1'), areaName: 'Attic' }),
    entity('several', { select: device({}), icon: 'mdi:lamp' }),
    entity('one', { select: device({ deviceClass: 'temperature' }), icon: 'mdi:lamp' }),
    entity('of-sun', {
      select: {
        device: {
          name: 'Sun',
          integrationRef: { name: 'sun-sun' },
          domain: 'sensor',
          translationKey: 'next_dusk',
        },
      },
      icon: 'mdi:lamp',
    }),
  ];
  await writeFile(file, items.map((each) => JSON.stringify(each)).join('\n---\n'));
  const { stdout } = await kubectlHub(home.namespace, ['diff', `--filename=${file}`, '--output=json']);
  const diffs = JSON.parse(stdout) as { name: string; hub: { action: string; notes: string[] } }[];
  const found = Object.fromEntries(
    diffs.map(({ name, hub: { action, notes } }) => [name, [action, ...notes]]),
  );
  expect(found).toEqual({
    absent: ['waits', 'The hub has no entity that fits spec.select, or not yet.'],
    'no-area': ['waits', expect.stringContaining('the area “Attic” in areaName')],
    several: [
      'refused',
      expect.stringContaining('sensor.outside_temperature, sensor.outside_temperature_battery'),
    ],
    one: ['waits', expect.stringContaining('HubEntity sensor-outside-temperature has the settings')],
    'of-sun': ['update'],
  });
});

test('diff says what the operator would write, and pull copies a user’s change into the file', async () => {
  const file = villa.path('villa/devices/ceiling-lamp.light-kitchen-lights.yaml');
  const apply = () =>
    mustKubectl(['apply', '--server-side', `--filename=${file}`], { namespace: home.namespace });
  const compare = () => kubectlHub(home.namespace, ['diff', `--filename=${file}`]);
  const text = await readFile(file, 'utf8');
  await writeFile(file, `${text}  driftPolicy: Warn\n  areaName: Kitchen\n`);
  // The light has no name of its own, so the hub would refuse the area.
  const refused = await compare();
  expect(refused.stdout).toContain('hub: refused');
  expect(refused.stdout).toContain('set areaName in a HubDevice, or give the entity a name');
  await writeFile(file, `${text}  driftPolicy: Warn\n  name: Hob # above it\n`);
  const named = await compare();
  expect(named).toMatchObject({ code: 1 });
  expect(named.stdout).toContain('hub: update\n    name: hub has null, resource says "Hob"');
  await apply();
  await home.ready('hubentity', 'light-kitchen-lights');
  expect(await settingsOf('light.kitchen_lights')).toMatchObject({ name: 'Hob' });
  expect(await compare()).toMatchObject({ code: 0 });

  await setEntity('light.kitchen_lights', { name: 'Stove', labels: [], aliases: [null, 'Cooker', 'Fire'] });
  await expose('conversation', 'light.kitchen_lights', true);
  await home.ready('hubentity', 'light-kitchen-lights', { status: 'False', reason: 'DriftDetected' });
  expect((await compare()).stdout).toContain('driftPolicy is Warn');
  const pull = ['pull', 'haen/light-kitchen-lights', `--write=${file}`];
  const { code, stdout, stderr } = await kubectlHub(home.namespace, pull);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain('name, labels, aliases, expose changed in');
  const pulled = await readFile(file, 'utf8');
  expect(pulled).toContain('  name: Stove # above it\n');
  expect(pulled).toContain('  aliases:\n    - Cooker\n  expose:\n    conversation: true\n    alexa: true\n');
  expect(pulled).not.toContain('labels');
  expect((await kubectlHub(home.namespace, pull)).stdout).toContain('has it as the hub does');
  await apply();
  await home.ready('hubentity', 'light-kitchen-lights');
  expect(await settingsOf('light.kitchen_lights')).toMatchObject({
    name: 'Stove',
    labels: [],
    aliases: ['Cooker', 'Fire'],
  });
  expect(await compare()).toMatchObject({ code: 0 });
});

test('diff and pull include the settings of an automation’s entity', async () => {
  const file = villa.path('villa/automations/hall-off.yaml');
  const compare = () => kubectlHub(home.namespace, ['diff', `--filename=${file}`]);
  const text = await readFile(file, 'utf8');
  await writeFile(
    file,
    text
      .replace('spec:\n', 'spec:\n  driftPolicy: Warn\n')
      .replace('icon: mdi:bed', 'icon: mdi:sheep # count them')
      .replace('category: Night', 'category: Quiet'),
  );
  const { code, stdout } = await compare();
  expect(code).toBe(1);
  expect(stdout).toContain('entity.icon: hub has "mdi:bed", resource says "mdi:sheep"');
  expect(stdout).toContain('resource says "Quiet"');
  await mustKubectl(['apply', '--server-side', `--filename=${file}`], { namespace: home.namespace });
  await home.ready('hubautomation', 'hall-off');
  expect(await settingsOf(HALL_OFF)).toMatchObject({ icon: 'mdi:sheep', areaName: 'garden' });
  expect(await compare()).toMatchObject({ code: 0 });

  await setEntity(HALL_OFF, { icon: 'mdi:cow', area_id: 'kitchen' });
  await home.ready('hubautomation', 'hall-off', { status: 'False', reason: 'DriftDetected' });
  expect((await compare()).stdout).toContain('driftPolicy is Warn');
  const pull = ['pull', 'haauto/hall-off', `--write=${file}`];
  expect((await kubectlHub(home.namespace, pull)).stdout).toContain('entity changed in');
  const pulled = await readFile(file, 'utf8');
  expect(pulled).toContain('    icon: mdi:cow # count them\n');
  expect(pulled).toContain('    areaName: Kitchen\n');
  expect(pulled).toContain('    category: Quiet\n');
  expect((await kubectlHub(home.namespace, pull)).stdout).toContain('has it as the hub does');

  const double = villa.path('double.json');
  await writeFile(
    double,
    JSON.stringify({
      apiVersion: 'hub-operator.dev/v1',
      kind: 'HubEntity',
      metadata: { name: 'double' },
      spec: { hubRef: { name: 'villa' }, select: { entityId: HALL_OFF }, hidden: true },
    }),
  );
  const refused = await kubectlHub(home.namespace, ['diff', `--filename=${double}`]);
  expect(refused.stdout).toContain('set entity in the HubAutomation hall-off');
});
