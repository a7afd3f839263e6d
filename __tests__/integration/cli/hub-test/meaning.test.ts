import {
  atStep,
  call,
  callStep,
  type CaseAnswer,
  caseOf,
  type CaseParts,
  expectStep,
  faultsOf,
  fireStep,
  ofType,
  requestOf,
  runRequest,
  setStep,
  state,
} from '../../../cluster/hub-test';
import { homeOfEvents } from './home-of-events';

// The meaning of each keyword of a test file, as far as the Python program decides it, with one case for each
// sentence of the documentation.

type Row = readonly [sentence: string, parts: CaseParts, faults: readonly (string | RegExp)[]];

const act = (action: string, parts: object = {}) => fireStep('act', { action, ...parts });
const phone = (message: string) => call('notify.phone', { data: { message } });
const advance = (seconds: number) => ({ advance: seconds });
const PASSES: readonly string[] = [];
const sofa = { entity_id: 'light.sofa' };

const rows: readonly Row[] = [
  // Cases about calls
  [
    'the calls are a subset: others are allowed',
    { steps: [act('a.x'), act('a.y'), expectStep({ calls: [call('a.x')] })] },
    PASSES,
  ],
  [
    '`only` forbids others, and names their author',
    { steps: [act('a.x'), act('a.y'), expectStep({ calls: [call('a.x')], only: true })] },
    ['unexpected-call: Unexpected call: a.y by automation.act.'],
  ],
  [
    '`only` without calls forbids all',
    { steps: [advance(1), expectStep({ only: true, within: 60 })] },
    PASSES,
  ],
  [
    'a call that is missing is a fault, with the data that were expected',
    { steps: [act('a.x', { data: { n: 1 } }), expectStep({ calls: [call('a.x', { data: { n: 2 } })] })] },
    ['missing-call: Missing call: a.x with {n: 2}.'],
  ],
  [
    'a call that matched one item matches no other',
    { steps: [act('a.x'), expectStep({ calls: [call('a.x'), call('a.x')] })] },
    ['missing-call: Missing call: a.x.'],
  ],
  [
    'no choice of items fails calls that another choice fulfils',
    {
      steps: [
        act('a.x', { data: { n: 1, m: 1 } }),
        act('a.x', { data: { n: 1 } }),
        act('a.x', { data: { n: 1, m: 1, o: 1 } }),
        expectStep({
          calls: [
            call('a.x', { data: { n: 1 } }),
            call('a.x', { data: { n: 1, m: 1 } }),
            call('a.x', { data: { o: 1 } }),
          ],
        }),
      ],
    },
    PASSES,
  ],
  [
    '`times` does not count a call that another item has',
    {
      steps: [
        act('a.x', { data: { n: 1 } }),
        act('a.x', { data: { n: 2 } }),
        expectStep({ calls: [call('a.x', { times: 1 }), call('a.x', { data: { n: 2 } })] }),
      ],
    },
    PASSES,
  ],
  [
    '`times` counts over the whole of `within`',
    {
      steps: [
        act('a.x'),
        act('a.x', { after: 50 }),
        expectStep({ calls: [call('a.x', { times: 1 })], within: 60 }),
      ],
    },
    ['times: Expected 1 call of a.x, seen 2.'],
  ],
  [
    '`times` is not met by fewer',
    { steps: [act('a.x'), expectStep({ calls: [call('a.x', { times: 3 })], within: 60 })] },
    ['times: Expected 3 calls of a.x, seen 1.'],
  ],
  [
    'calls count from the end of the `expect` before',
    {
      steps: [
        act('a.x'),
        expectStep({ calls: [call('a.x')] }),
        expectStep({ calls: [call('a.x')], within: 5 }),
      ],
    },
    ['missing-call: Missing call: a.x.'],
  ],
  [
    'calls count from the start of the case, also those of the start of the hub',
    {
      given: { 'input_boolean.holiday': { state: 'on' } },
      steps: [expectStep({ calls: [call('logbook.log', { by: 'automation.started' })], only: true })],
    },
    PASSES,
  ],
  [
    'calls between two `expect` are not lost by a step `advance`',
    { steps: [act('a.x', { after: 5 }), advance(60), expectStep({ calls: [call('a.x')] })] },
    PASSES,
  ],
  [
    '`none` is judged at the end of `within`, not before',
    { steps: [act('a.x', { after: 59 }), expectStep({ none: [call('a.x')], within: 60 })] },
    ['unexpected-call: Unexpected call: a.x by automation.act.'],
  ],
  [
    '`none` does not see a call after `within`',
    { steps: [act('a.x', { after: 61 }), expectStep({ none: [call('a.x')], within: 60 })] },
    PASSES,
  ],
  [
    'without `none`, `times` and `only` an `expect` ends at the first moment at which all holds',
    {
      steps: [
        act('a.x', { after: 5 }),
        act('a.y', { after: 8 }),
        expectStep({ calls: [call('a.x')], within: 60 }),
        expectStep({ none: [call('a.z')], within: 1 }),
        expectStep({ calls: [call('a.y')], only: true, within: 3 }),
      ],
    },
    PASSES,
  ],
  [
    'a time of day without `within` means that second',
    {
      start: '2026-11-02T06:59:00',
      steps: [atStep({ clock: '07:00:00' }), expectStep({ calls: [phone('seven')] })],
    },
    PASSES,
  ],
  [
    'the calls of the test itself are not the home’s',
    { steps: [callStep('a.x'), expectStep({ only: true, none: [call('a.x')], within: 5 })] },
    PASSES,
  ],
  // Cases about values
  [
    'a number compares as a number, a text as a text',
    {
      steps: [
        act('a.x', { data: { n: 20.0, t: '20' } }),
        expectStep({ calls: [call('a.x', { data: { n: 20, t: '20' } })] }),
        setStep({ 'sensor.a': '20.0' }),
        expectStep({ states: { 'sensor.a': state(20) } }),
        expectStep({ states: { 'sensor.a': state('20') } }),
      ],
    },
    ['state: sensor.a is 20.0, expected 20.'],
  ],
  [
    'true is no 1',
    { steps: [act('a.x', { data: { n: true } }), expectStep({ calls: [call('a.x', { data: { n: 1 } })] })] },
    ['missing-call: Missing call: a.x with {n: 1}.'],
  ],
  [
    '1 is not true',
    { steps: [act('a.x', { data: { n: 1 } }), expectStep({ calls: [call('a.x', { data: { n: true } })] })] },
    ['missing-call: Missing call: a.x with {n: true}.'],
  ],
  [
    'lists, objects, patterns, true and null',
    {
      steps: [
        act('a.x', {
          data: { list: [1, 'b'], object: { a: 1, b: 2 }, text: 'motion in the hall', yes: true },
        }),
        expectStep({
          calls: [
            call('a.x', {
              data: { list: [1, 'b'], object: { b: 2 }, text: /^motion/, yes: true, absent: null },
            }),
          ],
        }),
      ],
    },
    PASSES,
  ],
  [
    'a list of another length or order is another one',
    {
      steps: [
        act('a.x', { data: { list: [1, 2] } }),
        expectStep({ calls: [call('a.x', { data: { list: [2, 1] } })] }),
      ],
    },
    ['missing-call: Missing call: a.x with {list: [2, 1]}.'],
  ],
  [
    'a pattern that Python does not know is a fault of the step',
    { steps: [expectStep({ states: { 'sun.sun': { regex: '(' } } })] },
    ['step: /(/ is not a regular expression of Python: correct it.'],
  ],
  [
    'attributes of a state',
    {
      given: { 'light.sofa': { state: 'on', attributes: { brightness: 3 } } },
      steps: [
        expectStep({ states: { 'light.sofa': state('on', { brightness: 3 }) } }),
        expectStep({ states: { 'light.sofa': state('on', { brightness: 4 }) } }),
      ],
    },
    ['state: brightness of light.sofa is 3, expected 4.'],
  ],
  [
    'an entity that there is not has no state',
    {
      steps: [
        expectStep({ states: { 'light.sofa': state(null) } }),
        expectStep({ states: { 'light.sofa': state('on') } }),
      ],
    },
    ['state: light.sofa has no state, expected on.'],
  ],
  [
    'an entity that nothing names is a typo, where no state of it is expected',
    { steps: [expectStep({ states: { 'light.sofaa': state(null) } })] },
    [
      'step: light.sofaa is expected to have no state, and neither the home nor the case has such an entity: correct it.',
    ],
  ],
  [
    'an entity that nothing names is a typo, where no call for it is expected',
    { steps: [expectStep({ none: [call('light.turn_on', { entity: ['light.hall', 'light.sofaa'] })] })] },
    ['step: none has light.sofaa, which neither the home nor the case has: correct it, or add it to given.'],
  ],
  [
    'an entity that an action creates, or a later step sets, may have no state',
    {
      given: { 'light.sofa': { state: 'on' } },
      steps: [
        expectStep({ states: { 'scene.before': state(null), 'light.later': state(null) } }),
        callStep('scene.create', {}, { scene_id: 'before', snapshot_entities: ['light.sofa'] }),
        setStep({ 'light.later': 'on' }),
        expectStep({ states: { 'scene.before': state(/./), 'light.later': state('on') } }),
      ],
    },
    PASSES,
  ],
  // Cases about targets and authors
  [
    'areas, floors and labels resolve to the entities of the domain in them',
    {
      given: {
        'light.sofa': { state: 'off', area: 'Living room' },
        'cover.sofa': { state: 'open', area: 'living_room' },
        'light.kitchen': { state: 'off', area: 'Kitchen', labels: ['Night'] },
      },
      steps: [
        act('light.turn_on', { target: { area_id: 'living_room' } }),
        expectStep({
          calls: [call('light.turn_on', { entity: ['light.sofa'] })],
          none: [call('light.turn_on', { entity: ['cover.sofa'] })],
        }),
        act('cover.close_cover', { target: { floor_id: 'ground' } }),
        expectStep({ calls: [call('cover.close_cover', { entity: ['cover.sofa'] })] }),
        act('light.turn_off', { target: { label_id: 'night' } }),
        expectStep({ calls: [call('light.turn_off', { entity: ['light.sofa', 'light.kitchen'] })] }),
        expectStep({ states: { 'light.kitchen': state('off'), 'cover.sofa': state('closed') } }),
      ],
    },
    [],
  ],
  ...(
    [
      ['area', 'lving_room', 'kitchen, living_room'],
      ['floor', 'groud', 'ground'],
      ['label', 'nihgt', 'night'],
    ] as const
  ).map(([kind, missing, known]): Row => [
    `the target of an action with a mistyped ${kind} is found`,
    {
      given: { 'light.sofa': { state: 'off' } },
      steps: [act('light.turn_on', { target: { [`${kind}_id`]: missing } }), expectStep({})],
    },
    [`log: WARNING light.turn_on: there is no ${kind} ${missing}: the ids of ${kind}s are ${known}`],
  ]),
  [
    'an area that the home does not have is a fault',
    { given: { 'light.sofa': { state: 'off', area: 'Lving room' } }, steps: [expectStep({ only: true })] },
    ['step: There is no area Lving room: the areas are Kitchen, Living room.'],
  ],
  [
    'the author of a call in a script is the automation that called it, and the script otherwise',
    {
      given: { 'light.sofa': { state: 'on' } },
      steps: [
        callStep('script.good_night'),
        expectStep({ calls: [call('light.turn_off', { by: 'script.good_night' })] }),
        act('script.good_night', { after: 120 }),
        advance(121),
        expectStep({ calls: [call('light.turn_off', { by: 'automation.act' })] }),
      ],
    },
    PASSES,
  ],
  [
    '`by` finds a call by a script that an automation called, and `none` does',
    {
      given: { 'light.sofa': { state: 'on' } },
      steps: [
        act('script.good_night'),
        expectStep({ calls: [call('light.turn_off', { by: 'script.good_night' })] }),
        expectStep({ none: [call('notify.phone', { by: 'script.good_night' })], within: 90 }),
      ],
    },
    ['unexpected-call: Unexpected call: notify.phone by automation.act.'],
  ],
  [
    'a call by an automation itself is none by the script that it called before',
    {
      steps: [
        act('script.good_night'),
        act('notify.phone', { after: 1 }),
        expectStep({ none: [call('notify.phone', { by: 'script.good_night' })], within: 30 }),
      ],
    },
    PASSES,
  ],
  [
    'a scene calls the actions of its entities',
    {
      given: { 'light.sofa': { state: 'off' } },
      steps: [
        callStep('scene.turn_on', { entity_id: 'scene.cosy' }),
        expectStep({
          calls: [call('light.turn_on', { entity: ['light.sofa'], data: { brightness: 40 } })],
          states: { 'light.sofa': state('on', { brightness: 40 }) },
        }),
      ],
    },
    PASSES,
  ],
  // Cases about calls that are not made
  ...(
    [
      ['no call', { only: true }],
      ['none of an action', { none: [call('notify.phone')] }],
    ] as const
  ).map(([name, expected]): Row => [
    `a step \`at\` ends after the triggers of that time: ${name}`,
    {
      start: '2026-11-02T06:50:00',
      steps: [atStep({ clock: '07:00:00' }), expectStep(expected)],
    },
    ['unexpected-call: Unexpected call: notify.phone by automation.seven.'],
  ]),
  [
    'a state at a time of day is that after the triggers of that time',
    {
      start: '2026-11-02T07:50:00',
      given: { 'light.hall': { state: 'on' } },
      steps: [{ advance: 600 }, expectStep({ states: { 'light.hall': state('on') } })],
    },
    ['state: light.hall is off, expected on.'],
  ],
  [
    '`within` has the calls of the second in which it ends',
    {
      start: '2026-11-02T06:50:00',
      steps: [
        atStep({ clock: '06:59:59' }),
        expectStep({ calls: [call('notify.phone', { times: 1 })], within: 1 }),
      ],
    },
    PASSES,
  ],
  [
    '`only` sees the further calls of a run that has paused',
    {
      steps: [fireStep('pauses'), expectStep({ calls: [call('a.x')], only: true })],
    },
    ['unexpected-call: Unexpected call: a.y by automation.pauses.'],
  ],
  [
    'an action in `none` that the hub does not have is a fault',
    {
      given: { 'light.sofa': { state: 'off' } },
      steps: [expectStep({ none: [call('light.turn_of'), call('lihgt.turn_on'), call('custom.action')] })],
    },
    [
      'step: none has light.turn_of, which is no action of light: it has toggle, turn_off, turn_on.',
      'step: none has lihgt.turn_on, which no integration has: did you mean light.turn_on?',
    ],
  ],
  [
    'an author in `none` that the home does not have is a fault',
    { steps: [expectStep({ none: [call('notify.phone', { by: 'automation.sevn' })] })] },
    ['step: none has calls by automation.sevn, which the home does not have: correct it.'],
  ],
  // Cases about echo and mocks
  [
    'a light has the brightness that the hub computes, and is off at 0',
    {
      given: { 'light.sofa': { state: 'off' }, 'light.hall': { state: 'on' } },
      steps: [
        act('light.turn_on', { target: sofa, data: { brightness_pct: 50 } }),
        expectStep({ states: { 'light.sofa': state('on', { brightness: 128 }) } }),
        act('light.turn_on', { target: sofa, data: { brightness_step: -28 } }),
        expectStep({ states: { 'light.sofa': state('on', { brightness: 100 }) } }),
        act('light.turn_on', { target: sofa, data: { brightness_step_pct: 10 } }),
        expectStep({ states: { 'light.sofa': state('on', { brightness: 125 }) } }),
        act('light.turn_on', { target: sofa, data: { brightness_step: -200 } }),
        act('light.turn_on', { target: { entity_id: 'light.hall' }, data: { brightness_pct: 0 } }),
        expectStep({ states: { 'light.sofa': state('off'), 'light.hall': state('off') } }),
      ],
    },
    PASSES,
  ],
  [
    'a cover with a position has that of its state',
    {
      given: {
        'cover.a': { state: 'open', attributes: { current_position: 40 } },
        'cover.b': { state: 'open' },
      },
      steps: [
        act('cover.close_cover', { target: { entity_id: ['cover.a', 'cover.b'] } }),
        expectStep({
          states: { 'cover.a': state('closed', { current_position: 0 }), 'cover.b': state('closed') },
        }),
        act('cover.toggle', { target: { entity_id: 'cover.a' } }),
        expectStep({ states: { 'cover.a': state('open', { current_position: 100 }) } }),
        act('cover.set_cover_position', { target: { entity_id: 'cover.a' }, data: { position: 30 } }),
        expectStep({ states: { 'cover.a': state('open', { current_position: 30 }) } }),
      ],
    },
    PASSES,
  ],
  [
    'a person whose state is given is counted by zones, and enters and leaves them',
    {
      given: { 'person.ada': { state: 'not_home' }, 'person.bob': { state: 'Work' } },
      steps: [
        expectStep({ states: { 'zone.home': state(0), 'zone.work': state(1) } }),
        setStep({ 'person.ada': 'home', 'person.bob': 'not_home' }),
        expectStep({
          calls: [phone('zone'), phone('numeric_state')],
          states: { 'zone.home': state(1), 'zone.work': state(0) },
        }),
        setStep({ 'person.ada': 'unavailable' }),
        expectStep({ states: { 'zone.home': state(0) } }),
        setStep({ 'person.bob': { state: 'Work', attributes: { latitude: 52.5, longitude: 13.3 } } }),
        setStep({ 'person.ada': { state: 'Work', attributes: { in_zones: ['zone.work'] } } }),
        expectStep({ states: { 'zone.home': state(0), 'zone.work': state(2) } }),
      ],
    },
    PASSES,
  ],
  [
    'a person has the state of the place that is set alone, and leaves the place with another state',
    {
      given: { 'person.ada': { state: 'not_home' } },
      steps: [
        setStep({ 'person.ada': { attributes: { latitude: 52.52, longitude: 13.405 } } }),
        expectStep({ calls: [phone('zone')], states: { 'person.ada': state('home', { latitude: 52.52 }) } }),
        setStep({ 'person.ada': { attributes: { latitude: 52.5, longitude: 13.3 } } }),
        expectStep({ states: { 'person.ada': state('Work', { in_zones: ['zone.work'] }) } }),
        setStep({ 'person.ada': { attributes: { latitude: 52.5, longitude: 13.304, gps_accuracy: 100 } } }),
        expectStep({ states: { 'person.ada': state('Work', { in_zones: ['zone.work'] }) } }),
        setStep({ 'person.ada': 'not_home' }),
        expectStep({ states: { 'person.ada': state('not_home', { latitude: null, in_zones: [] }) } }),
      ],
    },
    PASSES,
  ],
  [
    'an entity that is unavailable follows no call, as in the hub',
    {
      given: { 'light.sofa': { state: 'on' } },
      steps: [
        { restart: { down: 60 } },
        act('light.turn_on', { target: sofa }),
        expectStep({ calls: [call('light.turn_on')], states: { 'light.sofa': state('on') } }),
      ],
    },
    ['state: light.sofa is unavailable, expected on.'],
  ],
  [
    'given entities follow calls, and automations follow them',
    {
      given: { 'light.sofa': { state: 'off', attributes: { brightness: 10 } } },
      steps: [
        act('light.turn_on', { target: sofa, data: { brightness_pct: 40 } }),
        expectStep({
          calls: [phone('sofa 102')],
          states: { 'light.sofa': state('on', { brightness: 102 }) },
        }),
        act('light.toggle', { target: sofa }),
        expectStep({ states: { 'light.sofa': state('off') } }),
      ],
    },
    PASSES,
  ],
  [
    'without echo they stay as they are',
    {
      given: { 'light.sofa': { state: 'off' } },
      echo: false,
      steps: [
        act('light.turn_on', { target: sofa }),
        expectStep({
          calls: [call('light.turn_on')],
          states: { 'light.sofa': state('off') },
          none: [phone('sofa None')],
        }),
      ],
    },
    PASSES,
  ],
  [
    'a mock answers',
    {
      mock: { 'weather.get_forecasts': { response: { rain: true } } },
      steps: [fireStep('asks'), expectStep({ calls: [call('notify.phone', { data: { message: /rain/ } })] })],
    },
    PASSES,
  ],
  [
    'a mock takes its time',
    {
      mock: { 'weather.get_forecasts': { takes: 20 } },
      steps: [
        fireStep('asks'),
        expectStep({ none: [call('notify.phone')], within: 19 }),
        expectStep({ calls: [call('notify.phone')], within: 2 }),
      ],
    },
    PASSES,
  ],
  [
    'a mock raises: the automation ends, and its error is none of the home',
    {
      mock: { 'weather.get_forecasts': { raises: 'no connection at 0x7f' } },
      steps: [fireStep('asks'), expectStep({ none: [call('notify.phone')], within: 5 })],
    },
    PASSES,
  ],
  // Cases about `set` and `given`
  [
    'an entity without `given` is set',
    {
      steps: [
        setStep({ 'binary_sensor.hall': 'off' }),
        expectStep({ none: [call('light.turn_off')], within: 299 }),
        expectStep({
          calls: [call('light.turn_off', { entity: ['light.hall'], by: 'automation.hall_off' })],
          within: 2,
        }),
      ],
    },
    PASSES,
  ],
  [
    'helpers are set through their actions',
    {
      steps: [
        setStep({ 'input_boolean.film': 'on', 'input_number.level': '30', 'input_text.note': 'hello' }),
        setStep({ 'input_select.mode': 'night', 'input_datetime.wake': '06:30:00', 'counter.visits': '4' }),
        setStep({ 'timer.oven': 'active' }),
        expectStep({
          states: {
            ...{ 'input_boolean.film': state('on'), 'input_number.level': state('30.0') },
            ...{ 'input_text.note': state('hello'), 'input_select.mode': state('night') },
            ...{
              'counter.visits': state(4),
              'timer.oven': state('active'),
              'input_datetime.wake': state('06:30:00'),
            },
          },
          none: [call('input_boolean.turn_on')],
        }),
        advance(601),
        expectStep({ states: { 'timer.oven': state('idle') } }),
        atStep({ clock: '06:30:00' }),
        expectStep({ calls: [phone('wake')] }),
      ],
    },
    PASSES,
  ],
  [
    'a helper may be given, before the automations are loaded',
    {
      given: { 'input_number.level': { state: '55' }, 'input_boolean.film': { state: 'on' } },
      steps: [expectStep({ states: { 'input_number.level': state(55), 'input_boolean.film': state('on') } })],
    },
    PASSES,
  ],
  [
    'a value that a helper does not have is a fault',
    { steps: [setStep({ 'timer.oven': 'hot' }), expectStep({})] },
    ['step: A helper of timer cannot be hot: it can be active, idle, paused.'],
  ],
  [
    'an automation of the home is not set',
    { steps: [setStep({ 'automation.seven': 'off' }), expectStep({})] },
    [
      "step: automation.seven is the home's own, so that its state is not set: write `call: {action: automation.turn_on, target: {entity_id: automation.seven}}`.",
    ],
  ],
  [
    'a template of the home is not set',
    { steps: [setStep({ 'binary_sensor.dark': 'on' }), expectStep({})] },
    ['step: binary_sensor.dark is made by the home, and has no action that sets it: set what it depends on.'],
  ],
  [
    'a template is not given either',
    { given: { 'binary_sensor.dark': { state: 'on' } }, steps: [expectStep({})] },
    ['step: binary_sensor.dark is made by the home, and has no action that sets it: set what it depends on.'],
  ],
  [
    'the sun is not set',
    { steps: [setStep({ 'sun.sun': 'below_horizon' }), expectStep({})] },
    ['step: sun.sun follows the time of the test: set that with `start` or `at`.'],
  ],
  [
    'templates follow states',
    {
      given: { 'sensor.lux': { state: '50' } },
      steps: [
        expectStep({ states: { 'binary_sensor.dark': state('off') } }),
        setStep({ 'sensor.lux': '5' }),
        expectStep({ calls: [phone('dark')], states: { 'binary_sensor.dark': state('on') } }),
      ],
    },
    PASSES,
  ],
  [
    'a state that no hub keeps is a fault',
    { steps: [setStep({ 'sensor.a': 'x'.repeat(300) }), expectStep({})] },
    ['step: The state of sensor.a has 300 characters: a hub keeps 255 at most.'],
  ],
  [
    'an automation that is off stays off, until it is turned on',
    {
      steps: [
        fireStep('off'),
        expectStep({ none: [phone('is on')], states: { 'automation.off': state('off') } }),
        callStep('automation.turn_on', { entity_id: 'automation.off' }),
        fireStep('off'),
        expectStep({ calls: [phone('is on')] }),
      ],
    },
    PASSES,
  ],
  // Cases about moments
  [
    '`at` is the next such moment, strictly after now',
    {
      start: '2026-11-02T07:00:00',
      steps: [atStep({ clock: '07:00:00' }), expectStep({ calls: [phone('seven')], within: 1 })],
    },
    PASSES,
  ],
  [
    'at that moment itself, it is the one of the next day',
    {
      start: '2026-11-02T07:00:00',
      steps: [atStep({ clock: '07:00:00' }), atStep({ local: '2026-11-03T06:59:00' }), expectStep({})],
    },
    [/^time: 2026-11-03T06:59:00 is not after 2026-11-03T07:00:00/],
  ],
  [
    'a local time that is past is a fault',
    { steps: [atStep({ local: '2026-11-02T11:59:00' }), expectStep({})] },
    [
      /^time: 2026-11-02T11:59:00 is not after 2026-11-02T12:00:00\.\d+\+01:00, the time of the step before\.$/,
    ],
  ],
  [
    'a time of day that is missing on a day is that of the next one',
    {
      start: '2026-03-29T00:00:00',
      steps: [
        atStep({ clock: '02:30:00' }),
        act('a.x', { data: { at: 1 } }),
        expectStep({ calls: [call('a.x')] }),
        atStep({ local: '2026-03-30T02:31:00' }),
        expectStep({ states: { 'sun.sun': state('below_horizon') } }),
      ],
    },
    PASSES,
  ],
  [
    'in an overlap a local time is the first one, an hour before the second',
    {
      start: '2026-10-25T00:00:00',
      steps: [
        atStep({ local: '2026-10-25T02:30:00' }),
        atStep({ clock: '02:30:00' }),
        atStep({ clock: '02:30:00' }),
        act('a.x'),
        expectStep({ calls: [call('a.x')], states: { 'automation.act': state('on') } }),
      ],
    },
    PASSES,
  ],
  [
    'the sun, with an offset',
    {
      steps: [
        atStep({ sun: 'sunset', offset: -600 }),
        expectStep({ states: { 'sun.sun': state('above_horizon') } }),
        atStep({ sun: 'sunset', offset: 600 }),
        expectStep({ states: { 'sun.sun': state('below_horizon') } }),
        atStep({ sun: 'sunrise', offset: 600 }),
        expectStep({ states: { 'sun.sun': state('above_horizon') } }),
      ],
    },
    PASSES,
  ],
  [
    '`now()`, `today_at` and the condition `time` are on the virtual clock, before midnight',
    {
      start: '2026-11-02T23:59:00',
      steps: [
        fireStep('night'),
        expectStep({
          calls: [
            call('notify.phone', {
              data: {
                message:
                  /^2026-11-02T23:59:00\.\d+\+01:00 2026-11-02T23:30:00\+01:00 2026-11-02T22:59:00\.\d+\+00:00$/,
              },
            }),
          ],
        }),
      ],
    },
    PASSES,
  ],
  [
    '`now()`, `today_at` and the condition `time` are on the virtual clock, after midnight',
    {
      start: '2026-11-02T23:59:00',
      steps: [
        atStep({ clock: '00:30:00' }),
        fireStep('night'),
        expectStep({
          calls: [
            call('notify.phone', {
              data: {
                message: /^2026-11-03T00:30:00\.\d+\+01:00 2026-11-03T23:30:00\+01:00 2026-11-02T23:30:00/,
              },
            }),
          ],
        }),
        atStep({ clock: '01:00:01' }),
        fireStep('night'),
        expectStep({ none: [call('notify.phone')] }),
      ],
    },
    PASSES,
  ],
  [
    'an automation at a time that is there twice on a day runs twice, as in the hub',
    {
      start: '2026-10-24T12:00:00',
      steps: [
        atStep({ local: '2026-10-26T12:00:00' }),
        expectStep({ calls: [call('notify.phone', { data: { message: 'half past two' }, times: 3 })] }),
      ],
    },
    PASSES,
  ],
  // Cases about restarts
  [
    'a restart keeps what the hub restores',
    {
      given: { 'light.sofa': { state: 'on' } },
      steps: [
        setStep({ 'input_boolean.film': 'on', 'input_text.note': 'hello', 'timer.oven': 'active' }),
        callStep('automation.turn_off', { entity_id: 'automation.seven' }),
        { restart: { down: 60 } },
        expectStep({
          states: {
            ...{ 'input_boolean.film': state('on'), 'input_text.note': state('hello') },
            ...{ 'automation.seven': state('off'), 'input_number.level': state(7) },
          },
        }),
      ],
    },
    PASSES,
  ],
  [
    'a restart makes given entities unavailable, until they are set',
    {
      given: {
        'light.sofa': { state: 'on', area: 'Living room' },
        ...{ 'sensor.lux': { state: '5' }, 'input_boolean.holiday': { state: 'on' } },
      },
      steps: [
        expectStep({ calls: [call('logbook.log', { data: { message: 'on' } })] }),
        { restart: { down: 60 } },
        expectStep({
          calls: [call('logbook.log', { data: { message: 'unavailable' } })],
          states: { 'light.sofa': state(null), 'sensor.lux': state('unavailable') },
        }),
        setStep({ 'light.sofa': 'off' }),
        act('light.turn_on', { target: { area_id: 'living_room' } }),
        expectStep({
          calls: [call('light.turn_on', { entity: ['light.sofa'] })],
          states: { 'light.sofa': state('on') },
        }),
      ],
    },
    PASSES,
  ],
  [
    'a restart ends the runs and the timers of the hub before it',
    {
      start: '2026-11-02T06:59:15',
      given: { 'binary_sensor.hall': { state: 'on' } },
      steps: [
        expectStep({}),
        act('a.x', { after: 90 }),
        { restart: { down: 30 } },
        atStep({ clock: '07:05:00' }),
        expectStep({
          calls: [call('notify.phone', { data: { message: 'seven' }, times: 1 })],
          only: true,
        }),
      ],
    },
    PASSES,
  ],
  [
    'a restart takes the time that the hub is down',
    {
      start: '2026-11-02T06:59:30',
      steps: [{ restart: { down: 60 } }, expectStep({ none: [phone('seven')], within: 60 })],
    },
    PASSES,
  ],
  // Cases about faults of the home
  [
    'a loop at one instant ends the case, with its automation',
    { steps: [fireStep('loop'), expectStep({ calls: [call('a.x')], within: 3600 })] },
    ['runaway: automation.loop ran 100 times within one second.'],
  ],
  [
    'a loop with a delay fails the case, with its automation, also without a call',
    { steps: [fireStep('slow_loop', { delay: 1 }), advance(45), expectStep({ only: true })] },
    [/^log: automation\.slow_loop has caused itself 20 times within a minute: /],
  ],
  [
    'unless the case allows it, by its words',
    {
      allowWarnings: ['automation\\.slow_loop has caused itself'],
      steps: [fireStep('slow_loop', { delay: 1 }), advance(45), expectStep({ only: true })],
    },
    PASSES,
  ],
  [
    'a loop that ends after some runs at one instant is none',
    { steps: [fireStep('counted_loop', { left: 40 }), advance(70), expectStep({ only: true })] },
    PASSES,
  ],
  [
    'an automation that causes itself every few seconds is no loop',
    { steps: [fireStep('slow_loop', { delay: 5 }), advance(600), expectStep({ only: true })] },
    PASSES,
  ],
  [
    'an automation that others cause often is no loop',
    {
      steps: [
        ...Array.from({ length: 40 }, () => fireStep('slow_loop', { delay: 100 })),
        advance(30),
        expectStep({ only: true }),
      ],
    },
    PASSES,
  ],
  [
    'an entity that a condition names and that there is not fails the case',
    { steps: [fireStep('absent'), expectStep({ none: [phone('never')], within: 1 })] },
    [/^log: .*automation.*unknown entity sensor\.absent/s],
  ],
  [
    'unless the case allows it',
    {
      allowWarnings: ['unknown entity sensor\\.absent'],
      steps: [fireStep('absent'), expectStep({ none: [phone('never')], within: 1 })],
    },
    PASSES,
  ],
  [
    'a template that fails does so, too',
    { steps: [fireStep('wrong_template'), expectStep({ none: [call('notify.phone')], within: 1 })] },
    [/^log: .*int got invalid input/s],
  ],
  [
    'warnings that the case allows leave room for one that it does not allow',
    {
      allowWarnings: ['light\\.odd_'],
      given: { 'light.sofa': { state: 'on' } },
      steps: [
        ...Array.from({ length: 101 }, (_, index) => act(`light.odd_${index}`, { target: sofa })),
        fireStep('wrong_template'),
        expectStep({ none: [call('notify.phone')] }),
      ],
    },
    [/^log: .*int got invalid input/s],
  ],
  [
    'an error that only contains the message of a mock is a fault',
    {
      mock: { 'weather.get_forecasts': { raises: 'e' } },
      steps: [fireStep('asks'), fireStep('wrong_template'), expectStep({ none: [call('notify.phone')] })],
    },
    [/^log: .*int got invalid input/s],
  ],
  [
    'an error with the message of a mock is a fault at a moment at which no mock raises one',
    {
      mock: { 'weather.get_forecasts': { raises: 'Action light.turn_onn not found' } },
      given: { 'light.sofa': { state: 'on' } },
      steps: [fireStep('asks'), act('light.turn_onn', { target: sofa }), expectStep({})],
    },
    [/^log: .*light\.turn_onn not found/s],
  ],
  [
    'a warning of an automation is a fault, also if its name is like a refusal of the hub',
    { steps: [fireStep('odd_name'), expectStep({ only: true })] },
    [/^log: .*has been disabled: now.*unknown entity sensor\.absent/s],
  ],
  [
    'an action that a known domain does not have is found',
    {
      given: { 'light.sofa': { state: 'on' } },
      steps: [act('light.turn_onn', { target: sofa }), expectStep({})],
    },
    [/^log: .*light\.turn_onn not found/s],
  ],
  [
    'an action of a mistyped domain is found, with the one that is meant',
    { steps: [act('ligth.turn_on', { target: sofa }), expectStep({})] },
    [/^log: .*ligth\.turn_on not found: did you mean light\.turn_on\?/s],
  ],
  [
    'unless it is mocked, as one of a custom integration',
    {
      mock: { 'ligth.turn_on': {} },
      steps: [act('ligth.turn_on', { target: sofa }), expectStep({ calls: [call('ligth.turn_on')] })],
    },
    PASSES,
  ],
  [
    'data that a known action does not take are found, also where it is mocked',
    {
      given: { 'light.sofa': { state: 'on' } },
      mock: { 'light.turn_on': { takes: 1 } },
      steps: [act('light.turn_on', { target: sofa, data: { brightnes: 3 } }), advance(2), expectStep({})],
    },
    [/^log: .*brightnes/s],
  ],
  [
    'an action of the test that fails is a fault of its step',
    {
      steps: [
        callStep('input_number.set_value', { entity_id: 'input_number.level' }, { value: 500 }),
        expectStep({}),
      ],
    },
    [/^step: .*500/s],
  ],
  [
    'a case ends with the first step that finds a fault',
    {
      steps: [expectStep({ calls: [call('a.x')] }), expectStep({ calls: [call('a.y')] })],
    },
    ['missing-call: Missing call: a.x.'],
  ],
];

let answers: ReadonlyMap<string, CaseAnswer>;
let stderr: string;

beforeAll(async () => {
  const cases = rows.map(([sentence, parts]) => caseOf(sentence, parts));
  const run = await runRequest(requestOf(homeOfEvents, cases));
  stderr = run.stderr;
  expect(ofType(run.answers, 'failed')).toEqual([]);
  expect(ofType(run.answers, 'refused')).toEqual([]);
  answers = new Map(ofType(run.answers, 'case').map((answer) => [cases[answer.case]!.name, answer]));
});

describe('hub test:', () => {
  test.each(rows)('%s', (sentence, _parts, faults) => {
    const found = faultsOf(answers.get(sentence));
    expect(found).toEqual(
      faults.map((fault) => (typeof fault === 'string' ? fault : expect.stringMatching(fault))),
    );
  });

  test('a fault has its step, its line and its time', () => {
    const [fault] = answers.get('`times` counts over the whole of `within`')!.faults;
    expect(fault).toMatchObject({
      ...{ step: 2, line: 3, at: expect.stringMatching(/^2026-11-02T12:01:00\.\d{3}\+01:00$/) },
      expected: { action: 'a.x', times: 1 },
      seen: [
        {
          at: expect.stringMatching(/^2026-11-02T12:00:00/),
          action: 'a.x',
          entities: [],
          data: {},
          by: 'automation.act',
        },
        { at: expect.stringMatching(/^2026-11-02T12:00:50/), action: 'a.x', by: 'automation.act' },
      ],
    });
  });

  test('the entities without a state are listed', () => {
    const { withoutState } = answers.get('the calls are a subset: others are allowed')!;
    expect(withoutState).toEqual([
      ...['binary_sensor.hall', 'light.hall', 'light.sofa', 'person.ada', 'sensor.absent', 'weather.home'],
    ]);
  });

  test('the program writes nothing to the standard error', () => expect(stderr).toBe(''));
});
