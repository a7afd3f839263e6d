import type { ConfigEntityKind, EntityPayload } from '../../../../operator/client/connection/config-entity';

/** Pairs of definitions that are equal for the hub, or that look equal but are not. */
export interface Row {
  readonly kind: ConfigEntityKind;
  readonly what: string;
  readonly forms: readonly [EntityPayload, EntityPayload, ...EntityPayload[]];
}

type Fields = Readonly<Record<string, unknown>>;
type Forms = readonly [unknown, unknown, ...unknown[]];

/** Fields that are undefined are left out. */
const definition = (kind: ConfigEntityKind, fields: Fields): EntityPayload => {
  const needed = {
    automation: { alias: 'A', triggers: [], actions: [] },
    script: { alias: 'A', sequence: [] },
    scene: { name: 'A', entities: {} },
  };
  return JSON.parse(JSON.stringify({ ...needed[kind], ...fields })) as EntityPayload;
};

const row =
  (kind: ConfigEntityKind, ofForm: (form: never) => Fields) =>
  (what: string, ...forms: Forms): Row => ({
    kind,
    what,
    forms: forms.map((form) => definition(kind, ofForm(form as never))) as unknown as Row['forms'],
  });

const automation = row('automation', (fields: Fields) => fields);
const script = row('script', (fields: Fields) => fields);
const scene = row('scene', (fields: Fields) => fields);
const trigger = row('automation', (triggers: unknown) => ({ triggers }));
const condition = row('automation', (conditions: unknown) => ({ conditions }));
const action = row('automation', (actions: unknown) => ({ actions }));

const time = { trigger: 'time', at: '07:30:00' };
const sun = { condition: 'sun', after: 'sunset' };
const state = { trigger: 'state', entity_id: ['light.a', 'light.b'] };
const isOn = { condition: 'state', entity_id: ['light.a'], state: 'on' };
const event = { event: 'x' };
const service = { action: 'light.turn_on' };
const TEMPLATE = "{{ is_state('light.a', 'on') }}";
const template = { condition: 'template', value_template: TEMPLATE };

/** Definitions that the hub's validation makes equal. */
export const equalByValidation: readonly Row[] = [
  automation('the mode', { mode: 'single' }, {}),
  automation(
    'the number of runs',
    { mode: 'queued', max: 10 },
    { mode: 'queued' },
    { mode: 'queued', max: '10' },
  ),
  automation('the level', { max_exceeded: 'warning' }, {}, { max_exceeded: 'WARNING' }),
  automation('traces', {}, { trace: {} }, { trace: { stored_traces: 5 } }),
  automation('the initial state', { initial_state: true }, { initial_state: 'on' }, { initial_state: 'Yes' }),
  automation('no triggers', { triggers: [] }, { triggers: null }),
  automation('no actions', { actions: [] }, { actions: null }),
  automation('no conditions', { conditions: [] }, { conditions: null }),
  automation(
    'former names',
    { triggers: [time], conditions: [sun], actions: [event] },
    {
      triggers: undefined,
      actions: undefined,
      trigger: [time],
      condition: [sun],
      action: [event],
    },
  ),
  trigger('one trigger without brackets', [time], time),
  trigger('the former name of its type', [time], [{ platform: 'time', at: '07:30:00' }]),
  trigger('a nested list', [time, time], [{ triggers: [time, time] }], [time, { triggers: time }]),
  trigger('a note', [time], [{ ...time, note: 'early' }]),
  trigger('entities', [state], [{ ...state, entity_id: 'light.a, Light.B' }]),
  trigger(
    'a duration',
    [{ ...state, for: '00:01:30' }],
    [{ ...state, for: { minutes: 1, seconds: 30 } }],
    [{ ...state, for: 90 }],
    [{ ...state, for: { minutes: '1.5' } }],
  ),
  trigger(
    'a threshold of an entity',
    [{ trigger: 'numeric_state', entity_id: ['sensor.a'], above: 5 }],
    [{ trigger: 'numeric_state', entity_id: 'sensor.a', above: 5 }],
  ),
  condition('one condition without brackets', [sun], sun),
  condition('a template as text', [template], [TEMPLATE], TEMPLATE),
  condition('a short form', [{ condition: 'or', conditions: [isOn, template] }], [{ or: [isOn, TEMPLATE] }]),
  condition('a short form of one', [{ condition: 'not', conditions: [isOn] }], { not: isOn }),
  condition('all of the entities', [isOn], [{ ...isOn, match: 'all' }], [{ ...isOn, match: 'ALL' }]),
  condition('an entity', [isOn], [{ ...isOn, entity_id: 'Light.a' }]),
  condition('a note', [isOn], [{ ...isOn, note: 'x' }]),
  action('one action without brackets', [event], event),
  action('the former name of a service', [service], [{ service: 'light.turn_on' }]),
  action('what the editor keeps for itself', [service], [{ ...service, metadata: {}, note: 'x' }]),
  action(
    'a target',
    [{ ...service, target: { entity_id: ['light.a', 'light.b'] } }],
    [{ ...service, target: { entity_id: 'light.a,light.b' } }],
  ),
  action(
    'an entity beside the service',
    [{ ...service, entity_id: ['light.a'] }],
    [{ ...service, entity_id: 'light.a' }],
  ),
  action('a delay', [{ delay: 300 }], [{ delay: '00:05' }], [{ delay: { minutes: 5 } }], [{ delay: '300' }]),
  action(
    'a wait',
    [{ wait_for_trigger: [time], timeout: 5 }],
    [{ wait_for_trigger: time, timeout: '00:00:05' }],
  ),
  action(
    'a choice',
    [{ choose: [{ conditions: [template], sequence: [service] }], default: [event] }],
    [{ choose: { conditions: TEMPLATE, sequence: { service: 'light.turn_on' }, note: 'x' }, default: event }],
  ),
  action(
    'a decision',
    [{ if: [isOn], then: [service], else: [event] }],
    [{ if: isOn, then: { service: 'light.turn_on' }, else: event }],
  ),
  action(
    'a repetition',
    [{ repeat: { count: 3, sequence: [service] } }],
    [{ repeat: { count: '3', sequence: { service: 'light.turn_on' } } }],
  ),
  action(
    'a repetition with a condition',
    [{ repeat: { while: [template], sequence: [event] } }],
    [{ repeat: { while: TEMPLATE, sequence: event } }],
  ),
  action(
    'branches',
    [{ parallel: [{ sequence: [service] }, { sequence: [event] }] }],
    [{ parallel: [{ service: 'light.turn_on' }, { sequence: event }] }],
  ),
  action('a condition among actions', [{ condition: 'and', conditions: [isOn] }], [{ and: isOn }]),
  action(
    'a flag',
    [{ ...event, enabled: false, continue_on_error: true }],
    [{ ...event, enabled: 'off', continue_on_error: 'yes' }],
  ),
  script(
    'what a new script has not',
    { sequence: [] },
    {
      sequence: null,
      description: '',
      fields: {},
      mode: 'single',
      max: 10,
      max_exceeded: 'warning',
      trace: {},
    },
  ),
  script(
    'a field',
    { fields: { a: { name: 'A', required: false, advanced: false } } },
    { fields: { a: { name: 'A' } } },
    { fields: { a: { name: 'A', required: 'no' } } },
  ),
  scene(
    'a state',
    { entities: { 'light.a': 'on' } },
    { entities: { 'light.a': true } },
    {
      entities: { 'light.a': { state: 'on' } },
    },
  ),
  scene(
    'off',
    { entities: { 'light.a': { state: 'off', x: 1 } } },
    { entities: { 'light.a': { state: false, x: 1 } } },
  ),
];

/** The validation does not change `enabled`, which matters when the event is fired. */
const fired = { trigger: 'event', event_type: 'go' };
const never = [{ condition: 'template', value_template: '{{ false }}' }];
const wait = { wait_template: '{{ false }}', timeout: 0.01 };

/** Definitions with one behaviour in the hub: the traces of their runs are equal. */
export const equalByRun: readonly Row[] = [
  automation('the description', { actions: [event] }, { actions: [event], description: '' }),
  automation('no conditions', { actions: [event], conditions: [] }, { actions: [event] }),
  automation('variables', { actions: [event] }, { actions: [event], variables: {}, trigger_variables: {} }),
  automation('a number of runs without a meaning', { actions: [event] }, { actions: [event], max: 5 }),
  automation(
    'a key that is not used any more',
    { actions: [event] },
    { actions: [event], hide_entity: true },
  ),
  trigger('a trigger that is enabled', [fired], [{ ...fired, enabled: true }]),
  action('an action that is enabled', [event], [{ ...event, enabled: true }]),
  action('no data', [{ action: 'logbook.log' }], [{ action: 'logbook.log', data: {} }]),
  action('no target', [service], [{ ...service, target: {} }]),
  action(
    'an action that fails',
    [{ action: 'no.such' }, event],
    [{ action: 'no.such', continue_on_error: false }, event],
  ),
  action('a wait that ends', [wait, event], [{ ...wait, continue_on_timeout: true }, event]),
  automation(
    'a condition that is enabled',
    { conditions: never, actions: [event] },
    {
      conditions: [{ ...never[0], enabled: true }],
      actions: [event],
    },
  ),
];

/** Definitions that are not equal, although they almost match a rule. */
export const different: readonly Row[] = [
  automation('a number of runs', { mode: 'queued', max: 10 }, { mode: 'queued', max: 9 }),
  automation('the initial state', {}, { initial_state: true }),
  automation('traces', {}, { trace: { stored_traces: 0 } }),
  trigger('another order', [time, state], [state, time]),
  trigger('a disabled one', [time], [{ ...time, enabled: false }]),
  trigger(
    'a duration with a template',
    [{ ...state, for: '00:00:05' }],
    [{ ...state, for: "{{ '00:00:06' }}" }],
  ),
  trigger('keys of an integration', [{ trigger: 'mqtt', topic: 'A' }], [{ trigger: 'mqtt', topic: 'a' }]),
  condition('any of the entities', [isOn], [{ ...isOn, match: 'any' }]),
  condition('another short form', [{ or: [isOn] }], [{ and: [isOn] }]),
  action('data of a service', [{ ...service, data: { metadata: {} } }], [{ ...service, data: {} }]),
  action(
    'data of an event',
    [{ ...event, event_data: { service: 'a' } }],
    [{ ...event, event_data: { action: 'a' } }],
  ),
  action('variables', [{ variables: { delay: '00:05' } }], [{ variables: { delay: 300 } }]),
  action('an action that goes on', [service], [{ ...service, continue_on_error: true }]),
  action('a wait that stops', [wait], [{ ...wait, continue_on_timeout: false }]),
  action('branches', [{ parallel: [event, event] }], [{ parallel: [{ sequence: [event, event] }] }]),
  script('a field', { fields: { a: {} } }, {}),
  script('a field that is needed', { fields: { a: { required: true } } }, { fields: { a: {} } }),
  scene('a state', { entities: { 'light.a': 'on' } }, { entities: { 'light.a': { state: 'on', x: null } } }),
];

const use = { path: 'motion.yaml', input: { a: 1 } };
/** Beside a blueprint, a default overrides the value of the blueprint. */
export const differentBesideBlueprint: readonly Row[] = [
  ...[
    { mode: 'single' },
    { conditions: [] },
    { variables: {} },
    { max_exceeded: 'warning' },
    { trace: {} },
  ].map((fields): Row => ({
    kind: 'automation',
    what: Object.keys(fields)[0]!,
    forms: [
      { alias: 'A', use_blueprint: use },
      { alias: 'A', use_blueprint: use, ...fields },
    ],
  })),
];
export const equalBesideBlueprint: readonly Row[] = [
  {
    kind: 'automation',
    what: 'the description and no inputs',
    forms: [
      { alias: 'A', use_blueprint: { path: 'motion.yaml' } },
      { alias: 'A', use_blueprint: { path: 'motion.yaml', input: {} }, description: '' },
    ],
  },
];
