import { referencesOf } from '../../../../../operator/sync/config-entities/references/extract';

const found = (definition: Readonly<Record<string, unknown>>) =>
  referencesOf(definition)
    .all.map(({ type, id }) => `${type} ${id}`)
    .toSorted();

const triggers = (...list: readonly unknown[]) => found({ triggers: list });
const conditions = (...list: readonly unknown[]) => found({ conditions: list });
const actions = (...list: readonly unknown[]) => found({ actions: list });

describe('referencesOf', () => {
  test.each([
    [{ trigger: 'state', entity_id: 'light.a' }, ['entity light.a']],
    [{ platform: 'state', entity_id: ['light.a', 'Light.B'] }, ['entity light.a', 'entity light.b']],
    [{ trigger: 'numeric_state', entity_id: 'sensor.a, sensor.b' }, ['entity sensor.a', 'entity sensor.b']],
    [{ trigger: 'time', at: '07:30:00' }, []],
    [
      { trigger: 'time', at: ['input_datetime.a', { entity_id: 'sensor.b', offset: '-1' }] },
      ['entity input_datetime.a', 'entity sensor.b'],
    ],
    [
      { trigger: 'device', device_id: 'd', domain: 'light', entity_id: 'light.a' },
      ['device d', 'entity light.a'],
    ],
    [{ trigger: 'device', device_id: 'd', entity_id: '0123456789abcdef0123456789abcdef' }, ['device d']],
    [{ trigger: 'tag', tag_id: 't', device_id: ['d', 'e'] }, ['device d', 'device e']],
    [{ trigger: 'zone', entity_id: 'person.a', zone: 'zone.b' }, ['entity person.a', 'entity zone.b']],
    [{ trigger: 'zone.entered', options: { zone: 'zone.b' } }, ['entity zone.b']],
    [{ trigger: 'geo_location', source: 's', zone: 'zone.b' }, ['entity zone.b']],
    [{ trigger: 'calendar', options: { entity_id: 'calendar.a' } }, ['entity calendar.a']],
    [{ trigger: 'sun', event: 'sunset' }, ['entity sun.sun']],
    [
      {
        trigger: 'event',
        event_type: 'e',
        event_data: { entity_id: 'light.a', device_id: 'd', area_id: 'x' },
      },
      ['device d', 'entity light.a'],
    ],
    [
      {
        trigger: 'light.turned_on',
        target: { area_id: 'a', label_id: ['l'], floor_id: 'f', exclude: { entity_id: 'light.x' } },
      },
      ['area a', 'entity light.x', 'floor f', 'label l'],
    ],
    [{ triggers: [{ trigger: 'state', entity_id: 'light.a' }] }, ['entity light.a']],
    [{ trigger: 'mqtt', topic: 'a', entity_id: 'light.a' }, []],
    [{ trigger: 'template', value_template: "{{ is_state('light.a', 'on') }}" }, []],
  ])('of the trigger %j are %j', (trigger, expected) => {
    expect(triggers(trigger)).toEqual(expected);
  });

  test.each([
    ['{{ is_state("light.a", "on") }}', []],
    [{ condition: 'state', entity_id: 'light.a', state: 'on' }, ['entity light.a']],
    [{ or: [{ condition: 'state', entity_id: 'light.a' }, '{{ x }}'] }, ['entity light.a']],
    [{ condition: 'not', conditions: { condition: 'state', entity_id: 'light.a' } }, ['entity light.a']],
    [{ condition: 'zone', entity_id: 'person.a', zone: 'zone.b' }, ['entity person.a', 'entity zone.b']],
    [{ condition: 'zone.in_zone', options: { zone: 'zone.b' } }, ['entity zone.b']],
    [{ condition: 'time', after: '07:00', before: 'input_datetime.a' }, ['entity input_datetime.a']],
    [{ condition: 'sun', after: 'sunset' }, []],
    [{ condition: 'device', device_id: 'd', entity_id: 'light.a' }, ['device d', 'entity light.a']],
    [{ condition: 'trigger', id: 'light.a' }, []],
    [{ condition: 'light.is_on', target: { device_id: 'd' } }, ['device d']],
  ])('of the condition %j are %j', (condition, expected) => {
    expect(conditions(condition)).toEqual(expected);
  });

  test.each([
    [{ action: 'light.turn_on' }, ['action light.turn_on']],
    [{ service: 'Light.Turn_On', entity_id: 'light.a' }, ['action light.turn_on', 'entity light.a']],
    [
      {
        action: 'light.turn_on',
        target: { entity_id: 'light.a' },
        data: { entity_id: 'light.b', brightness: 3 },
      },
      ['action light.turn_on', 'entity light.a', 'entity light.b'],
    ],
    [{ action: 'a.b', data_template: { area_id: 'a' } }, ['action a.b', 'area a']],
    [{ action: '{{ x }}', target: '{{ y }}' }, []],
    [
      { device_id: 'd', domain: 'light', type: 'turn_on', entity_id: 'light.a' },
      ['device d', 'entity light.a'],
    ],
    [{ scene: 'scene.a' }, ['entity scene.a']],
    [{ event: 'e', event_data: { entity_id: 'light.a' } }, ['entity light.a']],
    [{ condition: 'state', entity_id: 'light.a' }, ['entity light.a']],
    [{ or: [{ condition: 'state', entity_id: 'light.a' }] }, ['entity light.a']],
    [{ wait_for_trigger: [{ trigger: 'state', entity_id: 'light.a' }] }, ['entity light.a']],
    [{ wait_template: "{{ is_state('light.a', 'on') }}" }, []],
    [{ variables: { entity_id: 'light.a' } }, []],
    [
      {
        choose: { conditions: { condition: 'state', entity_id: 'light.a' }, sequence: { scene: 'scene.a' } },
        default: [{ scene: 'scene.b' }],
      },
      ['entity light.a', 'entity scene.a', 'entity scene.b'],
    ],
    [
      { if: '{{ x }}', then: { scene: 'scene.a' }, else: [{ scene: 'scene.b' }] },
      ['entity scene.a', 'entity scene.b'],
    ],
    [
      {
        repeat: {
          while: [{ condition: 'state', entity_id: 'light.a' }],
          until: { condition: 'state', entity_id: 'light.b' },
          sequence: [{ scene: 'scene.a' }],
        },
      },
      ['entity light.a', 'entity light.b', 'entity scene.a'],
    ],
    [
      { parallel: [{ sequence: [{ scene: 'scene.a' }] }, { scene: 'scene.b' }, [{ scene: 'scene.c' }]] },
      ['entity scene.a', 'entity scene.b', 'entity scene.c'],
    ],
    [{ sequence: { scene: 'scene.a' } }, ['entity scene.a']],
  ])('of the action %j are %j', (action, expected) => {
    expect(actions(action)).toEqual(expected);
  });

  test.each([false, 'false', 'no', 'Off'])('nothing of a step with enabled %j', (enabled) => {
    expect(actions({ action: 'light.turn_on', enabled })).toEqual([]);
    expect(actions({ enabled, sequence: [{ scene: 'scene.a' }] })).toEqual([]);
    expect(triggers({ trigger: 'state', entity_id: 'light.a', enabled })).toEqual([]);
    expect(conditions({ condition: 'state', entity_id: 'light.a', enabled })).toEqual([]);
  });

  test('what is enabled by a template may run', () => {
    expect(actions({ scene: 'scene.a', enabled: '{{ x }}' })).toEqual(['entity scene.a']);
  });

  test.each(['all', 'none', '', 'light', 'light.{{ x }}', 'light.a b', 'light.__a', 3, null, { a: 1 }])(
    'the entity id %j names none',
    (id) => {
      expect(actions({ scene: id })).toEqual([]);
    },
  );

  test.each(['all', 'none', '', '{{ x }}', 3, null])('the area %j is none', (id) => {
    expect(conditions({ condition: 'x.y', target: { area_id: id } })).toEqual([]);
  });

  test('the entities of a scene, each once, and former keys of automations', () => {
    expect(found({ name: 'x', entities: { 'light.a': { state: 'on' }, 'light.b': 'off' } })).toEqual([
      'entity light.a',
      'entity light.b',
    ]);
    const former = {
      trigger: { platform: 'state', entity_id: 'light.a' },
      condition: [{ condition: 'state', entity_id: 'light.a' }],
      action: { service: 'light.turn_on', entity_id: 'light.a' },
    };
    expect(found(former)).toEqual(['action light.turn_on', 'entity light.a']);
    expect(found({ sequence: [{ scene: 'scene.a' }] })).toEqual(['entity scene.a']);
  });

  test.each([['constructor'], ['__proto__'], [{ toString: 1 }], [null]])(
    'the type %j of a trigger or condition has no keys with ids',
    (type) => {
      expect(triggers({ trigger: type, entity_id: 'light.a' })).toEqual([]);
      expect(conditions({ condition: type, zone: 'zone.b' })).toEqual([]);
    },
  );

  test('scenes and groups that its actions create', () => {
    const { created } = referencesOf({
      actions: [
        { action: 'scene.create', data: { scene_id: 'Before' } },
        { if: [], then: [{ action: 'group.set', data: { object_id: 'lights' } }] },
        { action: 'scene.create', data: { scene_id: 'never' }, enabled: false },
        { action: 'scene.turn_on', data: { scene_id: 'other' } },
        { action: 'scene.create', data: '{{ x }}' },
      ],
    });
    expect([...created]).toEqual(['scene.before', 'group.lights']);
  });
});
