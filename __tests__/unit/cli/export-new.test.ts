import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StoredObjects } from '../../../cli/diff/stored-objects';
import type { NotExpressed } from '../../../cli/export/config-entities';
import { filesOf } from '../../../cli/export/files';
import { presentIn, withoutPresent } from '../../../cli/export/in-cluster';
import { describe as describeHub } from '../../../cli/export/resources';
import type { HubSettings } from '../../../cli/export/settings';
import type { Cluster } from '../../../cli/cluster';
import type { DeviceRecord } from '../../../operator/client/registries/device-settings';
import type { EntityRecord } from '../../../operator/client/registries/entity-settings';
import { registryTypes } from '../../../operator/client/connection/registry-types';
import type { ResourceType } from '../../../operator/runtime/objects';
import { ApiError } from '../../../operator/runtime/api-errors';
import { ManualClock } from '../manual-clock';
import { hubClient } from '../stand-in-hub/hub-client';
import { anEntry } from '../stand-in-hub/integrations';
import { FakeHub, json, text } from '../client/fake-hub';
import { CommandLine, ofHub, resource } from './command-line';

const content = {
  entities: {
    automation: ['1', '2'].map((id) => ({
      id,
      entityId: `automation.a${id}`,
      payload: { alias: 'A', triggers: [], actions: [] },
    })),
    scene: [],
    script: [],
  },
  entries: {
    floor: ['attic', 'cellar'].map((id) => ({ floor_id: id, name: id })),
    counter: [{ counter_id: 'guests', name: 'Guests' }],
    input_boolean: [{ input_boolean_id: 'guests', name: 'Guests' }],
  },
  integrations: [
    ...['sun', 'moon'].map((domain) => anEntry({ entry_id: `of-${domain}`, domain, title: domain })),
    ...['a', 'b'].map((id) => anEntry({ entry_id: id, domain: 'tide', title: 'Tide' })),
  ],
};

const DEVICE: DeviceRecord = {
  id: 'lamp',
  originalName: 'Lamp',
  serialNumber: '1',
  identifiers: [],
  connections: [],
  configEntryIds: [],
  disabledBy: null,
  settings: { name: 'Bed', areaName: null, labels: [], disabled: false },
};
const settings: HubSettings = {
  entities: [],
  devices: [DEVICE, { ...DEVICE, id: 'plug', originalName: null, serialNumber: null }],
  facts: new Map(),
  exposesNew: {},
  categories: new Map(),
};

const lightOf = (deviceId: string, entityId: string): EntityRecord => ({
  id: `of-${deviceId}`,
  entityId,
  integration: 'hue',
  uniqueId: deviceId,
  deviceId,
  configEntryId: null,
  translationKey: null,
  originalName: null,
  originalDeviceClass: null,
  hasOwnAlias: true,
  disabledBy: null,
  options: {},
  settings: { entityId, labels: [], aliases: [], icon: 'mdi:lamp' },
});

const lights = [lightOf('lamp', 'light.lamp'), lightOf('twin', 'light.lamp_2')];

const byId = <T>(records: readonly T[], identify: (record: T) => string) =>
  Promise.resolve(new Map(records.map((record) => [identify(record), record])));

const devices = new Map(settings.devices.map((device) => [device.id, device]));

const client = hubClient({
  components: { isLoaded: () => Promise.resolve(true) },
  registries: Object.fromEntries(
    registryTypes.map((type) => {
      const records = (content.entries as Partial<Record<string, readonly object[]>>)[type] ?? [];
      const identify = (record: object) => (record as Record<string, string>)[`${type}_id`]!;
      return [type, { entries: () => byId(records, identify) }];
    }),
  ),
  configEntries: {
    all: () => byId(content.integrations, (entry) => entry.entry_id),
    isSingle: () => Promise.resolve(true),
  },
  settings: {
    device: {
      entries: () => Promise.resolve({ all: settings.devices, get: (id: string) => devices.get(id) }),
    },
    entity: {
      entries: () =>
        Promise.resolve({ all: lights, get: (id: string) => lights.find((each) => each.id === id) }),
    },
  },
  connection: { command: () => Promise.resolve({ version: '2026.11.0' }) },
});

interface Given {
  readonly kind: string;
  readonly hub?: string;
  readonly status?: object;
  readonly spec?: object;
  readonly metadata?: object;
}

async function exported(
  resources: readonly Given[],
  name = 'of-another-name',
  unread: readonly NotExpressed[] = [],
  moreDevices: readonly DeviceRecord[] = [],
  entities: readonly EntityRecord[] = [],
) {
  const list = ({ kind }: ResourceType) =>
    Promise.resolve(
      resources
        .filter((each) => each.kind === kind)
        .map(({ hub = 'villa', status = {}, spec, metadata }) => ({
          kind,
          metadata: { name, ...metadata },
          spec: { hubRef: { name: hub }, ...spec },
          status,
        })),
    );
  const stored = new StoredObjects(client, new ManualClock());
  const present = await presentIn({ list } as unknown as Cluster, 'villa', stored);
  const all = describeHub(
    'villa',
    { ...content, settings: { ...settings, devices: [...settings.devices, ...moreDevices], entities } },
    present,
  );
  const { described, notExpressed } = withoutPresent(
    { ...all, notExpressed: [...unread, ...all.notExpressed] },
    present,
  );
  return { described, found: described.map(({ object }) => object).toSorted(), notExpressed };
}

const ALL = [
  'floor attic',
  'floor cellar',
  'input_boolean guests',
  'counter guests',
  'automation.a1',
  'automation.a2',
  'integration moon “moon”',
  'integration sun “sun”',
  'settings of the device “Bed”',
];

const allBut = (...objects: readonly string[]) => ALL.filter((each) => !objects.includes(each)).toSorted();

const DELETED = { deletionTimestamp: '2026-01-01T00:00:00Z' };

test.each<[object: string, resource: Given]>([
  ['floor attic', { kind: 'HubFloor', status: { floorID: 'attic' }, spec: { name: 'Another' } }],
  ['counter guests', { kind: 'HubHelper', status: { id: 'guests' }, spec: { type: 'counter', name: 'G' } }],
  ['automation.a2', { kind: 'HubAutomation', status: { automationId: '2' } }],
  [
    'integration sun “sun”',
    { kind: 'HubIntegration', status: { entryID: 'of-sun' }, spec: { domain: 'sun' } },
  ],
  [
    'settings of the device “Bed”',
    { kind: 'HubDevice', status: { deviceId: 'lamp' }, spec: { select: { serialNumber: 'former' } } },
  ],
])('an object that a resource of the Hub has, under any name, gets no file: %s', async (object, resource) => {
  expect((await exported([resource])).found).toEqual(allBut(object));
  expect((await exported([{ ...resource, hub: 'barn' }])).found).toEqual(allBut());
  expect((await exported([{ ...resource, metadata: DELETED }])).found).toEqual(allBut(object));
});

const ADOPTING: readonly [object: string, resource: Given][] = [
  ['floor attic', { kind: 'HubFloor', spec: { name: 'AT TIC' } }],
  ['counter guests', { kind: 'HubHelper', spec: { type: 'counter', name: 'G', id: 'guests' } }],
  ['automation.a2', { kind: 'HubAutomation', spec: { hubId: '2' } }],
  ['integration sun “sun”', { kind: 'HubIntegration', spec: { domain: 'sun' } }],
  ['integration moon “moon”', { kind: 'HubIntegration', spec: { domain: 'moon', title: 'moon' } }],
  ['settings of the device “Bed”', { kind: 'HubDevice', spec: { select: { serialNumber: '1' } } }],
];

test.each(ADOPTING)(
  'an object that a suspended resource without status would adopt gets no file: %s',
  async (object, resource) => {
    const suspended = { ...resource, spec: { ...resource.spec, suspend: true } };
    expect((await exported([suspended])).found).toEqual(allBut(object));
  },
);

test.each(ADOPTING)('a resource that is deleted adopts nothing any more: %s', async (_, resource) => {
  expect((await exported([{ ...resource, metadata: DELETED }])).found).toEqual(allBut());
});

test('an object that is removed after a change of the id gets no file', async () => {
  const status = { automationId: '2', formerIds: ['1'] };
  const { found } = await exported([{ kind: 'HubAutomation', status, spec: { id: 'other' } }]);
  expect(found).toEqual(allBut('automation.a1', 'automation.a2'));
});

test('an object that cannot be expressed is listed only while no resource has it', async () => {
  const tide = { object: 'integration tide “Tide”', of: { kind: 'HubIntegration', id: 'b' } };
  const unread = ['1', '3'].map((id) => ({
    object: `automation.delivered_${id}`,
    reason: 'It is defined in YAML of the hub itself.',
    of: { kind: 'HubAutomation', id },
  }));
  const other = { object: 'blueprint automation/x.yaml', reason: 'The hub never shows it.' };
  const resources: readonly Given[] = [
    { kind: 'HubIntegration', status: { entryID: 'a' }, spec: { domain: 'tide' } },
    { kind: 'HubAutomation', status: { automationId: '1', delivery: 'File' } },
    { kind: 'HubDevice', status: { deviceId: 'plug' }, spec: { select: { name: 'Plug' } } },
  ];
  const { notExpressed } = await exported(resources, 'x', [...unread, other]);
  expect(notExpressed).toEqual([unread[1], other, expect.objectContaining(tide)]);
});

test('a file gets no name that a resource for something else has, also of another Hub', async () => {
  const resources = [
    { kind: 'HubFloor', hub: 'barn', status: { floorID: 'other' }, spec: { name: 'Other' } },
    { kind: 'HubAutomation', status: { automationId: 'other' }, metadata: { name: 'a' } },
    { kind: 'HubDevice', hub: 'barn', spec: { select: { serialNumber: '9' } }, metadata: { name: 'bed' } },
  ];
  const { described, found } = await exported(resources, 'attic');
  expect(found).toEqual(allBut());
  const names = described.map(({ resource: { kind, metadata } }) => `${kind} ${metadata.name}`);
  expect(names).toEqual(expect.arrayContaining(['HubFloor attic-2', 'HubAutomation a-2', 'HubDevice bed-2']));
});

/** A resource that is renamed in Git, before the operator hands over its entry. */
const RENAMED = {
  kind: 'HubIntegration',
  status: { entryID: 'of-sun' },
  spec: { domain: 'sun', title: 'sun' },
  metadata: { ...DELETED, name: 'former' },
};

test.each<[string, readonly Given[]]>([
  ['solar', [{ kind: 'HubIntegration', status: { entryID: 'of-sun' }, spec: { domain: 'sun' } }]],
  [
    'sun-sun-2',
    [{ kind: 'HubIntegration', hub: 'barn', spec: { domain: 'x' }, metadata: { name: 'sun-sun' } }],
  ],
  ['solar', [RENAMED, { kind: 'HubIntegration', spec: RENAMED.spec }]],
  ['solar', [{ kind: 'HubIntegration', spec: RENAMED.spec }, RENAMED]],
])('a device refers to its integration by the name of the resource: %s', async (name, resources) => {
  const panel = {
    ...DEVICE,
    id: 'panel',
    originalName: 'Panel',
    serialNumber: null,
    configEntryIds: ['of-sun'],
  };
  const { described } = await exported(resources, 'solar', [], [panel]);
  const [device] = described.filter(({ id }) => id === 'panel');
  expect(device!.resource.spec).toMatchObject({ select: { name: 'Panel', integrationRef: { name } } });
  expect((await filesOf([device!])).notExpressed).toEqual([]);
});

test('an object that a resource has takes no other name, and files for its entities are beside its own', async () => {
  const twin = { ...DEVICE, id: 'twin', serialNumber: '2' };
  const files = async (...resources: Given[]) => {
    const { described } = await exported(resources, 'x', [], [twin], lights);
    return described
      .filter(({ id }) => ['guests', '2', 'lamp', 'twin', 'of-lamp', 'of-twin'].includes(id))
      .map(({ resource: { kind, metadata }, path }) => `${kind} ${path ?? metadata.name}`);
  };
  const all = [
    'HubHelper guests',
    'HubHelper guests-2',
    'HubAutomation a-2',
    'HubDevice bed',
    'HubDevice bed-2',
    'HubEntity devices/bed.light-lamp.yaml',
    'HubEntity devices/bed-2.light-lamp-2.yaml',
  ];
  expect(await files()).toEqual(all);
  // A part of the files is applied: the others keep their names.
  const toggle = { type: 'boolean', name: 'Guests' };
  const select = { serialNumber: '1' };
  const applied: readonly Given[] = [
    { kind: 'HubHelper', status: { id: 'guests' }, spec: toggle, metadata: { name: 'guests' } },
    { kind: 'HubAutomation', status: { automationId: '1' }, metadata: { name: 'a' } },
    { kind: 'HubDevice', status: { deviceId: 'lamp' }, spec: { select }, metadata: { name: 'bed' } },
  ];
  expect(await files(...applied)).toEqual(all.filter((each) => !/guests$|bed$/.test(each)));
  const entity = {
    kind: 'HubEntity',
    status: { registryId: 'of-lamp' },
    spec: { select: { entityId: 'light.lamp' } },
    metadata: { name: 'light-lamp' },
  };
  expect(await files(...applied, entity)).toEqual(
    all.filter((each) => !/guests$|bed$|lamp\.yaml$/.test(each)),
  );
});

test('the long name of a resource for a device is in no name of a file', async () => {
  const spec = { select: { serialNumber: '1' } };
  const device = { kind: 'HubDevice', status: { deviceId: 'lamp' }, spec };
  const { described } = await exported([device], 'b'.repeat(253), [], [], lights);
  expect(described.find(({ id }) => id === 'of-lamp')).toMatchObject({ path: 'devices/bed.light-lamp.yaml' });
  const { files, notExpressed } = await filesOf(described);
  expect([files.length, notExpressed]).toEqual([described.length, []]);
});

test('a kind that the user may not list ends the command', async () => {
  const forbidden = new ApiError(403, 'Forbidden', 'no');
  const stored = new StoredObjects(client, new ManualClock());
  const cluster = { list: () => Promise.reject(forbidden) } as unknown as Cluster;
  await expect(presentIn(cluster, 'villa', stored)).rejects.toThrow(forbidden);
});

test.each(['--url http://hub:8123 --token-file t --hub villa', ''])(
  '--new without a Hub in the cluster is refused: %s',
  async (options) => {
    const line = new CommandLine();
    expect(await line.run(`export --to x --new ${options}`.trim())).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--new needs --hub NAME without --url') as string,
    });
  },
);

test('definitions that are delivered as files are no new objects, and the API of the hub does not read them', async () => {
  const hub = await FakeHub.start();
  const folder = await mkdtemp(join(tmpdir(), 'export-new-'));
  hub.routes.set('POST /api/template', text(200, '[["automation.delivered", "automation.by_hand"], []]'));
  const entities = ['delivered', 'by_hand'].map((id) => ({
    entity_id: `automation.${id}`,
    unique_id: id,
    platform: 'automation',
  }));
  for (const id of ['delivered', 'by_hand'])
    hub.routes.set(`GET /api/config/automation/config/${id}`, json(404, { message: 'Resource not found' }));
  hub.routes.set('GET /api/components', json(200, []));
  hub.onCommand = ({ message: { type }, succeed }) => {
    if (type === 'config/entity_registry/list') return succeed(entities);
    if (type === 'homeassistant/expose_new_entities/get') return succeed({ expose_new: false });
    if (/get_entries$|^blueprint\//.test(type)) return succeed({});
    return succeed(/\/(list|get)$/.test(type) ? [] : undefined);
  };
  const line = new CommandLine(
    resource('Hub', 'villa', { external: { url: hub.url, tokenSecretRef: { name: 'token', key: 'token' } } }),
    resource('HubAutomation', 'mine', { ...ofHub('villa') }, { fields: { automationId: 'delivered' } }),
  );
  line.intercept = ({ path }) =>
    path.endsWith('/secrets/token')
      ? { data: { token: Buffer.from('good-token').toString('base64') } }
      : undefined;
  try {
    const { code, stdout, stderr } = await line.run(`export --hub villa --new --to ${folder}/home -o json`);
    expect(stderr).toBe('');
    expect((JSON.parse(stdout) as { notExpressed: unknown }).notExpressed).toEqual([
      { object: 'automation.by_hand', reason: expect.stringContaining('defined in YAML') as string },
    ]);
    expect(code).toBe(3);
  } finally {
    await hub.close();
    await rm(folder, { recursive: true });
  }
});
