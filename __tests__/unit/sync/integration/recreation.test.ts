import { HubRejected } from '../../../../operator/client/connection/errors';
import { anEntry, form, type Integrations, type Script } from '../../stand-in-hub/integrations';
import { House, texts } from './house';

let house: House;
let integrations: Integrations;

beforeEach(() => {
  house = new House();
  integrations = house.integrations;
});

const never = new Promise<void>(() => undefined);
const ids = () => [...integrations.entries.keys()];
const reasons = () => house.events.map(({ reason }) => reason);
const secret = { password: { secretKeyRef: { name: 'login', key: 'password' } } };
const recreated = (host: string) => ({
  configuration: texts({ host }),
  reconfigure: 'Recreate' as const,
});

/** The integration does not detect duplicates, like helpers. */
const second: Script = (answers) => {
  const { host } = (answers[0] ?? {}) as { host?: string };
  if (host === undefined) return form(['host']);
  return host === 'bad'
    ? form(['host'], { errors: { base: 'cannot_connect' } })
    : integrations.created({ title: host });
};
/** The integration allows one entry for a device. */
const single: Script = (answers) => {
  const step = answers.length === 0 || integrations.entries.size === 0 ? second(answers) : undefined;
  return step ?? { type: 'abort', reason: 'already_configured' };
};

async function aReadyOne(script: Script, spec: object): Promise<string> {
  integrations.scriptOf = () => script;
  house.apply('one', spec);
  expect(await house.settle('one')).toMatchObject({ type: 'Ready' });
  house.calls.length = 0;
  house.events.length = 0;
  return house.status('one').entryID!;
}

/** Settles, and lets running work in the hub continue. */
async function settled() {
  let outcome = await house.settle('one');
  for (let pass = 0; pass < 5; pass++) {
    await house.clock.advance(1);
    outcome = await house.settle('one');
  }
  return outcome;
}

describe('reconfigure: Prefer', () => {
  test.each([
    ['a value', texts({ host: 'b' })],
    ['a value of a Secret', secret],
  ])(
    'a change of %s that no form accepts removes and sends nothing, and the message says what Recreate costs',
    async (_, changed) => {
      house.secrets['login'] = { password: 'right' };
      integrations.scriptOf = () => (answers) =>
        answers.length === 0 ? form(Object.keys(changed)) : integrations.created();
      house.apply('one', { configuration: 'host' in changed ? texts({ host: 'a' }) : secret });
      await house.settle('one');
      const id = house.status('one').entryID!;
      integrations.entities = [1, 2].map((n) => ({ entity_id: `sensor.s${n}`, config_entry_id: id }));
      house.calls.length = 0;
      house.secrets['login'] = { password: 'wrong' };
      house.apply('one', { configuration: changed });
      expect(await settled()).toMatchObject({
        type: 'Stalled',
        reason: 'RecreateRequired',
        message: expect.stringMatching(/configuration\.(host|password).*Recreate.*2 entities/),
      });
      house.start(); // also in the next process
      expect(await settled()).toMatchObject({ type: 'Stalled', reason: 'RecreateRequired' });
      expect(house.calls).toEqual([]);
      expect(ids()).toEqual([id]);
      house.secrets['login'] = { password: 'right' };
      house.apply('one', { configuration: 'host' in changed ? texts({ host: 'a' }) : secret });
      expect(await settled()).toMatchObject({ type: 'Ready' });
    },
  );

  test('a changed choice in a menu is RecreateRequired, also with an answer that no form asks for', async () => {
    const script: Script = (answers) => {
      if (answers.length === 0) return { type: 'menu', step_id: 'user', menu_options: ['lamp', 'door'] };
      return answers.length === 1 ? form(['host'], { step_id: 'device' }) : integrations.created();
    };
    const steps = (menuOption: string) => [{ stepId: 'user', menuOption }];
    const id = await aReadyOne(script, { steps: steps('lamp'), configuration: texts({ host: 'a' }) });
    house.apply('one', { steps: steps('door'), configuration: texts({ host: 'a', hots: 'b' }) });
    expect(await settled()).toMatchObject({ type: 'Stalled', reason: 'RecreateRequired' });
    expect(ids()).toEqual([id]);
    expect(house.calls).toEqual([]);
  });

  test('an option of the spec overrides the same answer, so a change of that answer has no effect', async () => {
    const options = texts({ host: 'mine' });
    integrations.scriptOf = ({ kind }) =>
      kind === 'options'
        ? (answers) => (answers.length === 0 ? form(['host'], { step_id: 'init' }) : { type: 'create_entry' })
        : (answers) =>
            answers.length === 0 ? form(['host']) : integrations.created({ supports_options: true });
    house.apply('one', { configuration: texts({ host: 'a' }), options });
    expect(await settled()).toMatchObject({ type: 'Ready' });
    const id = house.status('one').entryID;
    house.calls.length = 0;
    for (const reconfigure of ['Prefer', 'Recreate'] as const) {
      house.apply('one', { configuration: texts({ host: reconfigure }), options, reconfigure });
      expect(await settled()).toMatchObject({ type: 'Ready' });
    }
    expect(house.calls).toEqual([]);
    expect(house.status('one').entryID).toBe(id);
  });
});

describe('reconfigure: Recreate', () => {
  test('the new entry replaces the former one, which is removed last', async () => {
    const id = await aReadyOne(second, recreated('a'));
    house.apply('one', recreated('b'));
    expect(await settled()).toMatchObject({ type: 'Ready' });
    const { entryID } = house.status('one');
    expect(house.calls).toEqual(['start config', 'submit {"host":"b"}', `remove ${id}`, `reload ${entryID}`]);
    expect(ids()).toEqual([entryID]);
    expect(reasons()).toEqual(['EntryRecreated']);
    expect(house.status('one')).not.toHaveProperty('pendingFlow');
  });

  test('a form error keeps the entry', async () => {
    const id = await aReadyOne(second, recreated('a'));
    house.apply('one', recreated('bad'));
    expect(await settled()).toMatchObject({
      type: 'Stalled',
      reason: 'ConfigFlowFailed',
      message: expect.stringContaining('cannot_connect'),
    });
    expect(ids()).toEqual([id]);
    expect(reasons()).toEqual([]);
    house.apply('one', recreated('a'));
    expect(await settled()).toMatchObject({ type: 'Ready' });
    expect(house.status('one').entryID).toBe(id);
  });

  test('a flow that names the entry proves the answers: the entry is removed, and the flow runs again', async () => {
    const id = await aReadyOne(single, recreated('a'));
    house.apply('one', recreated('b'));
    expect(await settled()).toMatchObject({ type: 'Ready' });
    expect(house.calls).toEqual([
      'start config',
      'submit {"host":"b"}',
      `remove ${id}`,
      'start config',
      'submit {"host":"b"}',
    ]);
    expect(ids()).toEqual([house.status('one').entryID]);
    expect(reasons()).toEqual(['EntryRecreated']);
  });

  test.each(['already_configured', 'reconfigure_successful'])(
    'a flow that has updated the entry keeps it (%s)',
    async (reason) => {
      const script: Script = (answers) => {
        if (answers.length === 0 || integrations.entries.size === 0) return second(answers);
        integrations.set(ids()[0]!, { modified_at: house.clock.now() / 1_000 + 1 });
        return { type: 'abort', reason };
      };
      const id = await aReadyOne(script, recreated('a'));
      house.apply('one', recreated('b'));
      expect(await settled()).toMatchObject({ type: 'Ready' });
      expect(ids()).toEqual([id]);
      expect(house.calls).toEqual(['start config', 'submit {"host":"b"}']);
      await settled();
      expect(house.calls).toHaveLength(2);
    },
  );

  test('nothing is removed if the abort may name the entry of another account', async () => {
    const id = await aReadyOne(single, recreated('a'));
    integrations.entries.set('other', anEntry({ entry_id: 'other', title: 'Other' }));
    house.apply('one', recreated('b'));
    expect(await settled()).toMatchObject({ reason: 'RecreateRequired' });
    expect(ids()).toEqual([id, 'other']);
  });

  test.each([
    ['does not ask for while the entry is there', 'single_instance_allowed', 0],
    ['does not try since it finds the device first', 'already_configured', 1],
  ])('a Secret’s value that the flow %s removes nothing', async (_, reason, step) => {
    house.secrets['login'] = { password: 'right' };
    const script: Script = (answers) => {
      if (integrations.entries.size > 0 && answers.length === step) return { type: 'abort', reason };
      return answers.length === 0 ? form(['password']) : integrations.created();
    };
    const id = await aReadyOne(script, { configuration: secret, reconfigure: 'Recreate' });
    house.secrets['login'] = { password: 'wrong' };
    expect(await settled()).toMatchObject({ reason: 'RecreateRequired' });
    expect(ids()).toEqual([id]);
  });

  test('an answer that no form asks for keeps the entry, and the second one is removed', async () => {
    const script: Script = (answers) => second(answers);
    const id = await aReadyOne(script, recreated('a'));
    house.apply('one', { ...recreated('b'), configuration: texts({ host: 'b', hots: 'c' }) });
    expect(await settled()).toMatchObject({
      reason: 'ConfigFlowFailed',
      message: expect.stringContaining('configuration.hots'),
    });
    expect(ids()).toEqual([id]);
  });

  test('an answer that no form asked for from the start is reported, also by the next process, without a flow', async () => {
    integrations.scriptOf = () => second;
    house.apply('one', { ...recreated('a'), configuration: texts({ host: 'a', hots: 'b' }) });
    const mistake = {
      type: 'Stalled',
      reason: 'ConfigFlowFailed',
      message: expect.stringContaining('asks for configuration.hots') as unknown,
    };
    expect(await settled()).toMatchObject(mistake);
    const made = ['start config', 'submit {"host":"a"}'];
    expect(house.calls).toEqual(made);
    house.start();
    house.key = 'another';
    expect(await settled()).toMatchObject(mistake);
    expect(house.calls).toEqual(made);
    house.apply('one', recreated('a'));
    expect(await settled()).toMatchObject({ type: 'Ready' });
    expect(house.calls).toEqual(made);
  });

  test('a removal that the hub rejects is retried', async () => {
    const id = await aReadyOne(single, recreated('a'));
    integrations.unload = () => Promise.reject(new HubRejected('405', 'not allowed'));
    house.apply('one', recreated('b'));
    for (let pass = 0; pass < 3; pass++) {
      await settled();
      await house.clock.advance(30_000);
    }
    expect(ids()).toEqual([id]);
    integrations.unload = () => Promise.resolve();
    await settled();
    expect(await settled()).toMatchObject({ type: 'Ready' });
    expect(ids()).toEqual([house.status('one').entryID]);
  });

  test('a change that is taken back before the removal removes nothing', async () => {
    const id = await aReadyOne(single, recreated('a'));
    house.apply('one', recreated('b'));
    await house.until('one', () => house.status('one').pendingFlow?.replaces !== undefined);
    house.apply('one', recreated('a'));
    house.start();
    expect(await settled()).toMatchObject({ type: 'Ready' });
    expect(ids()).toEqual([id]);
    expect(house.status('one').pendingFlow).toBeUndefined();
  });

  test('answers that were tried long ago are tried again before the entry is removed', async () => {
    const id = await aReadyOne(single, recreated('a'));
    house.apply('one', recreated('b'));
    await house.until('one', () => house.status('one').pendingFlow?.replaces !== undefined);
    house.start();
    await house.clock.advance(24 * 3_600_000);
    integrations.scriptOf = () => () => form(['host'], { errors: { base: 'cannot_connect' } });
    expect(await settled()).toMatchObject({ reason: 'ConfigFlowFailed' });
    expect(ids()).toEqual([id]);
  });

  test('the former entry stays if the hub, restored from a backup, has only that one', async () => {
    const id = await aReadyOne(second, recreated('a'));
    house.apply('one', recreated('b'));
    await house.until('one', () => house.status('one').pendingFlow?.replaces !== undefined);
    integrations.entries.delete(house.status('one').entryID!);
    house.start();
    await settled();
    expect(ids()).toContain(id);
  });

  test('an entry that a user made while the flow was open does not replace it', async () => {
    const id = await aReadyOne(second, recreated('a'));
    house.apply('one', recreated('b'));
    await house.until('one', () => house.status('one').pendingFlow?.flowID !== undefined);
    integrations.entries.set(
      'person',
      anEntry({ entry_id: 'person', created_at: house.clock.now() / 1_000 }),
    );
    house.start();
    expect(await settled()).toMatchObject({ type: 'Ready' });
    expect(house.status('one').entryID).not.toBe('person');
    expect(ids()).toEqual(['person', house.status('one').entryID]);
    expect(ids()).not.toContain(id);
  });

  test.each([
    ['a Secret', { password: 'old' }, secret, secret],
    ['the spec', {}, texts({ password: 'old' }), texts({ password: 'new' })],
  ])('credentials in %s that the hub asks for are given to the entry instead', async (_, login, old, now) => {
    house.secrets['login'] = login;
    const script: Script = (answers) => {
      if (answers.length === 0) return form(['password']);
      if (integrations.entries.size === 0) return integrations.created({ supports_reconfigure: true });
      return { type: 'abort', reason: 'already_configured' };
    };
    const id = await aReadyOne(script, { configuration: old, reconfigure: 'Recreate' });
    house.client.flows.read = async () => {
      integrations.scriptOf = () => (answers) => {
        if (answers.length === 0) return form(['password']);
        integrations.reauthFlows.clear();
        return { type: 'abort', reason: 'reauth_successful' };
      };
      return house.client.flows.start({ kind: 'config', domain: 'demo' });
    };
    integrations.reauthFlows.set(id, 'reauth-1');
    house.secrets['login'] = { password: 'new' };
    house.apply('one', { configuration: now, reconfigure: 'Recreate' });
    expect(await settled()).toMatchObject({ type: 'Ready' });
    expect(ids()).toEqual([id]);
    const submits = house.calls.filter((call) => call.startsWith('submit'));
    expect(submits).toEqual(['submit {"password":"new"}']);
  });

  test('the former entry is deleted with the resource while it waits for its removal', async () => {
    await aReadyOne(second, recreated('a'));
    house.apply('one', recreated('b'));
    await house.until('one', () => house.status('one').pendingFlow?.replaces !== undefined);
    expect(ids()).toHaveLength(2);
    house.start();
    for (let pass = 0; pass < 6; pass++) {
      await house.remove('one');
      await house.clock.advance(1);
    }
    expect(ids()).toEqual([]);
  });

  describe.each([
    ['a second entry', second],
    ['the same device', single],
  ])('of an integration that makes %s', (_, script) => {
    /**
     * Removes an entry that a user may have made, if there is one, since only a user can decide about it.
     * Until then both stay.
     */
    async function cleared(former: string): Promise<void> {
      const outcome = await settled();
      if (outcome.type !== 'Ready') {
        expect(outcome).toMatchObject({ type: 'Stalled', message: expect.stringContaining('interrupted') });
        const [first, made] = ids();
        expect([first, integrations.entries.size]).toEqual([former, 2]);
        integrations.removeEntry(made!);
      }
      expect(await settled()).toMatchObject({ type: 'Ready' });
    }

    test('one entry remains, at any point where the operator is killed', async () => {
      for (let n = 1; ; n++) {
        house = new House();
        integrations = house.integrations;
        const id = await aReadyOne(script, recreated('a'));
        let calls = 0;
        integrations.onCarriedOut = () => (++calls === n ? never : undefined);
        house.apply('one', recreated('b'));
        let passes = 0;
        await house.until('one', () => calls >= n || ++passes > 40);
        integrations.onCarriedOut = () => undefined;
        if (calls < n) {
          expect(n).toBeGreaterThan(3);
          return;
        }
        house.start();
        await cleared(id);
        expect(ids()).toEqual([house.status('one').entryID]);
        expect(ids()).not.toContain(id);
        expect(house.status('one')).not.toHaveProperty('pendingFlow');
      }
    });

    test('one entry remains, after any last write of the status', async () => {
      for (let n = 0; ; n++) {
        house = new House();
        integrations = house.integrations;
        const id = await aReadyOne(script, recreated('a'));
        house.apply('one', recreated('b'));
        for (let time = 0; time < n; time++) await house.reconcile('one');
        const isDone = house.status('one').pendingFlow === undefined && !integrations.entries.has(id);
        house.start();
        await cleared(id);
        expect(ids()).toEqual([house.status('one').entryID]);
        expect(ids()).not.toContain(id);
        if (isDone) return;
      }
    });
  });

  test('waits while another flow of the domain runs', async () => {
    await aReadyOne(second, recreated('a'));
    house.apply('two', { configuration: texts({ host: 'c' }) });
    await house.until('two', () => house.status('two').pendingFlow?.flowID !== undefined);
    house.calls.length = 0;
    house.apply('one', recreated('b'));
    await house.settle('one');
    expect(house.calls).toEqual([]);
    await house.settle('two');
    await house.clock.advance(2_000);
    expect(await settled()).toMatchObject({ type: 'Ready' });
    expect(integrations.entries.size).toBe(2);
  });
});
