import { HubFailed, TokenRejected } from '../../../../operator/client/connection/errors';
import type { FlowProblem } from '../../../../operator/sync/integration/flow/navigator';
import {
  type Circumstances,
  type FailureKind,
  failureKind,
  isFinal,
  rejectionHash,
  RETRIES,
} from '../../../../operator/sync/integration/retry';
import { anEntry, form, type Integrations, oneForm } from '../../stand-in-hub/integrations';
import { House, texts } from './house';

describe('failureKind', () => {
  const error = (key: string, withSecret = false): FlowProblem => ({ kind: 'error', key, withSecret });
  const abort = (key: string): FlowProblem => ({ kind: 'abort', key });

  test.each<[FailureKind, FlowProblem, { count?: number; isDiscovered?: boolean }?]>([
    ['connection', error('cannot_connect')],
    ['connection', error('cannot_connect', true)],
    ['connection', error('timeout_connect', true)],
    ['connection', abort('cannot_connect')],
    ['connection', { kind: 'lost', withSecret: true }],
    ['connection', abort('already_in_progress')],
    ['exists', abort('already_in_progress'), { isDiscovered: true }],
    ['exists', abort('already_configured')],
    ['exists', abort('single_instance_allowed')],
    ['exists', abort('reconfigure_successful')],
    ['exists', abort('unique_id_mismatch')],
    ['answers', { kind: 'answers', text: 'the form needs the field host' }],
    ['unavailable', { kind: 'unavailable' }],
    ['unknown', error('unknown')],
    ['unknown', error('unknown', true), { count: 2 }],
    ['rejected', error('unknown', true), { count: 3 }],
    ['unknown', { kind: 'failed', text: 'the hub failed' }],
    ['rejected', { kind: 'failed', text: 'the hub failed', withSecret: true }, { count: 3 }],
    ...[
      'invalid_auth',
      'login_failed',
      'account_locked',
      'login_attempts_exceeded',
      'incorrect_username',
      'invalid_username',
      'mfa_required',
      'invalid_mfa_code',
      'otp_failed',
      'insufficient_privilege',
      'too_many_attempts',
      'invalid_otp',
      'invalid_2fa_code',
      'rate_limit_exceeded',
      'requests_exceeded',
      'access_denied',
    ].map((key): [FailureKind, FlowProblem] => ['rejected', error(key)]),
    ['rejected', error('some_new_key', true)],
    ['other', error('some_new_key')],
    ['other', error('register_failed')],
    ['other', abort('no_devices_found')],
  ])('%s: %j', (kind, problem, { count = 1, isDiscovered = false } = {}) => {
    expect(failureKind(problem, count, isDiscovered)).toBe(kind);
  });
});

describe('RETRIES', () => {
  test('no kind sends more than twelve times in an hour', () => {
    for (const { delay } of Object.values(RETRIES)) {
      let count = 0;
      for (let time = 0; time < 3_600_000; time += delay(count)) count++;
      expect(count).toBeLessThanOrEqual(12);
    }
  });

  test('failures that only a change can solve are not retried by time, and are recorded in status', () => {
    expect((Object.keys(RETRIES) as FailureKind[]).filter(isFinal)).toEqual([
      'answers',
      'exists',
      'rejected',
    ]);
  });
});

describe('rejectionHash', () => {
  const now: Circumstances = { spec: ['t'], version: '1', existing: ['e'] };
  const hash = (kind: FailureKind, changed: Partial<Circumstances> = {}, host = 'h') =>
    rejectionHash(kind, { 'configuration.host': host }, { ...now, ...changed }, 'key');

  test.each<[FailureKind, readonly (keyof Circumstances)[]]>([
    ['answers', ['spec', 'version']],
    ['exists', ['spec', 'version', 'existing']],
    ['rejected', []],
  ])('of %s changes with the answers and %j', (kind, expected) => {
    const changes = { spec: ['u'], version: '2', existing: ['f'] };
    const differs = (Object.keys(changes) as (keyof Circumstances)[]).filter(
      (each) => hash(kind, { [each]: changes[each] }) !== hash(kind),
    );
    expect(differs).toEqual(expected);
    expect(hash(kind, {}, 'i')).not.toBe(hash(kind));
  });
});

describe('answers that fail', () => {
  let house: House;
  let integrations: Integrations;

  beforeEach(() => {
    house = new House();
    integrations = house.integrations;
  });

  const submits = () => house.calls.filter((call) => call.startsWith('submit'));
  const secret = { password: { secretKeyRef: { name: 'login', key: 'password' } } };

  async function aDay() {
    for (let minute = 0; minute < 24 * 60; minute += 2) {
      await settle();
      await house.clock.advance(120_000);
    }
    return settle();
  }

  const settle = () => house.settle('one');

  test.each(['invalid_auth', 'login_failed'])(
    '%s: rejected answers are sent once, also by the next processes',
    async (key) => {
      integrations.scriptOf = () =>
        oneForm(['password'], () => form(['password'], { errors: { base: key } }));
      house.apply('one', { configuration: texts({ password: 'x' }) });
      const { message } = await aDay();
      for (let restart = 0; restart < 5; restart++) {
        house.start();
        expect(await settle()).toMatchObject({ type: 'Stalled', reason: 'ConfigFlowFailed', message });
      }
      expect(submits()).toHaveLength(1);
      house.apply('one', { configuration: texts({ password: 'y' }) });
      await settle();
      expect(submits()).toHaveLength(2);
      const again = await house.reconcile('one', { forced: true });
      expect(again).toMatchObject({ type: 'Waiting', reason: 'ConfigFlowInProgress' });
      await settle();
      expect(submits()).toHaveLength(3);
    },
  );

  test('with a Secret, and rejected for an unknown reason: they are sent once, and a line break is named', async () => {
    house.secrets['login'] = { password: 'x\n' };
    integrations.scriptOf = () =>
      oneForm(['password'], () => form(['password'], { errors: { base: 'some_new_key' } }));
    house.apply('one', { configuration: secret });
    expect(await aDay()).toMatchObject({
      message: expect.stringContaining('configuration.password ends with a line break'),
    });
    expect(submits()).toHaveLength(1);
  });

  test('with a Secret, and end with an unknown error: they are sent three times', async () => {
    house.secrets['login'] = { password: 'x' };
    integrations.scriptOf = () =>
      oneForm(['password'], () => form(['password'], { errors: { base: 'unknown' } }));
    house.apply('one', { configuration: secret });
    await aDay();
    expect(submits()).toHaveLength(3);
    house.start();
    await settle();
    expect(submits()).toHaveLength(3);
  });

  test('with a Secret: failures of the connection are not unknown errors', async () => {
    house.secrets['login'] = { password: 'x' };
    let key = 'cannot_connect';
    integrations.scriptOf = () => oneForm(['password'], () => form(['password'], { errors: { base: key } }));
    house.apply('one', { configuration: secret });
    for (let time = 0; time < 4; time++) {
      await settle();
      await house.clock.advance(600_000);
    }
    key = 'unknown';
    await aDay();
    expect(submits()).toHaveLength(4 + 3);
  });

  test('with a Secret, and lead to a step of an unknown form: they are sent three times', async () => {
    house.secrets['login'] = { password: 'x' };
    integrations.scriptOf = () => oneForm(['password'], () => form([]));
    integrations.onSubmit = () => {
      throw new HubFailed('the answer has another form');
    };
    house.apply('one', { configuration: secret });
    expect(await aDay()).toMatchObject({ type: 'Stalled', reason: 'ConfigFlowFailed' });
    expect(submits()).toHaveLength(3);
    expect(integrations.flows.size).toBe(0);
  });

  test.each([
    ['the hub', new HubFailed('HTTP 500')],
    ['its token', new TokenRejected('HTTP 401')],
  ])('and %s fails before status has it: they are not sent again', async (_, error) => {
    integrations.scriptOf = () =>
      oneForm(['password'], () => form(['password'], { errors: { base: 'invalid_auth' } }));
    house.apply('one', { configuration: texts({ password: 'x' }) });
    await house.until('one', () => submits().length > 0);
    const { refreshed } = house.client.configEntries;
    house.client.configEntries.refreshed = () => Promise.reject(error);
    await house.reconcile('one').catch(() => undefined);
    house.client.configEntries.refreshed = refreshed;
    expect(await settle()).toMatchObject({ reason: 'ConfigFlowFailed' });
    expect(submits()).toHaveLength(1);
  });

  test('because the hub already has the account: they are sent again when its entries change', async () => {
    integrations.entries.set('person', anEntry({ entry_id: 'person', title: 'me' }));
    integrations.scriptOf = () =>
      oneForm(['user'], () =>
        integrations.entries.has('person')
          ? { type: 'abort', reason: 'already_configured' }
          : integrations.created(),
      );
    house.apply('one', { title: 'Cloud', configuration: texts({ user: 'me' }) });
    expect(await aDay()).toMatchObject({
      message: expect.stringContaining('set spec.title to its title: “me”'),
    });
    house.start();
    await settle();
    expect(submits()).toHaveLength(1);
    integrations.entries.delete('person');
    expect(await settle()).toMatchObject({ type: 'Waiting' });
    expect(integrations.entries.size).toBe(1);
  });

  test('because the hub has discovered the device: it is named, and they are sent again when it is gone', async () => {
    integrations.discovered = [
      {
        flow_id: 'd',
        handler: 'demo',
        context: { source: 'zeroconf', title_placeholders: { name: 'Kitchen' } },
      },
    ];
    integrations.scriptOf = () =>
      oneForm(['host'], () =>
        integrations.discovered.length > 0
          ? { type: 'abort', reason: 'already_in_progress' }
          : integrations.created(),
      );
    house.apply('one', { configuration: texts({ host: 'a' }) });
    expect(await aDay()).toMatchObject({
      message: expect.stringContaining('discovered demo devices: Kitchen'),
    });
    expect(submits()).toHaveLength(1);
    integrations.discovered = [];
    expect(await settle()).toMatchObject({ type: 'Ready' });
  });

  test('because the hub has the device: devices that appear and disappear cause at most twelve attempts an hour', async () => {
    const found = { flow_id: 'd', handler: 'demo', context: { source: 'zeroconf' } };
    integrations.scriptOf = () => oneForm(['host'], () => ({ type: 'abort', reason: 'already_configured' }));
    house.apply('one', { title: 'Mine', configuration: texts({ host: 'a' }) });
    for (let minute = 0; minute < 60; minute++) {
      integrations.discovered = minute % 2 === 0 ? [] : [found];
      expect(await settle()).toMatchObject({ reason: 'ConfigFlowFailed' });
      await house.clock.advance(60_000);
    }
    expect(submits().length).toBeGreaterThan(2);
    expect(submits().length).toBeLessThanOrEqual(12);
    house.apply('one', { title: 'Yours', configuration: texts({ host: 'a' }) });
    const before = submits().length;
    await settle();
    expect(submits()).toHaveLength(before + 1);
  });

  test.each([
    ['may pass', 'no_devices_found', 12],
    ['names an entry', 'already_configured', 1],
    ['rejects the credentials', 'invalid_auth', 1],
    ['does not fit the forms', undefined, 1],
  ])(
    'by an end that %s (%s): with devices that appear all the time, at most %d times an hour',
    async (_, reason, most) => {
      integrations.entries.set('person', anEntry({ entry_id: 'person' }));
      integrations.scriptOf = () =>
        oneForm(['host'], () =>
          reason === undefined ? form(['missing'], { step_id: 'next' }) : { type: 'abort', reason },
        );
      house.apply('one', { title: 'Mine', configuration: texts({ host: 'a' }) });
      for (let minute = 0; minute < 60; minute++) {
        await settle();
        integrations.emit({ type: 'device-added' });
        await house.clock.advance(60_000);
      }
      expect(submits().length).toBeLessThanOrEqual(most);
      expect(submits().length).toBeGreaterThanOrEqual(Math.min(most, 9));
    },
  );

  test('by a flow that changed the entry of a user: the entry is adopted', async () => {
    integrations.entries.set('person', anEntry({ entry_id: 'person', title: 'NAS', modified_at: -3_600 }));
    integrations.entries.set('other', anEntry({ entry_id: 'other', title: 'Other', modified_at: -3_600 }));
    integrations.scriptOf = () =>
      oneForm(['host'], () => {
        integrations.set('person', { modified_at: house.clock.now() / 1_000 });
        return { type: 'abort', reason: 'reconfigure_successful' };
      });
    house.apply('one', { title: 'DiskStation', configuration: texts({ host: 'a' }) });
    await aDay();
    expect(submits()).toHaveLength(1);
    expect(house.status('one')).toMatchObject({ entryID: 'person', adopted: true });
  });

  test('a button that has to be pressed: the message says what to do', async () => {
    integrations.scriptOf = () =>
      oneForm(['host'], () => form(['host'], { errors: { base: 'register_failed' } }));
    house.apply('one', { configuration: texts({ host: 'a' }) });
    expect(await settle()).toMatchObject({
      after: 480_000,
      message: expect.stringMatching(
        /press it, and then request a reconcile with the annotation .*reconcile-requested-at/,
      ),
    });
  });

  describe('for an entry that exists', () => {
    const reconfigured = { type: 'abort', reason: 'reconfigure_successful' } as const;

    beforeEach(() => {
      integrations.scriptOf = (request) =>
        request.kind === 'options'
          ? oneForm([], () => ({ type: 'create_entry' }))
          : 'entryId' in request
            ? oneForm(['host'], () => reconfigured)
            : oneForm(['host'], () =>
                integrations.created({ supports_reconfigure: true, supports_options: true }),
              );
    });

    test('a step that the hub does not show is not a mistake, nor is its change', async () => {
      const spec = (device: string) => ({
        steps: [{ stepId: 'user_pick', values: texts({ device }) }],
        configuration: texts({ host: 'shelly' }),
      });
      house.apply('one', spec('manual'));
      expect(await settle()).toMatchObject({ type: 'Ready' });
      house.calls.length = 0;
      house.apply('one', spec('other'));
      expect(await aDay()).toMatchObject({ type: 'Ready' });
      expect(house.calls).toEqual([]);
    });

    test('an answer that no form asks for sends nothing and reloads nothing', async () => {
      house.apply('one', { configuration: texts({ host: 'a' }) });
      await settle();
      house.calls.length = 0;
      house.apply('one', { configuration: texts({ host: 'a', hots: 'b' }) });
      expect(await aDay()).toMatchObject({ reason: 'ConfigFlowFailed' });
      expect(submits()).toEqual([]);
      expect(house.calls).toHaveLength(2); // both flows are examined, once
      house.start();
      await settle();
      expect(house.calls).toHaveLength(2);
      expect(integrations.flows.size).toBe(0);
    });

    test('an unknown field of a step that was shown is a mistake', async () => {
      house.apply('one', { steps: [{ stepId: 'user', values: texts({ host: 'a', hots: 'b' }) }] });
      expect(await settle()).toMatchObject({
        reason: 'ConfigFlowFailed',
        message: expect.stringContaining('steps[0].user.hots'),
      });
    });
  });
});
