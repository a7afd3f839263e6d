import { anEntry, form, type Integrations, oneForm, type Script } from '../../stand-in-hub/integrations';
import { House, texts } from './house';

let house: House;
let integrations: Integrations;

beforeEach(() => {
  house = new House();
  integrations = house.integrations;
});

const secret = { password: { secretKeyRef: { name: 'login', key: 'password' } } };
const submits = () => house.calls.filter((call) => call.startsWith('submit'));

/** A service that accepts one password. */
const accepting =
  (isRight: (password: string) => boolean, end: () => ReturnType<Script>): Script =>
  (answers) => {
    const { password } = (answers.at(-1) ?? {}) as { password?: string };
    if (password === undefined) return form(['password']);
    return isRight(password) ? end() : form(['password'], { errors: { base: 'invalid_auth' } });
  };

describe('a password that was changed at the device', () => {
  let id: string;
  let right = 'old';

  beforeEach(async () => {
    right = 'old';
    house.secrets['login'] = { password: 'old' };
    integrations.scriptOf = () =>
      accepting(
        (password) => password === right,
        () => {
          if (integrations.entries.size === 0) return integrations.created();
          integrations.reauthFlows.clear();
          integrations.set(id, { state: 'loaded', reason: null });
          return { type: 'abort', reason: 'reauth_successful' };
        },
      );
    house.apply('one', { configuration: secret });
    await house.settle('one');
    id = house.status('one').entryID!;
    right = 'new';
    integrations.set(id, { state: 'setup_error', reason: 'could not authenticate' });
    integrations.reauthFlows.set(id, 'reauth-1');
    house.calls.length = 0;
  });

  test('is sent when the Secret has it', async () => {
    house.secrets['login'] = { password: 'new' };
    expect(await house.settle('one')).toMatchObject({ type: 'Ready' });
    expect(house.status('one').entryID).toBe(id);
    expect(submits()).toHaveLength(1);
  });

  test('is also sent if the Secret had it before the hub asked for it', async () => {
    integrations.reauthFlows.clear();
    integrations.set(id, { state: 'loaded', reason: null });
    house.secrets['login'] = { password: 'new' };
    expect(await house.settle('one')).toMatchObject({ reason: 'RecreateRequired' });
    integrations.set(id, { state: 'setup_error', reason: 'could not authenticate' });
    integrations.reauthFlows.set(id, 'reauth-1');
    expect(await house.settle('one')).toMatchObject({ type: 'Ready' });
    expect(house.status('one').entryID).toBe(id);
  });

  test('is also sent if the hub asks for it while an update is running', async () => {
    integrations.reauthFlows.clear();
    house.secrets['login'] = { password: 'new' };
    await house.reconcile('one'); // starts and ends the update, whose result no reconcile has seen
    integrations.reauthFlows.set(id, 'reauth-1');
    expect(await house.settle('one')).toMatchObject({ type: 'Ready' });
    expect(submits()).toEqual(['submit {"password":"new"}']);
  });

  test('is sent once when it is mistyped in the Secret, and removes nothing', async () => {
    house.secrets['login'] = { password: 'nwe' };
    const rejected = {
      type: 'Stalled',
      reason: 'AuthNeeded',
      message: expect.stringContaining('invalid_auth') as unknown,
    };
    expect(await house.settle('one')).toMatchObject(rejected);
    house.start();
    expect(await house.settle('one')).toMatchObject(rejected);
    integrations.reauthFlows.set(id, 'reauth-2'); // the hub was restarted
    expect(await house.settle('one')).toMatchObject(rejected);
    expect(submits()).toHaveLength(1);
    expect(integrations.entries.has(id)).toBe(true);
    house.secrets['login'] = { password: 'new' };
    expect(await house.settle('one')).toMatchObject({ type: 'Ready' });
    expect(submits()).toHaveLength(2);
    expect(house.calls.filter((call) => call.startsWith('remove'))).toEqual([]);
  });
});

test('rejected answers are not sent for an entry that is made again, also by the next process', async () => {
  house.secrets['login'] = { password: 'old' };
  const answer = accepting(
    () => integrations.entries.size === 0,
    () => integrations.created(),
  );
  integrations.scriptOf = () => answer;
  house.apply('one', { configuration: secret });
  await house.settle('one');
  integrations.reauthFlows.set(house.status('one').entryID!, 'reauth-1');
  expect(await house.settle('one')).toMatchObject({ reason: 'AuthNeeded' });
  integrations.entries.clear();
  integrations.reauthFlows.clear();
  expect(await house.settle('one')).toMatchObject({ type: 'Stalled' });
  house.start();
  expect(await house.settle('one')).toMatchObject({ type: 'Stalled' });
  expect(submits()).toHaveLength(2);
});

test('unknown errors before an entry was working do not count', async () => {
  house.secrets['login'] = { password: 'old' };
  integrations.scriptOf = () => oneForm(['password'], () => integrations.created());
  house.apply('one', { configuration: secret });
  await house.settle('one');
  const { entryID } = house.status('one');
  integrations.scriptOf = () => {
    let seen = 0;
    return ({ length }) =>
      form(['password'], length > seen ? ((seen = length), { errors: { base: 'unknown' } }) : {});
  };
  for (let request = 1; request <= 2; request++) {
    integrations.reauthFlows.set(entryID!, `reauth-${request}`);
    for (let attempt = 1; attempt <= 2; attempt++) {
      expect(await house.settle('one')).toMatchObject({ reason: 'AuthNeeded' });
      await house.clock.advance(60_000);
    }
    integrations.reauthFlows.clear();
    expect(await house.settle('one')).toMatchObject({ type: 'Ready' });
  }
  expect(submits()).toHaveLength(5);
});

describe('a request of the hub', () => {
  const confirm: Script = (answers) =>
    answers.length === 0
      ? form([], { step_id: 'reauth_confirm' })
      : { type: 'abort', reason: 'no_url_available' };

  test('that asks only for a confirmation is left to a user: the step is named, and the flow stays open', async () => {
    integrations.entries.set(
      'oauth',
      anEntry({ entry_id: 'oauth', state: 'setup_error', title: 'Calendar' }),
    );
    integrations.reauthFlows.set('oauth', 'reauth-1');
    integrations.scriptOf = () => confirm;
    house.apply('one', { title: 'Calendar' });
    for (let time = 0; time < 3; time++) {
      expect(await house.settle('one')).toMatchObject({
        type: 'Stalled',
        reason: 'AuthNeeded',
        message: expect.stringContaining('reauth_confirm'),
      });
      await house.clock.advance(600_000);
    }
    expect(house.calls).toEqual([]);
    expect([...integrations.flows.keys()]).toEqual(['reauth-1']);
    integrations.reauthFlows.clear();
    integrations.set('oauth', { state: 'loaded' });
    expect(await house.settle('one')).toMatchObject({ type: 'Ready' });
  });

  test('for an answer that the spec does not have is left to a user, even if the hub suggests an answer', async () => {
    const fields = [
      { name: 'trust', type: 'boolean', required: true },
      { name: 'zone', type: 'string', required: true, description: { suggested_value: 'home' } },
    ];
    integrations.entries.set('cloud', anEntry({ entry_id: 'cloud', state: 'setup_error', title: 'Cloud' }));
    integrations.reauthFlows.set('cloud', 'reauth-1');
    integrations.scriptOf = () => () => form([], { step_id: 'trust', data_schema: fields });
    house.apply('one', { title: 'Cloud', configuration: texts({ host: 'a' }) });
    expect(await house.settle('one')).toMatchObject({
      reason: 'AuthNeeded',
      message: expect.stringContaining('the step trust'),
    });
    expect(submits()).toEqual([]);
  });

  test('for a confirmation does not block changed answers', async () => {
    integrations.scriptOf = (request) =>
      'entryId' in request
        ? (answers) =>
            answers.length === 0 ? form(['host']) : { type: 'abort', reason: 'reconfigure_successful' }
        : integrations.entries.size === 0
          ? (answers) =>
              answers.length === 0 ? form(['host']) : integrations.created({ supports_reconfigure: true })
          : confirm;
    house.apply('one', { configuration: texts({ host: 'a' }) });
    await house.settle('one');
    integrations.reauthFlows.set(house.status('one').entryID!, 'reauth-1');
    expect(await house.settle('one')).toMatchObject({ reason: 'AuthNeeded' });
    house.apply('one', { configuration: texts({ host: 'b' }) });
    expect(await house.settle('one')).toMatchObject({ reason: 'AuthNeeded' });
    expect(house.calls).toContain('submit {"host":"b"}');
  });

  test('that asks for a confirmation after an answer is confirmed', async () => {
    integrations.scriptOf = () => (answers) =>
      integrations.entries.size === 0
        ? answers.length === 0
          ? form(['password'])
          : integrations.created()
        : answers.length === 0
          ? form(['password'], { step_id: 'reauth' })
          : answers.length === 1
            ? form([], { step_id: 'done' })
            : (integrations.reauthFlows.clear(), { type: 'abort', reason: 'reauth_successful' });
    house.apply('one', { configuration: texts({ password: 'x' }) });
    await house.settle('one');
    integrations.reauthFlows.set(house.status('one').entryID!, 'reauth-1');
    expect(await house.settle('one')).toMatchObject({ type: 'Ready' });
    expect(submits().at(-1)).toBe('submit {}');
  });
});
