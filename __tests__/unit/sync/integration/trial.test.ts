import { HubRejected } from '../../../../operator/client/errors';
import { anEntry, type FakeHub, form, type Script } from './fake-hub';
import { House, texts } from './house';

let house: House;
let hub: FakeHub;

beforeEach(() => {
  house = new House();
  hub = house.hub;
});

const steps = (menuOption: string) => [{ stepId: 'user', menuOption }];
/** The choice in a menu is all that the flow asks for. */
const afterMenu: Script = (answers) =>
  answers.length === 0
    ? { type: 'menu', step_id: 'user', menu_options: ['lamp', 'door', 'gate'] }
    : hub.created({ title: (answers[0] as { next_step_id: string }).next_step_id });
/** The flow makes an entry at once. */
const atOnce: Script = () => hub.created();
/** The hub wrongly says that another form follows. */
const afterForm: Script = (answers) =>
  answers.length === 0 ? form(['host'], { last_step: false }) : hub.created();

const scenarios: readonly [string, Script, (which: string) => object][] = [
  ['a menu', afterMenu, (which) => ({ steps: steps(which) })],
  ['no question', atOnce, (which) => ({ steps: steps(which) })],
  ['a form', afterForm, (which) => ({ configuration: texts({ host: which }), reconfigure: 'Recreate' })],
];

const reasons = () => house.events.map(({ reason }) => reason);
const ids = () => [...hub.entries.keys()];
const never = new Promise<void>(() => undefined);

/** A resource whose entry has the answer `lamp`. Resolves with the id. */
async function aReadyOne(script: Script, spec: object): Promise<string> {
  hub.scriptOf = () => script;
  house.apply('one', spec);
  expect(await house.settle('one')).toMatchObject({ type: 'Ready' });
  hub.calls.length = 0;
  house.events.length = 0;
  return house.status('one').entryID!;
}

/** Changes the answer, and has the operator killed when the hub has carried out a call. */
async function killedAfter(spec: object, isIt: (call: string) => boolean): Promise<void> {
  let killed = false;
  hub.onCarriedOut = (call) => {
    if (killed || !isIt(call)) return undefined;
    killed = true;
    return never;
  };
  house.apply('one', spec);
  await house.until('one', () => killed);
  house.start();
}

/** Kills it when the trial has made a second entry. Resolves with its id. */
async function killedWithTwo(spec: object): Promise<string> {
  await killedAfter(spec, () => hub.entries.size === 2);
  return ids()[1]!;
}

describe('endTrial', () => {
  describe.each(scenarios)('of a flow with %s', (_, script, spec) => {
    test('is not needed after a trial that ends: no write more, and the entry is created again', async () => {
      const id = await aReadyOne(script, spec('lamp'));
      const recorded: unknown[] = [];
      house.apply('one', spec('door'));
      await house.until('one', () => {
        const { pendingFlow } = house.status('one');
        if (pendingFlow && pendingFlow !== recorded.at(-1)) recorded.push(pendingFlow);
        return pendingFlow?.replaces !== undefined;
      });
      const [second] = hub.calls.filter((call) => call.startsWith('remove'));
      expect(second).not.toBe(`remove ${id}`);
      expect(recorded[0]).toMatchObject({ kind: 'config', entryIDs: [id] });
      expect(await house.settle('one')).toMatchObject({ type: 'Ready' });
      expect(hub.calls.filter((call) => /^(start|remove)/.test(call))).toEqual([
        'start config',
        second,
        `remove ${id}`,
        'start config',
      ]);
      expect(ids()).toEqual([house.status('one').entryID]);
      expect(reasons()).toEqual(['EntryRecreated']);
    });

    test('leaves one entry, wherever the operator is killed', async () => {
      for (let n = 1; ; n++) {
        house = new House();
        hub = house.hub;
        const id = await aReadyOne(script, spec('lamp'));
        let calls = 0;
        hub.onCarriedOut = () => (++calls === n ? never : undefined);
        house.apply('one', spec('door'));
        let steps = 0;
        await house.until('one', () => calls >= n || ++steps > 40);
        if (calls < n) {
          expect(n).toBeGreaterThan(4);
          return;
        }
        house.start();
        expect(await house.settle('one')).toMatchObject({ type: 'Ready' });
        expect(ids()).toEqual([house.status('one').entryID]);
        expect(ids()).not.toContain(id);
        expect(house.status('one')).not.toHaveProperty('pendingFlow');
      }
    });

    test('leaves one entry, whichever write of the status was the last one', async () => {
      for (let n = 0; ; n++) {
        house = new House();
        hub = house.hub;
        const id = await aReadyOne(script, spec('lamp'));
        house.apply('one', spec('door'));
        for (let time = 0; time < n; time++) await house.reconcile('one');
        const isDone = house.status('one').pendingFlow === undefined && !hub.entries.has(id);
        house.start();
        expect(await house.settle('one')).toMatchObject({ type: 'Ready' });
        expect(ids()).toEqual([house.status('one').entryID]);
        expect(ids()).not.toContain(id);
        if (isDone) return;
      }
    });
  });

  describe('of a flow that made a second entry', () => {
    const spec = scenarios[0]![2];
    let id: string;
    let second: string;

    async function killed(more: object = {}): Promise<void> {
      id = await aReadyOne(afterMenu, { ...spec('lamp'), ...more });
      second = await killedWithTwo({ ...spec('door'), ...more });
    }

    test('takes it, says so, and removes the former one', async () => {
      await killed();
      expect(await house.settle('one')).toMatchObject({ type: 'Ready' });
      expect(ids()).toEqual([second]);
      expect(house.status('one')).toMatchObject({ entryID: second, title: 'door' });
      expect(house.events).toMatchObject([
        { reason: 'EntryRecreated', message: expect.stringContaining('“door”') },
      ]);
      expect(hub.calls.filter((call) => call.startsWith('start'))).toEqual(['start config']);
    });

    test('removes no entry that may be a person’s, and names all', async () => {
      await killed();
      hub.entries.set('theirs', anEntry({ entry_id: 'theirs', title: 'Theirs' }));
      expect(await house.settle('one')).toMatchObject({ type: 'Ready' });
      expect(hub.calls).not.toContain(`remove ${second}`);
      expect(ids()).toEqual([second, 'theirs', house.status('one').entryID]);
      expect(house.events).toMatchObject([
        { reason: 'ConfigFlowFailed', message: expect.stringContaining('“door”, “Theirs”') },
        { reason: 'EntryRecreated' },
      ]);
    });

    test('neither takes nor removes an entry that was not made right then', async () => {
      await killed();
      hub.set(second, { created_at: hub.entries.get(second)!.created_at! + 61 });
      expect(await house.settle('one')).toMatchObject({ type: 'Ready' });
      expect(hub.calls).not.toContain(`remove ${second}`);
      expect(hub.entries.get(second)).toMatchObject({ title: 'door' });
      expect(house.status('one').entryID).not.toBe(second);
      expect(house.events).toMatchObject([
        { reason: 'ConfigFlowFailed', message: expect.stringContaining('“door”') },
        { reason: 'EntryRecreated' },
      ]);
    });

    test('does not remove such an entry with the resource, and names it', async () => {
      await killed();
      hub.set(second, { created_at: hub.entries.get(second)!.created_at! + 61 });
      expect(await house.remove('one')).toMatchObject({ type: 'Waiting' });
      await house.clock.advance(0);
      expect(await house.remove('one')).toMatchObject([{ reason: 'ConfigFlowFailed' }]);
      expect(ids()).toEqual([second]);
    });

    test('removes nothing if the change was taken back meanwhile', async () => {
      await killed();
      house.apply('one', spec('lamp'));
      expect(await house.settle('one')).toMatchObject({ type: 'Ready' });
      expect(house.status('one').entryID).toBe(id);
      expect(ids()).toEqual([id, second]);
      expect(house.events).toMatchObject([
        { reason: 'ConfigFlowFailed', message: expect.stringContaining('“door”') },
      ]);
    });

    test('applies another change that was made meanwhile', async () => {
      await killed();
      house.apply('one', spec('gate'));
      expect(await house.settle('one')).toMatchObject({ type: 'Ready' });
      expect(house.status('one')).toMatchObject({ title: 'gate' });
      expect(ids()).toEqual([house.status('one').entryID]);
    });

    test('removes an adopted entry only while reconfigure is Recreate', async () => {
      hub.scriptOf = () => afterMenu;
      hub.entries.set('theirs', anEntry({ entry_id: 'theirs', title: 'lamp' }));
      const named = { title: 'lamp', reconfigure: 'Recreate' } as const;
      await killed(named);
      expect(id).toBe('theirs');
      house.apply('one', { ...spec('door'), title: 'lamp' });
      await house.settle('one');
      expect(ids()).toEqual(['theirs', second]);
      expect(house.status('one').entryID).toBe('theirs');
    });

    test('waits for what comes of an entry that is being removed', async () => {
      await killed();
      hub.set(second, { state: 'unload_in_progress' });
      expect(await house.settle('one')).toMatchObject({ type: 'Waiting' });
      expect(ids()).toEqual([id, second]);
      hub.entries.delete(second);
      expect(await house.settle('one')).toMatchObject({ type: 'Ready' });
      expect(ids()).toEqual([house.status('one').entryID]);
    });

    test('waits for ten minutes for an entry that the hub does not get set up', async () => {
      await killed();
      hub.set(second, { state: 'setup_in_progress' });
      expect(await house.settle('one')).toMatchObject({ type: 'Waiting' });
      expect(house.events).toEqual([]);
      await house.clock.advance(10 * 60_000);
      await house.settle('one');
      expect(house.events).toMatchObject([{ reason: 'ConfigFlowFailed' }, { reason: 'EntryRecreated' }]);
      expect(hub.calls).not.toContain(`remove ${second}`);
    });

    test('takes it also if the former one was removed by a person, also with driftPolicy Warn', async () => {
      await killed({ driftPolicy: 'Warn' });
      hub.entries.delete(id);
      expect(await house.settle('one')).toMatchObject({ type: 'Ready' });
      expect(ids()).toEqual([second]);
    });

    test('takes none of another resource', async () => {
      await killed();
      house.apply('two', { title: 'door', ...spec('door') });
      house.resources.set('two', { ...house.resources.get('two')!, status: { entryID: second } });
      await house.settle('one');
      expect(house.status('one').entryID).not.toBe(second);
      expect(ids()).toEqual([second, house.status('one').entryID]);
    });

    test('removes both with the resource', async () => {
      await killed();
      expect(await house.remove('one')).toMatchObject({ type: 'Waiting' });
      await house.clock.advance(0);
      expect(await house.remove('one')).toMatchObject({ type: 'Waiting' });
      await house.clock.advance(0);
      expect(await house.remove('one')).toEqual([]);
      expect(ids()).toEqual([]);
    });

    test('leaves both with a resource that is Orphan', async () => {
      await killed({ deletionPolicy: 'Orphan' });
      expect(await house.remove('one')).toEqual([]);
      expect(ids()).toEqual([id, second]);
    });
  });

  test('takes an entry that the hub did not let go', async () => {
    const spec = scenarios[0]![2];
    await aReadyOne(afterMenu, spec('lamp'));
    hub.unload = () => Promise.reject(new HubRejected('405', 'not allowed'));
    house.apply('one', spec('door'));
    await house.until('one', () => hub.calls.some((call) => call.startsWith('remove')));
    await expect(house.settle('one')).resolves.toMatchObject({ type: 'Waiting', reason: 'HubFailed' });
    hub.unload = () => Promise.resolve();
    expect(await house.settle('one')).toMatchObject({ type: 'Ready' });
    expect(ids()).toEqual([house.status('one').entryID]);
  });

  test('comes before any other flow of the domain', async () => {
    const spec = scenarios[0]![2];
    const id = await aReadyOne(afterMenu, spec('lamp'));
    await killedWithTwo(spec('door'));
    house.apply('two', { title: 'gate', ...spec('gate') });
    expect(await house.settle('two')).toMatchObject({
      type: 'Waiting',
      message: expect.stringContaining('config flow of one'),
    });
    await house.settle('one');
    await house.settle('two');
    expect(ids()).toEqual([house.status('one').entryID, house.status('two').entryID]);
    expect(ids()).not.toContain(id);
  });
});

describe('trialProblem', () => {
  test('does not recreate an entry whose answers were taken back meanwhile', async () => {
    const spec = scenarios[0]![2];
    const id = await aReadyOne(afterMenu, spec('lamp'));
    house.apply('two', { title: 'gate', ...spec('gate') });
    await house.until('two', () => house.status('two').pendingFlow?.flowID !== undefined);
    house.apply('one', spec('door'));
    await house.settle('one');
    house.apply('one', spec('lamp'));
    await house.settle('two');
    await house.clock.advance(2_000);
    expect(await house.settle('one')).toMatchObject({ type: 'Ready' });
    expect(hub.calls).not.toContain(`remove ${id}`);
    expect(house.status('one').entryID).toBe(id);
    expect(house.status('one').pendingFlow).toBeUndefined();
    expect(hub.entries.size).toBe(2);
  });

  test('waits while another flow of the domain runs', async () => {
    const spec = scenarios[0]![2];
    await aReadyOne(afterMenu, spec('lamp'));
    house.apply('two', { title: 'gate', ...spec('gate') });
    await house.until('two', () => house.status('two').pendingFlow?.flowID !== undefined);
    house.apply('one', spec('door'));
    await house.settle('one');
    expect(hub.calls).toEqual(['start config']);
    expect(house.status('one').pendingFlow).toBeUndefined();
    await house.settle('two');
    await house.clock.advance(2_000);
    expect(await house.settle('one')).toMatchObject({ type: 'Ready' });
    expect(hub.entries.get(house.status('one').entryID!)).toMatchObject({ title: 'door' });
    expect(hub.entries.size).toBe(2);
  });

  test('what the options have got before is taken back, too', async () => {
    const spec = (which: string, host: string) => ({ steps: steps(which), configuration: texts({ host }) });
    const afterBoth: Script = (answers) =>
      answers.length === 1 ? form(['host']) : afterMenu(answers.slice(0, 1));
    const withOptions: Script = (answers) => {
      const step = afterBoth(answers);
      if (step.type === 'create_entry') hub.set(ids().at(-1)!, { supports_options: true });
      return step;
    };
    hub.scriptOf = ({ kind }) =>
      kind === 'options'
        ? (answers) => (answers.length === 0 ? form(['host'], { step_id: 'init' }) : { type: 'create_entry' })
        : withOptions;
    house.apply('one', spec('lamp', 'a'));
    expect(await house.settle('one')).toMatchObject({ type: 'Ready' });
    house.apply('two', { title: 'gate', ...spec('gate', 'c') });
    await house.until('two', () => house.status('two').pendingFlow?.flowID !== undefined);
    house.apply('one', spec('door', 'b'));
    await house.settle('one');
    expect(hub.calls).toContain('submit {"host":"b"}');
    house.apply('one', spec('lamp', 'a'));
    await house.settle('two');
    await house.clock.advance(2_000);
    hub.calls.length = 0;
    expect(await house.settle('one')).toMatchObject({ type: 'Ready' });
    expect(hub.calls).toContain('submit {"host":"a"}');
    expect(hub.calls.filter((call) => call.startsWith('remove'))).toEqual([]);
  });
});

describe('acquireDomain', () => {
  test('a resource that is held up before its flow starts lets others of the domain go on', async () => {
    const spec = scenarios[0]![2];
    hub.scriptOf = () => afterMenu;
    house.apply('one', { title: 'lamp', ...spec('lamp') });
    await house.reconcile('one');
    expect(house.status('one').pendingFlow).toBeDefined();
    house.apply('one', { title: 'lamp', ...spec('lamp'), suspend: true });
    house.apply('two', { title: 'door', ...spec('door') });
    expect(await house.settle('two')).toMatchObject({ type: 'Ready' });
    house.apply('one', { title: 'lamp', ...spec('lamp') });
    expect(await house.settle('one')).toMatchObject({ type: 'Ready' });
    expect([...hub.entries.values()].map(({ title }) => title)).toEqual(['door', 'lamp']);
  });

  test('two resources whose flows were interrupted do not wait for each other', async () => {
    const spec = scenarios[0]![2];
    hub.scriptOf = () => afterMenu;
    for (const name of ['one', 'two']) {
      house.apply(name, { title: name, ...spec('lamp') });
      await house.settle(name);
    }
    for (const name of ['one', 'two']) {
      const { entryID, ...status } = house.status(name);
      const pendingFlow = { startedAt: '2026-01-01T00:00:00Z', entryIDs: ids(), replaces: entryID! };
      house.resources.set(name, { ...house.resources.get(name)!, status: { ...status, pendingFlow } });
    }
    house.start();
    for (let pass = 0; pass < 4; pass++)
      for (const name of ['two', 'one']) {
        await house.settle(name);
        await house.clock.advance(2_000);
      }
    expect(ids()).toEqual([house.status('one').entryID, house.status('two').entryID]);
  });
});
