import type { HubClient } from '../../../operator/client/hub-client';
import { freshNamespace, mustKubectl, until } from '../../cluster';
import {
  area,
  automation,
  configuration,
  DEFAULT_CONFIGURATION,
  Home,
  hub,
  label,
  scene,
  script,
  type StoredCondition,
} from '../../cluster/home';
import { ObjectHistory } from '../../cluster/object-history';
import { startHub } from '../../cluster/onboarded-volume';
import { startTestOperator, type TestOperator } from '../../cluster/operator';

const HUB = 'villa';
/** Milliseconds, instead of minutes. */
const SETTLE_TIME = '4000';
const NO_DEVICE = '0123456789abcdef0123456789abcdef';

let home: Home;
let operator: TestOperator;
let client: HubClient;

beforeAll(async () => {
  home = new Home(await freshNamespace('references'));
  operator = await startTestOperator(home.namespace, { settings: { HUB_SETTLE_TIME: SETTLE_TIME } });
  await startHub(home, HUB);
  const sections = 'demo:\ninput_boolean:\n  movie_night:\n  quiet:\n';
  await home.apply(configuration(HUB, `${DEFAULT_CONFIGURATION}\n${sections}`));
  await home.ready('hubconfiguration', HUB);
  client = await home.client(HUB);
  await home.apply(area(HUB, 'kitchen', { name: 'Kitchen' }));
  await home.ready('hubarea', 'kitchen');
});

const verdict = (kind: string, name: string) => home.condition(kind, name, 'ReferencesFound');

const references = (kind: string, name: string, status: StoredCondition['status']) =>
  until(`${kind} ${name} has ReferencesFound=${status}`, async () => {
    const found = await verdict(kind, name);
    if (found?.status === status) return found;
    throw new Error(found ? `${found.status} ${found.message}` : 'no verdict');
  });

const missing = async (kind: string, name: string) =>
  (await home.get(kind, name)).status?.['missingReferences'];

const events = async (name: string) =>
  (await operator.events('HubAutomation', name)).filter((event) => event.includes('ReferencesMissing'));

const setState = (entityId: string) => client.rest.post(`/api/states/${entityId}`, { state: 'on' });

test('what the hub does not have is named, with the nearest name, and the resource stays Ready', async () => {
  const target = {
    device_id: NO_DEVICE,
    area_id: ['kichen', 'kitchen'],
    floor_id: 'attic',
  };
  await home.apply(
    automation(HUB, 'typo', {
      triggers: [{ trigger: 'state', entity_id: 'input_boolean.movie_nigth', to: 'on' }],
      actions: [
        { action: 'light.turn_onn', target },
        { action: 'nosuch.thing', enabled: true },
        { action: 'light.turn_off', target: { entity_id: '{{ "light.any" }}' } },
        { action: 'light.turn_off', target: { entity_id: 'light.disabled' }, enabled: false },
        { action: 'scene.create', data: { scene_id: 'before', snapshot_entities: ['light.bed_light'] } },
      ],
    }),
    script(HUB, 'typo', {
      sequence: [
        { action: 'scene.turn_on', target: { entity_id: 'scene.before' } },
        { action: 'light.turn_on', target: { entity_id: 'light.bed_ligth' } },
      ],
    }),
    scene(HUB, 'typo', { entities: [{ entity_id: 'light.bed_light', state: 'on' }] }),
    automation(HUB, 'off', {
      enabled: false,
      actions: [{ action: 'input_boolean.turn_on', target: { entity_id: 'input_boolean.quite' } }],
    }),
  );
  const { reason, message } = await references('hubautomation', 'typo', 'False');
  expect(reason).toBe('ReferencesMissing');
  expect(message).toBe(
    'The hub does not have the action light.turn_onn (did you mean light.turn_on?), the action nosuch.thing (the integration nosuch is not set up), ' +
      `the area kichen (did you mean kitchen?), the device ${NO_DEVICE}, input_boolean.movie_nigth (did you mean input_boolean.movie_night?) and 1 more. ` +
      'Correct the name, or add what is missing to the hub.',
  );
  expect(await missing('hubautomation', 'typo')).toEqual([
    { type: 'action', id: 'light.turn_onn', suggestion: 'light.turn_on' },
    { type: 'action', id: 'nosuch.thing' },
    { type: 'area', id: 'kichen', suggestion: 'kitchen' },
    { type: 'device', id: NO_DEVICE },
    { type: 'entity', id: 'input_boolean.movie_nigth', suggestion: 'input_boolean.movie_night' },
    { type: 'floor', id: 'attic' },
  ]);
  await home.ready('hubautomation', 'typo');
  await references('hubscript', 'typo', 'False');
  expect(await missing('hubscript', 'typo')).toEqual([
    { type: 'entity', id: 'light.bed_ligth', suggestion: 'light.bed_light' },
  ]);
  await references('hubscene', 'typo', 'True');
  await references('hubautomation', 'off', 'False');
  const shown = await mustKubectl(['get', 'hubautomation', 'typo', '-o', 'wide'], home);
  expect(shown).toMatch(/REFERENCES +READY.*\n.*False +True/);
  expect(await events('typo')).toEqual([]);
});

test('a missing label is named', async () => {
  const actions = [{ action: 'light.turn_on', target: { label_id: 'energy' } }];
  await home.apply(automation(HUB, 'labelled', { actions }));
  await references('hubautomation', 'labelled', 'False');
  expect(await missing('hubautomation', 'labelled')).toEqual([{ type: 'label', id: 'energy' }]);
});

test('a blueprint is looked at as the hub fills it in', async () => {
  const path = 'homeassistant/motion_light.yaml';
  const input = {
    motion_entity: 'binary_sensor.movement_backyard',
    light_target: { entity_id: 'light.nowhere' },
  };
  await home.apply(
    automation(HUB, 'motion', { triggers: null, actions: null, useBlueprint: { path, input } }),
  );
  await references('hubautomation', 'motion', 'False');
  expect(await missing('hubautomation', 'motion')).toEqual([{ type: 'entity', id: 'light.nowhere' }]);
});

test('it is True as soon as the missing ones appear, and an event tells when one goes for good', async () => {
  await home.apply(
    automation(HUB, 'later', {
      triggers: [{ trigger: 'state', entity_id: 'sensor.later' }],
      actions: [{ action: 'light.turn_on', target: { label_id: 'evening' } }],
    }),
  );
  await references('hubautomation', 'later', 'False');
  await home.apply(label(HUB, 'evening', { name: 'Evening' }));
  await until('the label is found', async () => {
    const left = (await missing('hubautomation', 'later')) as unknown[];
    return left.length === 1;
  });
  await setState('sensor.later');
  const began = Date.now();
  await references('hubautomation', 'later', 'True');
  expect(Date.now() - began).toBeLessThan(30_000);
  expect(await missing('hubautomation', 'later')).toBeUndefined();
  expect(await events('later')).toEqual([]);

  await client.rest.delete('/api/states/sensor.later');
  await operator.touch('HubAutomation', 'later');
  expect((await verdict('hubautomation', 'later'))?.status).toBe('True');
  await references('hubautomation', 'later', 'False');
  expect(await events('later')).toEqual([
    expect.stringMatching(/^Normal ReferencesMissing: The hub does not have sensor\.later/),
  ]);
  await setState('sensor.later');
  await references('hubautomation', 'later', 'True');
});

test('many that are adopted cause no event, and nothing is written for them a second time', async () => {
  const names = Array.from({ length: 20 }, (_, index) => `adopted_${index}`);
  for (const name of names)
    await client.entities.write('automation', name, {
      alias: name,
      triggers: [{ trigger: 'state', entity_id: `sensor.${name}` }],
      conditions: [],
      actions: [{ action: 'light.turn_on', target: { entity_id: 'light.bed_light' } }],
    });
  await home.apply(
    ...names.map((name) =>
      automation(HUB, name.replaceAll('_', '-'), {
        id: name,
        alias: name,
        triggers: [{ trigger: 'state', entity_id: `sensor.${name}` }],
        actions: [{ action: 'light.turn_on', target: { entity_id: 'light.bed_light' } }],
      }),
    ),
  );
  for (const name of names) await references('hubautomation', name.replaceAll('_', '-'), 'False');
  for (const name of names) expect(await events(name.replaceAll('_', '-'))).toEqual([]);
  expect(await missing('hubautomation', 'adopted-0')).toEqual([{ type: 'entity', id: 'sensor.adopted_0' }]);

  await operator.calm();
  const versions = async () =>
    new Map(
      (await home.list('hubautomations,hubscripts,hubscenes')).map(({ kind, metadata }) => [
        `${kind} ${metadata.name}`,
        metadata.resourceVersion,
      ]),
    );
  const before = await versions();
  await operator.stop();
  await operator.start();
  await operator.calm();
  expect(await versions()).toEqual(before);
});

test('after a start of the hub it is Unknown until the hub has settled, and never False in between', async () => {
  await references('hubautomation', 'later', 'True');
  await home.apply(
    automation(HUB, 'stays', {
      triggers: [{ trigger: 'state', entity_id: 'input_boolean.movie_night' }],
      actions: [{ action: 'light.turn_on', target: { entity_id: 'light.bed_light' } }],
    }),
  );
  await references('hubautomation', 'stays', 'True');
  const history = await ObjectHistory.of(home, 'hubautomations', 'stays');
  await home.delete('pod', `${HUB}-0`);
  await history.condition({ status: 'Unknown', reason: 'HubNotReady' }, 'ReferencesFound');
  await references('hubautomation', 'stays', 'True');
  const seen = history.states.map(
    ({ status }) => status?.conditions?.find(({ type }) => type === 'ReferencesFound')?.status,
  );
  expect([...new Set(seen)].toSorted()).toEqual(['True', 'Unknown']);
  expect(await events('stays')).toEqual([]);
});

test('delivered as files it is the same', async () => {
  await home.apply(hub(HUB, { delivery: 'File' }));
  await until(
    'a ConfigMap has the automation',
    async () => (await home.get('hubautomation', 'typo')).status?.['delivery'] === 'File',
  );
  await home.apply(
    automation(HUB, 'by-file', {
      triggers: [{ trigger: 'state', entity_id: 'input_boolean.movie_nigth' }],
    }),
    script(HUB, 'by-file', {
      sequence: [{ action: 'light.turn_on', target: { entity_id: 'light.bed_light' } }],
    }),
  );
  await references('hubautomation', 'by-file', 'False');
  await references('hubscript', 'by-file', 'True');
  expect(await missing('hubautomation', 'by-file')).toEqual([
    { type: 'entity', id: 'input_boolean.movie_nigth', suggestion: 'input_boolean.movie_night' },
  ]);
  expect((await verdict('hubautomation', 'typo'))?.status).toBe('False');
});
