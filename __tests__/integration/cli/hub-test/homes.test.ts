import {
  atStep,
  call,
  callStep,
  caseOf,
  type CaseParts,
  expectStep,
  faultsOf,
  fireStep,
  home,
  type Home,
  ofType,
  requestOf,
  runRequest,
  setStep,
  state,
  type Answer,
} from '../../../cluster/hub-test';

// Homes of many forms. The hub itself loads or refuses their parts, and coverage is reported for them.

const notify = (message: string) => ({ action: 'notify.phone', data: { message } });
const phone = (message: string) => call('notify.phone', { data: { message } });
const on = (event_type: string) => [{ trigger: 'event', event_type }];

async function run(aHome: Home, cases: Readonly<Record<string, CaseParts>>, options = {}): Promise<Answer[]> {
  const all = Object.entries(cases).map(([name, parts]) => caseOf(name, parts));
  const { answers, stderr } = await runRequest(requestOf(aHome, all, options));
  expect(stderr).toBe('');
  expect(ofType(answers, 'failed')).toEqual([]);
  return [...answers];
}

const faults = (answers: readonly Answer[]) => ofType(answers, 'case').flatMap((answer) => faultsOf(answer));

const CONFIGURATION = `
homeassistant:
  packages: !include_dir_named packages
  customize:
    input_boolean.guest: {friendly_name: Our guest}
automation:
  - alias: In the file
    triggers: [{trigger: event, event_type: in_file}]
    actions: [{action: notify.phone, data: {message: in the file}}]
automation manual: !include_dir_list manual
automation ui: !include automations.yaml
script: !include scripts.yaml
scene: !include scenes.yaml
input_boolean: !include helpers/booleans.yaml
group:
  lights: {entities: [light.a, light.b]}
schedule:
  work: {name: Work, monday: [{from: '13:00:00', to: '14:00:00'}]}
rest_command:
  ring: {url: !secret url}
sensor:
  - {platform: rest, resource: !secret "url"}
  - {platform: min_max, name: Warmest, type: max, entity_ids: [sensor.a, sensor.b]}
frontend:
recorder: {purge_keep_days: 3}
`;

const FILES = {
  'packages/kitchen.yaml': `
automation:
  - id: package
    alias: In a package
    triggers: [{trigger: event, event_type: in_package}]
    actions: [{action: notify.phone, data: {message: !secret greeting}}]
input_number: {heat: {min: 0, max: 30}}
template: [{sensor: [{name: Doubled, state: "{{ states('input_number.heat') | float * 2 }}"}]}]
`,
  'manual/one.yaml': `
alias: In a list of files
trigger: {platform: event, event_type: in_list}
action: {service: notify.phone, data: {message: in a list of files}}
`,
  'scripts.yaml': 'greet: {sequence: [{action: notify.phone, data: {message: !secret unknown_secret}}]}\n',
  'helpers/booleans.yaml': 'guest:\n',
};

const BLUEPRINT = `
blueprint:
  name: Lamp
  domain: automation
  input:
    button: {selector: {entity: {}}}
    lamp: {selector: {target: {}}}
triggers: [{trigger: state, entity_id: !input button}]
actions:
  - if: [{condition: state, entity_id: !input button, state: 'on'}]
    then: [{action: light.turn_on, target: !input lamp}]
    else: [{action: light.turn_off, target: !input lamp}]
`;

describe('hub test reads a home', () => {
  let answers: Answer[];

  const cases: Record<string, CaseParts> = {
    'automations in the file, in packages and lists of files, in the former words, and without ids': {
      steps: [
        ...[fireStep('in_file'), fireStep('in_package'), fireStep('in_list'), callStep('script.greet')],
        expectStep({
          calls: [phone('in the file'), phone('hello'), phone('in a list of files'), phone('unknown_secret')],
          only: true,
        }),
      ],
    },
    'helpers and templates of packages, customized names, groups and schedules': {
      given: {
        'light.a': { state: 'off' },
        'light.b': { state: 'off' },
        'sensor.a': { state: '3' },
        'sensor.b': { state: '5' },
      },
      steps: [
        setStep({ 'input_number.heat': '12', 'input_boolean.guest': 'on' }),
        callStep('light.turn_on', { entity_id: 'group.lights' }),
        expectStep({
          states: {
            ...{ 'sensor.doubled': state(24), 'sensor.warmest': state(5), 'group.lights': state('on') },
            ...{ 'input_boolean.guest': state('on', { friendly_name: 'Our guest' }), 'light.b': state('on') },
            'schedule.work': state('off'),
          },
        }),
        atStep({ clock: '13:00:00' }),
        expectStep({ states: { 'schedule.work': state('on') } }),
      ],
    },
    'blueprints, also the hub’s own': {
      given: { 'binary_sensor.motion': { state: 'off' }, 'light.hall': { state: 'off' } },
      steps: [
        setStep({ 'binary_sensor.button': 'on' }),
        expectStep({
          calls: [call('light.turn_on', { entity: ['light.desk'], by: 'automation.desk' })],
          only: true,
        }),
        setStep({ 'binary_sensor.motion': 'on' }),
        expectStep({ calls: [call('light.turn_on', { entity: ['light.hall'], by: 'automation.motion' })] }),
        setStep({ 'binary_sensor.motion': 'off' }),
        expectStep({ none: [call('light.turn_off')], within: 119 }),
        expectStep({ calls: [call('light.turn_off', { entity: ['light.hall'] })], within: 2 }),
      ],
    },
    'zones, and the places of people in them': {
      steps: [
        setStep({
          'person.ada': { state: 'not_home', attributes: { latitude: 50, longitude: 10, gps_accuracy: 5 } },
        }),
        setStep({
          'person.ada': { state: 'Work', attributes: { latitude: 52.5, longitude: 13.3, gps_accuracy: 5 } },
        }),
        expectStep({ calls: [phone('at work')] }),
      ],
    },
    'another place of one file': { steps: [expectStep({ states: { 'sun.sun': state('above_horizon') } })] },
  };

  beforeAll(async () => {
    const aHome = home({
      configuration: CONFIGURATION,
      files: FILES,
      secrets: { greeting: 'hello' },
      zones: [{ name: 'Work', latitude: 52.5, longitude: 13.3, radius: 500 }],
      blueprints: [{ domain: 'automation', path: 'ours/lamp.yaml', yaml: BLUEPRINT }],
      automations: [
        {
          id: 'desk',
          alias: 'Desk',
          use_blueprint: {
            path: 'ours/lamp.yaml',
            input: { button: 'binary_sensor.button', lamp: { entity_id: 'light.desk' } },
          },
        },
        {
          id: 'motion',
          alias: 'Motion',
          use_blueprint: {
            path: 'homeassistant/motion_light.yaml',
            input: { motion_entity: 'binary_sensor.motion', light_target: { entity_id: 'light.hall' } },
          },
        },
        {
          id: 'work',
          alias: 'Work',
          triggers: [{ trigger: 'zone', entity_id: 'person.ada', zone: 'zone.work', event: 'enter' }],
          actions: [notify('at work')],
        },
      ],
    });
    answers = await run(aHome, cases);
  });

  test.each(Object.keys(cases).map((name, index) => [name, index] as const))('%s', (_, index) => {
    expect(faultsOf(ofType(answers, 'case')[index])).toEqual([]);
  });

  test('and lists what it does not simulate', () => {
    expect(ofType(answers, 'refused')).toEqual([]);
    expect(ofType(answers, 'unsimulated')).toEqual([
      { type: 'unsimulated', domains: ['rest_command', 'sensor.rest'], triggers: [] },
    ]);
    expect(answers[0]).toMatchObject({ type: 'hub', python: expect.stringMatching(/^3\.\d+/) });
  });
});

test('a definition that the hub does not load is refused in the hub’s own words', async () => {
  const device = '0123456789abcdef0123456789abcdef';
  const aHome = home({
    configuration: 'input_number: {heat: {min: 5, max: 1}}\ntemplate: [{sensor: [{nme: Wrong}]}]\n',
    automations: [
      {
        id: 'device',
        alias: 'Device',
        triggers: [{ trigger: 'device', device_id: device, domain: 'mqtt', type: 'x', subtype: 'y' }],
        actions: [],
      },
      { id: 'key', alias: 'Key', triggers: on('x'), actions: [{ acton: 'light.turn_on' }] },
      { id: 'good', alias: 'Good', triggers: on('good'), actions: [notify('good')] },
      { id: 'lost', alias: 'Lost', use_blueprint: { path: 'nowhere.yaml', input: {} } },
    ],
    scripts: { broken: { sequence: [{ delay: { ages: 3 } }] } },
  });
  const answers = await run(aHome, {
    good: { steps: [fireStep('good'), expectStep({ calls: [phone('good')] })] },
  });
  const refused = ofType(answers, 'refused');
  expect(refused).toEqual([
    expect.objectContaining({ entity: 'configuration', message: expect.stringContaining('input_number') }),
    expect.objectContaining({ entity: 'configuration', message: expect.stringContaining('nme') }),
    expect.objectContaining({
      entity: 'automation.device',
      name: 'Device',
      message: expect.stringContaining(device),
    }),
    expect.objectContaining({ entity: 'automation.key', message: expect.stringContaining('acton') }),
    expect.objectContaining({ entity: 'automation.lost', message: expect.stringContaining('nowhere.yaml') }),
    expect.objectContaining({ entity: 'script.broken', message: expect.stringContaining('ages') }),
  ]);
  expect(refused.map(({ message }) => message).filter((text) => /\/tmp|Traceback/.test(text))).toEqual([]);
  // The automations that the hub has loaded run, and the refused ones are not faults of the case.
  expect(faults(answers)).toEqual([]);
});

test('a configuration.yaml that is not valid YAML is refused, and no case runs', async () => {
  const answers = await run(home({ configuration: 'input_boolean: [\n' }), {
    none: { steps: [expectStep({})] },
  });
  expect(answers.map(({ type }) => type)).toEqual(['hub', 'refused']);
  expect(answers[1]).toMatchObject({
    entity: 'configuration',
    name: 'configuration.yaml',
    message: expect.stringMatching(/configuration\.yaml.*line \d/s),
  });
});

test.each([
  [{ files: { '../x.yaml': '' } }, "The file ../x.yaml is outside of the hub's directory: correct its path."],
  [
    { configuration: 'input_text: !include /etc/x.yaml\n' },
    "configuration.yaml includes /etc/x.yaml, which is outside of the hub's directory: correct its path.",
  ],
  [
    { configuration: 'group: !include a/b.yaml\n', files: { 'a/b.yaml': 'x: !include ../../c.yaml\n' } },
    "a/b.yaml includes ../../c.yaml, which is outside of the hub's directory: correct its path.",
  ],
])('a file outside of the directory of the hub is refused by its name, %j', async (parts, message) => {
  const { answers, code } = await runRequest(requestOf(home(parts), [caseOf('x', { steps: [] })]));
  expect(code).toBe(0);
  expect(ofType(answers, 'refused')).toEqual([
    { type: 'refused', entity: 'configuration', name: 'configuration.yaml', message },
  ]);
  expect(ofType(answers, 'case')).toEqual([]);
});

test.each([
  [
    'a time zone that there is not',
    { hub: { timezone: 'Europe/Nowhere' } },
    /^There is no time zone Europe\/Nowhere/,
  ],
  [
    'a start in a gap of the clocks',
    {},
    /^home\.hubtest\.yaml:\d+: start of the case x: 2026-03-29T02:30:00 does not exist in Europe\/Berlin/,
    { start: '2026-03-29T02:30:00' },
  ],
  [
    'a step in a gap of the clocks',
    {},
    /^home\.hubtest\.yaml:2: at in the case x: 2026-03-29T02:30:00 does not exist in Europe\/Berlin/,
    { steps: [fireStep('a'), atStep({ local: '2026-03-29T02:30:00' })] },
  ],
])('%s ends the run with one sentence', async (_, parts, message, more: Partial<CaseParts> = {}) => {
  const cases = [caseOf('w', { steps: [] }), caseOf('x', { steps: [], ...more })];
  const { answers, code, stderr } = await runRequest(requestOf(home(parts), cases));
  expect(ofType(answers, 'case')).toEqual([]);
  expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
  expect(ofType(answers, 'failed')).toEqual([{ type: 'failed', message: expect.stringMatching(message) }]);
});

test('triggers that no step fires are named, also those of blueprints and waits', async () => {
  const blueprint =
    'blueprint: {name: B, domain: automation, input: {hook: }}\ntriggers: [{platform: webhook, webhook_id: !input hook}]\nactions: []\n';
  const triggers = [
    ...['state', 'numeric_state', 'zone'].map((trigger) => ({
      ...{ trigger, entity_id: 'person.a' },
      ...(trigger === 'zone' && { zone: 'zone.home' }),
      ...(trigger === 'numeric_state' && { above: 1 }),
    })),
    { trigger: 'tag', tag_id: 'a' },
    { trigger: 'event', event_type: 'a' },
    { trigger: 'conversation', command: ['good night'] },
  ];
  const wait = { wait_for_trigger: [{ trigger: 'mqtt', topic: 'a' }] };
  const { answers } = await runRequest(
    requestOf(
      home({
        automations: [
          { id: 'a', alias: 'A', triggers, actions: [wait] },
          { id: 'b', alias: 'B', use_blueprint: { path: 'b.yaml', input: { hook: 'secret' } } },
        ],
        scripts: { s: { sequence: [{ if: [], then: [wait] }] } },
        blueprints: [{ domain: 'automation', path: 'b.yaml', yaml: blueprint }],
      }),
      [caseOf('x', { steps: [] })],
    ),
  );
  expect(ofType(answers, 'unsimulated').map((each) => each.triggers)).toEqual([
    [
      { trigger: 'conversation', entity: 'automation.a' },
      { trigger: 'mqtt', entity: 'automation.a' },
      { trigger: 'webhook', entity: 'automation.b' },
      { trigger: 'mqtt', entity: 'script.s' },
    ],
  ]);
});

test('a trigger that is not simulated fails no case, keeps the numbers of the others, and a wait for it lasts', async () => {
  const silent = [
    { trigger: 'mqtt', topic: 'button' },
    { trigger: 'calendar', entity_id: 'calendar.waste', event: 'start' },
    { trigger: 'webhook', webhook_id: 'secret' },
    { trigger: 'knx.telegram', destination: '1/2/3' },
    { trigger: 'todo.item_added', target: { entity_id: 'todo.list' } },
  ];
  const event = { trigger: 'zwave_js.value_updated', entity_id: 'lock.door', property: 'locked' };
  const wait = { wait_for_trigger: [{ trigger: 'mqtt', topic: 'a' }, event], timeout: 60 };
  const configuration =
    'template:\n- triggers: [{trigger: mqtt, topic: t}, {trigger: event, event_type: count}]\n  sensor: [{name: Count, state: "{{ 5 }}"}]\n';
  const answers = await run(
    home({
      configuration,
      automations: [
        {
          ...{ id: 'a', alias: 'A', triggers: [...silent, ...on('go')] },
          actions: [wait, notify('{{ trigger.idx }} {{ wait.completed }}')],
        },
        { id: 'b', alias: 'B', triggers: silent, actions: [notify('b')] },
      ],
    }),
    {
      waits: {
        steps: [
          fireStep('go'),
          fireStep('count'),
          expectStep({ none: [phone('5 False')], states: { 'sensor.count': state('5') }, within: 58 }),
          expectStep({ calls: [phone('5 False')], only: true, within: 3 }),
          callStep('automation.trigger', { entity_id: 'automation.b' }),
          expectStep({ calls: [phone('b')], only: true }),
        ],
      },
    },
  );
  expect(faults(answers)).toEqual([]);
  expect(ofType(answers, 'unsimulated')[0]!.triggers).toContainEqual({
    trigger: 'mqtt',
    entity: 'the section template',
  });
  expect(ofType(answers, 'unsimulated')[0]!.triggers).toContainEqual({
    trigger: 'zwave_js.value_updated',
    entity: 'automation.a',
  });
  expect(ofType(answers, 'unsimulated')[0]!.triggers).toContainEqual({
    trigger: 'todo.item_added',
    entity: 'automation.b',
  });
});

test('a trigger of an integration that the hub does not have is refused', async () => {
  const typo = { id: 'a', alias: 'A', triggers: [{ trigger: 'lihgt.turned_on' }], actions: [] };
  const answers = await run(home({ automations: [typo] }), {});
  expect(ofType(answers, 'refused')).toEqual([
    expect.objectContaining({
      entity: 'automation.a',
      message: expect.stringMatching(/^Invalid trigger 'lihgt\.turned_on' specified/) as string,
    }),
  ]);
});

describe('coverage', () => {
  const branches = {
    id: 'branches',
    alias: 'Branches',
    mode: 'parallel',
    triggers: [
      ...on('branches'),
      ...on('never'),
      { triggers: on('listed') },
      { ...on('disabled')[0], enabled: false },
    ],
    conditions: [{ condition: 'template', value_template: '{{ trigger.event.data.go | default(true) }}' }],
    actions: [
      {
        choose: [
          { conditions: '{{ trigger.event.data.n == 1 }}', sequence: [notify('one'), notify('1')] },
          { conditions: '{{ trigger.event.data.n == 2 }}', sequence: [notify('two')] },
        ],
        default: [notify('other')],
      },
      { if: '{{ trigger.event.data.n == 2 }}', then: [notify('then')], else: [notify('else')] },
      { repeat: { count: 2, sequence: [notify('again')] } },
      { parallel: [notify('side'), { sequence: [{ delay: 1 }, notify('by side')] }] },
      { condition: 'template', value_template: '{{ false }}' },
      notify('never'),
    ],
  };

  test('reports each branch of each automation and script, over all cases and restarts', async () => {
    const aHome = home({
      configuration:
        'automation: [{alias: Without id, triggers: [{trigger: event, event_type: x}], actions: [{delay: 1}]}]\n',
      automations: [
        branches,
        {
          id: 'lamp',
          alias: 'Lamp',
          use_blueprint: {
            path: 'lamp.yaml',
            input: { button: 'binary_sensor.button', lamp: { entity_id: 'light.desk' } },
          },
        },
      ],
      blueprints: [{ domain: 'automation', path: 'lamp.yaml', yaml: BLUEPRINT }],
      scripts: { greet: { sequence: [notify('hello'), { delay: 60 }, notify('bye')] } },
    });
    const answers = await run(
      aHome,
      {
        one: { steps: [fireStep('branches', { n: 1 }), { advance: 5 }, expectStep({})] },
        'a run that a restart ends': {
          steps: [callStep('script.greet'), { restart: { down: 5 } }, expectStep({})],
        },
        more: {
          steps: [
            fireStep('listed', { n: 3, go: false }),
            setStep({ 'binary_sensor.button': 'on' }),
            fireStep('x'),
            { advance: 5 },
            expectStep({ calls: [call('light.turn_on')] }),
          ],
        },
      },
      { coverage: true },
    );
    expect(faults(answers)).toEqual([]);
    const items = ofType(answers, 'coverage').flatMap((answer) => answer.items);
    const never = ({ total, hit }: (typeof items)[number]) => total.filter((path) => !hit.includes(path));
    expect(items.map(({ entity, id, total, hit }) => [entity, id, `${hit.length}/${total.length}`])).toEqual([
      ['automation.branches', 'branches', '16/22'],
      ['automation.lamp', 'lamp', expect.stringMatching(/^3\/4$/)],
      ['automation.without_id', 'automation 0', '2/2'],
      ['script.greet', 'greet', '2/3'],
    ]);
    expect(items.map(never)).toEqual([
      [
        ...['trigger/1', 'action/0/choose/1/sequence/0', 'action/0/default/0', 'action/1/then/0'],
        ...['action/4=true', 'action/5'],
      ],
      ['action/0/else/0'],
      [],
      ['sequence/2'],
    ]);
  });
});

describe('the answers', () => {
  test('in the timeline are in order, with the authors of calls, and without the updates of the sun', async () => {
    const aHome = home({
      configuration: 'input_boolean: {film: {}}\n',
      automations: [
        {
          id: 'film',
          alias: 'Film',
          triggers: [{ trigger: 'state', entity_id: 'input_boolean.film', to: 'on' }],
          actions: [
            { action: 'light.turn_on', target: { entity_id: 'light.sofa' }, data: { brightness: 9 } },
          ],
        },
      ],
    });
    const steps = [setStep({ 'input_boolean.film': 'on' }), { advance: 86_400 }, expectStep({})];
    const answers = await run(
      aHome,
      { film: { given: { 'light.sofa': { state: 'off' } }, steps } },
      { timeline: true },
    );
    const shown = answers.filter(({ type }) => type === 'call' || type === 'change');
    const own = shown.filter(
      (each) =>
        /12:00:00\.0[01]/.test(JSON.stringify(each)) &&
        !/zone|automation\.film","to/.test(JSON.stringify(each)),
    );
    expect(own.slice(-4)).toEqual([
      expect.objectContaining({ type: 'call', action: 'input_boolean.turn_on', by: null }),
      expect.objectContaining({ type: 'change', entity: 'input_boolean.film', from: 'off', to: 'on' }),
      expect.objectContaining({
        ...{ type: 'call', action: 'light.turn_on', entities: ['light.sofa'], data: { brightness: 9 } },
        by: 'automation.film',
      }),
      expect.objectContaining({ entity: 'light.sofa', from: 'off', to: 'on', attributes: { brightness: 9 } }),
    ]);
    expect(shown.map((each) => ('entity' in each ? each.entity : ''))).not.toContain('sun.sun');
    expect(answers.at(-1)).toMatchObject({
      type: 'case',
      file: 0,
      case: 0,
      virtualSeconds: expect.closeTo(86_400, 0),
    });
  });

  test('have a size limit, and values that JSON cannot express become texts', async () => {
    const data = {
      huge: "{{ 'x' * 200000 }}",
      many: '{{ range(5000) | list }}',
      set: "{{ set(['B', 'A']) }}",
      date: "{{ as_datetime('2026-11-02T12:00:00+01:00') }}",
      number: '{{ 2 ** 70 }}',
      nothing: '{{ none }}',
      quoted: '"quoted" \u2028',
    };
    const aHome = home({
      automations: [{ id: 'big', alias: 'Big', triggers: on('big'), actions: [{ action: 'a.b', data }] }],
    });
    const cases = [caseOf('big', { steps: [fireStep('big'), expectStep({ none: [call('a.b')] })] })];
    const { output, answers, stderr } = await runRequest(requestOf(aHome, cases, { timeline: true }));
    expect(stderr).toBe('');
    for (const line of output.split('\n')) expect(line.length).toBeLessThan(64_000);
    const [fault] = ofType(answers, 'case')[0]!.faults;
    expect(fault).toMatchObject({ kind: 'unexpected-call' });
    const seen = fault!.seen![0]!.data;
    expect(seen['huge']).toMatch(/^x{2000}… \(200000 characters\)$/);
    expect(seen['many']).toHaveLength(201);
    expect(seen['many']).toContain('… (4800 more)');
    expect(seen['set']).toEqual(['A', 'B']);
    expect(String(seen['date'])).toMatch(/^2026-11-02[T ]12:00:00\+01:00$/);
    expect(seen['number']).toBe(String(2n ** 70n));
  });
});
