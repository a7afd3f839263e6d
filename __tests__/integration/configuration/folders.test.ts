import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { themeNames } from '../../../operator/client/setup/community-content';
import { stateOf } from '../../../operator/client/config-entities/states';
import { freshNamespace, until } from '../../cluster';
import { automation, configuration, Home, hub, hubSecrets, secret } from '../../cluster/home';
import { restoreOnboarded } from '../../cluster/onboarded-volume';
import { startTestOperator, type TestOperator } from '../../cluster/operator';
import { ConfiguredHub } from '../hub/configured-hub';

// A typical home with packages in `spec.files`, in a running hub and when the hub starts.

const ROOMS = Array.from({ length: 20 }, (_, index) => `room_${index}`);

/**
 * Returns the package of a room, with a script, an automation that only packages have, and an included file.
 */
const room = (name: string): string =>
  [
    'input_boolean:',
    `  ${name}_lamp:`,
    '    name: !secret lamp',
    `input_number: !include ../../parts/${name}.yaml`,
    'automation:',
    `  - id: in_package_${name}`,
    `    alias: In the package ${name}`,
    '    triggers: [{trigger: event, event_type: never}]',
    '    actions: []',
    '',
  ].join('\n');

const MAIN = `
homeassistant:
  packages: !include_dir_named packages
  customize: !include_dir_merge_named customize
frontend:
  themes: !include_dir_merge_named themes
script own: !include_dir_merge_named scripts
template: !include_dir_list templates
sensor: !include_dir_merge_list sensors
`;

const FILES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ROOMS.flatMap((name, index) => [
      [`packages/floor ${index % 3}/${name}.yaml`, room(name)],
      [`parts/${name}.yaml`, `${name}_warmth: {min: 0, max: ${index + 10}, initial: 5}\n`],
    ]),
  ),
  'packages/floor 0/deep/garden.yaml': 'counter: {visits: {initial: 7}}\n',
  'customize/lamps.yaml': 'input_boolean.room_0_lamp: {icon: "mdi:lamp"}\n',
  'themes/night.yaml': 'Night: {primary-color: "#123456"}\n',
  'scripts/morning.yaml': 'morning: {alias: Morning, sequence: []}\n',
  'templates/sum.yaml': 'sensor: [{name: Sum, state: "{{ 1 + 1 }}"}]\n',
  'sensors/warmest.yaml':
    '- {platform: min_max, name: Warmest, type: max, entity_ids: [input_number.room_0_warmth, input_number.room_1_warmth]}\n',
};

let home: Home;
let operator: TestOperator;
let villa: ConfiguredHub;
let volume: string;

const apply = (files: Readonly<Record<string, string>>, text = MAIN, spec: object = {}) =>
  home.apply(configuration('villa', text, { files, ...spec }));

const failed = async (reason: string) =>
  (await home.ready('hubconfiguration', 'villa', { status: 'False', reason })).message;

beforeAll(async () => {
  home = new Home(await freshNamespace('folders'));
  operator = await startTestOperator(home.namespace);
  volume = await restoreOnboarded(home, 'villa');
  await home.apply(
    secret('words', { lamp: 'Lamp' }),
    hubSecrets('villa', 'villa', { secretRefs: [{ name: 'words' }] }),
    hub('villa'),
    configuration('villa', MAIN, { files: FILES }),
  );
  villa = new ConfiguredHub(home, 'villa');
  await villa.loaded();
  await villa.connect();
});

describe('HubConfiguration with folders', () => {
  test('packages, included folders, themes and secrets are loaded', async () => {
    for (const [index, name] of ROOMS.entries()) {
      await villa.showsAttribute(`input_boolean.${name}_lamp`, 'friendly_name', 'Lamp');
      await villa.showsAttribute(`input_number.${name}_warmth`, 'max', index + 10);
      await villa.shows(`automation.in_the_package_${name}`, 'on');
    }
    await villa.shows('counter.visits', '7');
    await villa.showsAttribute('input_boolean.room_0_lamp', 'icon', 'mdi:lamp');
    await villa.shows('script.morning', 'off');
    await villa.shows('sensor.sum', '2');
    await villa.shows('sensor.warmest', '5.0');
    expect([...(await themeNames(villa.client))]).toContain('Night');
    expect((await home.condition('hubconfiguration', 'villa'))?.message).toMatch(
      /^The hub has loaded the configuration\. Its own .*: automation in_package_room_0, .* and 10 more; script morning\.$/,
    );
  });

  test('a resource with the id of an automation in a package waits until the latter is removed', async () => {
    await home.apply(automation('villa', 'room-five', { id: 'in_package_room_5' }));
    const conflict = { status: 'False', reason: 'NameConflict' } as const;
    const { message } = await home.ready('hubautomation', 'room-five', conflict);
    expect(message).toContain('has the automation in_package_room_5 itself');
    const without = {
      ...FILES,
      'packages/floor 2/room_5.yaml': room('room_5').replace(/automation:[^]*/, ''),
    };
    await apply(without);
    await villa.loaded();
    await home.ready('hubautomation', 'room-five');
    await home.delete('hubautomation', 'room-five');
    await apply(FILES);
    await villa.loaded();
  });

  test('a change of one package is loaded without a restart, by one write of its ConfigMap', async () => {
    const pod = await villa.podUid();
    const before = await home.get('configmap', 'villa-configuration');
    const files = { ...FILES, 'parts/room_3.yaml': 'room_3_warmth: {min: 0, max: 99}\n' };
    await apply(files);
    await villa.loaded();
    await villa.showsAttribute('input_number.room_3_warmth', 'max', 99);
    expect(await villa.podUid()).toBe(pod);
    expect(await villa.status()).toMatchObject({ lastReloadMethod: 'hot-reload', changedSections: [] });
    const after = await home.get('configmap', 'villa-configuration');
    const changed = Object.keys(after.data!).filter((key) => after.data![key] !== before.data![key]);
    expect(changed.sort()).toEqual(['-configuration.yaml', '-parts-sroom_3.yaml', '.content-hash', '.files']);
    await apply(FILES);
    await villa.loaded();
  });

  test('a broken package is named with its file and line, and the home continues as it was', async () => {
    const pod = await villa.podUid();
    const name = 'packages/floor 1/room_4.yaml';
    await apply({ ...FILES, [name]: room('room_4').replace('name: !secret lamp', 'nam: Lamp') });
    expect(await failed('CheckFailed')).toMatch(/packages\/floor 1\/room_4\.yaml, line 3/);
    await villa.showsAttribute('input_boolean.room_4_lamp', 'friendly_name', 'Lamp');
    await villa.shows('automation.in_the_package_room_7', 'on');
    expect(await villa.podUid()).toBe(pod);
    await apply({ ...FILES, [name]: 'input_boolean: [' });
    expect(await failed('InvalidConfiguration')).toMatch(
      /^spec\.files\[packages\/floor 1\/room_4\.yaml\], line 1/,
    );
    await apply(FILES);
    await villa.loaded();
  });

  test('an included file that does not exist is named with its place and the remedy', async () => {
    await apply(FILES, `${MAIN}counter: !include counters.yaml\n`);
    expect(await failed('CheckFailed')).toMatch(
      /^The hub rejects the configuration: spec\.configuration, line 10, column 19: includes the file counters\.yaml, which neither spec\.files nor the hub’s volume has\. Put it into spec\.files, .*\n.*Unable to read file \S+counters\.yaml/,
    );
    await apply(FILES);
    await villa.loaded();
  });

  test('of two packages of one name the hub loads one, and Ready names them', async () => {
    const second = 'packages/floor 2/deep/room_0.yaml';
    await apply({ ...FILES, [second]: 'counter: {second: {initial: 9}}\n' });
    await villa.loaded();
    await villa.connect();
    // The order of the folders on the volume decides which one is loaded.
    await until('one of them is loaded', async () => {
      const states = ['counter.second', 'input_boolean.room_0_lamp'].map((id) =>
        stateOf(villa.client.rest, id),
      );
      return (await Promise.all(states)).filter((state) => state !== undefined).length === 1;
    });
    expect((await home.condition('hubconfiguration', 'villa'))?.message).toContain(
      `the files packages/floor 0/room_0.yaml, ${second} have one name, room_0, and the hub loads only one of them. Rename the others.`,
    );
    await apply(FILES);
    await villa.loaded();
    await villa.connect();
  });

  test('a broken package at a start of the pod leaves the last good home running', async () => {
    const name = 'packages/floor 1/room_4.yaml';
    const broken = { ...FILES, [name]: room('room_4').replace('name: !secret lamp', 'nam: Lamp') };
    await apply(broken, MAIN, { reloadStrategy: 'restart' });
    expect(await failed('CheckFailed')).toMatch(/packages\/floor 1\/room_4\.yaml, line 3/);
    await home.ready('hub', 'villa');
    await villa.connect();
    await villa.showsAttribute('input_boolean.room_4_lamp', 'friendly_name', 'Lamp');
    await villa.shows('counter.visits', '7');
    await apply(FILES);
    await villa.loaded();
    await villa.connect();
  });

  test('a new file, and a removed one, restart the hub under auto and wait under hot-reload', async () => {
    const pod = await villa.podUid();
    const { 'packages/floor 0/deep/garden.yaml': _, ...fewer } = FILES;
    const files = { ...fewer, 'packages/cellar.yaml': 'counter: {jars: {initial: 3}}\n' };
    await apply(files, MAIN, { reloadStrategy: 'hot-reload' });
    expect(await failed('RestartPending')).toMatch(
      /packages\/cellar\.yaml \(new\), packages\/floor 0\/deep\/garden\.yaml \(gone\)/,
    );
    await villa.shows('counter.visits', '7');
    expect(await villa.podUid()).toBe(pod);
    await apply(files);
    await villa.loaded();
    await villa.connect();
    await villa.shows('counter.jars', '3');
    await until('the other counter is gone', async () => {
      const state = await stateOf(villa.client.rest, 'counter.visits');
      return state === undefined || state === 'unavailable';
    });
    expect(await villa.podUid()).not.toBe(pod);
  });

  test('a folder that exists nowhere is NotLoaded, one on the volume is loaded, and an empty one is named', async () => {
    const text = `${MAIN}counter: !include_dir_merge_named counters\nzone: !include_dir_merge_list zones\n`;
    await mkdir(join(volume, 'zones'));
    await apply(FILES, text);
    expect(await failed('NotLoaded')).toMatch(/: counters \(spec\.configuration, line 10, column 35\)\. /);
    await mkdir(join(volume, 'counters'));
    await writeFile(join(volume, 'counters', 'a.yaml'), 'steps: {initial: 4}\n');
    await home.delete('pod', 'villa-0');
    await until('it is loaded', async () => {
      const ready = await home.condition('hubconfiguration', 'villa');
      if (ready?.status !== 'True') throw new Error(ready?.message);
      expect(ready.message).toMatch(/Folders without a file that it includes: zones \(spec.*line 11/);
      return true;
    });
    await villa.connect();
    await villa.shows('counter.steps', '4');
    await rm(join(volume, 'counters'), { recursive: true });
    await rm(join(volume, 'zones'), { recursive: true });
  });

  test('without folders again the hub has the remaining files, and its ConfigMap the original form', async () => {
    await apply({ 'garden.yaml': 'seeds: {initial: 8}\n' }, 'counter: !include garden.yaml\n');
    await villa.loaded();
    await villa.connect();
    await villa.shows('counter.seeds', '8');
    const { data } = await home.get('configmap', 'villa-configuration');
    expect(Object.keys(data!).sort()).toEqual(['.content-hash', 'configuration.yaml', 'garden.yaml']);
    expect(await operator.failures()).toEqual([]);
  });
});
