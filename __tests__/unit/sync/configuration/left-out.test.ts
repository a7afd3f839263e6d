import { House } from './house';

const BASE = 'template:\n  - sensor:\n      - name: good\n        state: "{{ 1 }}"\n';
const TYPO = BASE.replace('name', 'nam');
const PROBLEM =
  "Invalid config for 'template' at configuration.yaml, line 3: 'nam' is an invalid option for 'template'";

async function started() {
  const house = new House();
  const base = house.desired(BASE);
  house.begin(base);
  const operator = house.operator();
  expect(await house.settle(base, operator)).toBe('ConfigurationLoaded');
  house.events.length = 0;
  return { house, operator };
}

const logsTypo = (text: string) => (text.includes('nam:') ? PROBLEM : null);

test.each([
  ['HOME_NAME', /configuration\.yaml, line 8: !env_var HOME_NAME names a variable .* spec\.podTemplate/],
  ['OTHER_NAME', /^The hub rejects the configuration: OTHER_NAME$/],
  ['HOME_NAME is', /^The hub rejects the configuration: HOME_NAME is$/],
])('the hub’s message %j is explained where it is about a variable of the text', async (words, message) => {
  const { house, operator } = await started();
  house.configuration.leavesOut = (text) => (text.includes('HOME_NAME') ? words : null);
  const other = '  # !env_var HOME_NAME\n  country: !env_var HOME_NAME_OF_COUNTRY DE\n';
  const desired = house.desired(`${BASE}homeassistant:\n${other}  name: !env_var HOME_NAME\n`);
  expect(await house.settle(desired, operator)).toBe('CheckFailed');
  expect((await operator.sync(desired)).message.split('\n')[0]).toMatch(message);
});

describe('an item that the hub leaves out', () => {
  test('is a rejection although the check reports nothing, and the former content stays in use', async () => {
    const { house, operator } = await started();
    house.configuration.leavesOut = logsTypo;
    expect(await house.settle(house.desired(TYPO), operator)).toBe('CheckFailed');
    const { message } = await operator.sync(house.desired(TYPO));
    expect(message.split('\n')[0]).toBe(`The hub rejects the configuration: ${PROBLEM}`);
    expect(house.text).toContain('name: good');
    expect(house.events).not.toContain('reload template');
  });

  test('does not belong to this configuration in a file that the API of the hub writes', async () => {
    const { house, operator } = await started();
    house.configuration.leavesOut = () =>
      "Invalid config for 'automation' at automations.yaml, line 3: 'nam' is an invalid option";
    expect(await house.settle(house.desired(`${BASE}input_boolean:\n`), operator)).toBe(
      'ConfigurationLoaded',
    );
  });

  test('belongs to this configuration in a file of a folder that has the name of a file of the API', async () => {
    const name = 'rooms/automations.yaml';
    const house = new House();
    const desired = (text: string) => house.desired(`template: !include ${name}\n`, 'auto', { [name]: text });
    house.begin(desired('- sensor: [{name: good}]\n'));
    expect(await house.settle(desired('- sensor: [{name: good}]\n'))).toBe('ConfigurationLoaded');
    house.configuration.leavesOut = () =>
      `Invalid config for 'template' at ${name}, line 1: 'nam' is an invalid option`;
    expect(await house.settle(desired('- sensor: [{nam: good}]\n'))).toBe('CheckFailed');
  });

  test('does not belong to this configuration when the hub’s own file and a delivered one have the same id', async () => {
    const { house, operator } = await started();
    const log = (id: string) =>
      `Platform automation does not generate unique IDs. ID ${id} already exists - ignoring automation.x`;
    house.readsDelivery = true;
    house.configuration.leavesOut = () => log('off');
    const other = `${BASE}automation own:\n  - {id: takeoff, alias: off, triggers: [], actions: []}\n`;
    expect(await house.settle(house.desired(other), operator)).toBe('ConfigurationLoaded');
    house.configuration.leavesOut = (text) => (text.includes('twin') ? log('twin') : null);
    const twins = `${BASE}automation own:\n  - id: 'twin' # one\n    alias: twin\n`;
    expect(await house.settle(house.desired(twins), operator)).toBe('CheckFailed');
  });

  test.each([
    ['by the API, in any form', false, 'automation own:\n  - {id: &a twin, alias: one}\n'],
    ['as files: a script, by its key', true, 'script own:\n  twin: {sequence: []}\n'],
    ['as files: an id of several lines', true, 'automation own:\n  - id: >-\n      twin\n    alias: one\n'],
    ['as files: an id that is a secret', true, 'automation own:\n  - id: !secret twin\n'],
  ])(
    'belongs to it when it has the id of another, with definitions delivered %s',
    async (_, readsDelivery, item) => {
      const { house, operator } = await started();
      house.setSecrets({ twin: 'twin' });
      house.readsDelivery = readsDelivery;
      const problem =
        'Platform automation does not generate unique IDs. ID twin already exists - ignoring it';
      house.configuration.leavesOut = (text) => (text.includes('own:') ? problem : null);
      expect(await house.settle(house.desired(`${BASE}${item}`), operator)).toBe('CheckFailed');
    },
  );

  test('at a start is named with its line, and not as a section that could not be set up', async () => {
    const house = new House();
    house.configuration.leavesOut = logsTypo;
    house.hub.cannotSetUp.add('template');
    const desired = house.desired(TYPO);
    house.begin(desired);
    const operator = house.operator();
    expect(await house.settle(desired, operator)).toBe('CheckFailed');
    expect((await operator.sync(desired)).message).toContain(
      `leaves out a part of the configuration: ${PROBLEM}`,
    );
  });

  test('is a rejection again for the same text, which the hub has logged before', async () => {
    const { house, operator } = await started();
    house.configuration.leavesOut = logsTypo;
    for (const text of [TYPO, BASE, TYPO])
      expect(await house.settle(house.desired(text), operator)).toBe(
        text === BASE ? 'ConfigurationLoaded' : 'CheckFailed',
      );
  });

  test('only at the reload: the former content is published and loaded again', async () => {
    const { house, operator } = await started();
    house.configuration.leavesOutAtReload = logsTypo;
    expect(await house.settle(house.desired(TYPO), operator)).toBe('CheckFailed');
    expect(house.events.filter((event) => event === 'reload template')).toHaveLength(2);
    expect(house.configuration.loaded.get('template')).toContain('name: good');
    expect(house.text).toContain('name: good');
  });

  test('which the former content also had is no problem of the change', async () => {
    const { house, operator } = await started();
    // A device has disappeared since.
    house.configuration.leavesOut = () =>
      "Invalid config for 'template' at configuration.yaml, line 1: Unknown device";
    const changed = house.desired(BASE.replace('{{ 1 }}', '{{ 2 }}'));
    expect(await house.settle(changed, operator)).toBe('CheckFailed');
    expect(house.configuration.loaded.get('template')).toContain('{{ 2 }}');
    expect(await operator.sync(changed)).toMatchObject({
      message: expect.stringContaining('leaves out a part of the configuration'),
    });
  });

  test('at a start is not Ready', async () => {
    const { house, operator } = await started();
    house.configuration.leavesOut = () => PROBLEM; // another version of the hub
    house.hub.restart();
    expect(await house.settle(house.desired(BASE), operator)).toBe('CheckFailed');
    house.configuration.leavesOut = () => null;
    house.hub.restart();
    expect(await house.settle(house.desired(BASE), operator)).toBe('ConfigurationLoaded');
  });
});

describe('verdicts of a start', () => {
  const WARNING = "Integration error: my_custom - Integration 'my_custom' not found.";

  test('a warning disappears with its cause at the next start', async () => {
    const house = new House();
    house.configuration.warn = () => WARNING;
    const custom = house.desired('my_custom:\n  a: 1\n');
    house.begin(custom);
    const operator = house.operator();
    expect(await house.settle(custom, operator)).toBe('CheckFailed');
    house.configuration.warn = () => null; // a HubCommunityRepository has installed the integration
    house.hub.restart();
    expect(await house.settle(custom, operator)).toBe('ConfigurationLoaded');
  });

  test('a warning disappears when a user requests a full reconcile', async () => {
    const { house, operator } = await started();
    house.configuration.warn = () => WARNING;
    house.hub.restart();
    expect(await house.settle(house.desired(BASE), operator)).toBe('CheckFailed');
    house.configuration.warn = () => null;
    await operator.sync(house.desired(BASE), true);
    expect(await house.settle(house.desired(BASE), operator)).toBe('ConfigurationLoaded');
  });

  test('a new version that leaves a section out is not Ready, and refuses no edit of another section', async () => {
    const { house, operator } = await started();
    house.configuration.warn = () => WARNING;
    house.hub.restart();
    expect(await house.settle(house.desired(BASE), operator)).toBe('CheckFailed');
    const edit = house.desired(`${BASE}input_boolean:\n  x:\n`);
    await house.settle(edit, operator);
    expect(house.configuration.loaded.get('input_boolean')).toContain('x:');
  });

  test.each([['the same process'], ['another process']])(
    'a content that one start rejected is tried in the next one, by %s',
    async (which) => {
      const { house, operator } = await started();
      house.configuration.check = (text) => (text.includes('nam:') ? 'not known to 2026.10' : null);
      expect(await house.settle(house.desired(TYPO), operator)).toBe('CheckFailed');
      house.configuration.check = () => null;
      house.hub.restart();
      const next = which === 'the same process' ? operator : house.operator();
      expect(await house.settle(house.desired(TYPO), next)).toBe('ConfigurationLoaded');
    },
  );
});

describe('a section whose integration could not be set up', () => {
  test('is NotLoaded in the hub’s words, until it is', async () => {
    const { house, operator } = await started();
    house.hub.cannotSetUp.add('recorder');
    const recorder = house.desired('recorder:\n  db_url: postgresql://nowhere/x\n');
    await house.reconcile(recorder, 20, operator);
    house.hub.log("Setup failed for 'recorder': Integration failed to initialize.", 'homeassistant.setup');
    expect(await operator.sync(recorder)).toMatchObject({
      type: 'Stalled',
      reason: 'NotLoaded',
      message: expect.stringMatching(/^The hub could not set up recorder: Setup failed for 'recorder'/),
    });
    house.hub.cannotSetUp.clear();
    expect(await operator.sync(recorder)).toMatchObject({ reason: 'ConfigurationLoaded' });
  });
});
