import type { Case, Home, PackedStates } from '../../../../cli/test/protocol';
import { caseOf, home, ofType, requestOf, runRequest } from '../../../cluster/hub-test';

// A history that the Python program plays, with a home of files and without a cluster.

/** A Monday at 12:00 in Berlin, in seconds since the epoch. */
const START = Date.UTC(2026, 10, 2, 11) / 1_000;

type State = readonly [seconds: number, state: string, attributes?: Readonly<Record<string, unknown>>];

/** Packs states, which are given with seconds since the start. */
const packed = (...states: readonly State[]): PackedStates => ({
  after: states.map(([seconds], index) => (seconds - (states[index - 1]?.[0] ?? 0)) * 1_000),
  states: states.map((_, index) => index),
  attributes: states.map((_, index) => index),
  texts: states.map(([, state]) => state),
  sets: states.map(([, , attributes]) => attributes ?? {}),
});

const past = (
  seconds: number,
  entities: Readonly<Record<string, PackedStates>>,
  parts: Partial<Case> = {},
): Case =>
  caseOf('the past', {
    ...parts,
    steps: [],
    echo: false,
    history: { from: START, to: START + seconds, entities },
  });

async function callsOf(aHome: Home, aCase: Case) {
  const { answers, code, stderr } = await runRequest(requestOf(aHome, [aCase]));
  expect(stderr).toBe('');
  expect(code).toBe(0);
  const [end] = ofType(answers, 'case');
  expect(ofType(answers, 'change')).toEqual([]);
  const calls = ofType(answers, 'call').map(({ at, action, entities, by }) => [
    (Date.parse(at) - START * 1_000) / 1_000,
    ...[action, ...entities],
    by,
  ]);
  return { end: end!, calls };
}

const light = (name: string, target: object) => [{ action: `light.turn_${name}`, target }];

test('each state is set at its time, the first one without an event, and calls change none of them', async () => {
  const automations = [
    {
      id: '1',
      alias: 'On',
      triggers: [{ trigger: 'state', entity_id: 'binary_sensor.hall', to: 'on' }],
      actions: light('on', { entity_id: 'light.hall' }),
    },
    {
      id: '2',
      alias: 'Follows',
      triggers: [{ trigger: 'state', entity_id: 'light.hall', to: 'on' }],
      actions: light('off', { entity_id: 'light.hall' }),
    },
    {
      id: '3',
      alias: 'Warm',
      triggers: [{ trigger: 'numeric_state', entity_id: 'climate.a', attribute: 'temperature', above: 20 }],
      actions: light('on', { entity_id: 'light.warm' }),
    },
  ];
  const { calls, end } = await callsOf(
    home({ automations }),
    past(10_000, {
      'binary_sensor.hall': packed([0, 'on'], [60, 'off'], [3_600.5, 'on']),
      'light.hall': packed([0, 'off'], [7_200, 'on']),
      'climate.a': packed([0, 'heat', { temperature: 19 }], [900, 'heat', { temperature: 21 }]),
    }),
  );
  expect(calls).toEqual([
    [expect.closeTo(900, 1), 'light.turn_on', 'light.warm', 'automation.warm'],
    [expect.closeTo(3_600.5, 1), 'light.turn_on', 'light.hall', 'automation.on'],
    [expect.closeTo(7_200, 1), 'light.turn_off', 'light.hall', 'automation.follows'],
  ]);
  expect(end).toMatchObject({ faults: [], virtualSeconds: expect.closeTo(10_000, 0) as unknown });
});

test('helpers of the configuration get their states, which are no calls; entities that the home computes keep their own states', async () => {
  const configuration = `
input_boolean: {film: {}}
input_number: {level: {min: 0, max: 10}}
input_text: {note: {}}
timer: {t: {duration: "00:10:00"}}
template: [{binary_sensor: {name: dark, state: "{{ states('input_number.level') | float > 5 }}"}}]
`;
  const automations = [
    {
      id: '1',
      alias: 'Dark',
      triggers: [{ trigger: 'state', entity_id: 'binary_sensor.dark', to: 'on' }],
      conditions: [{ condition: 'state', entity_id: 'input_boolean.film', state: 'on' }],
      actions: light('on', { entity_id: 'light.hall' }),
    },
    {
      id: '2',
      alias: 'Note',
      triggers: [{ trigger: 'state', entity_id: 'input_text.note' }],
      actions: light('on', { entity_id: 'light.note' }),
    },
  ];
  const { calls, end } = await callsOf(
    home({ automations, configuration }),
    past(400, {
      'input_boolean.film': packed([0, 'on'], [50, 'unavailable'], [51, 'on'], [150, 'off']),
      'input_number.level': packed([0, '2.0'], [100, '7.0'], [110, '70.0'], [120, '1.0'], [200, '9.0']),
      'input_text.note': packed([0, 'a'], [50, 'unavailable'], [60, 'a']),
      'timer.t': packed([0, 'active'], [90, 'idle']),
      'binary_sensor.dark': packed([0, 'on'], [10, 'off'], [20, 'on']),
    }),
  );
  expect(calls).toEqual([[expect.closeTo(100, 1), 'light.turn_on', 'light.hall', 'automation.dark']]);
  expect(end.faults).toEqual([]);
});

test('definitions have the entity ids of the hub, and entities their areas', async () => {
  const automations = [
    {
      id: 'a-1',
      alias: 'Renamed',
      triggers: [{ trigger: 'state', entity_id: 'binary_sensor.hall' }],
      actions: light('on', { area_id: 'hall' }),
    },
  ];
  const { calls } = await callsOf(
    home({ automations, areas: [{ name: 'Hall' }], entityIds: { 'automation.old_name': 'a-1' } }),
    past(
      100,
      { 'binary_sensor.hall': packed([0, 'on'], [10, 'off']) },
      {
        given: { 'light.ceiling': { area: 'Hall' }, 'binary_sensor.hall': { area: 'Hall' } },
      },
    ),
  );
  expect(calls).toEqual([[expect.closeTo(10, 1), 'light.turn_on', 'light.ceiling', 'automation.old_name']]);
});

test('an action for an area acts on the automations in it', async () => {
  const automations = [
    {
      id: 'a-1',
      alias: 'Quiet',
      triggers: [{ trigger: 'state', entity_id: 'binary_sensor.night', to: 'on' }],
      actions: [{ action: 'automation.turn_off', target: { area_id: 'hall' } }],
    },
    {
      id: 'a-2',
      alias: 'Loud',
      triggers: [{ trigger: 'state', entity_id: 'binary_sensor.bell' }],
      actions: light('on', { entity_id: 'light.ceiling' }),
    },
  ];
  const place = { domain: 'automation', platform: 'automation', id: 'a-2', area: 'Hall', labels: [] };
  const states = {
    'binary_sensor.night': packed([0, 'off'], [50, 'on']),
    'binary_sensor.bell': packed([0, 'off'], [10, 'on'], [60, 'off']),
  };
  const lit = async (entityPlaces: readonly (typeof place)[]) => {
    const all = home({ automations, areas: [{ name: 'Hall' }], entityPlaces });
    const { calls } = await callsOf(all, past(100, states));
    return calls.filter(([, service]) => service === 'light.turn_on').map(([at]) => at);
  };
  expect(await lit([place])).toEqual([expect.closeTo(10, 1)]);
  expect(await lit([])).toEqual([expect.closeTo(10, 1), expect.closeTo(60, 1)]);
});

test('200,000 states are played', async () => {
  const values = Array.from({ length: 200_000 }, (_, index) => index);
  const states: PackedStates = {
    after: values.map((index) => (index === 0 ? 0 : 3_000)),
    states: values.map((index) => index % 50),
    attributes: values.map(() => 0),
    texts: Array.from({ length: 50 }, (_, index) => String(index)),
    sets: [{ unit_of_measurement: 'W' }],
  };
  const automations = [
    {
      id: '1',
      alias: 'Power',
      triggers: [{ trigger: 'numeric_state', entity_id: 'sensor.power', above: 48 }],
      actions: light('on', { entity_id: 'light.hall' }),
    },
  ];
  const { calls } = await callsOf(home({ automations }), past(600_000, { 'sensor.power': states }));
  expect(calls).toHaveLength(4_000);
});
