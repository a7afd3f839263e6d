import { HubFailed, HubUnreachable, NotFound } from '../../../../operator/client/connection/errors';
import type { IntegrationResource } from '../../../../operator/sync/integration/integration-context';
import { anEntry, form, type Integrations, type Script } from '../../stand-in-hub/integrations';
import { House, texts } from './house';

let house: House;
let integrations: Integrations;

beforeEach(() => {
  house = new House();
  integrations = house.integrations;
});

const never = new Promise<void>(() => undefined);
const oneForm =
  (end: () => ReturnType<Script>): Script =>
  (answers) =>
    answers.length === 0 ? form(['host']) : end();
const submits = () => house.calls.filter((call) => call.startsWith('submit'));
const starts = () => house.calls.filter((call) => call.startsWith('start'));
const seconds = () => house.clock.now() / 1_000;

/** Settles, and lets running work in the hub continue. */
async function settled() {
  let outcome = await house.settle('one');
  for (let pass = 0; pass < 5; pass++) {
    await house.clock.advance(2_000);
    outcome = await house.settle('one');
  }
  return outcome;
}

/**
 * The hub has made the entry of the first flow. It cancels the set-up when the connection closes, and keeps
 * the flow open.
 */
function cutOnce(fields: Partial<Parameters<typeof anEntry>[0]> = {}): void {
  let isFirst = true;
  integrations.scriptOf = () =>
    oneForm(() => {
      if (!isFirst) return integrations.created();
      isFirst = false;
      const cut = anEntry({ entry_id: 'cut', state: 'setup_error', created_at: seconds(), ...fields });
      integrations.entries.set('cut', cut);
      return form(['host']);
    });
  integrations.onCarriedOut = (call) => (call.startsWith('submit') ? never : undefined);
}

async function killedInTheLastAnswer(spec: object): Promise<void> {
  house.apply('one', spec);
  await house.until('one', () => integrations.entries.has('cut'));
  integrations.onCarriedOut = () => undefined;
  house.calls.length = 0;
  house.start();
}

describe('an operator that is killed while the hub sets an entry up', () => {
  test.each<[string, object]>([
    ['without a title', {}],
    ['with a title', { title: 'Mine' }],
    ['with adopt: Never', { adopt: 'Never' }],
  ])('finds it, has it loaded once, and makes no second one (%s)', async (_, more) => {
    integrations.entries.set('other', anEntry({ entry_id: 'other', title: 'Other' }));
    cutOnce();
    await killedInTheLastAnswer({ configuration: texts({ host: 'a' }), ...more });
    expect(await settled()).toMatchObject({ type: 'Ready' });
    expect(house.status('one')).toMatchObject({ entryID: 'cut', entryState: 'loaded' });
    expect(house.status('one')).not.toHaveProperty('adopted');
    expect(house.calls.filter((call) => call.startsWith('enabled'))).toEqual([
      'enabled cut false',
      'enabled cut true',
    ]);
    expect(starts()).toEqual([]);
    expect(integrations.entries.size).toBe(2);
    expect(integrations.flows.size).toBe(0);
  });

  test('enables it if it was killed again after it had disabled it', async () => {
    cutOnce();
    await killedInTheLastAnswer({ configuration: texts({ host: 'a' }), driftPolicy: 'Warn' });
    const { setEnabled } = house.client.configEntries;
    house.client.configEntries.setEnabled = async (id, enabled) => {
      await setEnabled(id, enabled);
      await never;
    };
    void house.settle('one');
    while (integrations.entries.get('cut')!.disabled_by === null) await house.clock.advance(0);
    house.client.configEntries.setEnabled = setEnabled;
    house.calls.length = 0;
    house.start();
    expect(await settled()).toMatchObject({ type: 'Ready' });
    expect(house.events).toEqual([]);
    expect(house.calls.filter((call) => call.startsWith('enabled'))).toEqual(['enabled cut true']);
  });

  test('changes nothing when the key of the hashes was lost, too', async () => {
    cutOnce({ state: 'loaded' });
    await killedInTheLastAnswer({ configuration: texts({ host: 'a' }), reconfigure: 'Recreate' });
    integrations.flows.clear();
    house.key = 'another';
    expect(await settled()).toMatchObject({ type: 'Ready' });
    expect(house.calls).toEqual([]);
    house.apply('one', { configuration: texts({ host: 'b' }) });
    expect(await settled()).toMatchObject({ reason: 'RecreateRequired' });
  });

  test.each(['SecretRefused', 'DuplicateId'])(
    'does not block others of the domain while its resource is %s',
    async (reason) => {
      cutOnce();
      await killedInTheLastAnswer({ title: 'One', configuration: texts({ host: 'a' }) });
      const one = house.resources.get('one')!;
      const ready = { type: 'Ready', status: 'False', reason, message: '', lastTransitionTime: '' } as const;
      house.resources.set('one', { ...one, status: { ...one.status, conditions: [ready] } });
      house.apply('two', { title: 'Two', configuration: texts({ host: 'b' }) });
      await house.settle('two');
      expect(house.status('two').entryID).toMatch(/^made-/);
    },
  );

  test('waits while the hub still sets it up, and does not touch one that is loaded', async () => {
    cutOnce({ state: 'setup_in_progress' });
    await killedInTheLastAnswer({ configuration: texts({ host: 'a' }) });
    expect(await settled()).toMatchObject({ type: 'Waiting', reason: 'ConfigFlowInProgress' });
    integrations.set('cut', { state: 'loaded' });
    expect(await settled()).toMatchObject({ type: 'Ready' });
    expect(house.calls.filter((call) => call.startsWith('enabled'))).toEqual([]);
  });

  test('does not touch one that the integration could not set up, with its reason', async () => {
    cutOnce({ reason: 'no answer' });
    await killedInTheLastAnswer({ configuration: texts({ host: 'a' }) });
    integrations.flows.clear(); // the flow ends with the set-up
    expect(await settled()).toMatchObject({ type: 'Stalled', reason: 'SetupError' });
    expect(house.calls.filter((call) => call.startsWith('enabled'))).toEqual([]);
  });
});

describe('an entry that another resource makes after the interruption', () => {
  let one: IntegrationResource;

  beforeEach(async () => {
    cutOnce();
    house.apply('one', { configuration: texts({ host: 'a' }) });
    await house.until('one', () => house.status('one').pendingFlow?.flowID !== undefined);
    integrations.onCarriedOut = () => undefined;
    integrations.scriptOf = () => oneForm(() => integrations.created());
    house.start();
    integrations.flows.clear(); // the hub was also restarted
    one = house.resources.get('one')!;
    house.resources.set('one', { ...one, spec: { ...one.spec, suspend: true } });
    house.apply('two', { configuration: texts({ host: 'b' }) });
  });
  const resume = () => house.resources.set('one', { ...house.resources.get('one')!, spec: one.spec });

  test('is neither adopted nor named', async () => {
    expect(await house.settle('two')).toMatchObject({ type: 'Ready' });
    const taken = house.status('two').entryID!;
    resume();
    expect(await settled()).toMatchObject({ type: 'Ready' });
    expect(house.status('one').entryID).not.toBe(taken);
    expect(house.status('two').entryID).toBe(taken);
    expect(house.events).toEqual([]);
  });

  test('is not examined before the hub has answered that one', async () => {
    integrations.onCarriedOut = (call) => (call.startsWith('submit') ? never : undefined);
    await house.until('two', () => integrations.entries.size > 0);
    resume();
    expect(await settled()).toMatchObject({ type: 'Waiting', reason: 'ConfigFlowInProgress' });
    expect(house.status('one')).not.toHaveProperty('entryID');
  });
});

test('an entry that a user made while the flow was open is not adopted', async () => {
  cutOnce();
  house.apply('one', { configuration: texts({ host: 'a' }) });
  await house.until('one', () => house.status('one').pendingFlow?.flowID !== undefined);
  integrations.onCarriedOut = () => undefined;
  integrations.scriptOf = () => oneForm(() => integrations.created());
  integrations.entries.set('person', anEntry({ entry_id: 'person', created_at: seconds() }));
  house.start();
  expect(await settled()).toMatchObject({ type: 'Ready' });
  expect(house.status('one').entryID).toMatch(/^made-/);
});

test('an entry that was only found is not removed with the resource, and its title is masked', async () => {
  house.secrets['login'] = { user: 'me@example.org' };
  cutOnce({ title: 'me@example.org' });
  await killedInTheLastAnswer({ configuration: { host: { secretKeyRef: { name: 'login', key: 'user' } } } });
  expect(await house.remove('one')).toMatchObject([{ message: expect.stringContaining('“***”') }]);
  expect(integrations.entries.has('cut')).toBe(true);
});

describe('a response that does not arrive', () => {
  test('is a failure of these answers, tried again with a backoff', async () => {
    integrations.scriptOf = () => oneForm(() => form(['host']));
    house.apply('one', { configuration: texts({ host: 'x' }) });
    let count = 0;
    house.client.flows.submit = async () => {
      count++;
      await house.clock.sleep(30_000);
      throw new HubUnreachable('no answer within 30 s');
    };
    const reasons = new Set<string>();
    for (let second = 0; second < 3_600; second += 10) {
      reasons.add((await house.settle('one')).reason);
      await house.clock.advance(10_000);
    }
    expect(count).toBeGreaterThan(5);
    expect(count).toBeLessThanOrEqual(12);
    expect([...reasons]).toEqual(['ConfigFlowInProgress', 'ConfigFlowFailed']);
    expect(house.status('one').pendingFlow).toBeUndefined();
  });

  test.each([
    ['no response', new HubUnreachable('HTTP 502')],
    ['a failure', new HubFailed('HTTP 500')],
  ])('to a start that gets %s is a failure with a backoff, too', async (_, error) => {
    house.apply('one', { configuration: texts({ host: 'x' }) });
    let count = 0;
    house.client.flows.start = () => (count++, Promise.reject(error));
    for (let second = 0; second < 3_600; second += 10) {
      expect(['ConfigFlowInProgress', 'ConfigFlowFailed']).toContain((await house.settle('one')).reason);
      await house.clock.advance(10_000);
    }
    expect(count).toBeGreaterThan(5);
    expect(count).toBeLessThanOrEqual(12);
  });

  const responses = [
    ['no response', new HubUnreachable('the connection broke')],
    ['a failure', new HubFailed('the answer has another form')],
  ] as const;

  test.each(responses)('leads to the entry that the hub made (%s)', async (_, error) => {
    integrations.scriptOf = () => oneForm(() => integrations.created());
    house.apply('one', { configuration: texts({ host: 'x' }) });
    integrations.onCarriedOut = (call) => {
      if (call.startsWith('submit')) throw error;
    };
    expect(await settled()).toMatchObject({ type: 'Ready' });
    expect(integrations.entries.size).toBe(1);
    expect(submits()).toHaveLength(1);
  });

  test.each(responses)('while the flow is open adopts no entry of a user (%s)', async (_, error) => {
    integrations.scriptOf = () => oneForm(() => form(['host']));
    house.apply('one', { configuration: texts({ host: 'x' }) });
    integrations.onCarriedOut = (call) => {
      if (!call.startsWith('submit')) return;
      integrations.entries.set('person', anEntry({ entry_id: 'person', created_at: seconds() }));
      throw error;
    };
    expect(await settled()).toMatchObject({ type: 'Stalled', reason: 'ConfigFlowFailed' });
    expect(house.status('one')).not.toHaveProperty('entryID');
    expect(integrations.flows.size).toBe(0);
  });

  test('of a hub that was restarted while it processed a step is not a mistake in the spec', async () => {
    integrations.scriptOf = () => () => ({ type: 'progress', step_id: 'work' });
    house.apply('one', {});
    await house.settle('one');
    await house.clock.advance(2_000);
    await house.settle('one');
    house.client.flows.read = () => Promise.reject(new NotFound('404', 'Invalid flow specified'));
    await house.clock.advance(2_000);
    const outcome = await house.settle('one');
    expect(outcome).toMatchObject({ type: 'Stalled', reason: 'ConfigFlowFailed', after: 10_000 });
    expect(outcome.message).toContain('no longer has the flow');
  });
});
