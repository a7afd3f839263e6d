import {
  automation,
  type HubAutomationSpec,
  type HubSceneSpec,
  type HubScriptSpec,
  scene,
  script,
} from '../../../../operator/kinds';
import { defaulted } from '../../../../operator/kinds/schema';
import { automationPayload } from '../../../../operator/sync/config-entities/automation';
import { invalidItem } from '../../../../operator/sync/config-entities/payload';
import { payloadHash } from '../../../../operator/sync/objects/payload-hash';
import { scenePayload } from '../../../../operator/sync/config-entities/scene';
import { scriptPayload } from '../../../../operator/sync/config-entities/script';

const automationSpec = (fields: Partial<HubAutomationSpec> = {}): HubAutomationSpec =>
  defaulted(automation.spec, {
    hubRef: { name: 'home' },
    alias: 'Lamp',
    triggers: [{ trigger: 'sun', event: 'sunset' }],
    actions: [{ action: 'light.turn_on' }],
    ...fields,
  });

const scriptSpec = (fields: Partial<HubScriptSpec> = {}): HubScriptSpec =>
  defaulted(script.spec, { hubRef: { name: 'home' }, alias: 'Night', sequence: [{ delay: 1 }], ...fields });

const sceneSpec = (entities: HubSceneSpec['entities']): HubSceneSpec =>
  defaulted(scene.spec, { hubRef: { name: 'home' }, name: 'Film night', icon: 'mdi:film', entities });

const use = { path: 'homeassistant/motion_light.yaml', input: { motion: 'x' } };

describe('automationPayload', () => {
  test('it has all fields of the spec under the names of the hub', () => {
    const fields = {
      max: 3,
      mode: 'queued',
      maxExceeded: 'silent',
      trace: { storedTraces: 0 },
      initialState: true,
      conditions: [{ condition: 'state', entity_id: 'a.b', state: 'on' }],
      description: 'at sunset',
      variables: { x: 1 },
      triggerVariables: { room: 'kitchen' },
    } as const;
    expect(automationPayload(automationSpec(fields))).toEqual({
      alias: 'Lamp',
      description: 'at sunset',
      triggers: [{ trigger: 'sun', event: 'sunset' }],
      conditions: [{ condition: 'state', entity_id: 'a.b', state: 'on' }],
      actions: [{ action: 'light.turn_on' }],
      mode: 'queued',
      max: 3,
      max_exceeded: 'silent',
      initial_state: true,
      variables: { x: 1 },
      trigger_variables: { room: 'kitchen' },
      trace: { stored_traces: 0 },
    });
  });

  test.each([
    [{ enabled: true }, undefined],
    [{ enabled: true, initialState: false }, false],
    [{ enabled: false }, false],
    [{ enabled: false, initialState: true }, false],
  ])('with %j the initial state is %s', (fields, expected) => {
    expect(automationPayload(automationSpec(fields))['initial_state']).toBe(expected);
  });

  test.each([[false], [0], ['']])('it keeps %j, which is a value', (value) => {
    const payload = automationPayload(automationSpec({ variables: { x: value }, description: '' }));
    expect(payload).toMatchObject({ variables: { x: value }, description: '' });
  });

  test('a blueprint replaces triggers and actions, and its own mode applies', () => {
    const { triggers: _, actions: __, ...spec } = automationSpec({ useBlueprint: use });
    expect(automationPayload(spec)).toEqual({ alias: 'Lamp', use_blueprint: use });
  });

  test('mode and level in the spec override those of a blueprint, even when they equal the defaults', () => {
    const written = { mode: 'single', maxExceeded: 'warning' } as const;
    const { triggers: _, actions: __, ...spec } = automationSpec({ useBlueprint: use, ...written });
    expect(automationPayload(spec)).toEqual({
      alias: 'Lamp',
      mode: 'single',
      max_exceeded: 'warning',
      use_blueprint: use,
    });
  });

  test('templates as strings are sent unchanged', () => {
    const template = '{{ is_state("sun.sun", "above_horizon") }}';
    const spec = automationSpec({ conditions: [template], actions: [template, { delay: 1 }] });
    expect(automationPayload(spec)).toMatchObject({
      conditions: [template],
      actions: [template, { delay: 1 }],
    });
  });
});

describe('scriptPayload', () => {
  test('it has all fields of the spec under the names of the hub', () => {
    const fields = { who: { name: 'Who', required: true, selector: { entity: { domain: 'light' } } } };
    expect(
      scriptPayload(scriptSpec({ fields, icon: 'mdi:moon', description: 'off', trace: { storedTraces: 3 } })),
    ).toEqual({
      alias: 'Night',
      description: 'off',
      icon: 'mdi:moon',
      fields,
      mode: 'single',
      max_exceeded: 'warning',
      trace: { stored_traces: 3 },
      sequence: [{ delay: 1 }],
    });
  });

  test('the spec overrides the blueprint', () => {
    const spec = scriptSpec({ useBlueprint: { path: 'a.yaml' }, mode: 'queued', max: 4 });
    expect(scriptPayload(spec)).toEqual({
      alias: 'Night',
      mode: 'queued',
      max: 4,
      sequence: [{ delay: 1 }],
      use_blueprint: { path: 'a.yaml', input: {} },
    });
  });
});

describe('scenePayload', () => {
  test('the list of entities becomes a map with the attributes beside the state, which is a string', () => {
    const payload = scenePayload(
      sceneSpec([
        {
          entity_id: 'light.a',
          state: 'on',
          attributes: { brightness: 5, rgb_color: [255, 160, 0], state: 'no' },
        },
        { entity_id: 'cover.b', state: 'closed' },
      ]),
    );
    expect(payload).toEqual({
      name: 'Film night',
      icon: 'mdi:film',
      entities: {
        'light.a': { state: 'on', brightness: 5, rgb_color: [255, 160, 0] },
        'cover.b': { state: 'closed' },
      },
    });
  });
});

describe('invalidItem', () => {
  test.each([[null], [5], [true], [['{{ true }}']]])('%j is neither an object nor a template', (item) => {
    expect(invalidItem('actions', [{ delay: 1 }, item])).toBe(
      `actions[1] is ${JSON.stringify(item)}: write an object, or a template in quotes where the hub accepts one.`,
    );
  });

  test('objects and strings are valid, and so is an absent list', () => {
    expect(invalidItem('actions', [{}, '{{ true }}'])).toBeUndefined();
    expect(invalidItem('actions', undefined)).toBeUndefined();
  });
});

describe('payloadHash', () => {
  test('it depends on the content, not on the order of keys', () => {
    expect(payloadHash({ a: 1, b: [{ c: 1, d: 2 }] })).toBe(payloadHash({ b: [{ d: 2, c: 1 }], a: 1 }));
    expect(payloadHash({ a: [1, 2] })).not.toBe(payloadHash({ a: [2, 1] }));
    expect(payloadHash({ a: '1' })).not.toBe(payloadHash({ a: 1 }));
  });
});
