import type { ConfigEntityKind, EntityPayload } from '../../../operator/client/connection/config-entity';
import { getConfig } from '../../../operator/client/setup/core';
import type { HubClient } from '../../../operator/client/hub-client';
import { stateOf, getEntityState } from '../../../operator/client/config-entities/states';
import { freshNamespace, until } from '../../cluster';
import { automation, Home, scene, script } from '../../cluster/home';
import { startTestOperator, type TestOperator } from '../../cluster/operator';
import { startHub } from '../../cluster/onboarded-volume';

// Every field of a HubAutomation, HubScene or HubScript arrives in the hub, under the right id.

let home: Home;
let operator: TestOperator;
let client: HubClient;

beforeAll(async () => {
  home = new Home(await freshNamespace('kinds'));
  operator = await startTestOperator(home.namespace);
  await startHub(home, 'villa');
  client = await home.client('villa');
});

const stored = (kind: ConfigEntityKind, id: string) => client.entities.read(kind, id);
const entityIdOf = async (kind: string, name: string) =>
  String((await home.get(kind, name)).status!['entityId']);
/** Waits for the definition in use, because the hub reloads after it has answered a write. */
const runs = (kind: string, name: string, check: (present: EntityPayload) => void) =>
  until(`${kind} ${name} runs as expected`, async () => {
    check((await client.entities.running(await entityIdOf(kind, name)))!);
    return true;
  });
const hasState = (entityId: string, state: string) =>
  until(`${entityId} is ${state}`, async () => (await stateOf(client.rest, entityId)) === state);
/** Waits, because `ReloadReady` may be written after `Ready`. */
const reloadReady = (kind: string, name: string, expected: object) =>
  until(`ReloadReady of ${kind} ${name}`, async () => {
    expect(await home.condition(kind, name, 'ReloadReady')).toMatchObject(expected);
    return true;
  });

test('an automation with everything', async () => {
  const spec = {
    alias: 'Everything',
    description: 'Two lines:\n  on, off, 0123',
    triggers: [
      { trigger: 'state', entity_id: 'binary_sensor.door', from: 'off', to: 'on', for: { minutes: 1 } },
      { trigger: 'time', at: '07:30:00', id: 'early', enabled: false },
    ],
    conditions: [{ condition: 'template', value_template: "{{ is_state('sun.sun', 'below_horizon') }}" }],
    actions: [
      {
        service: 'light.turn_on',
        target: { entity_id: 'light.hall' },
        data: { brightness: 128, flash: 'on' },
      },
      { choose: [{ conditions: '{{ true }}', sequence: [{ service: 'script.x' }] }], default: [] },
      { delay: { minutes: 5 } },
    ],
    mode: 'queued',
    max: 5,
    maxExceeded: 'silent',
    initialState: true,
    variables: { room: 'hall', level: 0.5, off: false },
    trace: { storedTraces: 12 },
  };
  await home.apply(automation('villa', 'everything', spec));
  await home.ready('hubautomation', 'everything');
  await runs('hubautomation', 'everything', (present) =>
    expect(present).toEqual({
      id: 'everything',
      alias: 'Everything',
      description: 'Two lines:\n  on, off, 0123',
      triggers: spec.triggers,
      conditions: spec.conditions,
      actions: [
        {
          action: 'light.turn_on',
          target: { entity_id: 'light.hall' },
          data: { brightness: 128, flash: 'on' },
        },
        { choose: [{ conditions: '{{ true }}', sequence: [{ action: 'script.x' }] }], default: [] },
        { delay: { minutes: 5 } },
      ],
      mode: 'queued',
      max: 5,
      max_exceeded: 'silent',
      initial_state: true,
      variables: { room: 'hall', level: 0.5, off: false },
      trace: { stored_traces: 12 },
    }),
  );
  await reloadReady('hubautomation', 'everything', {
    status: 'True',
    reason: 'ReloadSuccessful',
    message: expect.stringMatching(/ReloadID [0-9a-f-]{36}/) as string,
  });
  await home.event('HubAutomation', 'everything', /^Normal ReloadSuccessful: .*ReloadID/);
  const { status } = await home.get('hubautomation', 'everything');
  expect(status).toMatchObject({
    automationId: 'everything',
    entityId: 'automation.everything',
    appliedHash: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) as string,
    lastAppliedTime: expect.any(String) as string,
  });
});

test('a scene, whose list becomes a map', async () => {
  const entities = [
    { entity_id: 'light.sofa', state: 'on', attributes: { brightness: 20, rgb_color: [255, 160, 0] } },
    { entity_id: 'cover.window', state: 'closed' },
  ];
  await home.apply(scene('villa', 'film-night', { name: 'Film night', icon: 'mdi:film', entities }));
  await home.ready('hubscene', 'film-night', { reason: 'SceneGenerated' });
  expect(await stored('scene', 'film-night')).toEqual({
    id: 'film-night',
    name: 'Film night',
    icon: 'mdi:film',
    entities: {
      'light.sofa': { state: 'on', brightness: 20, rgb_color: [255, 160, 0] },
      'cover.window': { state: 'closed' },
    },
  });
  const { status } = await home.get('hubscene', 'film-night');
  expect(status).toMatchObject({ sceneId: 'film-night', entityId: 'scene.film_night', entityCount: 2 });
  await reloadReady('hubscene', 'film-night', { status: 'True', reason: 'ReloadSuccessful' });

  await home.change('hubscene', 'film-night', { name: 'Cinema', icon: null });
  await home.ready('hubscene', 'film-night');
  expect(await stored('scene', 'film-night')).not.toHaveProperty('icon');
  // The hub keeps the entity id that follows from the first name.
  await until('the hub shows the new name', async () => {
    const shown = await getEntityState(client.rest, 'scene.film_night');
    return shown?.attributes['friendly_name'] === 'Cinema';
  });
});

test('a script, under an id that the hub accepts', async () => {
  const fields = { who: { name: 'Who', required: true, default: 'all', selector: { text: {} } } };
  const spec = {
    alias: 'Good night',
    description: 'All off',
    icon: 'mdi:moon',
    fields,
    sequence: [{ action: 'light.turn_off', target: { area_id: 'kitchen' } }],
    mode: 'parallel',
    max: 3,
    variables: { a: 1 },
  };
  await home.apply(script('villa', 'good-night.v2', spec));
  await home.ready('hubscript', 'good-night.v2', { reason: 'ScriptGenerated' });
  const { status } = await home.get('hubscript', 'good-night.v2');
  expect(status).toMatchObject({ scriptId: 'good_night_v2', entityId: 'script.good_night_v2' });
  expect(status!.conditions!.map(({ type }) => type)).toEqual(['Ready', 'ReferencesFound']);
  await runs('hubscript', 'good-night.v2', (present) =>
    expect(present).toEqual({ ...spec, max_exceeded: 'warning' }),
  );
  await client.rest.post('/api/services/script/good_night_v2', { who: 'all' });

  await home.change('hubscript', 'good-night.v2', { alias: 'Sleep well' });
  await home.ready('hubscript', 'good-night.v2');
  await runs('hubscript', 'good-night.v2', (present) =>
    expect(present).toMatchObject({ alias: 'Sleep well' }),
  );
  await home.delete('hubscript', 'good-night.v2');
  expect(await stored('script', 'good_night_v2')).toBeUndefined();
});

describe('a blueprint', () => {
  const useBlueprint = {
    path: 'homeassistant/motion_light.yaml',
    input: { motion_entity: 'binary_sensor.hall', light_target: { entity_id: 'light.hall' } },
  };
  const blueprint = { triggers: null, actions: null, useBlueprint };

  test('is expanded by the hub, in its own mode, and a change of an input is seen', async () => {
    await home.apply(automation('villa', 'motion', blueprint));
    await home.ready('hubautomation', 'motion');
    expect(await stored('automation', 'motion')).toMatchObject({ use_blueprint: useBlueprint });
    await runs('hubautomation', 'motion', (present) =>
      expect(present).toMatchObject({ mode: 'restart', alias: expect.stringContaining('motion') as string }),
    );
    await operator.calm();

    const input = { ...useBlueprint.input, no_motion_wait: 7 };
    await client.entities.write('automation', 'motion', {
      alias: 'Changed by hand',
      use_blueprint: { ...useBlueprint, input },
    });
    await until('it is put back', async () => {
      expect((await stored('automation', 'motion'))?.['use_blueprint']).toEqual(useBlueprint);
      return true;
    });
    await home.ready('hubautomation', 'motion');
  });

  test('that does not exist is waited for', async () => {
    const missing = { ...blueprint, useBlueprint: { ...useBlueprint, path: 'absent/blueprint.yaml' } };
    await home.apply(automation('villa', 'unknown-blueprint', missing));
    const { message } = await home.ready('hubautomation', 'unknown-blueprint', {
      status: 'False',
      reason: 'BlueprintNotReady',
    });
    expect(message).toContain('absent/blueprint.yaml');
  });
});

test('one that a user made, and that is as expected, is adopted without a write', async () => {
  await client.entities.write('scene', 'by-hand', { name: 'By hand', entities: { 'light.a': 'off' } });
  await until('it is loaded', () => client.entityRegistry.find('scene', 'by-hand'));
  await operator.calm();
  const before = await operator.metric('hub_operator_drift_total');
  await home.apply(
    scene('villa', 'by-hand', { name: 'By hand', entities: [{ entity_id: 'light.a', state: 'off' }] }),
  );
  await home.ready('hubscene', 'by-hand');
  expect((await home.get('hubscene', 'by-hand')).status).toMatchObject({ adopted: true });
  await operator.calm();
  // The stored definition still has the form in which the user wrote it.
  expect(await stored('scene', 'by-hand')).toMatchObject({ entities: { 'light.a': 'off' } });
  expect(await operator.metric('hub_operator_drift_total')).toBe(before);
});

test('a recreated automation works, although the deleted one of that name was disabled', async () => {
  await home.apply(automation('villa', 'phoenix'));
  await home.ready('hubautomation', 'phoenix');
  const entity_id = await entityIdOf('hubautomation', 'phoenix');
  await client.connection.command('config/entity_registry/update', { entity_id, disabled_by: 'user' });
  await until(
    'the operator tells that it is disabled',
    async () => (await home.condition('hubautomation', 'phoenix'))?.message.includes('disabled') ?? false,
  );
  await home.delete('hubautomation', 'phoenix');
  await home.apply(automation('villa', 'phoenix'));
  await home.ready('hubautomation', 'phoenix');
  await hasState(entity_id, 'on');
});

test('an automation with enabled: false is off after a restart of the hub for every initialState', async () => {
  await home.apply(automation('villa', 'asleep', { enabled: false, initialState: true }));
  await home.ready('hubautomation', 'asleep');
  const entity_id = await entityIdOf('hubautomation', 'asleep');
  expect(await stored('automation', 'asleep')).toMatchObject({ initial_state: false });
  const drifts = () => operator.metric('hub_operator_drift_total');
  await operator.calm();
  const before = await drifts();
  await home.signal('villa', 'SIGKILL');
  const states = new Set<string>();
  await until('the hub runs again', async () => {
    states.add(String(await stateOf(client.rest, entity_id)));
    return states.has('off') && (await getConfig(client.rest)).state === 'RUNNING';
  });
  // Both may be Ready from before the restart. The requested reconcile connects again.
  await until('the operator has seen the hub after its restart', async () => {
    await operator.touch('HubAutomation', 'asleep');
    const ends = (await operator.outcomes()).filter(({ name }) => name === 'asleep');
    return ends.at(-1)?.outcome === 'Ready';
  });
  await home.ready('hub', 'villa');
  await home.ready('hubautomation', 'asleep');
  expect([...states]).not.toContain('on');
  expect(await stateOf(client.rest, entity_id)).toBe('off');
  expect(await drifts()).toBe(before);
});

test('with autoReload: false the operator reloads nothing, and the automation is loaded nevertheless', async () => {
  await home.apply(automation('villa', 'no-reload', { autoReload: false }));
  await home.ready('hubautomation', 'no-reload');
  await reloadReady('hubautomation', 'no-reload', { status: 'False', reason: 'ReloadDisabled' });
  await hasState(await entityIdOf('hubautomation', 'no-reload'), 'on');
});
