import {
  call,
  callStep,
  caseOf,
  type CaseAnswer,
  expectStep,
  fireStep,
  faultsOf,
  home,
  ofType,
  requestOf,
  runRequest,
  setStep,
  state,
} from '../../../cluster/hub-test';

// The states of simulated devices. An automation that follows them must not see what no device reports.

type Attributes = Readonly<Record<string, string | number | null | readonly (string | number)[]>>;
type Report = readonly [string, Attributes?];
type Row = readonly [entity: string, given: Report, action: string, data: object, expected: Report];

const DIMMED = { brightness: 128, color_mode: 'brightness' };
const rows: readonly Row[] = [
  ['light.a', ['on', DIMMED], 'light.turn_off', {}, ['off', { brightness: null, color_mode: null }]],
  ['light.a', ['on', DIMMED], 'light.toggle', { brightness: 5 }, ['off', { brightness: null }]],
  ['light.a', ['on', DIMMED], 'light.turn_on', { brightness_pct: 0 }, ['off', { brightness: null }]],
  [
    'light.a',
    ['on', { color_temp_kelvin: 3000, color_mode: 'color_temp' }],
    'light.turn_on',
    { color_name: 'red' },
    ['on', { color_temp_kelvin: null, color_mode: 'rgb', rgb_color: [255, 0, 0], hs_color: [0, 100] }],
  ],
  ['climate.a', ['heat'], 'climate.toggle', {}, ['off']],
  ['climate.a', ['off', { hvac_modes: ['off', 'cool'] }], 'climate.turn_on', {}, ['cool']],
  ['climate.a', ['off', { hvac_modes: ['off', 'dry', 'cool', 'heat'] }], 'climate.toggle', {}, ['heat']],
  ['media_player.a', ['playing'], 'media_player.toggle', {}, ['off']],
  ['media_player.a', ['standby'], 'media_player.toggle', {}, ['on']],
  ['media_player.a', ['playing'], 'homeassistant.toggle', {}, ['off']],
  [
    'media_player.a',
    ['on', { volume_level: 0.95 }],
    'media_player.volume_up',
    {},
    ['on', { volume_level: 1 }],
  ],
  ['cover.a', ['open', { current_position: 40 }], 'cover.stop_cover', {}, ['open', { current_position: 40 }]],
  [
    'cover.a',
    ['open', { current_position: 40, current_tilt_position: 0 }],
    'cover.set_cover_tilt_position',
    { tilt_position: 70 },
    ['open', { current_position: 40, current_tilt_position: 70 }],
  ],
  ['cover.a', ['opening'], 'cover.toggle', {}, ['closed']],
  ['valve.a', ['open', { current_position: 40 }], 'valve.stop_valve', {}, ['open', { current_position: 40 }]],
  ['fan.a', ['on', { percentage: 60 }], 'fan.turn_off', {}, ['off', { percentage: 0 }]],
  ['fan.a', ['on', { percentage: 60 }], 'fan.turn_on', { percentage: 0 }, ['off', { percentage: 0 }]],
  [
    'fan.a',
    ['on', { percentage: 50, percentage_step: 25 }],
    'fan.increase_speed',
    {},
    ['on', { percentage: 75 }],
  ],
  ['fan.a', ['off'], 'fan.set_preset_mode', { preset_mode: 'auto' }, ['on', { preset_mode: 'auto' }]],
  [
    'fan.a',
    ['on', { preset_mode: 'auto' }],
    'fan.set_percentage',
    { percentage: 30 },
    ['on', { percentage: 30, preset_mode: null }],
  ],
  [
    'cover.a',
    ['opening', { current_position: 40 }],
    'cover.stop_cover',
    {},
    ['open', { current_position: 40 }],
  ],
  ['cover.a', ['closing'], 'cover.stop_cover', {}, ['open']],
  ['valve.a', ['closing', { current_position: 0 }], 'valve.stop_valve', {}, ['closed']],
  [
    'cover.a',
    ['open', { current_position: null }],
    'cover.close_cover',
    {},
    ['closed', { current_position: null }],
  ],
  ['climate.a', ['heat', { hvac_action: null }], 'climate.turn_off', {}, ['off', { hvac_action: null }]],
  [
    'climate.a',
    ['heat', { min_temp: null, max_temp: 30 }],
    'climate.set_temperature',
    { temperature: 21 },
    ['heat'],
  ],
  ['number.a', ['3', { min: 'unknown', max: 30 }], 'number.set_value', { value: 21 }, ['21']],
  ['text.a', ['0000', { min: 4, max: 4 }], 'text.set_value', { value: 1234 }, ['1234']],
  [
    'light.a',
    ['on', { supported_color_modes: ['hs'], color_mode: 'hs' }],
    'light.turn_on',
    { rgb_color: [255, 0, 0] },
    ['on', { color_mode: 'hs', hs_color: [0, 100] }],
  ],
  [
    'light.a',
    ['on', { supported_color_modes: ['brightness'], color_mode: 'brightness' }],
    'light.turn_on',
    { rgb_color: [255, 0, 0], brightness: 9 },
    ['on', { color_mode: 'brightness', rgb_color: null, brightness: 9 }],
  ],
  ['light.a', ['off'], 'light.turn_on', { color_name: 'no color' }, ['on', { rgb_color: [255, 255, 255] }]],
  [
    'light.a',
    ['on', { rgb_color: [1, 2, 3] }],
    'light.turn_on',
    { white: 90 },
    ['on', { brightness: 90, color_mode: 'white', rgb_color: null }],
  ],
  ['light.a', ['on'], 'light.turn_on', { white: 0 }, ['off']],
  [
    'light.a',
    ['on', { supported_color_modes: ['rgb'], brightness: 7 }],
    'light.turn_on',
    { white: 0 },
    ['on', { brightness: 7 }],
  ],
  [
    'media_player.a',
    ['playing', { media_title: 'Film', source: 'TV', source_list: ['TV'] }],
    'media_player.turn_off',
    {},
    ['off', { media_title: null, source: null, source_list: ['TV'] }],
  ],
  ['lock.a', ['locked'], 'homeassistant.turn_on', {}, ['locked']],
  ['vacuum.a', ['docked'], 'vacuum.clean_spot', {}, ['cleaning']],
  ['select.a', ['b', { options: ['a', 'b'] }], 'select.select_next', {}, ['a']],
  ['select.a', ['b', { options: ['a', 'b'] }], 'select.select_next', { cycle: false }, ['b']],
];

const REFUSED: readonly Row[] = [
  ['select.a', ['a', { options: ['a', 'b'] }], 'select.select_option', { option: 'c' }, ['a']],
  [
    'climate.a',
    ['off', { hvac_modes: ['off', 'heat'] }],
    'climate.set_hvac_mode',
    { hvac_mode: 'cool' },
    ['off'],
  ],
  ['number.a', ['5', { min: 0, max: 10 }], 'number.set_value', { value: 11 }, ['5']],
  ['number.a', ['5', { min: 0, max: 10 }], 'number.set_value', { value: '11' }, ['5']],
];

const caseOfRow = ([entity, [given, attributes], action, data, expected]: Row, index: number) =>
  caseOf(String(index), {
    given: { [entity]: { state: given, ...(attributes && { attributes }) } },
    steps: [
      callStep(action, { entity_id: entity }, data),
      expectStep({ states: { [entity]: state(...expected) } }),
    ],
  });

const dimmed = {
  'light.a': { state: 'on', attributes: { ...DIMMED, supported_color_modes: ['brightness'] } },
};
const told = [
  caseOf('a light that is on again has its former brightness', {
    given: dimmed,
    steps: [
      setStep({ 'light.a': 'off' }),
      expectStep({ states: { 'light.a': state('off', { brightness: null }) } }),
      callStep('light.turn_on', { entity_id: 'light.a' }),
      expectStep({ states: { 'light.a': state('on', { brightness: 128 }) } }),
    ],
  }),
  caseOf('a light that is unavailable has only what it can do', {
    given: dimmed,
    steps: [
      setStep({ 'light.a': 'unavailable' }),
      expectStep({
        states: {
          'light.a': state('unavailable', { brightness: null, supported_color_modes: ['brightness'] }),
        },
      }),
      setStep({ 'light.a': 'on' }),
      expectStep({ states: { 'light.a': state('on', { brightness: 128 }) } }),
    ],
  }),
  caseOf('a cover that is set has the position of its state', {
    given: { 'cover.a': { state: 'open', attributes: { current_position: 40 } } },
    steps: [
      setStep({ 'cover.a': 'closed' }),
      expectStep({ states: { 'cover.a': state('closed', { current_position: 0 }) } }),
      setStep({ 'cover.a': 'open' }),
      expectStep({ states: { 'cover.a': state('open', { current_position: 100 }) } }),
      setStep({ 'cover.a': { state: 'open', attributes: { current_position: 30 } } }),
      expectStep({ states: { 'cover.a': state('open', { current_position: 30 }) } }),
    ],
  }),
  caseOf('a scene of a device has the time at which it was turned on', {
    given: { 'scene.hue': { state: 'unknown' } },
    steps: [
      callStep('scene.turn_on', { entity_id: 'scene.hue' }),
      expectStep({ states: { 'scene.hue': state(/^2026-11-02T/) } }),
    ],
  }),
  caseOf('an action of homeassistant acts by that of the domain', {
    given: { 'light.a': { state: 'on' } },
    steps: [
      callStep('homeassistant.toggle', { entity_id: 'light.a' }),
      expectStep({ calls: [call('light.toggle')], states: { 'light.a': state('off') } }),
    ],
  }),
];

const CONFIGURATION = `
template:
  - binary_sensor:
      - name: Has place
        state: "{{ state_attr('cover.a', 'current_position') is number }}"
      - name: Red
        state: "{{ state_attr('light.a', 'rgb_color') == (255, 0, 0) }}"
scene:
  - name: Film
    entities: { media_player.a: { state: 'on', volume_level: 0.3 } }
`;
const setFilm = callStep('scene.turn_on', { entity_id: 'scene.film' });
const setVolume = call('media_player.volume_set', { data: { volume_level: 0.3 } });
const inHome = [
  caseOf('numbers in quotes and colors have the types that a hub gives them', {
    given: {
      'cover.a': { state: 'closed', attributes: { current_position: 0 } },
      'light.a': { state: 'off' },
    },
    steps: [
      callStep('cover.set_cover_position', { entity_id: 'cover.a' }, { position: '40' }),
      callStep('light.turn_on', { entity_id: 'light.a' }, { rgb_color: [255, 0, 0] }),
      expectStep({ states: { 'binary_sensor.has_place': state('on'), 'binary_sensor.red': state('on') } }),
      setStep({ 'light.a': { state: 'on', attributes: { rgb_color: [0, 0, 0] } } }),
      expectStep({ states: { 'binary_sensor.red': state('off') } }),
      setStep({ 'light.a': { state: 'on', attributes: { rgb_color: [255, 0, 0] } } }),
      expectStep({ states: { 'binary_sensor.red': state('on') } }),
    ],
  }),
  caseOf('a player of which no features are given takes each action of a scene', {
    given: { 'media_player.a': { state: 'off' } },
    steps: [
      setFilm,
      expectStep({ calls: [setVolume], states: { 'media_player.a': state('on', { volume_level: 0.3 }) } }),
      { restart: { down: 30 } },
      setFilm,
      expectStep({ calls: [setVolume] }),
    ],
  }),
  caseOf('homeassistant.turn_off of an area turns off what can be turned off', {
    given: {
      'device_tracker.a': { state: 'home', area: 'Hall' },
      'weather.a': { state: 'sunny', area: 'Hall' },
      'media_player.a': { state: 'playing', area: 'Hall' },
    },
    steps: [
      callStep('homeassistant.turn_off', { area_id: 'hall' }),
      expectStep({
        states: {
          'device_tracker.a': state('home'),
          'weather.a': state('sunny'),
          'media_player.a': state('off'),
        },
      }),
    ],
  }),
];
const refusedByOne = caseOf('the other entities act if one refuses', {
  given: {
    'climate.a': { state: 'off', attributes: { hvac_modes: ['off', 'cool'] } },
    'climate.b': { state: 'off', attributes: { hvac_modes: ['off', 'heat'] } },
  },
  allowWarnings: ['climate.a has no hvac_mode heat'],
  steps: [
    fireStep('heat'),
    expectStep({ states: { 'climate.a': state('off'), 'climate.b': state('heat') } }),
  ],
});
const heat = {
  id: 'heat',
  alias: 'Heat',
  triggers: [{ trigger: 'event', event_type: 'heat' }],
  actions: [
    {
      action: 'climate.set_hvac_mode',
      target: { entity_id: ['climate.a', 'climate.b'] },
      data: { hvac_mode: 'heat' },
    },
  ],
};

let answers: readonly CaseAnswer[];

beforeAll(async () => {
  const cases = [...[...rows, ...REFUSED].map(caseOfRow), ...told, ...inHome, refusedByOne];
  const run = await runRequest(requestOf(home({ configuration: CONFIGURATION, automations: [heat] }), cases));
  expect(run.stderr).toBe('');
  answers = ofType(run.answers, 'case');
});

test.each(rows.map((row, index) => [row[2], row[1][0], row[4], index] as const))(
  '%s of a device that is %s: %j',
  (_action, _given, _expected, index) => expect(faultsOf(answers[index])).toEqual([]),
);

test.each(REFUSED.map((row, index) => [row[2], index] as const))(
  '%s refuses what the device does not take',
  (_action, index) =>
    expect(faultsOf(answers[rows.length + index])).toEqual([
      expect.stringMatching(/^step: HomeAssistantError: .*(has no|outside of the range)/),
    ]),
);

test.each([...told, ...inHome, refusedByOne].map(({ name }, index) => [name, index] as const))(
  '%s',
  (_name, index) => expect(faultsOf(answers[rows.length + REFUSED.length + index])).toEqual([]),
);
