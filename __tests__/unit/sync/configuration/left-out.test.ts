import { ManualClock } from '../../manual-clock';
import { FakeHub } from './fake-hub';

const BASE = 'template:\n  - sensor:\n      - name: good\n        state: "{{ 1 }}"\n';
const TYPO = BASE.replace('name', 'nam');
const PROBLEM =
  "Invalid config for 'template' at configuration.yaml, line 3: 'nam' is an invalid option for 'template'";

async function started() {
  const hub = new FakeHub(new ManualClock());
  const base = hub.desired(BASE);
  hub.begin(base);
  const operator = hub.operator();
  expect(await hub.settle(base, operator)).toBe('ConfigurationLoaded');
  hub.events.length = 0;
  return { hub, operator };
}

const logsTypo = (text: string) => (text.includes('nam:') ? PROBLEM : null);

test.each([
  ['HOME_NAME', /configuration\.yaml, line 8: !env_var HOME_NAME names a variable .* spec\.podTemplate/],
  ['OTHER_NAME', /^The hub rejects the configuration: OTHER_NAME$/],
  ['HOME_NAME is', /^The hub rejects the configuration: HOME_NAME is$/],
])('the hub’s message %j is explained where it is about a variable of the text', async (words, message) => {
  const { hub, operator } = await started();
  hub.leavesOut = (text) => (text.includes('HOME_NAME') ? words : null);
  const other = '  # !env_var HOME_NAME\n  country: !env_var HOME_NAME_OF_COUNTRY DE\n';
  const desired = hub.desired(`${BASE}homeassistant:\n${other}  name: !env_var HOME_NAME\n`);
  expect(await hub.settle(desired, operator)).toBe('CheckFailed');
  expect((await operator.sync(desired)).message.split('\n')[0]).toMatch(message);
});

describe('an item that the hub leaves out', () => {
  test('is a rejection although the check reports nothing, and the former content stays in use', async () => {
    const { hub, operator } = await started();
    hub.leavesOut = logsTypo;
    expect(await hub.settle(hub.desired(TYPO), operator)).toBe('CheckFailed');
    const { message } = await operator.sync(hub.desired(TYPO));
    expect(message.split('\n')[0]).toBe(`The hub rejects the configuration: ${PROBLEM}`);
    expect(hub.text).toContain('name: good');
    expect(hub.events).not.toContain('template/reload');
  });

  test('does not belong to this configuration in a file that the API of the hub writes', async () => {
    const { hub, operator } = await started();
    hub.leavesOut = () =>
      "Invalid config for 'automation' at automations.yaml, line 3: 'nam' is an invalid option";
    expect(await hub.settle(hub.desired(`${BASE}input_boolean:\n`), operator)).toBe('ConfigurationLoaded');
  });

  test('belongs to this configuration in a file of a folder that has the name of a file of the API', async () => {
    const name = 'rooms/automations.yaml';
    const hub = new FakeHub(new ManualClock());
    const desired = (text: string) => hub.desired(`template: !include ${name}\n`, 'auto', { [name]: text });
    hub.begin(desired('- sensor: [{name: good}]\n'));
    expect(await hub.settle(desired('- sensor: [{name: good}]\n'))).toBe('ConfigurationLoaded');
    hub.leavesOut = () => `Invalid config for 'template' at ${name}, line 1: 'nam' is an invalid option`;
    expect(await hub.settle(desired('- sensor: [{nam: good}]\n'))).toBe('CheckFailed');
  });

  test('does not belong to this configuration when the hub’s own file and a delivered one have the same id', async () => {
    const { hub, operator } = await started();
    const log = (id: string) =>
      `Platform automation does not generate unique IDs. ID ${id} already exists - ignoring automation.x`;
    hub.readsDelivery = true;
    hub.leavesOut = () => log('off');
    const other = `${BASE}automation own:\n  - {id: takeoff, alias: off, triggers: [], actions: []}\n`;
    expect(await hub.settle(hub.desired(other), operator)).toBe('ConfigurationLoaded');
    hub.leavesOut = (text) => (text.includes('twin') ? log('twin') : null);
    const twins = `${BASE}automation own:\n  - id: 'twin' # one\n    alias: twin\n`;
    expect(await hub.settle(hub.desired(twins), operator)).toBe('CheckFailed');
  });

  test.each([
    ['by the API, in any form', false, 'automation own:\n  - {id: &a twin, alias: one}\n'],
    ['as files: a script, by its key', true, 'script own:\n  twin: {sequence: []}\n'],
    ['as files: an id of several lines', true, 'automation own:\n  - id: >-\n      twin\n    alias: one\n'],
    ['as files: an id that is a secret', true, 'automation own:\n  - id: !secret twin\n'],
  ])(
    'belongs to it when it has the id of another, with definitions delivered %s',
    async (_, readsDelivery, item) => {
      const { hub, operator } = await started();
      hub.setSecrets({ twin: 'twin' });
      hub.readsDelivery = readsDelivery;
      const problem =
        'Platform automation does not generate unique IDs. ID twin already exists - ignoring it';
      hub.leavesOut = (text) => (text.includes('own:') ? problem : null);
      expect(await hub.settle(hub.desired(`${BASE}${item}`), operator)).toBe('CheckFailed');
    },
  );

  test('at a start is named with its line, and not as a section that could not be set up', async () => {
    const hub = new FakeHub(new ManualClock());
    hub.leavesOut = logsTypo;
    hub.cannotSetUp.add('template');
    const desired = hub.desired(TYPO);
    hub.begin(desired);
    const operator = hub.operator();
    expect(await hub.settle(desired, operator)).toBe('CheckFailed');
    expect((await operator.sync(desired)).message).toContain(
      `leaves out a part of the configuration: ${PROBLEM}`,
    );
  });

  test('is a rejection again for the same text, which the hub has logged before', async () => {
    const { hub, operator } = await started();
    hub.leavesOut = logsTypo;
    for (const text of [TYPO, BASE, TYPO])
      expect(await hub.settle(hub.desired(text), operator)).toBe(
        text === BASE ? 'ConfigurationLoaded' : 'CheckFailed',
      );
  });

  test('only at the reload: the former content is published and loaded again', async () => {
    const { hub, operator } = await started();
    hub.leavesOutAtReload = logsTypo;
    expect(await hub.settle(hub.desired(TYPO), operator)).toBe('CheckFailed');
    expect(hub.events.filter((event) => event === 'template/reload')).toHaveLength(2);
    expect(hub.loaded.get('template')).toContain('name: good');
    expect(hub.text).toContain('name: good');
  });

  test('which the former content also had is no problem of the change', async () => {
    const { hub, operator } = await started();
    // A device has disappeared since.
    hub.leavesOut = () => "Invalid config for 'template' at configuration.yaml, line 1: Unknown device";
    const changed = hub.desired(BASE.replace('{{ 1 }}', '{{ 2 }}'));
    expect(await hub.settle(changed, operator)).toBe('CheckFailed');
    expect(hub.loaded.get('template')).toContain('{{ 2 }}');
    expect(await operator.sync(changed)).toMatchObject({
      message: expect.stringContaining('leaves out a part of the configuration'),
    });
  });

  test('at a start is not Ready', async () => {
    const { hub, operator } = await started();
    hub.leavesOut = () => PROBLEM; // another version of the hub
    hub.restart();
    expect(await hub.settle(hub.desired(BASE), operator)).toBe('CheckFailed');
    hub.leavesOut = () => null;
    hub.restart();
    expect(await hub.settle(hub.desired(BASE), operator)).toBe('ConfigurationLoaded');
  });
});

describe('verdicts of a start', () => {
  const WARNING = "Integration error: my_custom - Integration 'my_custom' not found.";

  test('a warning disappears with its cause at the next start', async () => {
    const hub = new FakeHub(new ManualClock());
    hub.warn = () => WARNING;
    const custom = hub.desired('my_custom:\n  a: 1\n');
    hub.begin(custom);
    const operator = hub.operator();
    expect(await hub.settle(custom, operator)).toBe('CheckFailed');
    hub.warn = () => null; // a HubCommunityRepository has installed the integration
    hub.restart();
    expect(await hub.settle(custom, operator)).toBe('ConfigurationLoaded');
  });

  test('a warning disappears when a user requests a full reconcile', async () => {
    const { hub, operator } = await started();
    hub.warn = () => WARNING;
    hub.restart();
    expect(await hub.settle(hub.desired(BASE), operator)).toBe('CheckFailed');
    hub.warn = () => null;
    await operator.sync(hub.desired(BASE), true);
    expect(await hub.settle(hub.desired(BASE), operator)).toBe('ConfigurationLoaded');
  });

  test('a new version that leaves a section out is not Ready, and refuses no edit of another section', async () => {
    const { hub, operator } = await started();
    hub.warn = () => WARNING;
    hub.restart();
    expect(await hub.settle(hub.desired(BASE), operator)).toBe('CheckFailed');
    const edit = hub.desired(`${BASE}input_boolean:\n  x:\n`);
    await hub.settle(edit, operator);
    expect(hub.loaded.get('input_boolean')).toContain('x:');
  });

  test.each([['the same process'], ['another process']])(
    'a content that one start rejected is tried in the next one, by %s',
    async (which) => {
      const { hub, operator } = await started();
      hub.check = (text) => (text.includes('nam:') ? 'not known to 2026.10' : null);
      expect(await hub.settle(hub.desired(TYPO), operator)).toBe('CheckFailed');
      hub.check = () => null;
      hub.restart();
      const next = which === 'the same process' ? operator : hub.operator();
      expect(await hub.settle(hub.desired(TYPO), next)).toBe('ConfigurationLoaded');
    },
  );
});

describe('a section whose integration could not be set up', () => {
  test('is NotLoaded in the hub’s words, until it is', async () => {
    const { hub, operator } = await started();
    hub.cannotSetUp.add('recorder');
    const recorder = hub.desired('recorder:\n  db_url: postgresql://nowhere/x\n');
    await hub.reconcile(recorder, 20, operator);
    hub.log("Setup failed for 'recorder': Integration failed to initialize.", 'homeassistant.setup');
    expect(await operator.sync(recorder)).toMatchObject({
      type: 'Stalled',
      reason: 'NotLoaded',
      message: expect.stringMatching(/^The hub could not set up recorder: Setup failed for 'recorder'/),
    });
    hub.cannotSetUp.clear();
    expect(await operator.sync(recorder)).toMatchObject({ reason: 'ConfigurationLoaded' });
  });
});
