import {
  call,
  caseOf,
  type CaseAnswer,
  type CaseParts,
  expectStep,
  faultsOf,
  fireStep,
  home,
  ofType,
  requestOf,
  runRequest,
  setStep,
  state,
} from '../../../cluster/hub-test';

// Names of what must be absent: of a misspelt one nothing is ever there, and a right one must not fail the case.

const on = (event: string, ...actions: readonly object[]) => ({
  id: event,
  alias: event,
  triggers: [{ trigger: 'event', event_type: event }],
  actions,
});
const aHome = home({
  configuration: `
homeassistant: { customize: !include customize.yaml }
template:
  - binary_sensor: [{ name: Watched, state: !secret watched }]
utility_meter: { water: { source: sensor.flow } }
timer: { oven: {} }
`,
  files: { 'customize.yaml': 'light.first:\n  icon: mdi:x\nlight.second:\n  icon: mdi:y\n' },
  secrets: { watched: "{{ is_state('light.secret', 'on') }}" },
  automations: [
    on('room', {
      action: 'light.turn_on',
      target: { entity_id: 'light.hall_{{ trigger.event.data.room }}' },
    }),
    on('text', { action: 'fan.turn_on', target: { entity_id: "{{ 'fan.' ~ trigger.event.data.room }}" } }),
    on('joins', {
      action: 'siren.turn_on',
      target: { entity_id: "{{ ['siren', trigger.event.data.room] | join('.') }}" },
    }),
    on('upper', { action: 'switch.turn_on', target: { entity_id: 'Switch.Pump' } }),
    on('snap', {
      action: 'scene.create',
      data: { scene_id: 'before_{{ trigger.event.data.room }}', snapshot_entities: ['light.secret'] },
    }),
    on(
      'asks',
      { action: 'weather.get_lamp', response_variable: 'r' },
      { action: 'cover.open_cover', target: { entity_id: '{{ r.lamp }}' } },
    ),
    on('sends', { action: 'notify.phone', data: '{{ trigger.event.data }}' }),
  ],
});

type Row = readonly [sentence: string, parts: CaseParts, faults: readonly string[]];

const PASSES: readonly string[] = [];
const without = (action: string, entity: string) =>
  expectStep({ none: [call(action, { entity: [entity] })] });
const withoutData = (action: string, data: Readonly<Record<string, string | number>>) =>
  expectStep({ none: [call(action, { data })] });
const unknown = (entity: string) =>
  `step: none has ${entity}, which neither the home nor the case has: correct it, or add it to given.`;
const unknownField = (field: string, action: string) =>
  `step: none has ${field} in data of ${action}, which neither the hub nor the home nor the case has: correct it.`;
const isOff = { 'light.a': { state: 'off' } };

const rows: readonly Row[] = [
  // Entities
  [
    'a line of a file may begin with the entity',
    { steps: [without('light.turn_on', 'light.second')] },
    PASSES,
  ],
  ['a secret may name it', { steps: [without('light.turn_on', 'light.secret')] }, PASSES],
  ['a template may make its name', { steps: [without('light.turn_on', 'light.hall_south')] }, PASSES],
  [
    'a template makes no name with another beginning',
    { steps: [without('light.turn_on', 'light.hal_south')] },
    [unknown('light.hal_south')],
  ],
  ['a template may join its name', { steps: [without('fan.turn_on', 'fan.attic')] }, PASSES],
  ['a file may have it in upper case', { steps: [without('switch.turn_on', 'switch.pump')] }, PASSES],
  [
    'a mock may name it',
    {
      mock: { 'weather.get_lamp': { response: { lamp: 'cover.mocked' } } },
      steps: [without('cover.open_cover', 'cover.mocked')],
    },
    PASSES,
  ],
  [
    'what the case expects elsewhere exists',
    {
      steps: [
        fireStep('joins', { room: 'cellar' }),
        expectStep({ calls: [call('siren.turn_on', { entity: ['siren.cellar'] })] }),
        without('siren.turn_on', 'siren.cellar'),
      ],
    },
    PASSES,
  ],
  [
    'what the case expects to be absent elsewhere does not exist for that',
    {
      steps: [
        expectStep({ none: [call('lock.lock', { entity: ['lock.x'] })], states: { 'lock.x': state(null) } }),
      ],
    },
    [
      unknown('lock.x'),
      'step: lock.x is expected to have no state, and neither the home nor the case has such an entity: correct it.',
    ],
  ],
  [
    'a template may make the id of a scene that an action creates',
    {
      given: { 'light.secret': { state: 'on' } },
      steps: [
        expectStep({ states: { 'scene.before_hall': state(null) } }),
        fireStep('snap', { room: 'hall' }),
        expectStep({ states: { 'scene.before_kitchen': state(null), 'scene.after_hall': state(null) } }),
      ],
    },
    [
      'step: scene.after_hall is expected to have no state, and neither the home nor the case has such an entity: correct it.',
    ],
  ],
  // Fields of data
  ['the hub has the field', { steps: [withoutData('light.turn_on', { brightness_pct: 5 })] }, PASSES],
  [
    'a field that nothing has is a typo',
    { steps: [withoutData('light.turn_on', { brightnes: 5 })] },
    [unknownField('brightnes', 'light.turn_on')],
  ],
  [
    'the case may have the field',
    { steps: [fireStep('sends', { shade: 'red' }), withoutData('notify.phone', { shade: 'blue' })] },
    PASSES,
  ],
  [
    'the data have no target',
    { steps: [withoutData('light.turn_on', { entity_id: 'light.secret' })] },
    ['step: none has entity_id in data of light.turn_on, which never have the target: write it as `entity`.'],
  ],
  // Attributes
  [
    'the hub has the attribute',
    {
      given: { ...isOff, 'sensor.flow': { state: '1' } },
      steps: [
        expectStep({
          states: {
            'light.a': state('off', { brightness: null, hs_color: null, icon: null }),
            'timer.oven': state('idle', { finishes_at: null }),
            'sensor.water': state(/./, { tariff: null }),
          },
        }),
      ],
    },
    PASSES,
  ],
  [
    'the case may have the attribute',
    {
      given: isOff,
      steps: [
        expectStep({ states: { 'light.a': state('off', { battery_low: null }) } }),
        setStep({ 'light.a': { state: 'off', attributes: { battery_low: true } } }),
        expectStep({ states: { 'light.a': state('off', { battery_low: true }) } }),
      ],
    },
    PASSES,
  ],
  [
    'an attribute that nothing has is a typo',
    { given: isOff, steps: [expectStep({ states: { 'light.a': state('off', { brightnes: null }) } })] },
    [
      'step: light.a is expected to have no attribute brightnes, which neither the hub nor the home nor the case has: correct it.',
    ],
  ],
];

let answers: readonly CaseAnswer[];

beforeAll(async () => {
  const run = await runRequest(
    requestOf(
      aHome,
      rows.map(([sentence, parts]) => caseOf(sentence, parts)),
    ),
  );
  expect(run.stderr).toBe('');
  expect(ofType(run.answers, 'refused')).toEqual([]);
  answers = ofType(run.answers, 'case');
});

test.each(rows.map(([sentence, , faults], index) => [sentence, faults, index] as const))(
  '%s',
  (_sentence, faults, index) => expect(faultsOf(answers[index])).toEqual(faults),
);
