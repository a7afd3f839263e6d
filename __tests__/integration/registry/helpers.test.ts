import type { RegistryFields, RegistryRecord } from '../../../operator/client/connection/api-types';
import type { HubClient } from '../../../operator/client/hub-client';
import { helperDomains, type HelperType } from '../../../operator/kinds/helper/domains';
import { freshNamespace, mustKubectl, until } from '../../cluster';
import { configuration, DEFAULT_CONFIGURATION, helper, Home, hub } from '../../cluster/home';
import { restoreOnboarded } from '../../cluster/onboarded-volume';
import { startTestOperator, type TestOperator } from '../../cluster/operator';
import { hasDeviceClass } from './device-class';

const HUB = 'villa';
const DOMAINS = Object.values(helperDomains);
const TEXT = `${DEFAULT_CONFIGURATION}\n${DOMAINS.map((domain) => `${domain}:\n`).join('')}`;

let home: Home;
let operator: TestOperator;
let client: HubClient;

beforeAll(async () => {
  home = new Home(await freshNamespace('helpers'));
  operator = await startTestOperator(home.namespace);
  await restoreOnboarded(home, HUB);
  await home.apply(hub(HUB), configuration(HUB, TEXT));
  await home.ready('hubconfiguration', HUB);
  client = await home.client(HUB);
});

type Domain = (typeof helperDomains)[HelperType];

const inHub = (domain: Domain): Promise<readonly RegistryRecord[]> =>
  client.connection.command(`${domain}/list`);
const withId = async (domain: Domain, id: string) => (await inHub(domain)).find((each) => each['id'] === id);
const create = (domain: Domain, fields: RegistryFields) =>
  client.connection.command(`${domain}/create`, fields);
const update = (domain: Domain, id: string, fields: RegistryFields) =>
  client.connection.command(`${domain}/update`, { [`${domain}_id`]: id, ...fields });
const statusOf = async (name: string) => (await home.get('hubhelper', name)).status!;
const stateOf = async (entityId: string) =>
  (await client.rest.get<{ state: string }>(`/api/states/${entityId}`, { answer: () => undefined })).state;

async function becomes(domain: Domain, id: string, fields: object): Promise<void> {
  await until(`${domain} ${id} is ${JSON.stringify(fields)}`, async () => {
    expect(await withId(domain, id)).toMatchObject(fields);
    return true;
  });
}

const sorts: readonly (readonly [HelperType, object, object])[] = [
  ['boolean', { initial: true }, { initial: true }],
  ['button', {}, {}],
  [
    'number',
    {
      min: -5,
      max: 30.5,
      step: 0.5,
      mode: 'box',
      unit: '°C',
      ...(hasDeviceClass && { deviceClass: 'temperature' }),
    },
    {
      min: -5,
      max: 30.5,
      step: 0.5,
      mode: 'box',
      unit_of_measurement: '°C',
      ...(hasDeviceClass && { device_class: 'temperature' }),
    },
  ],
  [
    'text',
    { min: 1, max: 20, pattern: '[a-zäöü]{1,20}', mode: 'password', initial: 'ab' },
    { min: 1, max: 20, pattern: '[a-zäöü]{1,20}', mode: 'password', initial: 'ab' },
  ],
  [
    'select',
    { options: ['on', 'zu Hause', ''], initial: 'zu Hause' },
    { options: ['on', 'zu Hause', ''], initial: 'zu Hause' },
  ],
  [
    'datetime',
    { date: true, time: true, initial: '2026-12-24 18:00' },
    { has_date: true, has_time: true, initial: '2026-12-24 18:00:00' },
  ],
  [
    'counter',
    { initial: 3, step: 2, minimum: 1, maximum: 9, restore: false },
    { initial: 3, step: 2, minimum: 1, maximum: 9, restore: false },
  ],
  ['timer', { duration: '00:05:00', restore: true }, { duration: '0:05:00', restore: true }],
  [
    'schedule',
    {
      monday: [
        { from: '18:00', to: '24:00', data: { warm: true, level: 2.5 } },
        { from: '06:00', to: '18:00' },
      ],
    },
    {
      monday: [
        { from: '06:00:00', to: '18:00:00' },
        { from: '18:00:00', to: '24:00:00', data: { warm: true, level: 2.5 } },
      ],
      sunday: [],
    },
  ],
];

describe('helpers', () => {
  test.each(sorts)(
    'a %s gets every setting, then the defaults, and keeps its id when it is renamed',
    async (type, settings, expected) => {
      const domain = helperDomains[type];
      const own = type === 'button' ? {} : { [type]: settings };
      const name = `Wunsch ${type}`;
      await home.apply(helper(HUB, `a-${type}`, { name, type, icon: 'mdi:sofa', ...own }));
      await home.ready('hubhelper', `a-${type}`, { reason: 'HelperRegistered' });
      expect(await withId(domain, `a_${type}`)).toMatchObject({ name, icon: 'mdi:sofa', ...expected });
      expect(await statusOf(`a-${type}`)).toMatchObject({ id: `a_${type}`, entityId: `${domain}.a_${type}` });
      const needed = { number: { min: 0, max: 1 }, select: { options: ['a'] }, datetime: { time: true } };
      const rest = needed[type as keyof typeof needed];
      await home.apply(helper(HUB, `a-${type}`, { name: 'Neu', type, ...(rest && { [type]: rest }) }));
      await becomes(domain, `a_${type}`, { name: 'Neu' });
      await home.ready('hubhelper', `a-${type}`);
      const after = (await withId(domain, `a_${type}`))!;
      for (const field of ['icon', 'initial', 'pattern', 'unit_of_measurement', 'device_class'])
        if (!(type === 'counter' && field === 'initial')) expect(after).not.toHaveProperty(field);
      await home.delete('hubhelper', `a-${type}`);
      expect(await withId(domain, `a_${type}`)).toBeUndefined();
    },
  );

  test('a helper that the UI made is adopted by its id or by its name, and stays when the resource goes', async () => {
    await create('input_boolean', { name: 'Gäste da' });
    await create('counter', { name: 'Coffee' });
    const before = await inHub('input_boolean');
    await home.apply(
      helper(HUB, 'gaste-da', { name: 'Gäste da', type: 'boolean' }),
      helper(HUB, 'cups', { name: 'Coffee', type: 'counter' }),
    );
    await home.ready('hubhelper', 'gaste-da');
    await home.ready('hubhelper', 'cups');
    expect(await statusOf('gaste-da')).toMatchObject({ id: 'gaste_da', adopted: true });
    expect(await statusOf('cups')).toMatchObject({ id: 'coffee', adopted: true, entityId: 'counter.coffee' });
    expect(await inHub('input_boolean')).toEqual(before);
    await home.delete('hubhelper', 'gaste-da');
    await home.delete('hubhelper', 'cups');
    expect(await withId('input_boolean', 'gaste_da')).toBeDefined();
    expect(await inHub('counter')).toHaveLength(1);
  });

  test('of several helpers of the name none is adopted', async () => {
    for (const name of ['Lamp', 'Lamp']) await create('input_button', { name });
    await home.apply(helper(HUB, 'my-lamp', { name: 'Lamp', type: 'button' }));
    const { message } = await home.ready('hubhelper', 'my-lamp', { status: 'False', reason: 'NameConflict' });
    expect(message).toContain('(lamp, lamp_2)');
    await home.delete('hubhelper', 'my-lamp');
    expect(await inHub('input_button')).toHaveLength(2);
  });

  test('a change and a removal in the hub are reverted within 2 s, and what the operator does not know stays', async () => {
    await home.apply(helper(HUB, 'bell', { name: 'Bell', type: 'text', text: { max: 50 } }));
    await home.ready('hubhelper', 'bell');
    const at = Date.now();
    await update('input_text', 'bell', { name: 'Other', max: 7 });
    await becomes('input_text', 'bell', { name: 'Bell', max: 50 });
    expect(Date.now() - at).toBeLessThan(4_000);
    await home.event('HubHelper', 'bell', /^Warning DriftDetected: .*max: hub has 7, resource says 50/);
    await client.connection.command('input_text/delete', { input_text_id: 'bell' });
    await becomes('input_text', 'bell', { name: 'Bell', max: 50 });
    await home.ready('hubhelper', 'bell');
    expect(await statusOf('bell')).toMatchObject({ entityId: 'input_text.bell' });
  });

  test('a disabled entity is Stalled and woken, and the entity of a removed helper is named to those that use it', async () => {
    await home.apply(helper(HUB, 'party', { name: 'Party', type: 'boolean' }));
    await home.ready('hubhelper', 'party');
    const disable = (by: 'user' | null) =>
      client.connection.command('config/entity_registry/update', {
        entity_id: 'input_boolean.party',
        disabled_by: by,
      });
    await disable('user');
    const { message } = await home.ready('hubhelper', 'party', { status: 'False', reason: 'EntityDisabled' });
    expect(message).toContain('input_boolean.party');
    await disable(null);
    await home.ready('hubhelper', 'party', { status: 'False', reason: 'EntityNotLoaded' });
    await home.delete('hubhelper', 'party');

    await home.apply(helper(HUB, 'used', { name: 'Used', type: 'boolean' }));
    await home.ready('hubhelper', 'used');
    await client.entities.write('automation', 'user', {
      alias: 'User',
      triggers: [{ trigger: 'state', entity_id: 'input_boolean.used' }],
      actions: [],
    });
    await until('the automation is there', async () => (await stateOf('automation.user')) === 'on');
    await home.delete('hubhelper', 'used');
    await home.event('HubHelper', 'used', /^Warning RemovedInUse: .*input_boolean.used .*automation.user/);
  });

  test('a helper of the YAML with the id is waited for, and the resource gets its own after it', async () => {
    const yaml = (section: string) =>
      configuration(HUB, TEXT.replace('input_button:', `input_button:${section}`));
    await home.apply(yaml('\n  doorbell:\n    name: Doorbell'));
    await home.ready('hubconfiguration', HUB);
    await until('the hub has it', async () => (await stateOf('input_button.doorbell')) !== undefined);
    await home.apply(helper(HUB, 'doorbell', { name: 'Doorbell', type: 'button' }));
    const { message } = await home.ready('hubhelper', 'doorbell', {
      status: 'False',
      reason: 'NameConflict',
    });
    expect(message).toContain('part of the hub’s YAML');
    expect(await withId('input_button', 'doorbell')).toBeUndefined();
    await home.apply(yaml(''));
    await home.ready('hubconfiguration', HUB);
    await home.ready('hubhelper', 'doorbell');
    expect(await statusOf('doorbell')).toMatchObject({ id: 'doorbell', entityId: 'input_button.doorbell' });
  });

  test('what would lose the helper at the next start is refused, and nothing is sent', async () => {
    await home.apply(helper(HUB, 'bad', { name: 'Bad', type: 'text', text: { pattern: '[a-z' } }));
    const { message } = await home.ready('hubhelper', 'bad', { status: 'False', reason: 'InvalidSpec' });
    expect(message).toContain('spec.text.pattern: a set is not closed');
    expect(await withId('input_text', 'bad')).toBeUndefined();
  });

  test('kubectl shows the sort and the entity, and selects by the sort', async () => {
    await home.apply(helper(HUB, 'shown', { name: 'Shown', type: 'timer' }));
    await home.ready('hubhelper', 'shown');
    const args = ['get', 'hahp', '--field-selector', 'spec.type=timer'];
    const shown = await mustKubectl(args, { namespace: home.namespace });
    expect(shown).toMatch(
      /^NAME +HUB +TYPE +NAME +ENTITY +READY +AGE\nshown +villa +timer +Shown +timer.shown +True /,
    );
    expect(shown.trim().split('\n')).toHaveLength(2);
  });

  test('nothing is written again while nothing changes, and a restarted operator knows its helpers', async () => {
    await operator.calm();
    const versions = async () =>
      mustKubectl(['get', 'hahp', '-o', 'jsonpath={.items[*].metadata.resourceVersion}'], {
        namespace: home.namespace,
      });
    const before = await versions();
    await operator.stop();
    await operator.start();
    await until('it is reconciled', async () =>
      (await operator.outcomes()).some(({ kind, name }) => kind === 'HubHelper' && name === 'shown'),
    );
    await operator.calm();
    expect(await versions()).toBe(before);
  });
});
