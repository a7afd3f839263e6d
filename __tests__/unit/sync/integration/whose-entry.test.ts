import { anEntry, form, type Integrations, oneForm } from '../../stand-in-hub/integrations';
import { House, texts } from './house';

// To whom an entry belongs that the hub has after a flow whose end was not observed (rules.md,
// "Integrations").

let house: House;
let integrations: Integrations;

beforeEach(() => {
  house = new House();
  integrations = house.integrations;
  integrations.scriptOf = () => oneForm(['host'], () => integrations.created());
});

const never = new Promise<void>(() => undefined);
const spec = { configuration: texts({ host: 'a' }) };
const ids = () => [...integrations.entries.keys()];
const reasons = () => house.events.map(({ reason }) => reason);
const seconds = () => house.clock.now() / 1_000 + (integrations.clockOffset ?? 0);

async function settled() {
  let outcome = await house.settle('one');
  for (let pass = 0; pass < 5; pass++) {
    await house.clock.advance(2_000);
    outcome = await house.settle('one');
  }
  return outcome;
}

async function removed() {
  await house.remove('one');
  await house.clock.advance(5_000);
  return house.remove('one');
}

/** Adds another device of the integration as a user. */
const aPersonAdds = (fields: Partial<Parameters<typeof anEntry>[0]> = {}) =>
  integrations.entries.set(
    'person',
    anEntry({ entry_id: 'person', title: 'Bedroom', created_at: seconds(), ...fields }),
  );

/** Kills the operator when the flow has been recorded, and nothing has been sent. */
async function killedBeforeTheStart(more: object = {}): Promise<void> {
  house.apply('one', { ...spec, ...more });
  await house.until('one', () => house.status('one').pendingFlow !== undefined);
  expect(house.calls).toEqual([]);
  house.start();
}

/** Kills the operator before the first answer, and restarts the hub, whose flows are only in its memory. */
async function killedBeforeTheFirstAnswer(more: object = {}): Promise<void> {
  house.apply('one', { ...spec, ...more });
  await house.until('one', () => house.status('one').pendingFlow?.flowID !== undefined);
  house.start();
  integrations.flows.clear();
}

/** The flow ends, and the operator is killed before the response arrives. */
async function killedBeforeTheResponse(more: object = {}): Promise<void> {
  integrations.onCarriedOut = (call) => (call.startsWith('submit') ? never : undefined);
  house.apply('one', { ...spec, ...more });
  const { size } = integrations.entries;
  await house.until('one', () => integrations.entries.size > size);
  integrations.onCarriedOut = () => undefined;
  house.start();
}

/** Kills the operator while the hub sets the entry up: the set-up is cancelled, and the flow stays open. */
async function killedInTheSetUp(more: object = {}): Promise<void> {
  let isFirst = true;
  integrations.scriptOf = () =>
    oneForm(['host'], () => {
      if (!isFirst) return integrations.created();
      isFirst = false;
      integrations.entries.set(
        'cut',
        anEntry({ entry_id: 'cut', state: 'setup_error', created_at: seconds() }),
      );
      return form(['host']);
    });
  integrations.onCarriedOut = (call) => (call.startsWith('submit') ? never : undefined);
  house.apply('one', { ...spec, ...more });
  await house.until('one', () => integrations.entries.has('cut'));
  integrations.onCarriedOut = () => undefined;
  house.start();
}

const unclear = (title: string) => ({
  type: 'Stalled',
  reason: 'ConfigFlowFailed',
  message: expect.stringContaining(`“${title}”`) as unknown,
});

describe('a flow that was recorded and not started', () => {
  test.each([20_000, 600_000, 1_200_000, 1_500_000])(
    'has made nothing: an entry that a user makes in the meantime stays unchanged (the operator is down for %i ms)',
    async (away) => {
      await killedBeforeTheStart({ title: 'Mine', adopt: 'Never' });
      await house.clock.advance(10_000);
      aPersonAdds();
      await house.clock.advance(away);
      expect(await settled()).toMatchObject({ type: 'Ready' });
      expect(house.status('one').entryID).toMatch(/^made-/);
      expect(integrations.entries.get('person')).toMatchObject({ title: 'Bedroom' });
      expect(reasons()).toEqual([]);
      expect(await removed()).toEqual([]);
      expect(ids()).toEqual(['person']);
    },
  );

  test('has made nothing: no event of the deletion names the entry of a user', async () => {
    await killedBeforeTheStart();
    aPersonAdds();
    expect(await removed()).toEqual([]);
    expect(ids()).toEqual(['person']);
  });
});

describe('an entry that is related to a flow only by its time', () => {
  test('is adopted, and stays at the deletion', async () => {
    await killedBeforeTheFirstAnswer();
    await house.clock.advance(300_000);
    aPersonAdds();
    expect(await settled()).toMatchObject({ type: 'Ready' });
    expect(house.status('one')).toMatchObject({ entryID: 'person', adopted: true });
    expect(house.status('one')).not.toHaveProperty('pendingFlow');
    expect(reasons()).toEqual(['Adopted']);
    await removed();
    expect(integrations.entries.get('person')).toMatchObject({ title: 'Bedroom' });
  });

  test.each([
    ['has another title than the spec', { title: 'Mine' }],
    ['may not be adopted', { adopt: 'Never' }],
  ])('is named, not changed and not duplicated if it %s', async (_, more) => {
    await killedBeforeTheFirstAnswer(more);
    await house.clock.advance(300_000);
    aPersonAdds();
    house.calls.length = 0;
    expect(await settled()).toMatchObject(unclear('Bedroom'));
    house.start();
    expect(await settled()).toMatchObject(unclear('Bedroom'));
    expect(house.status('one')).not.toHaveProperty('entryID');
    expect(house.calls).toEqual([]);
    expect(await removed()).toMatchObject([
      { reason: 'ConfigFlowFailed', message: expect.stringContaining('“Bedroom”') },
    ]);
    expect(integrations.entries.get('person')).toMatchObject({ title: 'Bedroom' });
  });

  test('is adopted when a user gives it the title of the spec', async () => {
    await killedBeforeTheResponse({ title: 'Mine' });
    expect(await settled()).toMatchObject(unclear('Demo'));
    const [made] = ids();
    integrations.changeEntry(made!, { title: 'Mine' });
    expect(await house.settle('one')).toMatchObject({ type: 'Ready' });
    expect(house.status('one')).toMatchObject({ entryID: made, adopted: true });
    expect(ids()).toEqual([made]);
  });

  test('is replaced by another one when a user removes it, and enqueues the resource', async () => {
    await killedBeforeTheResponse({ adopt: 'Never' });
    expect(await settled()).toMatchObject(unclear('Demo'));
    const [made] = ids();
    expect(house.isRequeued('one')).toBe(false);
    integrations.removeEntry(made!);
    expect(house.isRequeued('one')).toBe(true);
    expect(await settled()).toMatchObject({ type: 'Ready' });
    expect(ids()).toEqual([house.status('one').entryID]);
    expect(house.status('one')).not.toHaveProperty('adopted');
  });

  test('is left to a user by a requested reconcile, which makes another one', async () => {
    await killedBeforeTheFirstAnswer({ title: 'Mine' });
    aPersonAdds();
    expect(await settled()).toMatchObject(unclear('Bedroom'));
    await house.reconcile('one', { forced: true });
    expect(await settled()).toMatchObject({ type: 'Ready' });
    expect(ids()).toEqual(['person', house.status('one').entryID]);
    expect(integrations.entries.get('person')).toMatchObject({ title: 'Bedroom' });
  });

  test('blocks no other resource of the domain', async () => {
    await killedBeforeTheFirstAnswer({ title: 'Mine' });
    aPersonAdds();
    expect(await settled()).toMatchObject(unclear('Bedroom'));
    house.apply('two', { title: 'Two', configuration: texts({ host: 'b' }) });
    await house.until('two', () => house.status('two').entryState === 'loaded');
    expect(await settled()).toMatchObject(unclear('Bedroom'));
  });

  test('is not distinguished from others by its number', async () => {
    await killedBeforeTheResponse();
    aPersonAdds();
    expect(await settled()).toMatchObject(unclear('Bedroom'));
    expect(integrations.entries.size).toBe(2);
  });

  test.each<[string, Parameters<House['apply']>[1], object]>([
    ['adopted', {}, { type: 'Ready' }],
    ['named, and no other one is made, if it may not be', { adopt: 'Never' }, { type: 'Stalled' }],
    ['the same with another title', { title: 'Mine' }, { type: 'Stalled' }],
  ])('is %s, where the start of the flow makes it without a form', async (_, more, expected) => {
    integrations.scriptOf = () => () => integrations.created();
    integrations.onCarriedOut = () => never;
    house.apply('one', more);
    await house.until('one', () => integrations.entries.size === 1);
    integrations.onCarriedOut = () => undefined;
    house.start();
    expect(await settled()).toMatchObject(expected);
    expect(integrations.entries.size).toBe(1);
    await removed();
    expect(integrations.entries.size).toBe(1);
  });
});

describe('the clock of the hub', () => {
  const DAYS = 3 * 24 * 3_600;

  test.each([0, 30, 90, -90, DAYS, -DAYS, undefined])(
    'that is %p s ahead does not matter: one entry remains, at any point where the operator is killed',
    async (offset) => {
      for (const killed of [killedInTheSetUp, killedBeforeTheResponse]) {
        house = new House();
        integrations = house.integrations;
        integrations.clockOffset = offset;
        integrations.scriptOf = () => oneForm(['host'], () => integrations.created());
        await killed();
        expect(house.status('one').pendingFlow?.clockOffset).toBe(offset);
        expect(await settled()).toMatchObject({ type: 'Ready' });
        expect(ids()).toEqual([house.status('one').entryID]);
        expect(house.status('one').adopted).toBe(killed === killedInTheSetUp ? undefined : true);
      }
    },
  );

  test('that is set while the operator is down excludes nothing', async () => {
    integrations.clockOffset = -DAYS;
    await killedBeforeTheFirstAnswer({ adopt: 'Never' });
    integrations.clockOffset = 0;
    aPersonAdds();
    expect(await settled()).toMatchObject(unclear('Bedroom'));
    expect(ids()).toEqual(['person']);
  });

  test('excludes entries that were made after the longest flow: an event names them', async () => {
    integrations.clockOffset = 90;
    await killedBeforeTheFirstAnswer();
    await house.clock.advance(24 * 3_600_000);
    aPersonAdds();
    expect(await settled()).toMatchObject({ type: 'Ready' });
    expect(ids()).toEqual(['person', house.status('one').entryID]);
    expect(house.events).toMatchObject([
      { reason: 'ConfigFlowFailed', message: expect.stringContaining('“Bedroom”') },
    ]);
  });
});

describe('an entry whose set-up was interrupted, with its flow still open', () => {
  test.each([
    ['without a title', {}],
    ['with another title', { title: 'Mine' }],
    ['with adopt: Never', { adopt: 'Never' }],
  ])('belongs to the flow, and is deleted with the resource (%s)', async (_, more) => {
    await killedInTheSetUp(more);
    expect(await settled()).toMatchObject({ type: 'Ready' });
    expect(house.status('one')).toMatchObject({ entryID: 'cut', entryState: 'loaded' });
    expect(house.status('one')).not.toHaveProperty('adopted');
    expect(reasons()).toEqual([]);
    await removed();
    expect(ids()).toEqual([]);
  });

  test('belongs to the flow while the hub waits for the component of the integration', async () => {
    await killedInTheSetUp();
    integrations.set('cut', { state: 'not_loaded' });
    expect(await settled()).toMatchObject({ type: 'Ready' });
    expect(house.status('one')).toMatchObject({ entryID: 'cut', entryState: 'loaded' });
    expect(house.status('one')).not.toHaveProperty('adopted');
  });

  test('still belongs to the flow when the operator is killed again before the hub has set it up', async () => {
    await killedInTheSetUp({ adopt: 'Never' });
    integrations.set('cut', { state: 'setup_in_progress' });
    expect(await settled()).toMatchObject({ type: 'Waiting', reason: 'ConfigFlowInProgress' });
    house.start();
    integrations.set('cut', { state: 'loaded' });
    expect(await settled()).toMatchObject({ type: 'Ready' });
    expect(house.status('one')).toMatchObject({ entryID: 'cut' });
    expect(house.status('one')).not.toHaveProperty('adopted');
  });

  test('is deleted with a resource that is deleted before the hub has set it up', async () => {
    await killedInTheSetUp();
    integrations.set('cut', { state: 'setup_in_progress' });
    await settled();
    house.start();
    expect(await removed()).toEqual([]);
    expect(ids()).toEqual([]);
  });

  test('is not distinguished from another one of a user', async () => {
    await killedInTheSetUp();
    aPersonAdds({ state: 'setup_in_progress' });
    expect(await settled()).toMatchObject(unclear('Bedroom'));
    expect(house.calls.filter((call) => /^(enabled|title|remove)/.test(call))).toEqual([]);
    expect(integrations.entries.size).toBe(2);
  });
});

describe('a flow that is to replace an entry', () => {
  const recreated = (host: string) => ({ configuration: texts({ host }), reconfigure: 'Recreate' as const });
  let former: string;

  beforeEach(async () => {
    house.apply('one', recreated('a'));
    await settled();
    former = house.status('one').entryID!;
  });

  test('replaces it by the entry whose set-up was interrupted', async () => {
    await killedInTheSetUp(recreated('b'));
    expect(await settled()).toMatchObject({ type: 'Ready' });
    expect(ids()).toEqual(['cut']);
    expect(house.status('one')).not.toHaveProperty('adopted');
  });

  test('keeps it beside one that a user may have made, until that is removed', async () => {
    await killedBeforeTheFirstAnswer(recreated('b'));
    aPersonAdds();
    house.calls.length = 0;
    expect(await settled()).toMatchObject(unclear('Bedroom'));
    expect(ids()).toEqual([former, 'person']);
    expect(house.calls).toEqual([]);
    integrations.removeEntry('person');
    expect(await settled()).toMatchObject({ type: 'Ready' });
    expect(ids()).toEqual([house.status('one').entryID]);
    expect(ids()).not.toContain(former);
  });

  test('and that the hub itself has replaced keeps the new one, also with an answer that no form asks for', async () => {
    // The hub removes an entry whose unique id the new one has.
    integrations.scriptOf = () =>
      oneForm(['host'], () => {
        integrations.entries.delete(former);
        return integrations.created();
      });
    house.calls.length = 0;
    house.apply('one', { ...recreated('b'), configuration: texts({ host: 'b', hots: 'c' }) });
    expect(await settled()).toMatchObject({
      reason: 'ConfigFlowFailed',
      message: expect.stringContaining('configuration.hots'),
    });
    expect(house.calls.filter((call) => /^(start|remove)/.test(call))).toEqual([
      'start config',
      `remove ${former}`,
    ]);
    expect(ids()).toEqual([house.status('one').entryID]);
    expect(ids()).not.toContain(former);
  });

  test('and that the hub itself has replaced by one whose set-up was interrupted is not replaced again', async () => {
    await killedInTheSetUp(recreated('b'));
    integrations.entries.delete(former);
    house.calls.length = 0;
    expect(await settled()).toMatchObject({ type: 'Ready' });
    expect(ids()).toEqual(['cut']);
    expect(house.calls.filter((call) => call.startsWith('start'))).toEqual([]);
  });

  test('and that the hub itself has replaced before the operator was killed is adopted', async () => {
    integrations.scriptOf = () =>
      oneForm(['host'], () => {
        integrations.entries.delete(former);
        return integrations.created();
      });
    integrations.onCarriedOut = (call) => (call.startsWith('submit') ? never : undefined);
    house.apply('one', recreated('b'));
    await house.until('one', () => !integrations.entries.has(former));
    integrations.onCarriedOut = () => undefined;
    house.start();
    expect(await settled()).toMatchObject({ type: 'Ready' });
    expect(ids()).toEqual([house.status('one').entryID]);
    expect(house.status('one').adopted).toBe(true);
  });
});

describe('a flow whose end says that it has changed an entry', () => {
  test('names the entry that was changed during the flow, without a clock', async () => {
    for (const id of ['same', 'changed'])
      integrations.entries.set(id, anEntry({ entry_id: id, modified_at: 1 }));
    integrations.scriptOf = () =>
      oneForm(['host'], () => {
        integrations.set('changed', { modified_at: 2 });
        return { type: 'abort', reason: 'reconfigure_successful' };
      });
    house.apply('one', spec);
    expect(await settled()).toMatchObject({ type: 'Ready' });
    expect(house.status('one')).toMatchObject({ entryID: 'changed', adopted: true });
  });
});
