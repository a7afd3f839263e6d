import { describeHome } from '../../../../cli/test/home';
import { helperDomains, type HelperType } from '../../../../operator/kinds/helper/domains';
import { unchecked } from '../../../../operator/client/connection/shape';
import { freshNamespace } from '../../../cluster';
import {
  automation,
  blueprint,
  configuration,
  DEFAULT_CONFIGURATION,
  helper,
  Home,
  hub,
  type Manifest,
} from '../../../cluster/home';
import {
  atStep,
  call,
  callStep,
  caseOf,
  type CaseParts,
  expectStep,
  faultsOf,
  ofType,
  requestOf,
  runRequest,
  setStep,
  state,
} from '../../../cluster/hub-test';
import { restoreOnboarded } from '../../../cluster/onboarded-volume';
import { startTestOperator } from '../../../cluster/operator';

// HubHelpers and HubBlueprints in the simulated home. Helpers are compared with those that the operator makes in a real hub.

const HUB = 'villa';

const settings: Readonly<Record<HelperType, object>> = {
  boolean: { initial: true },
  button: {},
  number: { min: 5, max: 30, step: 0.5, mode: 'box', unit: '°C', deviceClass: 'temperature' },
  text: { min: 1, max: 20, pattern: '[a-z]+', mode: 'password', initial: 'ab' },
  select: { options: ['on', 'zu Hause', 'night'], initial: 'zu Hause' },
  datetime: { time: true, initial: '06:30' },
  counter: { initial: 3, step: 2, minimum: 1, maximum: 9, restore: false },
  timer: { duration: '00:05:00', restore: true },
  schedule: {
    monday: [
      { from: '18:00', to: '24:00', data: { level: 2.5, warm: true } },
      { from: '13:00', to: '14:00' },
    ],
  },
};
const types = Object.keys(settings) as HelperType[];
const entityOf = (type: HelperType, id = `my_${type}`) => `${helperDomains[type]}.${id}`;

const helpers = types.map((type) =>
  helper(HUB, `my-${type}`, {
    name: `Wunsch ${type}`,
    type,
    icon: 'mdi:sofa',
    ...(type !== 'button' && { [type]: settings[type] }),
  }),
);
const plain = [
  helper(HUB, 'plain-boolean', { name: 'Plain', type: 'boolean' }),
  helper(HUB, 'plain-number', { name: 'Plain', type: 'number', number: { min: -1, max: 1 } }),
  helper(HUB, 'plain-text', { name: 'Plain', type: 'text' }),
  helper(HUB, 'plain-counter', { name: 'Plain', type: 'counter' }),
  helper(HUB, 'plain-timer', { name: 'Plain', type: 'timer' }),
];

const described = (...manifests: readonly Manifest[]) =>
  describeHome(manifests.map((object) => ({ file: '', object, lineOf: () => 1 }))).home;

async function run(manifests: readonly Manifest[], ...cases: readonly CaseParts[]) {
  const all = cases.map((parts, index) => caseOf(String(index), parts));
  const { answers, stderr } = await runRequest(requestOf(described(...manifests), all));
  expect(stderr).toBe('');
  return answers;
}

/** The faults of all cases of homes with valid resources. */
async function faults(manifests: readonly Manifest[], ...cases: readonly CaseParts[]) {
  const answers = await run(manifests, ...cases);
  expect([...ofType(answers, 'refused'), ...ofType(answers, 'failed')]).toEqual([]);
  return ofType(answers, 'case').flatMap((each) => faultsOf(each));
}

test('helpers of each sort have the states and attributes that they have in a real hub', async () => {
  const home = new Home(await freshNamespace('test-helpers'));
  await startTestOperator(home.namespace);
  await restoreOnboarded(home, HUB);
  const text = `${DEFAULT_CONFIGURATION}\n${Object.values(helperDomains)
    .map((domain) => `${domain}:\n`)
    .join('')}`;
  await home.apply(hub(HUB), configuration(HUB, text), ...helpers, ...plain);
  for (const { metadata } of [...helpers, ...plain]) await home.ready('hubhelper', metadata.name);
  const client = await home.client(HUB);
  const ids = [
    ...types.map((type) => entityOf(type)),
    ...(['boolean', 'number', 'text', 'counter', 'timer'] as const).map((type) =>
      entityOf(type, `plain_${type}`),
    ),
  ];
  const expected = await Promise.all(
    ids.map(async (id) => {
      const real = await client.rest.get(`/api/states/${id}`, {
        answer: unchecked<{ state: string; attributes: Record<string, never> }>(),
      });
      // The next event of a schedule, and whether it is on, depend on the time.
      const { next_event: _, ...attributes } = real.attributes;
      return [id, id === entityOf('schedule') ? state(/./, attributes) : state(real.state, attributes)];
    }),
  );
  const states = Object.fromEntries(expected);
  expect(Object.keys(states)).toHaveLength(14);
  expect(await faults([...helpers, ...plain], { steps: [expectStep({ states })] })).toEqual([]);
});

const watch = automation(HUB, 'watch', {
  alias: 'Watch',
  triggers: [{ trigger: 'event', event_type: 'timer.finished' }],
  actions: [{ action: 'counter.increment', target: { entity_id: entityOf('counter') } }],
});

test('their actions work, and so do the events and times that follow', async () => {
  expect(
    await faults([...helpers, watch], {
      steps: [
        callStep('input_boolean.turn_off', { entity_id: entityOf('boolean') }),
        callStep('timer.start', { entity_id: entityOf('timer') }),
        setStep({ [entityOf('number')]: '21.5', [entityOf('select')]: 'night', [entityOf('text')]: 'cd' }),
        expectStep({
          states: {
            [entityOf('boolean')]: state('off'),
            [entityOf('timer')]: state('active', { duration: '0:05:00' }),
            [entityOf('number')]: state('21.5'),
            [entityOf('select')]: state('night'),
            [entityOf('text')]: state('cd'),
            [entityOf('schedule')]: state('off'),
          },
        }),
        expectStep({
          calls: [call('counter.increment', { entity: [entityOf('counter')], by: 'automation.watch' })],
          within: 301,
        }),
        expectStep({ states: { [entityOf('counter')]: state('5'), [entityOf('timer')]: state('idle') } }),
        atStep({ clock: '13:00:00' }),
        expectStep({ states: { [entityOf('schedule')]: state('on') } }),
        atStep({ clock: '18:00:00' }),
        expectStep({ states: { [entityOf('schedule')]: state('on', { level: 2.5, warm: true }) } }),
      ],
    }),
  ).toEqual([]);
});

test('a restart restores what the hub restores, and nothing else', async () => {
  expect(
    await faults([...helpers, ...plain], {
      given: { [entityOf('boolean', 'plain_boolean')]: { state: 'on' } },
      steps: [
        setStep({ [entityOf('boolean')]: 'off', [entityOf('number')]: '22', [entityOf('text')]: 'cd' }),
        setStep({ [entityOf('counter')]: '6', [entityOf('counter', 'plain_counter')]: '8' }),
        setStep({ [entityOf('timer')]: 'active' }),
        setStep({ [entityOf('timer', 'plain_timer')]: 'active' }),
        { restart: { down: 60 } },
        expectStep({
          states: {
            [entityOf('boolean', 'plain_boolean')]: state('on'),
            [entityOf('boolean')]: state('on', { friendly_name: 'Wunsch boolean' }),
            [entityOf('number')]: state('22.0'),
            [entityOf('text')]: state('ab'),
            [entityOf('counter')]: state('3'),
            [entityOf('counter', 'plain_counter')]: state('8'),
            [entityOf('timer')]: state('active'),
            [entityOf('timer', 'plain_timer')]: state('idle'),
          },
        }),
        { advance: 250 },
        expectStep({ states: { [entityOf('timer')]: state('idle') } }),
      ],
    }),
  ).toEqual([]);
});

test('an automation uses a HubBlueprint, whose trigger and action have helpers as inputs', async () => {
  const lamp = blueprint(HUB, 'lamp', {
    domain: 'automation',
    path: 'me/lamp.yaml',
    content: [
      'blueprint:',
      '  name: Lamp',
      '  domain: automation',
      '  input: {switch: {}, lamp: {}}',
      'triggers: [{trigger: state, entity_id: !input switch, to: "on"}]',
      'actions: [{action: light.turn_on, target: {entity_id: !input lamp}}]',
      '',
    ].join('\n'),
  });
  const user = automation(HUB, 'user', {
    alias: 'User',
    triggers: undefined,
    actions: undefined,
    useBlueprint: {
      path: 'me/lamp.yaml',
      input: { switch: entityOf('boolean', 'plain_boolean'), lamp: 'light.hall' },
    },
  });
  expect(
    await faults([...plain, lamp, user], {
      given: { 'light.hall': { state: 'off' } },
      steps: [
        setStep({ [entityOf('boolean', 'plain_boolean')]: 'on' }),
        expectStep({
          calls: [call('light.turn_on', { entity: ['light.hall'], by: 'automation.user' })],
          states: { 'light.hall': state('on') },
        }),
      ],
    }),
  ).toEqual([]);
});

test('a helper beside one of the configuration keeps the one of the configuration', async () => {
  const text = 'input_boolean: {plain_boolean: {name: Of the file}, other: }\n';
  expect(
    await faults([configuration(HUB, text), ...plain], {
      steps: [
        expectStep({
          states: {
            [entityOf('boolean', 'plain_boolean')]: state('off', { friendly_name: 'Of the file' }),
            [entityOf('boolean', 'other')]: state('off'),
            [entityOf('counter', 'plain_counter')]: state('0'),
          },
        }),
      ],
    }),
  ).toEqual([]);
});

test('a helper that this version of the hub does not load is refused', async () => {
  const home = described(...plain);
  const text = home.helpers.find(({ domain }) => domain === 'input_text')!;
  const broken = { ...text, item: { ...text.item, id: 'bad', pattern: '(', initial: 'a' } };
  const { answers } = await runRequest(
    requestOf({ ...home, helpers: [...home.helpers, broken] }, [caseOf('a', { steps: [] })]),
  );
  expect(ofType(answers, 'refused')).toEqual([
    {
      type: 'refused',
      entity: 'input_text.bad',
      name: 'Plain',
      message: 'this version of the hub does not take its settings: correct them',
    },
  ]);
});
