import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unbounded } from '../../../operator/base/bounded-task';
import { registryTypes } from '../../../operator/client/connection/registry-types';
import { GROUP_VERSION } from '../../../operator/kinds/group';
import { filesOf, writeFiles } from '../../../cli/export/files';
import { likelySecrets } from '../../../cli/export/likely-secrets';
import { remaining } from '../../../cli/export/read-hub';
import { Names, slugOf } from '../../../cli/export/names';
import { anEntry } from '../stand-in-hub/integrations';
import { describe as describeHub, type HubContent } from '../../../cli/export/resources';

const entry = (type: string, id: string, name: string, fields: object = {}) => ({
  [`${type}_id`]: id,
  name,
  ...fields,
});
const integration = (domain: string, title: string, fields: object = {}) =>
  anEntry({ entry_id: `${domain}-${title}`, domain, title, ...fields });
const empty: HubContent = {
  entities: { automation: [], scene: [], script: [] },
  entries: Object.fromEntries(registryTypes.map((type) => [type, []])),
  integrations: [],
};
const stored = (id: string, payload: object) => ({
  id,
  entityId: `automation.${id}`,
  payload: { triggers: [], actions: [], ...payload },
});

test.each([
  [19_000, ''],
  [45_400, ', about 45 s left'],
  [436_000, ', about 7 min left'],
])('%i ms are printed as %j', (milliseconds, text) => expect(remaining(milliseconds)).toBe(text));

describe('names', () => {
  test.each([
    ['Küche: Licht an!', 'kuche-licht-an'],
    ['  Straße ', 'strasse'],
    ['光', ''],
    ['a'.repeat(80), 'a'.repeat(63)],
  ])('%s is %s', (alias, slug) => expect(slugOf(alias)).toBe(slug));

  test('two objects with one alias have two names, and one without letters has that of its id', () => {
    const names = new Names();
    expect([names.take('Lamp', '2'), names.take('lamp', '3'), names.take('光', '1699999999999')]).toEqual([
      'lamp',
      'lamp-2',
      '1699999999999',
    ]);
    expect(names.take('光', '光')).toMatch(/^object-[0-9a-f]{8}$/);
  });
});

describe('likelySecrets', () => {
  test.each([
    [{ data: { password: 'hunter2' } }, ['spec.data.password']],
    [{ list: [{ api_key: 'abc' }] }, ['spec.list[0].api_key']],
    [{ code: 1234 }, ['spec.code']],
    [{ url: 'http://me:secret@host/x' }, ['spec.url']],
    [{ url: 'https://host/hook?token=abcdef123' }, ['spec.url']],
    [{ headers: { x: 'Bearer abcdefghijkl1mnop' } }, ['spec.headers.x']],
    [{ key: '-----BEGIN RSA PRIVATE KEY-----\nx' }, ['spec.key']],
    [{ x: `Basic ${Buffer.from('me:secret').toString('base64')}` }, ['spec.x']],
    [{ x: 'sk-proj-AbC4efghijklmnop' }, ['spec.x']],
    [{ x: 'ghp_abcdefgh12345678' }, ['spec.x']],
    [{ x: ':skull_and_crossbones:', y: 'skip_to_next_playlist_of_all', z: 'sk_living_room_temperature' }, []],
    [
      {
        x: 'cover.skylight_bathroom_upstairs',
        alias: 'Google TV Basic Notification',
        y: 'Bearer of_good_news',
      },
      [],
    ],
    [{ x: ['light.pk_0123456789ABCDEFgh'.toLowerCase()] }, []],
    [{ password: '{{ states("input_text.password") }}' }, []],
    [{ token: 'input_text.token' }, []],
    [{ device_id: '0123456789abcdef0123456789abcdef', country_code: 'DE', message: 'The code is right' }, []],
  ])('%j: %j', (spec, found) => expect(likelySecrets(spec, ['spec'])).toEqual(found));
});

describe('the files of an export', () => {
  const content = (automations: readonly ReturnType<typeof stored>[]): HubContent => ({
    ...empty,
    entities: { ...empty.entities, automation: automations },
  });

  test('areas name their floors and labels, and the operator’s own labels are left out', async () => {
    const { described } = describeHub('villa', {
      ...empty,
      entries: {
        ...empty.entries,
        floor: [entry('floor', 'attic', 'The Attic', { level: 0, icon: null, aliases: [] })],
        label: [entry('label', 'own', 'Managed by Hub Operator'), entry('label', 'night', 'Night')],
        area: [
          entry('area', 'kitchen', 'Kitchen', {
            floor_id: 'attic',
            labels: ['night', 'own'],
            icon: 'mdi:stove',
            aliases: ['b', 'a'],
          }),
        ],
        zone: [
          entry('zone', 'work', 'Work', { latitude: 52.5, longitude: -0.1, radius: 100, passive: true }),
        ],
        person: [
          entry('person', 'anna', 'Anna', { user_id: 'u1', device_trackers: ['device_tracker.a'] }),
          entry('person', 'bob', 'Bob', { user_id: 'without-login', device_trackers: [], picture: '/b.png' }),
        ],
      },
      lookedUp: new Map([['user', new Map([['u1', 'anna.b']])]]),
    });
    const { files, notExpressed } = await filesOf(described);
    expect(notExpressed).toEqual([]);
    expect(Object.fromEntries(files.map(({ path, text }) => [path, text]))).toEqual({
      'floors/the-attic.yaml': manifest('HubFloor', 'the-attic', 'name: The Attic\n  level: 0'),
      'labels/night.yaml': manifest('HubLabel', 'night', 'name: Night'),
      'areas/kitchen.yaml': manifest(
        'HubArea',
        'kitchen',
        'name: Kitchen\n  floorName: The Attic\n  labels:\n    - Night\n  icon: mdi:stove\n  aliases:\n    - a\n    - b',
      ),
      'zones/work.yaml': manifest(
        'HubZone',
        'work',
        'name: Work\n  latitude: "52.5"\n  longitude: "-0.1"\n  passive: true',
      ),
      'persons/anna.yaml': manifest(
        'HubPerson',
        'anna',
        'id: anna\n  name: Anna\n  username: anna.b\n  deviceTrackers:\n    - device_tracker.a',
      ),
      'persons/bob.yaml': manifest('HubPerson', 'bob', 'id: bob\n  name: Bob'),
    });
  });

  test('settings of an automation’s entity are in the file of the automation, and not in a file of their own', async () => {
    const settings = {
      areaName: 'attic',
      labels: ['night', 'own'],
      aliases: [],
      icon: 'mdi:bed',
      hidden: false,
      'categories.automation': 'c1',
    };
    const entity = {
      id: 'r',
      entityId: 'automation.lamp',
      integration: 'automation',
      uniqueId: 'lamp',
      deviceId: null,
      configEntryId: null,
      translationKey: null,
      originalName: 'Lamp',
      originalDeviceClass: null,
      hasOwnAlias: true,
      disabledBy: null,
      options: {},
      settings,
    };
    const { described } = describeHub('villa', {
      ...content([stored('lamp', { alias: 'Lamp' })]),
      entries: {
        ...empty.entries,
        label: [entry('label', 'own', 'Managed by Hub Operator'), entry('label', 'night', 'Night')],
        area: [entry('area', 'attic', 'Attic')],
      },
      settings: {
        entities: [entity],
        devices: [],
        facts: new Map(),
        exposesNew: {},
        categories: new Map([['automation category', new Map([['c1', 'Quiet']])]]),
      },
    });
    expect(described.map(({ definition: { kind } }) => kind)).toEqual([
      'HubLabel',
      'HubArea',
      'HubAutomation',
    ]);
    expect(described.at(-1)!.resource.spec['entity']).toEqual({
      areaName: 'Attic',
      labels: ['Night'],
      icon: 'mdi:bed',
      category: 'Quiet',
    });
  });

  test('settings of the entity of a helper are in the file of the helper, and not in a file of their own', () => {
    const entity = {
      id: 'r',
      entityId: 'timer.tea',
      integration: 'timer',
      uniqueId: 'tea',
      deviceId: null,
      configEntryId: null,
      translationKey: null,
      originalName: 'Tea',
      originalDeviceClass: null,
      hasOwnAlias: true,
      disabledBy: null,
      options: {},
      settings: { areaName: null, labels: [], aliases: [], icon: 'mdi:tea', 'categories.helpers': 'c1' },
    };
    const { described } = describeHub('villa', {
      ...empty,
      entries: { ...empty.entries, timer: [entry('timer', 'tea', 'Tea')] },
      settings: {
        entities: [entity],
        devices: [],
        facts: new Map(),
        exposesNew: {},
        categories: new Map([['helpers category', new Map([['c1', 'Kitchen']])]]),
      },
    });
    expect(described.map(({ definition: { kind } }) => kind)).toEqual(['HubHelper']);
    expect(described[0]!.resource.spec['entity']).toEqual({ icon: 'mdi:tea', category: 'Kitchen' });
  });

  test('integrations are named by domain and title; two that cannot be distinguished are listed', async () => {
    const { described, notExpressed } = describeHub('villa', {
      ...empty,
      integrations: [
        integration('mqtt', 'Broker', { disabled_by: 'user' }),
        integration('hue', 'Bridge', { entry_id: 'a' }),
        integration('hue', 'Bridge', { entry_id: 'b' }),
        integration('sun', 'Sun', { source: 'system' }),
        integration('dlna', 'TV', { source: 'ignore' }),
      ],
    });
    const { files } = await filesOf(described);
    expect(files).toMatchObject([
      { path: 'integrations/mqtt-broker.yaml', text: expect.stringContaining('enabled: false') as string },
    ]);
    expect(notExpressed.map(({ object }) => object)).toEqual([
      'integration hue “Bridge”',
      'integration hue “Bridge”',
    ]);
  });

  test('of objects with one alias, the entity without a number has the name without one, in the order of numbers', () => {
    const light = (id: string, entityId: string) => ({ ...stored(id, { alias: 'Light' }), entityId });
    const { described } = describeHub(
      'villa',
      content([
        light('1', 'automation.light_10'),
        light('2', 'automation.light_2'),
        light('3', 'automation.light'),
      ]),
    );
    expect(described.map(({ object, resource }) => [object, resource.metadata.name])).toEqual([
      ['automation.light_10', 'light-3'],
      ['automation.light_2', 'light-2'],
      ['automation.light', 'light'],
    ]);
  });

  test('a value that looks like a secret is named, and its file is not written', async () => {
    const { described } = describeHub(
      'villa',
      content([stored('a', { alias: 'A', actions: [{ action: 'x.y', data: { password: 'hunter2' } }] })]),
    );
    const { files, notExpressed } = await filesOf(described);
    expect(files).toEqual([]);
    expect(notExpressed).toEqual([
      {
        object: 'automation.a',
        reason: expect.stringContaining('spec.actions[0].data.password looks like a secret') as string,
      },
    ]);
    expect(JSON.stringify(notExpressed)).not.toContain('hunter2');
  });

  test('an object that the schema refuses is listed with the finding, and so is a number that would lose digits', async () => {
    const { described } = describeHub(
      'villa',
      content([
        stored('a', { alias: 5 }),
        stored('b', { alias: 'B', variables: { chat: 2 ** 60, far: -1e21 } }),
        stored('c', { alias: 'C', variables: { near: 2.5e-7, last: 2 ** 53 - 1 } }),
      ]),
    );
    const { files, notExpressed } = await filesOf(described);
    expect(files.map(({ text }) => text)).toEqual([
      expect.stringContaining('    near: 2.5e-7\n    last: 9007199254740991\n'),
    ]);
    expect(notExpressed).toEqual([
      {
        object: 'automation.b',
        reason: expect.stringContaining(
          'spec.variables.chat and spec.variables.far is a whole number beyond 2^53',
        ) as string,
      },
      { object: 'automation.a', reason: expect.stringContaining('spec.alias') as string },
    ]);
  });

  test('nulls, states and the id of the hub are kept, in the same text each time', async () => {
    const triggers = [{ trigger: 'state', entity_id: 'light.sofa', from: null, to: 'on' }];
    const { described } = describeHub('villa', content([stored('1699999999999', { alias: '光', triggers })]));
    const first = await filesOf(described);
    expect(await filesOf(described)).toEqual(first);
    expect(first.files[0]).toMatchObject({
      path: 'automations/1699999999999.yaml',
      text: expect.stringContaining('hubId: "1699999999999"\n  alias: "光"') as string,
    });
    expect(first.files[0]!.text).toContain('from: null\n      to: "on"\n');
  });

  test('an id of a webhook is named, and its file is written', async () => {
    const triggers = [{ trigger: 'webhook', webhook_id: '-LZ9n9OPOuAAm' }];
    const { described } = describeHub('villa', content([stored('a', { alias: 'A', triggers })]));
    const { files, notExpressed, warnings } = await filesOf(described);
    expect([files.length, notExpressed]).toEqual([1, []]);
    expect(warnings).toEqual([
      {
        path: 'automations/a.yaml',
        message: expect.stringContaining('spec.triggers[0].webhook_id is a secret') as string,
      },
    ]);
  });

  test('a text that YAML cannot express is listed, and the other objects are written', async () => {
    const { described } = describeHub(
      'villa',
      content([stored('a', { alias: 'A\ud800' }), stored('b', { alias: `B ${'b'.repeat(40)}\n \n{{ b }}` })]),
    );
    const { files, notExpressed } = await filesOf(described);
    expect(files.map(({ object }) => object)).toEqual(['automation.b']);
    expect(notExpressed).toEqual([
      { object: 'automation.a', reason: expect.stringContaining('half of a character') as string },
    ]);
  });

  describe('in a folder', () => {
    let folder: string;
    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'export-'));
    });
    afterEach(() => rm(folder, { recursive: true }));

    const file = (path: string, text = 'a: 1\n') => ({ path, text, object: '', kind: '', name: '' });
    const write = (files: readonly ReturnType<typeof file>[], isReplaced = false) =>
      writeFiles(folder, files, { isReplaced, texts: unbounded });
    const read = (path: string) => readFile(join(folder, path), 'utf8');

    test('files of former exports are named, and stay', async () => {
      await write([file('labels/a.yaml'), file('labels/b.yaml')]);
      await writeFile(join(folder, 'labels', 'README.md'), '');
      expect((await write([file('labels/a.yaml')])).others).toEqual(['labels/b.yaml']);
      expect((await readdir(join(folder, 'labels'))).sort()).toEqual(['README.md', 'a.yaml', 'b.yaml']);
    });

    test('one with the same object keeps its comments; another content is replaced only with --force, and the mode stays', async () => {
      await write([file('labels/a.yaml'), file('labels/b.yaml')]);
      await writeFile(join(folder, 'labels', 'a.yaml'), '# mine\na:   1\n');
      await writeFile(join(folder, 'labels', 'b.yaml'), 'a: 1\n---\nb: 2\n');
      await chmod(join(folder, 'labels', 'b.yaml'), 0o640);
      const files = [file('labels/a.yaml'), file('labels/b.yaml')];
      const { written, kept } = await write(files);
      expect(written.map(({ path }) => path)).toEqual(['labels/a.yaml']);
      expect(kept).toEqual([{ path: 'labels/b.yaml', reason: expect.stringContaining('--force') as string }]);
      expect(await read('labels/b.yaml')).toBe('a: 1\n---\nb: 2\n');
      expect(await write(files, true)).toMatchObject({ written: files, kept: [] });
      expect(await read('labels/a.yaml')).toBe('# mine\na:   1\n');
      expect(await read('labels/b.yaml')).toBe('a: 1\n');
      expect((await stat(join(folder, 'labels', 'b.yaml'))).mode & 0o777).toBe(0o640);
      expect((await readdir(join(folder, 'labels'))).sort()).toEqual(['a.yaml', 'b.yaml']);
    });

    test('a path where no folder can exist is named', async () => {
      const options = { isReplaced: false, texts: unbounded };
      for (const place of ['/proc/none', '/proc/none/below', join(folder, 'file', 'a')]) {
        await writeFile(join(folder, 'file'), '');
        await expect(writeFiles(place, [file('a.yaml')], options)).rejects.toThrow(
          `cannot write into ${place}`,
        );
      }
    });

    test('links are not followed', async () => {
      await mkdir(join(folder, 'elsewhere'));
      await writeFile(join(folder, 'elsewhere', 'keys'), 'mine');
      await symlink(join(folder, 'elsewhere'), join(folder, 'automations'));
      await mkdir(join(folder, 'scenes'));
      await symlink(join(folder, 'elsewhere', 'keys'), join(folder, 'scenes', 'a.yaml'));
      for (const path of ['automations/a.yaml', 'automations/below/a.yaml'])
        await expect(write([file(path)], true)).rejects.toThrow('symbolic link');
      const { kept } = await write([file('scenes/a.yaml'), file('scenes/b.yaml')], true);
      expect(kept).toEqual([
        { path: 'scenes/a.yaml', reason: expect.stringContaining('symbolic link') as string },
      ]);
      expect(await readdir(join(folder, 'elsewhere'))).toEqual(['keys']);
      expect(await read('elsewhere/keys')).toBe('mine');
      expect(await read('scenes/b.yaml')).toBe('a: 1\n');
    });
  });
});

const manifest = (kind: string, name: string, spec: string) =>
  `apiVersion: ${GROUP_VERSION}\nkind: ${kind}\nmetadata:\n  name: ${name}\nspec:\n  hubRef:\n    name: villa\n  ${spec}\n`;
