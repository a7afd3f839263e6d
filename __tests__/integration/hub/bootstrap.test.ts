import { createHmac } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '../../../operator/base/clock';
import { HubConnection } from '../../../operator/client/connection/connection';
import { getAnalytics, getConfig, updateCoreConfig } from '../../../operator/client/setup/core';
import type { HubClient } from '../../../operator/client/hub-client';
import { completeStep, createUser, LATER_STEPS } from '../../../operator/client/setup/onboarding';
import { RestClient } from '../../../operator/client/connection/rest';
import { currentUser, listTokens, tokenId, tokenValidity } from '../../../operator/client/setup/tokens';
import { freshNamespace, until } from '../../cluster';
import { forceReconcile } from '../../cluster/forced-reconcile';
import { configuration, Home, hub, secret } from '../../cluster/home';
import { startTestOperator, type TestOperator } from '../../cluster/operator';
import { running } from '../../cluster/http-settings';
import { silentLog } from '../../cluster/silent-log';
import { statusFrom } from './hub-in-sandbox';

let home: Home;
let operator: TestOperator;
let client: HubClient;

const began = Date.now();
const owner = { username: 'Ada ', password: 'correct horse battery' };
const token = (name = 'h-api-token') => home.secret(name, 'token');
const anotherToken = (than: string, name?: string) =>
  until('another token is stored', async () => {
    const now = await token(name);
    return now !== than && now;
  });
/** Waits until all these fields and conditions are in one status of the Hub. */
const becomes = (fields: object, ...conditions: readonly object[]) =>
  until('the status of the Hub is as expected', async () => {
    const { status } = await home.get('hub', 'h');
    expect(status).toMatchObject(fields);
    for (const condition of conditions)
      expect(status!.conditions).toContainEqual(expect.objectContaining(condition));
    return status!;
  });
const idsOfTokens = async () => (await listTokens((await reconnect()).connection)).map(({ id }) => id);
/** Waits until the token of the Secret is the only one in the hub. */
const onlyOurToken = () =>
  until('only the token of the Secret is left', async () => {
    expect(await idsOfTokens()).toEqual([tokenId(await token())]);
    return true;
  });
/** Makes a new client, since the token has changed. */
const reconnect = async (): Promise<HubClient> => (client = await home.client('h'));

beforeAll(async () => {
  home = new Home(await freshNamespace('bootstrap'));
  operator = await startTestOperator(home.namespace);
  const location = {
    name: 'The Mill',
    latitude: '48.2000',
    longitude: '16.4',
    elevation: 171,
    unitSystem: 'us_customary',
    currency: 'CHF',
    timeZone: 'Europe/Zurich',
    country: 'CH',
  };
  const bootstrap = {
    ownerName: 'Ada Lovelace',
    language: 'de',
    analytics: true,
    tokenLifespanDays: 90,
    credentials: { secretRef: { name: 'owner', usernameKey: 'user', passwordKey: 'pass' } },
    location: { ...location, timeZone: 'Mars/Base' },
  };
  await home.apply(
    hub('h', { bootstrap }),
    configuration('h'),
    // A person sets this hub up: see the last tests.
    hub('found', { bootstrap: { enabled: false } }),
    configuration('found'),
  );
});

// All tests use one hub, and run in this order.
describe('the bootstrap of a hub with an owner of its own', () => {
  test('starts the pod and waits for the Secret with the credentials', async () => {
    const condition = await until('the credentials are missed', async () => {
      const seen = await home.condition('hub', 'h', 'BootstrapReady');
      return seen?.reason === 'MissingCredentials' && seen;
    });
    expect(condition).toMatchObject({ status: 'False', message: expect.stringContaining('Secret owner') });
    expect(await home.condition('hub', 'h', 'Reconciling')).toMatchObject({ status: 'True' });
    await home.apply(secret('owner', { user: owner.username, password: 'under another key' }));
    await until('the key is missed', async () =>
      (await home.condition('hub', 'h', 'BootstrapReady'))?.message.includes('user and pass.'),
    );
  });

  test('reports a value that the hub refuses, and the progress so far', async () => {
    await home.apply(secret('owner', { user: owner.username, pass: owner.password }));
    const status = await becomes(
      { phase: 'Pending', bootstrap: { state: 'SetCoreConfig' } },
      { type: 'Ready', status: 'False', reason: 'RejectedByHub' },
    );
    const { message } = status.conditions!.find(({ type }) => type === 'Ready')!;
    expect(message).toMatch(/: .*invalid time zone.*Mars/i);
    expect(status.conditions).toContainEqual(
      expect.objectContaining({ type: 'BootstrapReady', status: 'False', reason: 'InProgress', message }),
    );
    const { lastAttempt, message: last } = status['bootstrap'] as Record<'lastAttempt' | 'message', string>;
    expect(last).toBe(message);
    expect(Date.parse(lastAttempt)).toBeGreaterThan(began - 1_000); // the status has whole seconds
    expect(Date.parse(lastAttempt)).toBeLessThanOrEqual(Date.now());
  });

  test('continues when the value is corrected, and everything arrives', async () => {
    await home.change('hub', 'h', { bootstrap: { location: { timeZone: 'Europe/Zurich' } } });
    await home.ready('hub', 'h');
    await running(await reconnect());
    expect(await currentUser(client.connection)).toMatchObject({ name: 'Ada Lovelace', is_owner: true });
    const config = await getConfig(client.rest);
    expect(config).toMatchObject({
      location_name: 'The Mill',
      latitude: 48.2,
      longitude: 16.4,
      elevation: 171,
      currency: 'CHF',
      time_zone: 'Europe/Zurich',
      country: 'CH',
      language: 'de',
    });
    expect(config.unit_system['length']).toBe('mi');
    await until('analytics are on', async () => {
      const analytics = await getAnalytics(client.connection);
      expect(analytics).toMatchObject({ base: true, usage: true, statistics: true, diagnostics: true });
      return true;
    });
    await becomes(
      { phase: 'Running', version: config.version, bootstrap: { state: 'Done' } },
      { type: 'BootstrapReady', status: 'True', reason: 'Completed' },
    );
    // No login of the bootstrap is left, and one token.
    await onlyOurToken();
    expect(await home.exists('secret', 'h-admin')).toBe(false);
    const { from, until: to } = tokenValidity(await token())!;
    expect((to - from) / 86_400_000).toBe(90);
  });

  test('shows the steps of a reconcile in the log, in their order', async () => {
    const lines = (await operator.logLines('"msg":"running step"')) as {
      reconcileID: string;
      name: string;
      step: string;
    }[];
    // Two Hubs are reconciled concurrently, and the last reconcile may not have ended.
    const reconciles = new Map<string, string[]>();
    for (const { reconcileID, step } of lines.filter(({ name }) => name === 'h'))
      reconciles.set(reconcileID, [...(reconciles.get(reconcileID) ?? []), step]);
    const complete = [...reconciles.values()].filter(
      (steps) => steps.includes('backup') && steps.includes('status'),
    );
    expect(complete.length).toBeGreaterThan(0);
    const named = ['PersistentVolumeClaim', 'StatefulSet', 'Service', 'bootstrap', 'backup', 'status'];
    for (const steps of complete) expect(steps.filter((step) => named.includes(step))).toEqual(named);
  });

  test('a later change of the spec arrives too, and only the difference is sent', async () => {
    const updates: unknown[] = [];
    await client.connection.subscribeEvents('core_config_updated', (data) => updates.push(data));
    await home.change('hub', 'h', {
      bootstrap: {
        analytics: false,
        location: { currency: 'EUR', latitude: '0', longitude: '0', elevation: 0 },
      },
    });
    await until('it arrives', async () => {
      const { currency, latitude, elevation } = await getConfig(client.rest);
      return currency === 'EUR' && latitude === 0 && elevation === 0;
    });
    await until('analytics are off', async () => (await getAnalytics(client.connection)).base === false);
    expect(updates).toEqual([{ currency: 'EUR', latitude: 0, longitude: 0, elevation: 0 }]);
    await forceReconcile(home, 'hub', 'h');
    await getAnalytics(client.connection); // by this answer all earlier events of the hub have arrived
    expect(updates).toHaveLength(1);
  });

  test('a time zone that does not exist is reported in the hub’s words', async () => {
    await home.change('hub', 'h', { bootstrap: { location: { timeZone: 'Mars/Base' } } });
    const { message } = await home.ready('hub', 'h', { status: 'False', reason: 'RejectedByHub' });
    expect(message).toMatch(/: .*invalid time zone.*Mars/i);
    await becomes({ phase: 'Running' }, { type: 'Ready', status: 'False', reason: 'RejectedByHub' });
    await home.change('hub', 'h', { bootstrap: { location: { timeZone: 'Europe/Zurich' } } });
    await home.ready('hub', 'h');
  });

  test('a deleted token Secret is restored', async () => {
    const before = await token();
    await home.delete('secret', 'h-api-token');
    await until('it is back', () => home.exists('secret', 'h-api-token'));
    await anotherToken(before);
    await home.ready('hub', 'h');
    await onlyOurToken();
  });

  test('a token that was revoked in the hub is replaced', async () => {
    const before = await token();
    await client.connection
      .command('auth/delete_refresh_token', { refresh_token_id: tokenId(before)! })
      .catch(() => undefined); // the revocation cuts off its own connection
    await anotherToken(before);
    await home.ready('hub', 'h');
    await currentUser((await reconnect()).connection);
  });

  test('no token is created when it cannot be stored', async () => {
    const before = await token();
    await home.change('hub', 'h', { suspend: true });
    await until('it rests', () => home.condition('hub', 'h', 'Suspended'));
    await home.delete('secret', 'h-api-token');
    await home.apply(secret('h-api-token', { token: 'nonsense' }));
    await home.change('hub', 'h', { suspend: false });
    await home.ready('hub', 'h', { status: 'False', reason: 'NameConflict' });
    for (let pass = 0; pass < 2; pass++) await forceReconcile(home, 'hub', 'h');
    const ours = (await listTokens(client.connection)).filter(
      ({ type }) => type === 'long_lived_access_token',
    );
    expect(ours.map(({ id }) => id)).toEqual([tokenId(before)]);
    await home.delete('secret', 'h-api-token');
    await anotherToken(before);
    await home.ready('hub', 'h');
    await reconnect();
  });

  test('a token that is about to expire is replaced before, without the owner’s password', async () => {
    const before = await token();
    await home.apply(secret('owner', { user: owner.username, pass: 'not the password any more' }));
    const soon = await endingSoon(before);
    await home.apply(secret('h-api-token', { token: soon }));
    await anotherToken(soon);
    await onlyOurToken();
    await home.ready('hub', 'h');
    await home.apply(secret('owner', { user: owner.username, pass: owner.password }));
  });

  test('the token moves when its Secret gets another name', async () => {
    const before = await token();
    await home.change('hub', 'h', { bootstrap: { apiTokenSecretName: 'other' } });
    await until('it is there', () => home.exists('secret', 'other'));
    await anotherToken(before, 'other');
    await until('the old Secret is gone', async () => !(await home.exists('secret', 'h-api-token')));
    await home.ready('hub', 'h');
    await home.change('hub', 'h', { bootstrap: { apiTokenSecretName: null } });
    await until('it is back', () => home.exists('secret', 'h-api-token'));
    await home.ready('hub', 'h');
    await reconnect();
  });

  test('wrong credentials are tried once, and a correction is used', async () => {
    await home.apply(secret('owner', { user: owner.username, pass: 'wrong' }));
    await home.delete('secret', 'h-api-token');
    const stuck = await until('the login fails', async () => {
      const seen = await home.condition('hub', 'h', 'BootstrapReady');
      return seen?.reason === 'LoginFailed' && seen;
    });
    expect(stuck.message).toMatch(/rejects user name and password of ada: correct the Secret/);
    await becomes({}, { type: 'Stalled', status: 'True' });
    const tried = await failedLogins('127.0.0.81');
    expect(tried).toBeGreaterThan(0);
    const reconciles = async () =>
      (await operator.outcomes()).filter(({ kind, name }) => kind === 'Hub' && name === 'h').length;
    for (const note of ['once', 'twice', 'thrice']) {
      const before = await reconciles();
      await home.annotate('secret', 'owner', `note=${note}`);
      await until('it was looked at', async () => (await reconciles()) > before);
    }
    expect(await failedLogins('127.0.0.82')).toBe(tried);
    await home.apply(secret('owner', { user: owner.username, pass: owner.password }));
    await home.ready('hub', 'h');
    await reconnect();
  });

  test('with bootstrap.enabled false the token is read, and never written', async () => {
    const before = await token();
    await home.change('hub', 'h', { bootstrap: { enabled: false } });
    await until(
      'it is told',
      async () => (await home.condition('hub', 'h', 'BootstrapReady'))?.reason === 'Disabled',
    );
    await home.ready('hub', 'h');
    await home.delete('secret', 'h-api-token');
    const { message } = await home.ready('hub', 'h', { status: 'False', reason: 'TokenNotAvailable' });
    expect(message).toContain('h-api-token');
    await home.apply(secret('h-api-token', { token: 'nonsense' }));
    await home.ready('hub', 'h', { status: 'False', reason: 'TokenRejected' });
    expect(await token()).toBe('nonsense');
    await home.apply(secret('h-api-token', { token: before }));
    await home.ready('hub', 'h');
  });

  test('core keys in configuration.yaml take precedence, and that is reported', async () => {
    await home.delete('secret', 'h-api-token'); // the Secret was made by hand and is not the operator's
    await home.change('hub', 'h', { bootstrap: { enabled: true } });
    await home.ready('hub', 'h');
    await home.apply(
      configuration('h', 'homeassistant:\n  name: From the file\n  latitude: 1\n  longitude: 2\n'),
    );
    const told = await until('it is told', async () => {
      const seen = await home.condition('hub', 'h', 'BootstrapReady');
      return seen?.message.includes('configuration.yaml') && seen;
    });
    expect(told).toMatchObject({
      status: 'True',
      message: expect.stringMatching(/differ in bootstrap: .*location_name/),
    });
    await home.ready('hub', 'h');
    const { rest } = await until('the token is there', reconnect);
    expect(await getConfig(rest)).toMatchObject({
      location_name: 'From the file',
      latitude: 1,
      config_source: 'yaml',
    });
    const events = await operator.events('Hub', 'h');
    expect(events.filter((event) => event.includes('CoreConfigInYaml'))).toHaveLength(1);
  });
});

describe('a hub that was onboarded without the operator', () => {
  test('waits for the credentials of its owner, and creates no owner', async () => {
    const { message } = await home.ready('hub', 'found', { status: 'False', reason: 'TokenNotAvailable' });
    expect(message).toContain('found-api-token');
    const { status } = await home.get('hub', 'found');
    const rest = new RestClient({
      url: String(status!['url']),
      clock: systemClock,
      redact: (words) => words,
    });
    const login = await until('the hub takes its first user', () =>
      createUser(rest, { ...owner, name: 'Grace', language: 'en' }),
    );
    for (const step of LATER_STEPS) await completeStep(rest, step, login.accessToken);
    const { accessToken: token } = login;
    const connection = new HubConnection({ rest, token, clock: systemClock, log: silentLog });
    await updateCoreConfig(connection, { time_zone: 'Europe/Oslo' });
    connection.close();
    rest.close();
    await home.change('hub', 'found', { bootstrap: { enabled: true } });
    const missing = await until('the credentials are missed', async () => {
      const seen = await home.condition('hub', 'found', 'BootstrapReady');
      return seen?.reason === 'MissingCredentials' && seen;
    });
    expect(missing.message).toContain('The hub has an owner already');
    expect(await home.exists('secret', 'found-admin')).toBe(false);
  });

  test('is managed as soon as they exist', async () => {
    await home.apply(secret('found-admin', { username: owner.username, password: owner.password }));
    await home.ready('hub', 'found');
    const user = await currentUser((await home.client('found')).connection);
    expect(user).toMatchObject({ name: 'Grace', is_owner: true });
  });

  test('keeps its time zone, which the spec does not name', async () => {
    expect(await getConfig((await home.client('found')).rest)).toMatchObject({ time_zone: 'Europe/Oslo' });
  });
});

/**
 * Counts the operator's failed logins in the hub's log so far. The log is written in order and with a delay,
 * so the function waits for a failed login of its own from an unused address.
 */
async function failedLogins(marker: string): Promise<number> {
  await statusFrom(marker, client.rest.address.url, '/api/config', 'wrong');
  const log = await until('the marker is in the log of the hub', async () => {
    const text = await readFile(join(await home.volumeOf('h'), 'home-assistant.log'), 'utf8');
    return text.includes(marker) && text;
  });
  return log.split('\n').filter((line) => /Login attempt.*127\.0\.0\.2\b/.test(line)).length;
}

/** Returns a token of the present record that the hub accepts, but that expires in ten minutes. */
async function endingSoon(present: string): Promise<string> {
  const stored = await until('the hub has written its tokens to disk', async () => {
    const { data } = JSON.parse(await readFile(join(await home.volumeOf('h'), '.storage/auth'), 'utf8')) as {
      data: { refresh_tokens: { id: string; jwt_key: string }[] };
    };
    return data.refresh_tokens.find(({ id }) => id === tokenId(present));
  });
  const now = Math.floor(Date.now() / 1_000);
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const unsigned = `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ iss: stored.id, iat: now - 89 * 86_400, exp: now + 600 })}`;
  return `${unsigned}.${createHmac('sha256', stored.jwt_key).update(unsigned).digest('base64url')}`;
}
