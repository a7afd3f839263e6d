import type { HubClient } from '../../../operator/client/hub-client';
import type { DeviceRecord } from '../../../operator/client/registries/device-settings';
import type { EntityRecord } from '../../../operator/client/registries/entity-settings';
import { freshNamespace, until } from '../../cluster';
import { area, configuration, DEFAULT_CONFIGURATION, device, entity, Home, label } from '../../cluster/home';
import { startHub } from '../../cluster/onboarded-volume';
import { startTestOperator, type TestOperator } from '../../cluster/operator';

let home: Home;
let operator: TestOperator;
let client: HubClient;

const HUB = 'villa';

beforeAll(async () => {
  home = new Home(await freshNamespace('settings'));
  operator = await startTestOperator(home.namespace);
  await startHub(home, HUB);
  await home.apply(configuration(HUB, `${DEFAULT_CONFIGURATION}\ndemo:\nkitchen_sink:\n`));
  await home.ready('hubconfiguration', HUB);
  client = await home.client(HUB);
  await until('the integrations have made their entities', async () => {
    const { all } = await client.settings.entity.entries();
    return [...all].length > 100;
  });
  await home.apply(
    area(HUB, 'kitchen', { name: 'Kitchen' }),
    area(HUB, 'hall', { name: 'Hall' }),
    label(HUB, 'energy', { name: 'Energy' }),
    label(HUB, 'ground', { name: 'Ground' }),
    label(HUB, 'persons', { name: 'Persons' }),
  );
  await home.ready('hubarea', 'hall');
  await home.ready('hublabel', 'persons');
});

async function inHub(entityId: string): Promise<EntityRecord> {
  const found = [...(await client.settings.entity.entries()).all].find((each) => each.entityId === entityId);
  if (!found) throw new Error(`the hub has no entity ${entityId}`);
  return found;
}

async function deviceOf(name: string): Promise<DeviceRecord> {
  const found = [...(await client.settings.device.entries()).all].find((each) => each.originalName === name);
  if (!found) throw new Error(`the hub has no device ${name}`);
  return found;
}

const settingsOf = async (entityId: string) => (await inHub(entityId)).settings;
const statusOf = async (kind: string, name: string) => (await home.get(kind, name)).status!;

const unique = (integration: string, domain: string, uniqueId: string) => ({
  unique: { integration, domain, uniqueId },
});
const demo = (id: string) => ({ identifier: { integration: 'demo', id } });

/** Changes an entity as a user does in the hub's UI. */
const change = (entityId: string, fields: object) =>
  client.connection.command('config/entity_registry/update', { entity_id: entityId, ...fields });

async function becomes(entityId: string, settings: object): Promise<void> {
  await until(`${entityId} is ${JSON.stringify(settings)}`, async () => {
    expect(await settingsOf(entityId)).toMatchObject(settings);
    return true;
  });
}

/** Returns the hub's log records of refused commands. */
async function refusals(): Promise<readonly string[]> {
  const records = await client.connection.command('system_log/list');
  return records
    .filter(({ name }) => name.includes('websocket_api') || name.includes('entity_registry'))
    .flatMap(({ message }) => message);
}

describe('settings of entities', () => {
  const mower = 'lawn_mower.mower_can_mow';
  const select = unique('kitchen_sink', 'lawn_mower', 'kitchen_sink_mower_001');

  test('each setting arrives, and the former values are restored when the resource is deleted', async () => {
    const before = await inHub(mower);
    await change(mower, { labels: ['energy'], aliases: [null, 'Bert'], icon: 'mdi:sheep' });
    const former = await settingsOf(mower);
    await home.apply(
      entity(HUB, 'mower', {
        select,
        name: 'Shaun',
        icon: 'mdi:grass',
        areaName: 'Kitchen',
        labels: ['Energy', 'Ground'],
        aliases: ['Lawn mower'],
        hidden: true,
        expose: { conversation: true, alexa: false },
        entityId: 'lawn_mower.shaun',
      }),
    );
    await home.ready('hubentity', 'mower', { reason: 'EntityUpdated' });
    const settings = await settingsOf('lawn_mower.shaun');
    expect(settings).toMatchObject({
      name: 'Shaun',
      icon: 'mdi:grass',
      areaName: 'kitchen',
      hidden: true,
      'expose.conversation': true,
      'expose.alexa': false,
    });
    expect(settings['labels']).toHaveLength(2);
    expect(settings['aliases']).toEqual(expect.arrayContaining(['Bert', 'Lawn mower']));
    expect(await statusOf('hubentity', 'mower')).toMatchObject({
      entityId: 'lawn_mower.shaun',
      registryId: before.id,
      previous: {
        name: { ours: ['Shaun'] },
        icon: { was: 'mdi:sheep', ours: ['mdi:grass'] },
        labels: { was: ['energy'], ours: ['energy', 'ground'] },
        aliases: { was: [], ours: ['Lawn mower'] },
        hidden: { was: false, ours: [true] },
        entityId: { was: mower, ours: ['lawn_mower.shaun'] },
      },
    });
    await change('lawn_mower.shaun', { labels: ['energy', 'ground', 'persons'] });
    await home.delete('hubentity', 'mower');
    const after = await settingsOf(mower);
    expect({ ...after, labels: former['labels'] }).toEqual(former);
    expect([...(after['labels'] as string[])].sort()).toEqual(['energy', 'persons']);
    expect(await inHub(mower)).toMatchObject({ id: before.id, hasOwnAlias: true });
  });

  test('categories are of the page that lists the entity, and those of other pages stay', async () => {
    const select = unique('kitchen_sink', 'lawn_mower', 'kitchen_sink_mower_002');
    const dock = 'lawn_mower.mower_can_return';
    const { category_id: id } = await client.connection.command('config/category_registry/create', {
      scope: 'script',
      name: 'Mine',
    });
    await change(dock, { categories: { script: id } });
    await home.apply(entity(HUB, 'sorted', { select, categories: { helpers: 'Garden' } }));
    await home.ready('hubentity', 'sorted');
    const { 'categories.helpers': garden, ...others } = await settingsOf(dock);
    expect((await client.categories.entries('helpers')).get(String(garden))).toBe('Garden');
    expect(others).toMatchObject({ 'categories.script': id });
    await home.delete('hubentity', 'sorted');
    const after = await settingsOf(dock);
    expect(after).not.toHaveProperty('categories.helpers');
    expect(after).toMatchObject({ 'categories.script': id });
  });

  test('a setting that is removed from the spec gets its former value back, unless a user has changed it since', async () => {
    const dock = 'lawn_mower.mower_can_dock';
    await change(dock, { name: 'Docker' });
    await home.apply(
      entity(HUB, 'dock', {
        select: unique('kitchen_sink', 'lawn_mower', 'kitchen_sink_mower_003'),
        driftPolicy: 'Warn',
        name: 'Dock',
        icon: 'mdi:grass',
        labels: ['Energy'],
      }),
    );
    await home.ready('hubentity', 'dock');
    await change(dock, { icon: 'mdi:cow' });
    await home.ready('hubentity', 'dock', { status: 'False', reason: 'DriftDetected' });
    expect(await settingsOf(dock)).toMatchObject({ icon: 'mdi:cow' });
    await home.change('hubentity', 'dock', { name: null, icon: null, labels: null });
    await home.ready('hubentity', 'dock');
    expect(await settingsOf(dock)).toMatchObject({ name: 'Docker', icon: 'mdi:cow', labels: [] });
    expect(await statusOf('hubentity', 'dock')).not.toHaveProperty('previous');
    await change(dock, { name: null, icon: null });
    await home.delete('hubentity', 'dock');
  });

  test('a change in the hub is reverted, and one of another setting stays', async () => {
    const pause = 'lawn_mower.mower_can_pause';
    await home.apply(
      entity(HUB, 'pause', {
        select: { entityId: pause },
        name: 'Pause',
        labels: ['Energy'],
      }),
    );
    await home.ready('hubentity', 'pause');
    await change(pause, { name: 'Stop', labels: ['persons'], icon: 'mdi:cow' });
    await becomes(pause, { name: 'Pause', icon: 'mdi:cow' });
    expect([...((await settingsOf(pause))['labels'] as string[])].sort()).toEqual(['energy', 'persons']);
    await home.event(
      'HubEntity',
      'pause',
      /^Warning DriftDetected: .*name: hub has "Stop", resource says "Pause"/,
    );
  });

  test('the resource follows an entity that a user renames', async () => {
    await change('lawn_mower.mower_can_pause', { new_entity_id: 'lawn_mower.paul' });
    await until('status has the new id', async () => {
      expect(await statusOf('hubentity', 'pause')).toMatchObject({ entityId: 'lawn_mower.paul' });
      return true;
    });
    await home.change('hubentity', 'pause', { name: 'Paul' });
    await home.ready('hubentity', 'pause');
    expect(await settingsOf('lawn_mower.paul')).toMatchObject({ name: 'Paul' });
    await home.delete('hubentity', 'pause');
    expect(await settingsOf('lawn_mower.paul')).toMatchObject({ name: null, labels: ['persons'] });
    await change('lawn_mower.paul', { new_entity_id: 'lawn_mower.mower_can_pause' });
  });

  test('unit and precision are set in the options of a sensor, and a light has neither', async () => {
    await home.apply(
      entity(HUB, 'outside', {
        select: unique('demo', 'sensor', 'sensor_1'),
        unit: '°F',
        precision: 2,
      }),
      entity(HUB, 'light', { select: { entityId: 'light.bed_light' }, unit: '°F' }),
    );
    await home.ready('hubentity', 'outside');
    expect(await settingsOf('sensor.outside_temperature')).toMatchObject({ unit: '°F', precision: 2 });
    const { message } = await home.ready('hubentity', 'light', { status: 'False', reason: 'InvalidSpec' });
    expect(message).toContain('unit: light.bed_light has none');
    await home.delete('hubentity', 'outside');
    expect(await settingsOf('sensor.outside_temperature')).toMatchObject({ unit: null, precision: null });
    await home.delete('hubentity', 'light');
  });

  test('an entity without a name of its own has the area of its device: the resource reports that, and sends nothing', async () => {
    const lights = 'light.kitchen_lights';
    const before = await refusals();
    await home.apply(
      entity(HUB, 'lights', {
        select: unique('demo', 'light', 'light_3'),
        areaName: 'Kitchen',
        icon: 'mdi:lamp',
      }),
    );
    const { message } = await home.ready('hubentity', 'lights', {
      status: 'False',
      reason: 'AreaBelongsToDevice',
    });
    expect(message).toContain('set areaName in a HubDevice, or give the entity a name');
    expect(await settingsOf(lights)).toMatchObject({ areaName: null, icon: null });
    await home.change('hubentity', 'lights', { name: 'Ceiling' });
    await home.ready('hubentity', 'lights');
    expect(await settingsOf(lights)).toMatchObject({
      areaName: 'kitchen',
      name: 'Ceiling',
      icon: 'mdi:lamp',
    });
    await home.change('hubentity', 'lights', { name: null, areaName: null });
    await home.ready('hubentity', 'lights');
    expect(await settingsOf(lights)).toMatchObject({ areaName: null, name: null });
    await home.delete('hubentity', 'lights');
    expect(await settingsOf(lights)).toMatchObject({ icon: null });
    expect(await refusals()).toEqual(before);
  });

  test('a selector waits for its entity, and reports when several match or when the entity has no unique id', async () => {
    await home.apply(
      entity(HUB, 'absent', { select: unique('demo', 'light', 'light_99'), name: 'X' }),
      entity(HUB, 'plain', { select: { entityId: 'zone.home' }, name: 'X' }),
      entity(HUB, 'one', {
        select: { device: { ...demo('sensor_1'), domain: 'sensor', deviceClass: 'temperature' } },
        name: 'Outside',
      }),
      entity(HUB, 'several', {
        select: { device: { ...demo('sensor_1'), domain: 'sensor' } },
        name: 'Outside',
      }),
    );
    await home.ready('hubentity', 'absent', { status: 'False', reason: 'EntityNotFound' });
    const plain = await home.ready('hubentity', 'plain', { status: 'False', reason: 'EntityNotFound' });
    expect(plain.message).toContain('zone.home has no unique id');
    await home.ready('hubentity', 'one');
    const { message } = await home.ready('hubentity', 'several', { status: 'False', reason: 'Ambiguous' });
    expect(message).toContain('sensor.outside_temperature, sensor.outside_temperature_battery');
    for (const name of ['absent', 'plain', 'one', 'several']) await home.delete('hubentity', name);
  });

  test('two resources for one entity: the first has it, and the second takes over when the first is deleted', async () => {
    const stop = 'lawn_mower.mower_can_stop';
    const one = unique('kitchen_sink', 'lawn_mower', 'kitchen_sink_mower_007');
    await home.apply(entity(HUB, 'first', { select: one, name: 'First' }));
    await home.ready('hubentity', 'first');
    await home.apply(entity(HUB, 'second', { select: { entityId: stop }, name: 'Second' }));
    const { message } = await home.ready('hubentity', 'second', { status: 'False', reason: 'DuplicateId' });
    expect(message).toContain('The HubEntity first already has the settings of lawn_mower.mower_can_stop');
    await home.delete('hubentity', 'first');
    await home.ready('hubentity', 'second');
    expect(await statusOf('hubentity', 'second')).toMatchObject({ previous: { name: { ours: ['Second'] } } });
    expect((await statusOf('hubentity', 'second'))['previous']).not.toHaveProperty('name.was');
    await home.delete('hubentity', 'second');
    expect(await settingsOf(stop)).toMatchObject({ name: null });
  });

  test('a resource that is renamed in Git keeps the settings, and the record of the former ones', async () => {
    const all = 'lawn_mower.mower_can_do_all';
    await change(all, { name: 'Person’s' });
    const one = { select: { entityId: all }, name: 'All' };
    await home.apply(entity(HUB, 'old-name', one));
    await home.ready('hubentity', 'old-name');
    await home.apply(entity(HUB, 'new-name', one));
    await home.delete('hubentity', 'old-name');
    await home.ready('hubentity', 'new-name');
    expect(await settingsOf(all)).toMatchObject({ name: 'All' });
    expect(await statusOf('hubentity', 'new-name')).toMatchObject({
      previous: { name: { was: 'Person’s' } },
    });
    await home.delete('hubentity', 'new-name');
    expect(await settingsOf(all)).toMatchObject({ name: 'Person’s' });
  });

  test('Orphan leaves the settings', async () => {
    const select = { entityId: 'lawn_mower.mower_is_paused' };
    await home.apply(entity(HUB, 'orphan', { select, name: 'Orphan', deletionPolicy: 'Orphan' }));
    await home.ready('hubentity', 'orphan');
    await home.delete('hubentity', 'orphan');
    expect(await settingsOf('lawn_mower.mower_is_paused')).toMatchObject({ name: 'Orphan' });
  });
});

describe('settings of devices', () => {
  test('name, area and labels arrive, also for its entities, and are restored', async () => {
    await home.apply(
      device(HUB, 'office', {
        select: demo('light_4'),
        name: 'Desk lamp',
        areaName: 'hall',
        labels: ['Energy'],
      }),
    );
    await home.ready('hubdevice', 'office', { reason: 'DeviceUpdated' });
    const { id, settings } = await deviceOf('Office RGBW Lights');
    expect(settings).toEqual({ name: 'Desk lamp', areaName: 'hall', labels: ['energy'], disabled: false });
    expect(await statusOf('hubdevice', 'office')).toMatchObject({ deviceId: id });
    await client.connection.command('config/device_registry/update', { device_id: id, name_by_user: 'Mine' });
    await until('the name is reverted', async () => {
      expect((await deviceOf('Office RGBW Lights')).settings).toMatchObject({ name: 'Desk lamp' });
      return true;
    });
    await home.delete('hubdevice', 'office');
    expect((await deviceOf('Office RGBW Lights')).settings).toEqual({
      name: null,
      areaName: null,
      labels: [],
      disabled: false,
    });
  });

  test('an entity of a disabled device cannot be enabled, and is when the device is', async () => {
    const ceiling = 'light.ceiling_lights';
    await home.apply(device(HUB, 'ceiling', { select: demo('light_2'), disabled: true }));
    await home.ready('hubdevice', 'ceiling');
    await becomes(ceiling, { disabled: true });
    const before = await refusals();
    await home.apply(entity(HUB, 'ceiling', { select: { entityId: ceiling }, disabled: false }));
    await home.ready('hubentity', 'ceiling', { status: 'False', reason: 'DisabledByDevice' });
    expect(await refusals()).toEqual(before);
    await home.change('hubdevice', 'ceiling', { disabled: false });
    await home.ready('hubdevice', 'ceiling');
    await home.ready('hubentity', 'ceiling');
    expect(await settingsOf(ceiling)).toMatchObject({ disabled: false });
    await home.delete('hubentity', 'ceiling');
    await home.delete('hubdevice', 'ceiling');
    expect(await settingsOf(ceiling)).toMatchObject({ disabled: false });
  });

  test('a restarted operator writes nothing', async () => {
    await home.apply(
      device(HUB, 'vacuum', { select: demo('vacuum_1'), name: 'Sucker' }),
      entity(HUB, 'vacuum', {
        select: { device: { ...demo('vacuum_1'), domain: 'vacuum' } },
        labels: ['Energy'],
        expose: { conversation: false },
      }),
    );
    await home.ready('hubdevice', 'vacuum');
    await home.ready('hubentity', 'vacuum');
    await operator.calm();
    const versions = async () =>
      Promise.all(
        ['hubdevice', 'hubentity'].map(
          async (kind) => (await home.get(kind, 'vacuum')).metadata.resourceVersion,
        ),
      );
    const before = await versions();
    await operator.stop();
    await operator.start();
    await until('both are reconciled', async () => {
      const seen = (await operator.outcomes())
        .filter(({ name }) => name === 'vacuum')
        .map(({ kind }) => kind);
      return new Set(seen).size === 2;
    });
    await operator.calm();
    expect(await versions()).toEqual(before);
  });
});
