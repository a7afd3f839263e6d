import { NO_RESOURCES } from '../../../cli/export/present';
import type { ConfigEntry } from '../../../operator/client/connection/flow-step';
import type { DeviceRecord } from '../../../operator/client/registries/device-settings';
import type { EntityRecord } from '../../../operator/client/registries/entity-settings';
import type { CustomResource } from '../../../operator/kinds/resource';
import { customizedDevice, customizedEntity } from '../../../cli/export/customized';
import { describeSettings, type HubSettings } from '../../../cli/export/settings';
import { filesOf } from '../../../cli/export/files';
import { type Devices, selectOf } from '../../../cli/settings/device-select';
import { findOwnEntity, ownTypeOf } from '../../../cli/settings/own-entity';
import { FakeHub } from '../client/fake-hub';
import { CommandLine, forbidden, ofHub, resource } from './command-line';
import { hubClient } from '../stand-in-hub/hub-client';

const ENTRY = '01KB4MVJ1SZ7EXAMPLE0000000';

const device = (id: string, fields: Partial<DeviceRecord> = {}): DeviceRecord => ({
  id: `device-${id}`,
  originalName: 'Lamp',
  serialNumber: null,
  identifiers: [],
  connections: [],
  configEntryIds: [ENTRY],
  disabledBy: null,
  settings: { name: null, areaName: null, labels: [], disabled: false },
  ...fields,
});
const named = (id: string, name: string, fields: Partial<DeviceRecord> = {}): DeviceRecord =>
  device(id, { settings: { name, areaName: null, labels: [], disabled: false }, ...fields });

const NONE = {
  name: null,
  icon: null,
  areaName: null,
  labels: [],
  aliases: [],
  hidden: false,
  disabled: false,
  deviceClass: null,
  'expose.conversation': null,
  'expose.alexa': null,
  'expose.googleAssistant': null,
};

function entity(entityId: string, settings: object = {}, fields: Partial<EntityRecord> = {}): EntityRecord {
  return {
    id: `registry-${entityId}`,
    entityId,
    integration: 'hue',
    uniqueId: entityId,
    deviceId: null,
    configEntryId: ENTRY,
    translationKey: null,
    originalName: null,
    originalDeviceClass: null,
    hasOwnAlias: true,
    disabledBy: null,
    options: {},
    settings: { ...NONE, entityId, ...settings },
    ...fields,
  };
}

const exposesNew = { 'expose.conversation': true, 'expose.alexa': false, 'expose.googleAssistant': false };

describe('the settings that a user may have changed', () => {
  test('an untouched entity has none, also with the flags of its integration and its entry', () => {
    const untouched = entity('light.a', { hidden: true, disabled: true }, { disabledBy: 'integration' });
    expect(customizedEntity(untouched, { hidden_by: 'integration' }, exposesNew)).toEqual({});
    expect(customizedDevice(device('a', { disabledBy: 'config_entry' }))).toEqual({});
  });

  test('flags count only when a user has set them', () => {
    const hidden = entity('light.a', { hidden: true, disabled: true, name: '' }, { disabledBy: 'user' });
    expect(customizedEntity(hidden, { hidden_by: 'user' }, exposesNew)).toMatchObject({
      hidden: true,
      disabled: true,
    });
    expect(customizedEntity(hidden, { hidden_by: 'user' }, exposesNew)).not.toHaveProperty('name');
    expect(customizedDevice(device('a', { disabledBy: 'user' }))).toMatchObject({ disabled: true });
  });

  test('the name of a tag is not a setting of its entity', () => {
    const tag = entity('tag.door', { name: 'Door', icon: 'mdi:door' }, { integration: 'tag' });
    expect(customizedEntity(tag, {}, exposesNew)).toEqual({ icon: 'mdi:door' });
  });

  const LIGHT = entity('light.a');
  const LOCK = entity('lock.a');
  const WARM = entity('sensor.a', {}, { originalDeviceClass: 'temperature' });
  const POWER = entity('sensor.a', {}, { originalDeviceClass: 'power' });
  const AS_WARM = entity('sensor.a', { deviceClass: 'temperature' }, { originalDeviceClass: 'power' });
  test.each([
    ['conversation', 'a light', LIGHT, {}, true, undefined],
    ['conversation', 'a light', LIGHT, {}, false, false],
    ['conversation', 'a lock', LOCK, {}, false, undefined],
    ['conversation', 'a lock', LOCK, {}, true, true],
    ['conversation', 'a thermometer', WARM, {}, true, undefined],
    ['conversation', 'a thermometer', WARM, {}, false, false],
    ['conversation', 'a power meter', POWER, {}, true, true],
    ['conversation', 'a power meter', POWER, {}, false, undefined],
    // A new hub may decide before or after the entity has its class, or is hidden: either value is written.
    ['conversation', 'one that a person made a thermometer', AS_WARM, {}, true, true],
    ['conversation', 'one that a person made a thermometer', AS_WARM, {}, false, false],
    ['conversation', 'a light', LIGHT, { hidden_by: 'user' }, true, true],
    ['conversation', 'a light', LIGHT, { hidden_by: 'user' }, false, false],
    ['conversation', 'a light', LIGHT, { hidden_by: 'integration' }, true, true],
    ['conversation', 'a light', LIGHT, { hidden_by: 'integration' }, false, undefined],
    ['conversation', 'a light', LIGHT, { entity_category: 'config' }, false, undefined],
    ['conversation', 'a light', LIGHT, { entity_category: 'config' }, true, true],
    ['alexa', 'a light', LIGHT, {}, false, undefined],
    ['alexa', 'a light', LIGHT, {}, true, true],
  ])('%s, %s %#: stored, and exported or not', (assistant, _, given, facts, stored, exported) => {
    const name = `expose.${assistant}`;
    const asked = { ...given, settings: { ...given.settings, [name]: stored } };
    expect(customizedEntity(asked, facts, exposesNew)[name]).toBe(exported);
  });
});

test.each([
  ['an automation of another id', { uniqueId: 'other' }],
  ['an entity of another integration', { integration: 'hue' }],
  ['an entity of another domain', { entityId: 'light.a' }],
])('%s is not the entity that a HubAutomation makes', async (_, difference) => {
  const own = { integration: 'automation', uniqueId: 'hall' };
  const made = entity('automation.hall', {}, own);
  const other = entity('automation.a', {}, { ...own, ...difference });
  const client = (all: readonly object[]) =>
    hubClient({ settings: { entity: { entries: () => Promise.resolve({ all }) } } });
  const type = ownTypeOf('HubAutomation')!;
  const hall = { kind: 'HubAutomation', spec: {} } as CustomResource;
  expect((await findOwnEntity(type, hall, 'hall', client([other, made])))?.record).toBe(made);
  expect(await findOwnEntity(type, hall, 'hall', client([other]))).toBeUndefined();
});

describe('the selector of a device', () => {
  const known = (all: readonly DeviceRecord[], integrations = new Map<string, string>()): Devices => ({
    all,
    drawnIds: [ENTRY, ...all.map(({ id }) => id)],
    integrations,
  });

  test('is its identifier, else its address, else its serial number', () => {
    const all = [
      device('a', { identifiers: [['hue', '1']], connections: [['mac', 'aa']] }),
      device('b', { connections: [['mac', 'bb']], serialNumber: '7' }),
      device('c', { serialNumber: '8' }),
    ];
    expect(all.map((each) => selectOf(each, known(all)))).toEqual([
      { identifier: { integration: 'hue', id: '1' } },
      { connection: { type: 'mac', value: 'bb' } },
      { serialNumber: '8' },
    ]);
  });

  test('contains no id that the hub has generated', () => {
    const sun = device('a', {
      originalName: 'Sun',
      identifiers: [
        ['sun', ENTRY],
        ['sun', 'part_01KB4MVJ1SZ7EXAMP1E0000001'],
      ],
    });
    expect(selectOf(sun, known([sun]))).toBeUndefined();
    expect(selectOf(sun, known([sun], new Map([[ENTRY, 'sun']])))).toEqual({
      name: 'Sun',
      integrationRef: { name: 'sun' },
    });
  });

  test('is narrowed by the integration where two entries have one identifier', () => {
    const all = ['first', 'second'].map((id) =>
      device(id, { identifiers: [['nas', '1']], configEntryIds: [id] }),
    );
    const integrations = new Map([
      ['first', 'nas-one'],
      ['second', 'nas-two'],
    ]);
    expect(selectOf(all[1]!, known(all, integrations))).toEqual({
      identifier: { integration: 'nas', id: '1' },
      integrationRef: { name: 'nas-two' },
    });
    expect(all.map((each) => selectOf(each, known(all)))).toEqual([undefined, undefined]);
  });
});

describe('the files of an export', () => {
  const described = (
    settings: Partial<HubSettings>,
    names: readonly (readonly [string, string])[] = [],
    present = NO_RESOURCES,
  ) =>
    describeSettings(
      { entities: [], devices: [], facts: new Map(), exposesNew, categories: new Map(), ...settings },
      {
        integrations: [{ entry_id: ENTRY } as ConfigEntry],
        names: new Map(names),
        nameOf: (type, id) => (id === 'own' ? undefined : `The ${type} ${id}`),
        made: new Set(['automation.made']),
        present,
      },
    );

  test('no file gets the name of a resource that the cluster has', () => {
    const entities = [entity('light.alone', { icon: 'mdi:lamp' })];
    const present = {
      ...NO_RESOURCES,
      namesOf: (kind: string) => new Set(kind === 'HubEntity' ? ['light-alone'] : []),
    };
    expect(described({ entities }, [], present).described).toMatchObject([{ name: 'light-alone-2' }]);
  });

  test('an entity is next to its device, also where only one of them is customized', () => {
    const devices = [
      named('a', 'Hob', { identifiers: [['hue', '1']] }),
      device('b', { originalName: 'Fan', identifiers: [['hue', '2']] }),
      device('c', { originalName: 'Plain', identifiers: [['hue', '3']] }),
    ];
    const entities = [
      entity('light.hob', { labels: ['own', 'night'], areaName: 'bath' }, { deviceId: 'device-a' }),
      entity('fan.loud', { labels: ['own'] }, { deviceId: 'device-b' }),
      entity('fan.low', { aliases: ['Wind', 'Air'] }, { deviceId: 'device-b' }),
      entity('light.alone', { icon: 'mdi:lamp' }),
      // The file of the automation has the settings of this entity.
      entity('automation.made', { icon: 'mdi:lamp' }, { integration: 'automation' }),
      // The entity of the operator's own marker script.
      entity('script.x', { icon: 'mdi:lamp' }, { uniqueId: 'hub_operator_configuration' }),
    ];
    const found = described({ devices, entities });
    expect(found.notExpressed).toEqual([]);
    expect(found.described.map(({ path, name, spec }) => [path ?? name, spec])).toEqual([
      ['hob', { select: { identifier: { integration: 'hue', id: '1' } }, name: 'Hob' }],
      ['devices/fan.fan-low.yaml', { select: unique('fan', 'fan.low'), aliases: ['Air', 'Wind'] }],
      ['light-alone', { select: unique('light', 'light.alone'), icon: 'mdi:lamp' }],
      [
        'devices/hob.light-hob.yaml',
        {
          select: unique('light', 'light.hob'),
          areaName: 'The area bath',
          labels: ['The label night'],
        },
      ],
    ]);
  });

  const unique = (domain: string, uniqueId: string) => ({
    unique: { integration: 'hue', domain, uniqueId },
  });

  test('the names of files do not depend on ids that the hub generates', () => {
    const two = (first: string, second: string) => [
      named(first, 'Lamp', { identifiers: [['hue', '1']] }),
      named(second, 'Lamp', { identifiers: [['hue', '2']] }),
    ];
    const files = (devices: readonly DeviceRecord[]) =>
      described({ devices }).described.map(({ name, spec }) => [name, spec]);
    expect(files(two('a', 'b'))).toEqual(files(two('b', 'a').reverse()));
    expect(files(two('a', 'b')).map(([name]) => name)).toEqual(['lamp', 'lamp-2']);
  });

  test('an entity whose unique id the hub has generated is selected by its device, else by its id, with a warning', async () => {
    const drawn = (key: string) => ({ deviceId: 'device-a', uniqueId: `${ENTRY}-${key}` });
    const icon = { icon: 'mdi:sun' };
    const devices = [device('a', { originalName: 'Sun', identifiers: [['sun', ENTRY]] })];
    const entities = [
      entity('sensor.dawn', icon, { ...drawn('dawn'), translationKey: 'dawn' }),
      entity('sensor.dusk', {}, { ...drawn('dusk'), translationKey: 'dusk' }),
      entity('sensor.heat', icon, { ...drawn('heat'), originalDeviceClass: 'temperature' }),
      entity('sensor.twin', icon, drawn('twin')),
      entity('light.group', icon, { uniqueId: ENTRY }),
      entity('switch.only', icon, drawn('only')),
    ];
    const found = described({ devices, entities }, [[ENTRY, 'sun']]);
    const sun = { name: 'Sun', integrationRef: { name: 'sun' } };
    expect(found.described.map(({ spec, warning }) => [spec['select'], warning !== undefined])).toEqual([
      [{ entityId: 'light.group' }, true],
      [{ device: { ...sun, domain: 'sensor', translationKey: 'dawn' } }, false],
      [{ device: { ...sun, domain: 'sensor', deviceClass: 'temperature' } }, false],
      [{ entityId: 'sensor.twin' }, true],
      [{ device: { ...sun, domain: 'switch' } }, false],
    ]);
    const { warnings } = await filesOf(
      found.described.map(({ definition, name, spec, ...file }) => ({
        definition,
        ...file,
        resource: {
          apiVersion: 'hub-operator.dev/v1',
          kind: definition.kind,
          metadata: { name },
          spec: { hubRef: { name: 'villa' }, ...spec },
        },
      })),
    );
    expect(warnings.map(({ path }) => path)).toEqual([
      'entities/light-group.yaml',
      'devices/sun.sensor-twin.yaml',
    ]);
  });

  test('a device that has no distinguishing property is listed', () => {
    const { described: files, notExpressed } = described({ devices: [named('a', 'Hob')] });
    expect(files).toEqual([]);
    expect(notExpressed).toMatchObject([
      { object: 'device “Hob”', reason: expect.stringContaining('Nothing tells it apart') as string },
    ]);
  });
});

describe('status', () => {
  const villa = resource('Hub', 'villa', {}, { fields: { version: '2026.11.0' } });
  const failed = { status: 'False', isStalled: true, reason: 'AreaBelongsToDevice' } as const;
  const select = (selector: object) => ({ ...ofHub('villa'), select: selector });
  test.each([
    ['HubEntity', { entityId: 'light.old' }, { entityId: 'light.kitchen' }, 'light.kitchen'],
    ['HubEntity', { entityId: 'light.old' }, {}, 'light.old'],
    [
      'HubEntity',
      { unique: { integration: 'hue', domain: 'light', uniqueId: '7\u001b' } },
      {},
      'the light 7  of hue',
    ],
    ['HubEntity', { device: { domain: 'sensor', serialNumber: 'S1' } }, {}, 'the sensor of the device S1'],
    ['HubDevice', { identifier: { integration: 'hue', id: '7' } }, {}, 'the device hue 7'],
    ['HubDevice', { connection: { type: 'mac', value: 'aa:bb' } }, {}, 'the device mac aa:bb'],
    ['HubDevice', { name: 'Sun', integrationRef: { name: 'sun' } }, {}, 'the device “Sun”'],
  ])('%s with %j and status %j: %s', async (kind, selector, fields, shown) => {
    const line = new CommandLine(villa, resource(kind, 'lamp', select(selector), { ...failed, fields }));
    expect((await line.run('status')).stdout).toContain(`✗ lamp (settings of ${shown}): AreaBelongsToDevice`);
  });

  test('a missing area is the cause', async () => {
    const spec = { ...select({ entityId: 'light.a' }), areaName: 'The Bath' };
    const line = new CommandLine(
      villa,
      resource('HubEntity', 'lamp', spec, { status: 'False', reason: 'AreaNotFound' }),
    );
    expect((await line.run('status')).stdout).toContain('← area The Bath is missing');
  });
});

describe('entities', () => {
  let hub: FakeHub;
  beforeEach(async () => {
    hub = await FakeHub.start();
  });
  afterEach(() => hub.close());

  const listed = {
    entity_id: 'light.a',
    id: 'registry-a',
    unique_id: 17,
    platform: 'hue',
    device_id: 'device-a',
    labels: [],
    aliases: [null],
    original_name: `${'Long '.repeat(20)}\u001b[2J`,
    hidden_by: 'user',
  };

  test('names are on one line without control characters, and the area is that of the device if the entity has none', async () => {
    const second = { ...listed, entity_id: 'fan.b', id: 'registry-b', area_id: 'attic', hidden_by: null };
    const own = { ...listed, entity_id: 'script.x', id: 'x', unique_id: 'hub_operator_configuration' };
    hub.onCommand = ({ message: { type }, succeed }) => {
      if (type.endsWith('entity_registry/list')) succeed([listed, second, own]);
      else if (type.endsWith('get_entries')) succeed({ 'light.a': listed, 'fan.b': second, 'script.x': own });
      else if (type.endsWith('device_registry/list'))
        succeed([
          { id: 'device-a', name: 'Lamp\nof hall', area_id: 'bath', labels: [], identifiers: [['hue', 7]] },
        ]);
      else if (type.endsWith('area_registry/list'))
        succeed([
          { area_id: 'bath', name: 'Bath' },
          { area_id: 'attic', name: 'Attic' },
        ]);
      else succeed(type.endsWith('/get') ? [] : undefined);
    };
    const line = new CommandLine(
      resource('Hub', 'villa', {
        external: { url: hub.url, tokenSecretRef: { name: 'token', key: 'token' } },
      }),
    );
    line.intercept = ({ path }) => {
      if (path.endsWith('/hubintegrations')) throw forbidden();
      return path.endsWith('/secrets/token')
        ? { data: { token: Buffer.from('good-token').toString('base64') } }
        : undefined;
    };
    const { code, stdout, stderr } = await line.run('entities villa');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const [head, ...rows] = stdout
      .trimEnd()
      .split('\n')
      .map((each) => each.split(/ {3,}/));
    expect(head).toEqual(['ENTITY', 'NAME', 'DEVICE', 'INTEGRATION', 'UNIQUE ID', 'AREA']);
    expect(rows.map(([id]) => id)).toEqual(['fan.b', 'light.a']);
    expect(rows[0]!.at(-1)).toBe('Attic');
    expect(rows[1]).toEqual([
      'light.a',
      expect.stringMatching(/^(Long )+.*…$/),
      'Lamp of hall',
      'hue',
      '17',
      'Bath',
    ]);
    expect(stdout).not.toContain('\u001b');
    const [, data] = JSON.parse((await line.run('entities villa -o json')).stdout) as unknown[];
    expect(data).toMatchObject({
      hidden: true,
      select: { unique: { integration: 'hue', domain: 'light', uniqueId: '17' } },
      deviceSelect: { identifier: { integration: 'hue', id: '7' } },
    });
    expect(hub.commands.map(({ type }) => type).filter((type) => type.includes('update'))).toEqual([]);
  });

  test('the command name of another tool, and the completion, lead to it', async () => {
    const line = new CommandLine(resource('Hub', 'villa', {}));
    expect((await line.run('__complete entities v')).stdout).toBe('villa\n:4\n');
    expect((await line.run('entities')).code).toBe(2);
  });
});

test('a helper makes the entity of its own sort, also where another sort has the same id', async () => {
  const of = (domain: string) => entity(`${domain}.hall`, {}, { integration: domain, uniqueId: 'hall' });
  const all = [of('timer'), of('counter')];
  const client = hubClient({
    settings: { entity: { entries: () => Promise.resolve({ all }) } },
  });
  const hall = { kind: 'HubHelper', spec: { type: 'counter' } } as unknown as CustomResource;
  const found = await findOwnEntity(ownTypeOf('HubHelper')!, hall, 'hall', client);
  expect(found?.record.entityId).toBe('counter.hall');
});
