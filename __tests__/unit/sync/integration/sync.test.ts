import { HubUnreachable, NotFound } from '../../../../operator/client/connection/errors';
import { anEntry, form, type Integrations, oneForm, type Script } from '../../stand-in-hub/integrations';
import { House, texts } from './house';

let house: House;
let integrations: Integrations;

beforeEach(() => {
  house = new House();
  integrations = house.integrations;
});

/** The end of a flow that changes the entry. */
const reconfigured = { type: 'abort', reason: 'reconfigure_successful' } as const;

/** The flow of the domain asks for a host, and that of the entry for the same. */
function demo(entry: Parameters<typeof anEntry>[0] = {}): void {
  integrations.scriptOf = (request) =>
    'entryId' in request
      ? oneForm(['host'], () => (request.kind === 'config' ? reconfigured : { type: 'create_entry' }))
      : oneForm(['host'], () => integrations.created(entry));
}

/** Makes a resource with an entry. */
async function aReadyOne(entry: Parameters<typeof anEntry>[0] = {}, spec: object = {}): Promise<string> {
  demo(entry);
  house.apply('one', { configuration: texts({ host: 'a' }), ...spec });
  expect(await house.settle('one')).toMatchObject({ type: 'Ready', reason: 'EntryLoaded' });
  house.calls.length = 0;
  house.events.length = 0;
  return house.status('one').entryID!;
}

const reasons = () => house.events.map(({ reason }) => reason);

describe('IntegrationSync', () => {
  describe('the record of the entry in status', () => {
    test('has a hash of the answers that the hub accepted, which changes with them', async () => {
      await aReadyOne({ supports_reconfigure: true });
      const { appliedHash: before } = house.status('one');
      expect(before).toMatch(/^sha256:[0-9a-f]{64}$/);
      house.apply('one', { configuration: texts({ host: 'b' }) });
      await house.settle('one');
      expect(house.status('one').appliedHash).toMatch(/^sha256:/);
      expect(house.status('one').appliedHash).not.toBe(before);
    });

    test('has no value of a long Secret that changes all the time, and no copies of its values are kept', async () => {
      demo({ supports_reconfigure: true });
      house.apply('one', {
        configuration: { host: { secretKeyRef: { name: 'login', key: 'password' } } },
      });
      const long = 'x'.repeat(900 * 1_024);
      for (let i = 0; i < 30; i++) {
        house.secrets['login'] = { password: `p${i}${long}` };
        await house.settle('one');
      }
      for (const value of [`p0${long}`, 'p29xx…', `p0${long} p29xx…`]) {
        integrations.set(house.status('one').entryID!, {
          state: 'setup_error',
          reason: `no login: ${value}`,
        });
        expect((await house.settle('one')).message).toMatch(/no login: \*\*\*(…|\.)?$/);
      }
    });

    test('has no value of a Secret, including a former one', async () => {
      house.secrets['login'] = { password: 'old secret' };
      demo({ supports_reconfigure: true });
      house.apply('one', {
        configuration: { host: { secretKeyRef: { name: 'login', key: 'password' } } },
      });
      await house.settle('one');
      house.secrets['login'] = { password: 'new secret' };
      await house.settle('one');
      integrations.set(house.status('one').entryID!, {
        state: 'setup_error',
        reason: 'no login: old secret, new secret',
      });
      const { message } = await house.settle('one');
      expect(message).toContain('no login: ***, ***');
    });
  });

  describe('an integration that does not exist in the hub', () => {
    const message = async () => {
      house.client.flows.start = () => Promise.reject(new NotFound('404', 'Invalid handler specified'));
      house.apply('one', {});
      const outcome = await house.settle('one');
      expect(outcome).toMatchObject({ type: 'Stalled', reason: 'ConfigFlowFailed' });
      return outcome.message;
    };

    test('is reported with the one of a similar name', async () => {
      integrations.domains = ['demos', 'mqtt'];
      expect(await message()).toBe(
        'The hub has no integration demo: did you mean demos? Correct spec.domain.',
      );
    });

    test.each([
      ['none is similar', ['mqtt']],
      ['it is in the list, and cannot be loaded', ['demo', 'demos']],
    ])('is reported alone where %s', async (_, domains) => {
      integrations.domains = domains;
      expect(await message()).toContain(
        'no integration demo that can be set up, or cannot load it: check spec.domain',
      );
    });

    test('is reported alone where the hub does not list its integrations', async () => {
      house.client.flows.domains = () => Promise.reject(new HubUnreachable('the connection broke'));
      expect(await message()).toContain('no integration demo that can be set up');
    });
  });

  describe('an operator that is killed', () => {
    const unclear = {
      type: 'Stalled',
      reason: 'ConfigFlowFailed',
      message: expect.stringContaining('lamp “Lamp” of the demo entry “Demo” was interrupted') as unknown,
    };

    test.each([
      ['reconfiguration', { supports_reconfigure: true }],
      ['options', { supports_options: true }],
    ])('in a flow of the %s leaves no flow in the hub', async (_, entry) => {
      await aReadyOne(entry);
      house.apply('one', { configuration: texts({ host: 'b' }) });
      await house.until('one', () => house.status('one').pendingFlow?.flowID !== undefined);
      expect(integrations.flows.size).toBe(1);
      expect(house.calls.filter((call) => call.startsWith('submit'))).toEqual([]);
      house.start();
      expect(await house.settle('one')).toMatchObject({ type: 'Ready' });
      expect(integrations.flows.size).toBe(0);
      expect(house.status('one').pendingFlow).toBeUndefined();
      expect(house.calls).toContain('submit {"host":"b"}');
    });

    test('in the first request of a flow that makes a subentry at once makes no second one, and adopts it by its title', async () => {
      const types = { lamp: { supports_reconfigure: false } };
      integrations.scriptOf = (request) =>
        request.kind === 'subentries'
          ? () => (integrations.addSubentry('lamp', 'Untitled'), { type: 'create_entry' })
          : oneForm(['host'], () => integrations.created({ supported_subentry_types: types }));
      integrations.onCarriedOut = () =>
        integrations.subentries.length === 2 ? new Promise(() => undefined) : undefined;
      house.apply('one', {
        configuration: texts({ host: 'a' }),
        subentries: ['Door', 'Lamp'].map((title) => ({ type: 'lamp', title, values: {} })),
      });
      await house.until('one', () => integrations.subentries.length === 2);
      house.start();
      integrations.onCarriedOut = () => undefined;
      expect(await house.settle('one')).toMatchObject(unclear);
      const [, untitled] = integrations.subentries;
      expect(untitled).toMatchObject({ title: 'Untitled' });
      integrations.changeSubentry(house.status('one').entryID!, untitled!.subentry_id, 'Lamp');
      expect(house.isRequeued('one')).toBe(true);
      expect(await house.settle('one')).toMatchObject({ type: 'Ready' });
      expect(integrations.subentries.map(({ title }) => title)).toEqual(['Door', 'Lamp']);
      expect(reasons()).toEqual(['Adopted']);
      expect(house.status('one').adoptedSubentries).toEqual(['subentries.lamp/Lamp']);
    });

    test('before a flow makes a subentry adopts none that a user made a day later', async () => {
      integrations.scriptOf = (request) =>
        oneForm(['host'], () => {
          if (request.kind !== 'subentries')
            return integrations.created({
              supported_subentry_types: { lamp: { supports_reconfigure: false } },
            });
          integrations.addSubentry('lamp', 'Lamp');
          return { type: 'create_entry' };
        });
      integrations.onCarriedOut = (call) =>
        call.startsWith('start subentries') ? new Promise(() => undefined) : undefined;
      const subentries = [{ type: 'lamp', title: 'Lamp', values: {} }];
      house.apply('one', { configuration: texts({ host: 'a' }), subentries });
      await house.until('one', () => house.calls.some((call) => call.startsWith('start subentries')));
      integrations.onCarriedOut = () => undefined;
      integrations.flows.clear();
      house.start();
      await house.clock.advance(24 * 3_600_000);
      integrations.addSubentry('lamp', 'Of a person');
      await house.settle('one');
      expect(integrations.subentries[0]).toMatchObject({ title: 'Of a person' });
    });

    test('between the end of a flow and the title of its subentry makes no second one', async () => {
      integrations.scriptOf = (request) =>
        request.kind === 'subentries'
          ? oneForm(['state'], () => (integrations.addSubentry('lamp', 'Untitled'), { type: 'create_entry' }))
          : oneForm(['host'], () =>
              integrations.created({ supported_subentry_types: { lamp: { supports_reconfigure: false } } }),
            );
      const spec = {
        configuration: texts({ host: 'a' }),
        subentries: [{ type: 'lamp', title: 'Lamp', values: texts({ state: '1' }) }],
      };
      house.apply('one', spec);
      let killed = false;
      integrations.onSubmit = () => {
        if (integrations.subentries.length === 0 || killed) return;
        killed = true;
        throw new HubUnreachable('the operator was killed');
      };
      await house.until('one', () => killed);
      house.start();
      expect(await house.settle('one')).toMatchObject(unclear);
      expect(integrations.subentries.map(({ title }) => title)).toEqual(['Untitled']);
      expect(house.calls.filter((call) => /^(title|remove)/.test(call))).toEqual([]);
      await house.reconcile('one', { forced: true });
      expect(await house.settle('one')).toMatchObject({ type: 'Ready' });
      expect(integrations.subentries.map(({ title }) => title)).toEqual(['Untitled', 'Lamp']);
    });

    describe('after a flow that makes a subentry in place of a former one', () => {
      const lampOf = (state: string) => ({
        configuration: texts({ host: 'a' }),
        reconfigure: 'Recreate' as const,
        subentries: [{ type: 'lamp', title: 'Lamp', values: texts({ state }) }],
      });
      let former: string;

      /** The operator is killed before the response to the answer arrives. */
      beforeEach(async () => {
        integrations.scriptOf = (request) =>
          request.kind === 'subentries'
            ? oneForm(['state'], () => (integrations.addSubentry('lamp', 'Lamp'), { type: 'create_entry' }))
            : oneForm(['host'], () =>
                integrations.created({ supported_subentry_types: { lamp: { supports_reconfigure: false } } }),
              );
        house.apply('one', lampOf('1'));
        await house.settle('one');
        former = integrations.subentries[0]!.subentry_id;
        integrations.onCarriedOut = (call) =>
          call.startsWith('submit') ? new Promise(() => undefined) : undefined;
        house.apply('one', lampOf('2'));
        await house.until('one', () => integrations.subentries.length === 2);
        integrations.onCarriedOut = () => undefined;
        house.calls.length = 0;
        house.start();
      });

      test.each([
        ['the one that the flow has made', 0],
        ['the one that the flow has made and one of a person', 1],
      ])('removes and renames none beside %s', async (_, count) => {
        for (let n = 0; n < count; n++) integrations.addSubentry('lamp', 'Of a person');
        expect(await house.settle('one')).toMatchObject(unclear);
        expect(house.calls).toEqual([]);
        expect(integrations.subentries).toHaveLength(2 + count);
        house.start();
        expect(await house.settle('one')).toMatchObject(unclear);
        expect(house.calls).toEqual([]);
      });

      test('continues when a user has removed the former one', async () => {
        expect(await house.settle('one')).toMatchObject(unclear);
        integrations.subentries = integrations.subentries.filter(({ subentry_id: id }) => id !== former);
        expect(await house.settle('one')).not.toMatchObject(unclear);
        expect(house.status('one')).not.toHaveProperty('pendingFlow');
      });
    });

    test('does not name a subentry of a user for a flow that was started without an answer', async () => {
      integrations.scriptOf = (request) =>
        request.kind === 'subentries'
          ? oneForm(['state'], () => (integrations.addSubentry('lamp', 'Lamp'), { type: 'create_entry' }))
          : oneForm(['host'], () =>
              integrations.created({ supported_subentry_types: { lamp: { supports_reconfigure: false } } }),
            );
      integrations.onCarriedOut = (call) =>
        call.startsWith('start subentries') ? new Promise(() => undefined) : undefined;
      const subentries = [{ type: 'lamp', title: 'Lamp', values: texts({ state: '1' }) }];
      house.apply('one', { configuration: texts({ host: 'a' }), subentries });
      await house.until('one', () => house.calls.some((call) => call.startsWith('start subentries')));
      integrations.onCarriedOut = () => undefined;
      house.start();
      integrations.addSubentry('lamp', 'Of a person');
      expect(await house.settle('one')).toMatchObject({ type: 'Ready' });
      expect(integrations.subentries.map(({ title }) => title)).toEqual(['Of a person', 'Lamp']);
    });
  });

  describe('a subentry', () => {
    let failing = false;
    const lamp = (state: string, more: object = {}) => ({
      configuration: texts({ host: 'a' }),
      subentries: [{ type: 'lamp', title: 'Lamp', values: texts({ state, ...more }) }],
    });

    beforeEach(() => {
      failing = false;
      const types = { lamp: { supports_reconfigure: false } };
      integrations.scriptOf = (request) =>
        request.kind !== 'subentries'
          ? oneForm(['host'], () => integrations.created({ supported_subentry_types: types }))
          : oneForm(['state'], () => {
              if (failing) return form(['state'], { errors: { base: 'cannot_connect' } });
              integrations.addSubentry('lamp', 'Lamp');
              return { type: 'create_entry' };
            });
    });

    test('that cannot be changed is replaced only on request, and stays if that fails', async () => {
      house.apply('one', lamp('1'));
      await house.settle('one');
      const [before] = integrations.subentries;
      house.apply('one', lamp('2'));
      expect(await house.settle('one')).toMatchObject({
        type: 'Stalled',
        reason: 'RecreateRequired',
        message: expect.stringContaining('set spec.reconfigure to Recreate'),
      });
      expect(integrations.subentries).toEqual([before]);
      failing = true;
      house.apply('one', { ...lamp('2'), reconfigure: 'Recreate' });
      expect(await house.settle('one')).toMatchObject({ reason: 'ConfigFlowFailed' });
      expect(integrations.subentries).toEqual([before]);
      failing = false;
      house.apply('one', { ...lamp('3'), reconfigure: 'Recreate' });
      expect(await house.settle('one')).toMatchObject({ type: 'Ready' });
      expect(integrations.subentries).toHaveLength(1);
      expect(integrations.subentries).not.toEqual([before]);
    });

    test.each([
      ['stays if the hub already has another one with its answers', 2],
      ['is removed before if the hub allows no second one', 1],
    ])('that is replaced %s', async (_, count) => {
      house.apply('one', lamp('1'));
      await house.settle('one');
      const [before] = integrations.subentries;
      if (count === 2) integrations.addSubentry('lamp', 'Of a person');
      integrations.scriptOf = () =>
        oneForm(['state'], () => {
          if (integrations.subentries.length >= count) return { type: 'abort', reason: 'already_configured' };
          integrations.addSubentry('lamp', 'Lamp');
          return { type: 'create_entry' };
        });
      house.apply('one', { ...lamp('2'), reconfigure: 'Recreate' });
      const { type } = await house.settle('one');
      expect(type).toBe(count === 2 ? 'Stalled' : 'Ready');
      expect(integrations.subentries).toHaveLength(count);
      expect(integrations.subentries.some(({ subentry_id: id }) => id === before!.subentry_id)).toBe(
        count === 2,
      );
    });

    test('with a value of a Secret is not removed before there is another one', async () => {
      house.secrets['login'] = { password: 'right' };
      const values = { state: { secretKeyRef: { name: 'login', key: 'password' } } };
      house.apply('one', { ...lamp('1'), subentries: [{ type: 'lamp', title: 'Lamp', values }] });
      await house.settle('one');
      integrations.scriptOf = () =>
        oneForm(['state'], () => ({ type: 'abort', reason: 'already_configured' }));
      house.secrets['login'] = { password: 'wrong' };
      const subentries = [{ type: 'lamp', title: 'Lamp', values }];
      house.apply('one', { ...lamp('1'), subentries, reconfigure: 'Recreate' });
      expect(await house.settle('one')).toMatchObject({ reason: 'ConfigFlowFailed' });
      expect(integrations.subentries).toHaveLength(1);
    });

    test('of a user is adopted with an event, and stays when it leaves the spec', async () => {
      house.apply('one', { configuration: texts({ host: 'a' }) });
      await house.settle('one');
      const id = integrations.addSubentry('lamp', 'Lamp');
      house.apply('one', lamp('1'));
      expect(await house.settle('one')).toMatchObject({ type: 'Ready' });
      expect(house.calls.filter((call) => call.startsWith('start subentries'))).toEqual([]);
      expect(house.events).toMatchObject([
        { reason: 'Adopted', message: expect.stringContaining('subentries.lamp/Lamp') },
      ]);
      expect(house.status('one').adoptedSubentries).toEqual(['subentries.lamp/Lamp']);
      house.apply('one', { ...lamp('1'), subentries: [] });
      await house.settle('one');
      expect(integrations.subentries.map(({ subentry_id: each }) => each)).toEqual([id]);
      expect(house.status('one').adoptedSubentries).toBeUndefined();
    });

    test('of a user is not adopted with adopt: Never', async () => {
      house.apply('one', { configuration: texts({ host: 'a' }) });
      await house.settle('one');
      integrations.addSubentry('lamp', 'Lamp');
      house.apply('one', { ...lamp('1'), adopt: 'Never' });
      expect(await house.settle('one')).toMatchObject({
        reason: 'ConfigFlowFailed',
        message: expect.stringContaining('spec.adopt is Never'),
      });
    });

    test('with a value that no form asks for is a failure that names it', async () => {
      house.apply('one', lamp('1', { colour: 'red' }));
      expect(await house.settle('one')).toMatchObject({
        reason: 'ConfigFlowFailed',
        message: expect.stringContaining('no form asks for subentries.lamp/Lamp.colour'),
      });
      house.start(); // after a restart the failure is reported without another flow
      house.calls.length = 0;
      expect(await house.settle('one')).toMatchObject({
        reason: 'ConfigFlowFailed',
        message: expect.stringContaining('no form asks for subentries.lamp/Lamp.colour'),
      });
      house.apply('one', lamp('1', { color: 'red' }));
      expect(await house.settle('one')).toMatchObject({ reason: 'RecreateRequired' });
      house.apply('one', lamp('1'));
      expect(await house.settle('one')).toMatchObject({ type: 'Ready' });
      expect(house.calls).toEqual([]);
      house.apply('one', lamp('2'));
      expect(await house.settle('one')).toMatchObject({ reason: 'RecreateRequired' });
      expect(integrations.subentries).toHaveLength(1);
      expect(reasons()).toEqual([]);
    });

    test('that was removed in the hub is made again', async () => {
      house.apply('one', lamp('1'));
      await house.settle('one');
      expect(reasons()).toEqual([]);
      integrations.subentries = [];
      await house.settle('one');
      expect(integrations.subentries.map(({ title }) => title)).toEqual(['Lamp']);
      expect(reasons()).toEqual(['DriftDetected']);
      await house.settle('one');
      expect(reasons()).toEqual(['DriftDetected']);
    });

    test('that was removed in the hub stays so, and is reported, while driftPolicy is Warn', async () => {
      house.apply('one', { ...lamp('1'), driftPolicy: 'Warn' });
      await house.settle('one');
      integrations.subentries = [];
      expect(await house.settle('one')).toMatchObject({
        type: 'Stalled',
        reason: 'DriftDetected',
        message:
          'Subentries of the demo entry “Demo” were removed in the hub: subentries.lamp/Lamp. driftPolicy is Warn: it stays so.',
      });
      expect(integrations.subentries).toEqual([]);
      // a change of the spec is applied nevertheless
      house.apply('one', { ...lamp('2'), driftPolicy: 'Warn' });
      expect(await house.settle('one')).toMatchObject({ type: 'Ready' });
      expect(integrations.subentries.map(({ title }) => title)).toEqual(['Lamp']);
      for (const { message } of house.events) expect(message).not.toContain('They are created again.');
    });
  });

  describe('an entry to adopt', () => {
    test('by its name has entities of the type that was chosen in the menu', async () => {
      integrations.entries.set('switch', anEntry({ entry_id: 'switch', title: 'Fan' }));
      integrations.entities = [{ entity_id: 'switch.fan', config_entry_id: 'switch' }];
      const script: Script = (answers) => {
        if (answers.length === 0)
          return { type: 'menu', step_id: 'user', menu_options: ['sensor', 'switch'] };
        return answers.length === 1 ? form(['name']) : integrations.created({ title: 'Fan' });
      };
      integrations.scriptOf = () => script;
      const spec = (menuOption: string) => ({
        steps: [{ stepId: 'user', menuOption }],
        configuration: texts({ name: 'Fan' }),
      });
      house.apply('sensor', spec('sensor'));
      await house.settle('sensor');
      expect(house.status('sensor').entryID).toMatch(/^made-/);
      house.apply('switch', spec('switch'));
      await house.settle('switch');
      expect(house.status('switch')).toMatchObject({ entryID: 'switch', adopted: true });
    });
  });

  test('an entry that a user has just made is adopted before its event arrives', async () => {
    demo();
    integrations.entries.set('person', anEntry({ entry_id: 'person', title: 'Mine' }));
    integrations.unreported.add('person');
    house.apply('one', { title: 'Mine', configuration: texts({ host: 'a' }) });
    expect(await house.settle('one')).toMatchObject({ type: 'Ready' });
    expect(house.status('one')).toMatchObject({ entryID: 'person', adopted: true });
    expect(house.calls).toEqual([]);
  });

  describe('without a title, an entry of another device', () => {
    beforeEach(() => {
      demo();
      integrations.entries.set('person', anEntry({ entry_id: 'person', title: 'Other device' }));
    });

    test('is not adopted: the flow decides', async () => {
      house.apply('one', { configuration: texts({ host: 'device-2' }) });
      expect(await house.settle('one')).toMatchObject({ type: 'Ready' });
      expect(house.status('one').entryID).not.toBe('person');
      expect(integrations.entries.size).toBe(2);
    });

    test.each([
      ['of an integration with a single entry', { configuration: texts({ host: 'a' }) }, true],
      ['for which nothing is configured', {}, false],
    ])('is the one %s, which is adopted', async (_, spec, isSingle) => {
      integrations.isSingle = isSingle;
      integrations.entries.set('ignored', anEntry({ entry_id: 'ignored', source: 'ignore' }));
      house.apply('one', spec);
      expect(await house.settle('one')).toMatchObject({ type: 'Ready' });
      expect(house.status('one')).toMatchObject({ entryID: 'person', adopted: true });
      expect(house.calls).toEqual([]);
    });

    test('is the one that the flow names as the same device, which is adopted', async () => {
      integrations.scriptOf = () =>
        oneForm(['host'], () => ({ type: 'abort', reason: 'already_configured' }));
      house.apply('one', { configuration: texts({ host: 'device-1' }) });
      expect(await house.settle('one')).toMatchObject({ type: 'Ready' });
      expect(house.status('one')).toMatchObject({ entryID: 'person', adopted: true });
    });
  });

  describe('a flow that waits for the hub', () => {
    let isDone: boolean;

    beforeEach(async () => {
      isDone = false;
      integrations.scriptOf = () => (answers) =>
        answers.length === 0
          ? form(['host'])
          : answers.length > 1
            ? integrations.created()
            : isDone
              ? form(['port'])
              : { type: 'progress', step_id: 'work', progress_action: 'wait' };
      house.apply('one', spec);
      for (let pass = 0; pass < 10; pass++) await house.reconcile('one');
      expect(integrations.flows.size).toBe(1);
      house.calls.length = 0;
      isDone = true;
    });

    const spec = { configuration: texts({ host: 'a', port: '1' }) };
    const dryRun = { annotations: { 'hub-operator.dev/dry-run': 'true' } };

    test.each<[string, object, object]>([
      ['suspended', { ...spec, suspend: true }, {}],
      ['in dry-run', spec, dryRun],
      ['changed', { configuration: texts({ host: 'b', port: '1' }) }, {}],
    ])('sends nothing more when its resource is %s, and is ended', async (_, changed, metadata) => {
      house.apply('one', changed, metadata);
      await house.clock.advance(60_000);
      expect(house.calls).toEqual([]);
      expect(integrations.entries.size).toBe(0);
      expect(integrations.flows.size).toBe(0);
    });

    test('is ended before the hub continues, when its resource is held', async () => {
      isDone = false;
      house.sync.release(house.resources.get('one')!, house.client);
      await house.clock.advance(1_000);
      expect(integrations.flows.size).toBe(0);
      expect(await house.settle('one')).toMatchObject({ type: 'Waiting' }); // and a new flow starts
      expect(house.calls[0]).toBe('start config');
    });
  });

  test('a resource that is suspended while a flow waits for the hub removes no subentry after it', async () => {
    const types = { lamp: { supports_reconfigure: true } };
    integrations.scriptOf = (request) =>
      oneForm(['host'], () => {
        if (request.kind !== 'subentries') return integrations.created({ supported_subentry_types: types });
        if (!request.subentryId)
          integrations.addSubentry('lamp', `Lamp ${integrations.subentries.length + 1}`);
        return { type: 'create_entry' };
      });
    const lamp = (n: number, host: string) => ({ type: 'lamp', title: `Lamp ${n}`, values: texts({ host }) });
    const spec = (...subentries: ReturnType<typeof lamp>[]) => ({
      configuration: texts({ host: 'a' }),
      subentries,
    });
    house.apply('one', spec(lamp(1, 'a'), lamp(2, 'a')));
    expect(await house.settle('one')).toMatchObject({ type: 'Ready' });
    expect(integrations.subentries).toHaveLength(2);
    let answer: () => void = () => undefined;
    integrations.onCarriedOut = (call) =>
      call.startsWith('submit') ? new Promise((resolve) => (answer = resolve)) : undefined;
    house.apply('one', spec(lamp(1, 'b')));
    await house.until('one', () => house.calls.at(-1) === 'submit {"host":"b"}');
    house.apply('one', { ...spec(lamp(1, 'b')), suspend: true });
    answer();
    await house.clock.advance(0);
    expect(integrations.subentries).toHaveLength(2);
  });

  test('a resource that is suspended while a flow waits for the hub renames no entry after it', async () => {
    integrations.scriptOf = ({ kind }) =>
      kind === 'options'
        ? oneForm(['host'], () => ({ type: 'create_entry' }))
        : oneForm(['name', 'host'], () => integrations.created({ supports_options: true }));
    const spec = (name: string, host: string) => ({ configuration: texts({ name, host }) });
    house.apply('one', spec('Lamp', 'a'));
    expect(await house.settle('one')).toMatchObject({ type: 'Ready' });
    let answer: () => void = () => undefined;
    integrations.onCarriedOut = (call) =>
      call.startsWith('submit') ? new Promise((resolve) => (answer = resolve)) : undefined;
    house.apply('one', spec('Light', 'b'));
    await house.until('one', () => house.calls.at(-1) === 'submit {"host":"b"}');
    house.apply('one', { ...spec('Light', 'b'), suspend: true });
    answer();
    await house.clock.advance(0);
    expect(house.calls.at(-1)).toBe('submit {"host":"b"}');
  });

  test('options beside steps of the same name reach the options form', async () => {
    const fields = ['minimum', 'maximum'];
    integrations.scriptOf = ({ kind }) => {
      if (kind === 'options')
        return (answers) =>
          answers.length === 0 ? form(fields, { step_id: 'sensor' }) : { type: 'create_entry' };
      return (answers) => {
        if (answers.length === 0) return { type: 'menu', step_id: 'user', menu_options: ['sensor'] };
        return answers.length === 1
          ? form(fields, { step_id: 'sensor' })
          : integrations.created({ supports_options: true });
      };
    };
    house.apply('one', {
      steps: [
        { stepId: 'user', menuOption: 'sensor' },
        { stepId: 'sensor', values: texts({ minimum: '1', maximum: '6' }) },
      ],
      options: texts({ minimum: '2', maximum: '7' }),
    });
    expect(await house.settle('one')).toMatchObject({ type: 'Ready' });
    expect(house.calls.at(-1)).toBe('submit {"minimum":"2","maximum":"7"}');
  });

  test('a choice that was made at the creation of the entry is not repeated in its options', async () => {
    integrations.scriptOf =
      ({ kind }) =>
      (answers) => {
        if (answers.length === 0)
          return { type: 'menu', step_id: 'strategy', menu_options: ['form_new', 'keep'] };
        if (answers.length === 1 && kind === 'options') return form(['path']);
        if (answers.length === 1) return form(['path']);
        return kind === 'options'
          ? { type: 'create_entry' }
          : integrations.created({ supports_options: true });
      };
    const spec = (more: object) => ({
      steps: [{ stepId: 'strategy', menuOption: 'form_new' }],
      configuration: texts({ path: 'a' }),
      ...more,
    });
    house.apply('one', spec({}));
    expect(await house.settle('one')).toMatchObject({ type: 'Ready' });
    house.calls.length = 0;
    house.apply('one', spec({ options: texts({ path: 'b' }) }));
    expect(await house.settle('one')).toMatchObject({
      reason: 'ConfigFlowFailed',
      message: expect.stringContaining('add the field strategy with one of form_new, keep'),
    });
    expect(house.calls).toEqual([`start options ${house.status('one').entryID}`]);
    house.apply('one', spec({ options: texts({ path: 'b', strategy: 'keep' }) }));
    expect(await house.settle('one')).toMatchObject({ type: 'Ready' });
    expect(house.calls).toContain('submit {"next_step_id":"keep"}');
  });

  describe('removal', () => {
    test('of an entry that is unloaded for long is awaited', async () => {
      const id = await aReadyOne();
      let unloaded: () => void = () => undefined;
      integrations.unload = () => new Promise((resolve) => (unloaded = resolve));
      expect(await house.remove('one')).toMatchObject({ type: 'Waiting' });
      await house.clock.advance(60_000);
      expect(await house.remove('one')).toMatchObject({ type: 'Waiting' });
      unloaded();
      await house.clock.advance(0);
      expect(await house.remove('one')).toEqual([]);
      expect(house.calls.filter((call) => call === `remove ${id}`)).toHaveLength(1);
    });
  });

  describe('a request of the hub for credentials', () => {
    test('at which the present answers fail does not block changed ones', async () => {
      const id = await aReadyOne({ supports_reconfigure: true });
      const { scriptOf } = integrations;
      integrations.reauthFlows.set(id, 'reauth');
      integrations.scriptOf = (request) =>
        'entryId' in request
          ? scriptOf(request)
          : (answers) => form(['host'], answers.length > 0 ? { errors: { base: 'invalid_auth' } } : {});
      expect(await house.settle('one')).toMatchObject({ reason: 'AuthNeeded' });
      house.apply('one', { configuration: texts({ host: 'b' }) });
      await house.settle('one');
      expect(house.calls).toContain(`start config ${id}`);
    });
  });

  describe('enabled: false', () => {
    test('is not Ready while the entry could not be unloaded', async () => {
      integrations.onEnabled = (id) => integrations.set(id, { disabled_by: 'user', state: 'failed_unload' });
      await aReadyOne();
      house.apply('one', { configuration: texts({ host: 'a' }), enabled: false });
      await house.settle('one');
      await house.clock.advance(2_000);
      expect(await house.settle('one')).toMatchObject({
        type: 'Stalled',
        reason: 'EntryNotLoaded',
        message: expect.stringContaining('next restart of the hub'),
      });
    });
  });

  describe('drift', () => {
    test('a title that something in the hub resets is corrected three times, then reported', async () => {
      const id = await aReadyOne({ title: 'Mine' }, { title: 'Mine' });
      for (let time = 0; time < 6; time++) {
        integrations.set(id, { title: 'Theirs' });
        await house.settle('one');
        await house.clock.advance(2_000);
      }
      expect(house.calls).toEqual(Array<string>(3).fill(`title ${id} Mine`));
      expect(await house.settle('one')).toMatchObject({ type: 'Stalled', reason: 'DriftDetected' });
    });

    test('a title that is also in a Secret, such as an account, is left with driftPolicy Warn', async () => {
      house.secrets['login'] = { user: 'me@example.org' };
      const configuration = { host: { secretKeyRef: { name: 'login', key: 'user' } } };
      const title = 'me@example.org';
      const id = await aReadyOne({ title }, { title, configuration, driftPolicy: 'Warn' });
      integrations.set(id, { title: 'Theirs' });
      expect(await house.settle('one')).toMatchObject({ reason: 'DriftDetected' });
      expect(house.calls).toEqual([]);
    });

    test('a correction that lasts is repeated as often as needed', async () => {
      const id = await aReadyOne({ title: 'Mine' }, { title: 'Mine' });
      for (let time = 0; time < 4; time++) {
        integrations.set(id, { title: 'Theirs' });
        await house.settle('one');
        await house.clock.advance(2_000);
        expect(await house.settle('one')).toMatchObject({ type: 'Ready' });
        await house.clock.advance(600_000);
        await house.settle('one');
      }
      expect(house.calls).toEqual(Array<string>(4).fill(`title ${id} Mine`));
    });

    test('a changed spec is sent at once, also after corrections that were reverted', async () => {
      const id = await aReadyOne({ title: 'Mine' }, { title: 'Mine' });
      for (let time = 0; time < 4; time++) {
        integrations.set(id, { title: 'Theirs' });
        await house.settle('one');
        await house.clock.advance(2_000);
      }
      house.apply('one', { configuration: texts({ host: 'a' }), title: 'Yours' });
      await house.settle('one');
      expect(house.calls.at(-1)).toBe(`title ${id} Yours`);
    });

    test('a title that the integration sets in a flow of the operator is not drift', async () => {
      integrations.scriptOf = (request) =>
        'entryId' in request
          ? (answers) => {
              if (answers.length === 0) return form(['host']);
              integrations.set(request.entryId!, { title: 'set by the integration' });
              return reconfigured;
            }
          : oneForm(['host'], () => integrations.created({ supports_reconfigure: true, title: 'UPS' }));
      const spec = (host: string) => ({
        title: 'UPS',
        driftPolicy: 'Warn' as const,
        configuration: texts({ host }),
      });
      house.apply('one', spec('a'));
      await house.settle('one');
      house.apply('one', spec('b'));
      await house.settle('one');
      await house.clock.advance(2_000);
      expect(await house.settle('one')).toMatchObject({ type: 'Ready' });
      expect(house.status('one').title).toBe('UPS');
      expect(reasons()).toEqual([]);
    });

    test('with driftPolicy Warn, an entry that is not Ready and was disabled by a user stays disabled', async () => {
      const id = await aReadyOne({}, { driftPolicy: 'Warn' });
      integrations.set(id, { state: 'setup_retry', reason: 'no answer' });
      expect(await house.settle('one')).toMatchObject({ reason: 'SetupRetry' });
      integrations.set(id, { state: 'not_loaded', disabled_by: 'user' });
      expect(await house.settle('one')).toMatchObject({ reason: 'DriftDetected' });
      expect(house.calls).toEqual([]);
    });
  });

  describe('the key of the hashes', () => {
    test('that is different after a flow changes nothing in the hub', async () => {
      demo({ supports_reconfigure: true });
      house.apply('one', { configuration: texts({ host: 'a' }) });
      await house.until('one', () => house.status('one').pendingFlow?.flowID !== undefined);
      house.key = 'another';
      expect(await house.settle('one')).toMatchObject({ type: 'Ready' });
      expect(house.calls.filter((call) => call.startsWith('start'))).toEqual(['start config']);
      house.calls.length = 0;
      house.apply('one', { configuration: texts({ host: 'b' }) });
      await house.settle('one');
      expect(house.calls).toContain('submit {"host":"b"}');
    });
  });

  describe('a dry-run', () => {
    test('of the first resource of a hub creates no key of the hashes', async () => {
      demo();
      house.key = undefined;
      house.apply('one', { configuration: texts({ host: 'a' }) });
      expect(await house.reconcile('one', { dryRun: true })).toMatchObject({
        reason: 'DryRun',
        message: expect.stringContaining('Would run the config flow of demo with configuration.host.'),
      });
      await expect(house.reconcile('one')).rejects.toThrow('cannot use services.cluster');
    });

    test('names only answers that would be sent, also with another key and with answers that only moved', async () => {
      const steps = [{ stepId: 'user', values: texts({ host: 'a' }) }];
      await aReadyOne({ supports_reconfigure: true });
      const nothing = { type: 'Ready', reason: 'DryRun' };
      expect(await house.reconcile('one', { dryRun: true })).toMatchObject(nothing);
      house.key = 'another key';
      expect(await house.reconcile('one', { dryRun: true })).toMatchObject(nothing);
      house.key = 'key';
      house.apply('one', { steps });
      expect(await house.reconcile('one', { dryRun: true })).toMatchObject(nothing);
      house.apply('one', { configuration: texts({ host: 'b' }) });
      expect(await house.reconcile('one', { dryRun: true })).toMatchObject({
        type: 'Stalled',
        message: expect.stringContaining('Would apply configuration.host.'),
      });
      expect(house.calls).toEqual([]);
    });

    test('of a deletion leaves the entry, and a flow that an earlier process has left open', async () => {
      demo();
      house.apply('one', { configuration: texts({ host: 'a' }) });
      await house.until('one', () => house.status('one').pendingFlow?.flowID !== undefined);
      house.start();
      house.calls.length = 0;
      const left = (what: string) => [
        { type: 'Warning', reason: 'CleanupSkipped', message: expect.stringContaining(what) as unknown },
      ];
      expect(await house.remove('one', { dryRun: true })).toEqual(left('The config flow'));
      expect(integrations.flows.size).toBe(1);
      await house.settle('one');
      const { entryID } = house.status('one');
      house.calls.length = 0;
      expect(await house.remove('one', { dryRun: true })).toEqual(left(`The entry ${entryID} stays`));
      expect(house.calls).toEqual([]);
    });
  });

  describe('resources of one domain', () => {
    const named = (title: string) => ({ title, configuration: texts({ host: title }) });

    test('run one flow at a time, and do not wait for one that is suspended in its flow', async () => {
      demo();
      house.apply('one', named('One'));
      house.apply('two', named('Two'));
      await house.until('one', () => house.status('one').pendingFlow !== undefined);
      expect(await house.settle('two')).toMatchObject({
        type: 'Waiting',
        message: expect.stringContaining('config flow of one'),
      });
      house.apply('one', { ...named('One'), suspend: true });
      house.start();
      await house.settle('two');
      expect(house.status('two').entryID).toBeDefined();
    });

    describe('without a title, of which a flow has just made an entry', () => {
      const untitled = { configuration: texts({ host: 'h' }) };

      /**
       * The hub shows the entry of `one`, and its answer to the flow is still on its way. The returned
       * function delivers it.
       */
      const entryShown = async () => {
        demo();
        house.apply('one', untitled);
        let answer = (): void => undefined;
        integrations.onCarriedOut = (call) =>
          call.startsWith('submit') ? new Promise<void>((resolve) => (answer = resolve)) : undefined;
        await house.until('one', () => integrations.entries.size === 1);
        house.apply('two', untitled);
        return () => answer();
      };

      test('do not adopt it: before the answer arrives it belongs to no resource', async () => {
        const answer = await entryShown();
        expect(await house.settle('two')).toMatchObject({
          type: 'Waiting',
          message: expect.stringContaining('config flow of one'),
        });
        answer();
        await house.settle('one');
        expect(house.status('one').entryID).toBeDefined();
        expect(house.status('two').entryID).toBeUndefined();
      });

      test('do not adopt it either when the operator has crashed before the answer', async () => {
        await entryShown();
        integrations.onCarriedOut = () => undefined;
        house.start();
        expect(await house.settle('two')).toMatchObject({
          type: 'Waiting',
          message: expect.stringContaining('config flow of one'),
        });
        await house.settle('one');
        expect(house.status('one').entryID).toBeDefined();
        expect(house.status('two').entryID).toBeUndefined();
      });
    });

    test('do not wait for a flow whose result cannot be recorded since its resource is suspended', async () => {
      demo();
      house.apply('one', named('One'));
      house.apply('two', named('Two'));
      await house.until('one', () => house.status('one').pendingFlow?.flowID !== undefined);
      await house.reconcile('one'); // status has the id of the flow, which continues
      house.apply('one', { ...named('One'), suspend: true });
      await house.clock.advance(1_000);
      await house.settle('two');
      expect(house.status('two').entryID).toBeDefined();
    });
  });
});
