/** A stimulus in a home: seconds after the start, and a state or an event. */
export type Moment =
  | readonly [seconds: number, set: Readonly<Record<string, string>>]
  | readonly [seconds: number, event: string];

/** A part of a home whose names do not occur in other scenarios, so that all can run at the same time. */
export interface Scenario {
  readonly name: string;
  readonly automations: readonly object[];
  readonly scripts?: Readonly<Record<string, object>>;
  /** Sections of configuration.yaml as JSON. */
  readonly configuration?: Readonly<Record<string, object>>;
  readonly given?: Readonly<Record<string, string>>;
  readonly moments: readonly Moment[];
}

const event = (type: string) => [{ trigger: 'event', event_type: type }];
const turnsOn = (entity: string) => ({ trigger: 'state', entity_id: entity, to: 'on' });
/** A call of a service that the tests register. */
const t = (service: string, data?: object) => ({ action: `t.${service}`, ...(data && { data }) });
const again = (type: string, ...seconds: readonly number[]): Moment[] => seconds.map((at) => [at, type]);

const scenario = (
  name: string,
  actions: readonly object[],
  moments: readonly Moment[],
  more: Omit<Partial<Scenario>, 'automations'> & { readonly automation?: object } = {},
): Scenario => {
  const { automation, ...rest } = more;
  return {
    ...{ name, moments, ...rest },
    automations: [{ id: name, alias: name, triggers: event(name), actions, ...automation }],
  };
};

/** The six scenarios of the test suite. */
export const SUITE: readonly Scenario[] = [
  scenario(
    'holds',
    [t('holds'), { delay: 1.5 }, t('held')],
    [
      [0, { 'binary_sensor.holds': 'on' }],
      [5, { 'binary_sensor.holds': 'off' }],
      [6, { 'binary_sensor.holds': 'on' }],
      [7, { 'binary_sensor.holds': 'off' }],
    ],
    {
      given: { 'binary_sensor.holds': 'off' },
      automation: { triggers: [{ ...turnsOn('binary_sensor.holds'), for: 2 }] },
    },
  ),
  scenario('queued', [t('queued'), { delay: 2 }], again('queued', 0, 0.5, 1, 1.5), {
    automation: { mode: 'queued', max: 3, max_exceeded: 'silent' },
  }),
  scenario(
    'waits',
    [
      t('waits'),
      { wait_template: "{{ is_state('binary_sensor.waits', 'on') }}", timeout: 4 },
      t('waited', { completed: '{{ wait.completed }}' }),
    ],
    [
      ...again('waits', 0, 2),
      [3.5, { 'binary_sensor.waits': 'on' }],
      [5, { 'binary_sensor.waits': 'off' }],
      ...again('waits', 6),
    ],
    { given: { 'binary_sensor.waits': 'off' }, automation: { mode: 'restart' } },
  ),
  scenario(
    'parallel',
    [
      { parallel: [{ sequence: [{ delay: 2.5 }, t('late')] }, { sequence: [{ delay: 1 }, t('early')] }] },
      { repeat: { count: 3, sequence: [t('repeated', { index: '{{ repeat.index }}' }), { delay: 1.4 }] } },
    ],
    again('parallel', 0),
  ),
  scenario(
    'listens',
    [
      { wait_for_trigger: [turnsOn('light.listens')], timeout: 6 },
      t('listened', { has_trigger: '{{ wait.trigger is not none }}' }),
    ],
    [
      ...again('listens', 0),
      [2, { 'light.listens': 'on' }],
      [3, { 'light.listens': 'off' }],
      ...again('listens', 4),
    ],
    { given: { 'light.listens': 'off' } },
  ),
  scenario('timer', [{ action: 'timer.start', target: { entity_id: 'timer.oven' } }], again('timer', 0, 2), {
    configuration: { timer: { oven: { duration: '00:00:04' } } },
    automation: {
      triggers: [...event('timer'), { trigger: 'event', event_type: 'timer.finished', id: 'finished' }],
      actions: [
        {
          if: [{ condition: 'trigger', id: 'finished' }],
          then: [t('finished')],
          else: [{ action: 'timer.start', target: { entity_id: 'timer.oven' } }],
        },
      ],
    },
  }),
];

/** Scenarios that only the bench adds. */
export const MORE: readonly Scenario[] = [
  scenario('single', [t('single'), { delay: 3 }], again('single', 0, 1, 4), {
    automation: { mode: 'single', max_exceeded: 'silent' },
  }),
  scenario('at_once', [t('begun'), { delay: 3 }, t('ended')], again('at_once', 0, 1, 2, 3.5), {
    automation: { mode: 'parallel', max: 2, max_exceeded: 'silent' },
  }),
  scenario(
    'template_for',
    [t('dark')],
    [
      [0, { 'sensor.lux': '5' }],
      [1, { 'sensor.lux': '50' }],
      [2, { 'sensor.lux': '4' }],
      [4, { 'sensor.lux': '3' }],
    ],
    {
      given: { 'sensor.lux': '80' },
      automation: {
        triggers: [
          { trigger: 'template', value_template: "{{ states('sensor.lux') | float < 10 }}", for: 3 },
        ],
      },
    },
  ),
  scenario(
    'numeric',
    [t('warm', { value: '{{ trigger.to_state.state }}' })],
    [
      [0, { 'sensor.heat': '25' }],
      [1, { 'sensor.heat': '26' }],
      [3, { 'sensor.heat': '10' }],
      [4, { 'sensor.heat': '30' }],
    ],
    {
      given: { 'sensor.heat': '10' },
      automation: { triggers: [{ trigger: 'numeric_state', entity_id: 'sensor.heat', above: 20, for: 2 }] },
    },
  ),
  scenario(
    'chooses',
    [
      {
        choose: [
          { conditions: "{{ is_state('binary_sensor.door', 'on') }}", sequence: [{ delay: 1 }, t('open')] },
          { conditions: "{{ is_state('binary_sensor.door', 'ajar') }}", sequence: [t('ajar')] },
        ],
        default: [{ delay: 2 }, t('closed')],
      },
    ],
    [
      ...again('chooses', 0),
      [2.5, { 'binary_sensor.door': 'on' }],
      ...again('chooses', 3),
      [5, { 'binary_sensor.door': 'ajar' }],
      ...again('chooses', 6),
    ],
    { given: { 'binary_sensor.door': 'off' } },
  ),
  scenario(
    'repeats_until',
    [
      {
        repeat: {
          sequence: [t('round', { index: '{{ repeat.index }}' }), { delay: 1 }],
          until: "{{ is_state('binary_sensor.enough', 'on') or repeat.index == 5 }}",
        },
      },
      t('enough'),
    ],
    [...again('repeats_until', 0), [2.5, { 'binary_sensor.enough': 'on' }]],
    { given: { 'binary_sensor.enough': 'off' } },
  ),
  scenario(
    'repeats_while',
    [
      {
        repeat: {
          while: "{{ is_state('binary_sensor.rain', 'on') }}",
          sequence: [t('rain'), { delay: 1.5 }],
        },
      },
      t('dry'),
    ],
    [
      [0, { 'binary_sensor.rain': 'on' }],
      ...again('repeats_while', 0.5),
      [4, { 'binary_sensor.rain': 'off' }],
    ],
    { given: { 'binary_sensor.rain': 'off' } },
  ),
  scenario(
    'each',
    [
      {
        repeat: {
          for_each: ['a', 'b', 'c'],
          sequence: [t('each', { item: '{{ repeat.item }}' }), { delay: 1 }],
        },
      },
    ],
    again('each', 0),
  ),
  scenario(
    'helper',
    [
      { action: 'input_boolean.turn_on', target: { entity_id: 'input_boolean.guest' } },
      { delay: 2 },
      { action: 'input_boolean.toggle', target: { entity_id: 'input_boolean.guest' } },
    ],
    again('helper', 0),
    {
      configuration: { input_boolean: { guest: {} } },
      automation: {
        triggers: [
          ...event('helper'),
          { trigger: 'state', entity_id: 'input_boolean.guest', to: 'off', id: 'left' },
        ],
        actions: [
          {
            choose: [{ conditions: [{ condition: 'trigger', id: 'left' }], sequence: [t('left')] }],
            default: [
              { action: 'input_boolean.turn_on', target: { entity_id: 'input_boolean.guest' } },
              { delay: 2 },
              { action: 'input_boolean.turn_off', target: { entity_id: 'input_boolean.guest' } },
            ],
          },
        ],
        mode: 'parallel',
      },
    },
  ),
  scenario(
    'script_waits',
    [{ action: 'script.slow', data: { n: 1 } }, t('after_script')],
    again('script_waits', 0),
    {
      scripts: { slow: { sequence: [t('slow', { n: '{{ n }}' }), { delay: 2 }] } },
    },
  ),
  scenario(
    'script_goes_on',
    [{ action: 'script.turn_on', target: { entity_id: 'script.aside' } }, t('at_once')],
    again('script_goes_on', 0),
    { scripts: { aside: { sequence: [{ delay: 2 }, t('aside')] } } },
  ),
  scenario(
    'stops',
    [
      t('first'),
      { delay: 1 },
      { condition: 'state', entity_id: 'binary_sensor.stops', state: 'on' },
      t('second'),
      { stop: 'enough' },
      t('third'),
    ],
    [...again('stops', 0), [2, { 'binary_sensor.stops': 'on' }], ...again('stops', 3)],
    { given: { 'binary_sensor.stops': 'off' } },
  ),
  scenario('passes_on', [t('passes_on'), { delay: 1.5 }, { event: 'passed_on' }], again('passes_on', 0), {
    automation: {
      triggers: [...event('passes_on'), { trigger: 'event', event_type: 'passed_on', id: 'passed_on' }],
      actions: [
        {
          if: [{ condition: 'trigger', id: 'passed_on' }],
          then: [t('passed_on')],
          else: [t('passes_on'), { delay: 1.5 }, { event: 'passed_on' }],
        },
      ],
      mode: 'parallel',
    },
  }),
  scenario('turned_off', [t('goes_on'), { delay: 3 }, t('never')], again('turned_off', 0), {
    automation: {
      triggers: [...event('turned_off')],
      actions: [
        t('goes_on'),
        {
          parallel: [
            { sequence: [{ delay: 3 }, t('never')] },
            {
              sequence: [
                { delay: 1 },
                { action: 'automation.turn_off', target: { entity_id: 'automation.turned_off' } },
              ],
            },
          ],
        },
      ],
    },
  }),
];
