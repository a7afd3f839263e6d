import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unbounded } from '../../../../operator/base/bounded-task';
import { GROUP_VERSION } from '../../../../operator/kinds/group';
import { describeHome } from '../../../../cli/test/home';
import { type HubChoice, readHome } from '../../../../cli/test/home-files';

const noInput = () => Promise.reject(new Error('the standard input is read'));

interface Placed {
  readonly hub?: string;
  readonly namespace?: string;
}

function resource(kind: string, name: string, spec: object, { hub = 'villa', namespace }: Placed = {}) {
  return {
    apiVersion: GROUP_VERSION,
    kind,
    metadata: { name, ...(namespace && { namespace }) },
    spec: { ...(kind !== 'Hub' && { hubRef: { name: hub } }), ...spec },
  };
}

const automation = (name: string, more: object = {}, place: Placed = {}) =>
  resource('HubAutomation', name, { alias: name, triggers: [], actions: [], ...more }, place);

const read = (resources: readonly object[], choice: HubChoice = {}) =>
  readHome(
    ['-'],
    choice,
    () => Promise.resolve(resources.map((each) => JSON.stringify(each)).join('\n---\n')),
    unbounded,
  );
const described = async (...resources: readonly object[]) => describeHome((await read(resources)).manifests);

describe('the home', () => {
  test('has the payloads of the operator', async () => {
    const { home, definitions, hub } = await described(
      resource('Hub', 'villa', {
        version: '2026.11.0',
        timezone: 'Europe/Berlin',
        bootstrap: {
          location: {
            name: 'Home',
            latitude: '52.52',
            longitude: '13.405',
            elevation: 34,
            unitSystem: 'metric',
            country: 'DE',
          },
        },
      }),
      resource('HubConfiguration', 'c', { configuration: 'sun:\n', files: { 'a.yaml': '[]' } }),
      automation('porch-light', { mode: 'queued', max: 3, triggers: [{ trigger: 'time', at: '07:00:00' }] }),
      automation('off', { enabled: false, id: 'other' }),
      resource('HubScript', 'good-night', { alias: 'Good night', sequence: [{ delay: 1 }] }),
      resource('HubScene', 'film', {
        name: 'Film',
        entities: [{ entity_id: 'light.a', state: 'on', attributes: { brightness: 5 } }],
      }),
      resource('HubZone', 'school', { name: 'School', latitude: '50.1', longitude: '8.6', radius: 50 }),
      resource('HubFloor', 'ground', { name: 'Ground floor', level: 0 }),
      resource('HubLabel', 'warm', { name: 'Warm', color: 'red' }),
      resource('HubArea', 'hall', { name: 'Hall', floorName: 'ground', labels: ['warm', 'Made by hand'] }),
      resource('HubArea', 'attic', { name: 'Attic', floorName: 'Ground Floor' }),
    );
    expect(home).toEqual({
      hub: {
        timezone: 'Europe/Berlin',
        latitude: 52.52,
        longitude: 13.405,
        elevation: 34,
        unitSystem: 'metric',
        country: 'DE',
      },
      configuration: 'sun:\n',
      files: { 'a.yaml': '[]' },
      secrets: {},
      automations: [
        {
          id: 'porch-light',
          alias: 'porch-light',
          mode: 'queued',
          max: 3,
          max_exceeded: 'warning',
          triggers: [{ trigger: 'time', at: '07:00:00' }],
          conditions: [],
          actions: [],
        },
        {
          id: 'other',
          alias: 'off',
          mode: 'single',
          max_exceeded: 'warning',
          triggers: [],
          conditions: [],
          actions: [],
          initial_state: false,
        },
      ],
      disabled: ['other'],
      scripts: {
        good_night: {
          alias: 'Good night',
          mode: 'single',
          max_exceeded: 'warning',
          sequence: [{ delay: 1 }],
        },
      },
      scenes: [{ id: 'film', name: 'Film', entities: { 'light.a': { state: 'on', brightness: 5 } } }],
      zones: [{ name: 'School', latitude: 50.1, longitude: 8.6, radius: 50 }],
      floors: [{ name: 'Ground floor', level: 0 }],
      labels: [{ name: 'Warm', color: 'red' }],
      areas: [
        { name: 'Hall', floor: 'Ground floor', labels: ['Made by hand', 'Warm'] },
        { name: 'Attic', floor: 'Ground floor' },
      ],
      helpers: [],
      blueprints: [],
    });
    expect([...definitions.keys()]).toEqual([
      'configuration',
      'automation.porch-light',
      'automation.other',
      'script.good_night',
    ]);
    expect(hub).toMatchObject({ version: '2026.11.0' });
  });

  test('has the areas and labels of the entities of definitions, and waits for no area that does not exist', async () => {
    const { home } = await described(
      automation('porch', { entity: { areaName: 'hall', labels: ['warm', 'Others'] } }),
      automation('plain', { entity: { icon: 'mdi:lamp' } }),
      resource('HubScene', 'film', { name: 'Film', entities: [], entity: { areaName: 'Attic' } }),
      resource('HubScript', 'good-night', { alias: 'x', sequence: [], entity: { areaName: 'HALL' } }),
      resource('HubLabel', 'warm', { name: 'Warm' }),
      resource('HubArea', 'hall', { name: 'Hall' }),
    );
    const script = { domain: 'script', platform: 'script', id: 'good_night' };
    expect(home.entityPlaces).toEqual([
      {
        domain: 'automation',
        platform: 'automation',
        id: 'porch',
        area: 'Hall',
        labels: ['Warm', 'Others'],
      },
      { domain: 'scene', platform: 'homeassistant', id: 'film', labels: [] },
      { ...script, area: 'Hall', labels: [] },
    ]);
  });

  test('has helpers in the form of the hub’s storage, with the defaults of new ones', async () => {
    const { home, definitions } = await described(
      resource('HubHelper', 'guest-mode', { name: 'Guests', type: 'boolean', icon: 'mdi:account' }),
      resource('HubHelper', 'heat', {
        name: 'Heat',
        type: 'number',
        id: 'warmth',
        number: { min: 5, max: 30, unit: '°C' },
      }),
      resource('HubHelper', 'oven', { name: 'Oven', type: 'timer', timer: { duration: '00:05:00' } }),
    );
    expect(home.helpers).toEqual([
      { domain: 'input_boolean', item: { id: 'guest_mode', name: 'Guests', icon: 'mdi:account' } },
      {
        domain: 'input_number',
        item: {
          ...{ id: 'warmth', name: 'Heat', min: 5, max: 30, step: 1 },
          ...{ mode: 'slider', unit_of_measurement: '°C' },
        },
      },
      { domain: 'timer', item: { id: 'oven', name: 'Oven', duration: '0:05:00', restore: false } },
    ]);
    expect([...definitions.keys()]).toEqual([
      'input_boolean.guest_mode',
      'input_number.warmth',
      'timer.oven',
    ]);
  });

  test('has the files of ConfigMaps', async () => {
    const filesFrom = [{ configMapRef: { name: 'rooms' }, folder: 'packages' }];
    const rooms = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'rooms' },
      data: { 'hall.yaml': 'a: 1\n' },
    };
    const source = resource('HubConfiguration', 'c', { configuration: 'sun:\n', filesFrom });
    const { home } = await described(source, rooms);
    expect(home.files).toEqual({ 'packages/hall.yaml': 'a: 1\n' });
    await expect(described(source)).rejects.toThrow(
      'the HubConfiguration c is not complete: spec.filesFrom[0]: there is no ConfigMap rooms. Create it. If Kustomize makes it, give its output: kubectl kustomize DIR | kubectl hub test - TESTS',
    );
  });

  test('has the blueprints of HubBlueprints, also of ConfigMaps', async () => {
    const content = 'blueprint: { name: a, domain: script }\nsequence: []\n';
    const place = { domain: 'script', path: 'me/a.yaml' };
    const own = resource('HubBlueprint', 'own', { ...place, content });
    const configMapRef = { name: 'texts', key: 'b.yaml' };
    const named = resource('HubBlueprint', 'named', { domain: 'script', path: 'me/b.yaml', configMapRef });
    const texts = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'texts' },
      data: { 'b.yaml': content },
    };
    const { home } = await described(own, named, texts);
    expect(home.blueprints).toEqual([
      { ...place, yaml: content },
      { domain: 'script', path: 'me/b.yaml', yaml: content },
    ]);
    await expect(described(named)).rejects.toThrow(
      'the HubBlueprint named is not complete: spec.configMapRef: there is no ConfigMap texts. Create it.',
    );
  });

  test('without a Hub is in UTC, and has no version', async () => {
    const { home, hub } = await described(automation('a'));
    expect(home.hub).toEqual({ timezone: 'UTC' });
    expect(home.configuration).toBeUndefined();
    expect(hub).toBeUndefined();
  });

  test('prefers the time zone of the location to that of the pod', async () => {
    const { home } = await described(
      resource('Hub', 'villa', { timezone: 'UTC', bootstrap: { location: { timeZone: 'Europe/Lisbon' } } }),
    );
    expect(home.hub).toEqual({ timezone: 'Europe/Lisbon' });
  });

  test('has no field that is null, as the API server stores none', async () => {
    const { home } = await described(automation('a', { description: null }));
    expect(home.automations[0]).not.toHaveProperty('description');
  });
});

describe('readHome', () => {
  const two = [
    automation('a', {}, { hub: 'amsterdam', namespace: 'x' }),
    automation('b', {}, { hub: 'lisbon', namespace: 'y' }),
  ];

  test('when there are several Hubs one has to be chosen, and they are listed', async () => {
    await expect(read(two)).rejects.toThrow(
      'the files have the resources of 2 Hubs (x/amsterdam, y/lisbon): choose one with --hub NAME, and with -n NAMESPACE',
    );
    expect(await read(two, { hub: 'lisbon' })).toMatchObject({
      hub: 'lisbon',
      namespace: 'y',
      manifests: [{ object: { metadata: { name: 'b' } } }],
    });
    expect((await read(two, { namespace: 'x' })).hub).toBe('amsterdam');
  });

  test('a Hub that does not exist is named, with the existing ones', async () => {
    await expect(read(two, { hub: 'madrid' })).rejects.toThrow(
      'there is no resource of the Hub madrid in these files: they have those of x/amsterdam, y/lisbon',
    );
    await expect(read(two, { hub: 'lisbon', namespace: 'x' })).rejects.toThrow('the Hub x/lisbon');
  });

  test('two of one name are told apart by the namespace', async () => {
    const same = [automation('a', {}, { namespace: 'x' }), automation('b', {}, { namespace: 'y' })];
    await expect(read(same, { hub: 'villa' })).rejects.toThrow('2 Hubs');
    expect((await read(same, { hub: 'villa', namespace: 'y' })).manifests).toHaveLength(1);
  });

  test('a resource without a namespace belongs to -n, or to the only one of its Hub', async () => {
    const mixed = [automation('a', {}, { namespace: 'x' }), automation('b')];
    expect(await read(mixed)).toMatchObject({ namespace: 'x', manifests: { length: 2 } });
    expect(await read([automation('b')], { namespace: 'z' })).toMatchObject({
      namespace: 'z',
      manifests: { length: 1 },
    });
    expect(await read([automation('b')])).not.toHaveProperty('namespace');
  });

  test('errors of the chosen Hub are found, and those of another are not', async () => {
    const bad = [automation('a', { mode: 'twice' }), automation('b', {}, { hub: 'other' })];
    expect((await read(bad, { hub: 'villa' })).errors).toMatchObject([
      { file: 'stdin', object: 'HubAutomation a', field: 'spec.mode', severity: 'error' },
    ]);
    expect((await read(bad, { hub: 'other' })).errors).toEqual([]);
  });

  test('a resource that names no Hub is an error of each', async () => {
    const { errors } = await read([automation('a'), { ...automation('b'), spec: { alias: 'b' } }]);
    expect(errors.map(({ object }) => object)).toContain('HubAutomation b');
  });

  test('a file that is not YAML is an error with its line', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'home-'));
    try {
      await writeFile(join(folder, 'a.yaml'), `apiVersion: ${GROUP_VERSION}\nkind: [\n`);
      await writeFile(join(folder, 'b.yaml'), JSON.stringify(automation('b')));
      const home = await readHome([folder], {}, noInput, unbounded);
      expect(home.errors).toMatchObject([{ file: join(folder, 'a.yaml'), object: 'file' }]);
      expect(home.filesInFolders).toEqual([join(folder, 'b.yaml')]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test('without a resource the remedy is reported', async () => {
    await expect(read([{ apiVersion: 'v1', kind: 'Secret' }])).rejects.toThrow(
      'there is no resource of hub-operator.dev in -',
    );
    await expect(readHome([], {}, noInput, unbounded)).rejects.toThrow(
      'there is no resource of hub-operator.dev beside the tests: name the folder',
    );
  });
});
