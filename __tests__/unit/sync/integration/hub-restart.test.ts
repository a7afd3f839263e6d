import { HubFailed, HubUnreachable, NotFound } from '../../../../operator/client/connection/errors';
import type { Outcome } from '../../../../operator/runtime/outcome';
import { form, type Integrations, oneForm } from '../../stand-in-hub/integrations';
import { House, texts } from './house';

let house: House;
let integrations: Integrations;

beforeEach(() => {
  house = new House();
  integrations = house.integrations;
  integrations.scriptOf = () => oneForm(['host'], () => integrations.created());
});

const submits = () => house.calls.filter((call) => call.startsWith('submit'));

/** Returns all outcomes of a minute. */
async function aMinute(seconds = 60): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  for (let second = 0; second < seconds; second += 5) {
    outcomes.push(await house.settle('one'));
    await house.clock.advance(5_000);
  }
  return outcomes;
}

const reasons = (outcomes: readonly Outcome[]) => [...new Set(outcomes.map(({ reason }) => reason))];

/** Stops the hub with these errors while it processes the first answers. */
function cut(times: number, error: Error = new HubUnreachable('the connection broke')): void {
  let count = 0;
  integrations.onCarriedOut = (call) => {
    if (!call.startsWith('submit') || ++count > times) return;
    integrations.entries.clear(); // the hub had stored the entry only in memory
    house.hub.restart();
    throw error;
  };
}

describe('a flow that is interrupted by the restart of the hub', () => {
  test.each([
    ['before the response to an answer', new HubUnreachable('the connection broke')],
    ['as the hub fails at an answer', new HubFailed('HTTP 500')],
    ['as the hub has forgotten the flow', new NotFound('404', 'Invalid flow specified')],
  ])('waits for the hub and continues automatically (%s)', async (_, error) => {
    cut(1, error);
    house.apply('one', { configuration: texts({ host: 'a' }) });
    const outcomes = await aMinute();
    expect(reasons(outcomes)).toEqual(['HubNotReady', 'EntryLoaded']);
    expect(outcomes.map(({ type }) => type)).not.toContain('Stalled');
    expect(house.events).toEqual([]);
    expect(house.status('one')).not.toHaveProperty('rejectedHash');
    expect(submits()).toHaveLength(2);
    expect(integrations.entries.size).toBe(1);
  });

  test('waits as well when the hub does not know the integration yet', async () => {
    const { start } = house.client.flows;
    let count = 0;
    house.client.flows.start = async (request) => {
      if (++count > 1) return start(request);
      house.hub.presence.restart();
      throw new NotFound('404', 'Invalid handler specified');
    };
    house.apply('one', { configuration: texts({ host: 'a' }) });
    expect(reasons(await aMinute())).toEqual(['HubNotReady', 'EntryLoaded']);
    expect(house.events).toEqual([]);
  });

  test('waits for a hub that is still stopping', async () => {
    cut(1, new HubFailed('HTTP 500'));
    house.hub.presence.restart = () => void (house.hub.presence.runs = false);
    house.apply('one', { configuration: texts({ host: 'a' }) });
    expect(await house.settle('one')).toMatchObject({ type: 'Waiting', reason: 'HubNotReady' });
    house.hub.presence.runs = true;
    expect(reasons(await aMinute()).at(-1)).toBe('EntryLoaded');
  });

  test('is recognized by the entry that the hub made before', async () => {
    integrations.onCarriedOut = (call) => {
      if (!call.startsWith('submit')) return;
      house.hub.restart();
      throw new HubUnreachable('the connection broke');
    };
    house.apply('one', { configuration: texts({ host: 'a' }) });
    expect(reasons(await aMinute())).toEqual(['HubNotReady', 'EntryLoaded']);
    expect(submits()).toHaveLength(1);
    expect(integrations.entries.size).toBe(1);
  });

  test('of an update is repeated, and keeps the entry', async () => {
    house.apply('one', { configuration: texts({ host: 'a' }) });
    await house.settle('one');
    const id = house.status('one').entryID!;
    integrations.set(id, { supports_reconfigure: true });
    integrations.scriptOf = () =>
      oneForm(['host'], () => ({ type: 'abort', reason: 'reconfigure_successful' }));
    let count = 0;
    integrations.onCarriedOut = (call) => {
      if (!call.startsWith('submit') || ++count > 1) return;
      house.hub.restart();
      throw new HubUnreachable('the connection broke');
    };
    house.apply('one', { configuration: texts({ host: 'b' }) });
    expect(reasons(await aMinute())).toEqual(['HubNotReady', 'EntryLoaded']);
    expect(house.status('one').entryID).toBe(id);
    expect(house.events).toEqual([]);
  });
});

describe('a flow that fails on its own', () => {
  test.each([
    ['an abort', { type: 'abort', reason: 'cannot_connect' } as const],
    ['an error of the form', form(['host'], { errors: { base: 'cannot_connect' } })],
  ])('is reported although the hub was restarted afterwards (%s)', async (_, end) => {
    integrations.scriptOf = () => oneForm(['host'], () => end);
    integrations.onSubmit = () => house.hub.presence.restart();
    house.apply('one', { configuration: texts({ host: 'a' }) });
    expect(await house.settle('one')).toMatchObject({ type: 'Stalled', reason: 'ConfigFlowFailed' });
  });

  test('is reported when the hub lost the response and ran all the time', async () => {
    integrations.onCarriedOut = (call) => {
      if (call.startsWith('submit')) integrations.entries.clear();
      if (call.startsWith('submit')) throw new HubUnreachable('the connection broke');
    };
    house.apply('one', { configuration: texts({ host: 'a' }) });
    expect(await house.settle('one')).toMatchObject({ type: 'Stalled', reason: 'ConfigFlowFailed' });
  });
});

describe('a flow during which the hub ends each time', () => {
  test('is reported after the third time, and retried less and less often', async () => {
    cut(Infinity);
    house.apply('one', { configuration: texts({ host: 'a' }) });
    const outcomes = await aMinute(3_600);
    const stalled = outcomes.find(({ type }) => type === 'Stalled');
    expect(stalled).toMatchObject({
      reason: 'ConfigFlowFailed',
      message: expect.stringContaining('3 times'),
    });
    expect(submits().length).toBeGreaterThan(5);
    expect(submits().length).toBeLessThan(40);
  });

  test('does not send a value of a Secret more than three times, in any number of processes', async () => {
    house.secrets['login'] = { password: 'hunter2' };
    const secretKeyRef = { name: 'login', key: 'password' };
    house.apply('one', { configuration: { host: { value: 'a' }, password: { secretKeyRef } } });
    integrations.scriptOf = () => oneForm(['host', 'password'], () => integrations.created());
    cut(Infinity);
    const outcomes = await aMinute(3_600);
    expect(outcomes.at(-1)).toMatchObject({ type: 'Stalled', reason: 'ConfigFlowFailed' });
    house.start();
    await aMinute(3_600);
    expect(submits()).toHaveLength(3);
    expect(house.status('one').rejectedHash).toBeDefined();
    expect(integrations.entries.size).toBe(0);
  });

  test('is counted again after a success, and after a change of the answers', async () => {
    cut(2);
    house.apply('one', { configuration: texts({ host: 'a' }) });
    await aMinute();
    const id = house.status('one').entryID!;
    expect(id).toBeDefined();
    integrations.entries.delete(id); // removed by a user, so the entry is made again
    cut(2);
    expect((await aMinute()).map(({ type }) => type)).not.toContain('Stalled');
    expect(house.status('one').entryID).not.toBe(id);
    house.apply('one', { configuration: texts({ host: 'b' }), reconfigure: 'Recreate' });
    cut(2);
    const outcomes = await aMinute(120);
    expect(outcomes.map(({ type }) => type)).not.toContain('Stalled');
  });

  test('is counted again after a change of the answers alone', async () => {
    cut(4);
    house.apply('one', { configuration: texts({ host: 'a' }) });
    for (let second = 0; submits().length < 2; second += 5) {
      expect(second).toBeLessThan(600);
      await aMinute(5);
    }
    house.apply('one', { configuration: texts({ host: 'b' }) });
    const outcomes = await aMinute(120);
    expect(outcomes.map(({ type }) => type)).not.toContain('Stalled');
    expect(house.status('one').entryID).toBeDefined();
  });

  test('is counted again after a success with the same answers', async () => {
    cut(2);
    house.apply('one', { configuration: texts({ host: 'a' }) });
    await aMinute(120);
    expect(house.status('one').entryID).toBeDefined();
    integrations.entries.clear(); // a user removes the entry
    cut(2);
    const outcomes = await aMinute(240);
    expect(submits()).toHaveLength(6);
    expect(outcomes.map(({ type }) => type)).not.toContain('Stalled');
    expect(integrations.entries.size).toBe(1);
  });
});
