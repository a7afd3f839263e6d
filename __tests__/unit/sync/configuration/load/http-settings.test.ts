import type { HttpConfig, HttpSettings } from '../../../../../operator/client/connection/api-types';
import { HubRejected } from '../../../../../operator/client/connection/errors';
import { readHttpSection } from '../../../../../operator/sync/configuration/generate/http-section';
import type { SentSettings } from '../../../../../operator/sync/configuration/record/record';
import {
  completeSettings,
  type HttpPolicy,
  nextHttpStep,
  syncHttpSettings,
} from '../../../../../operator/sync/configuration/load/http-settings';

const standard = { server_port: 8123, ip_ban_enabled: true, login_attempts_threshold: -1 };
const ours = { ...standard, use_x_forwarded_for: true, trusted_proxies: ['10.0.0.0/8'] };
const theirs = { ...standard, ip_ban_enabled: false };
const meta = { created_at: '2026-01-01', error: null, error_message: null };

const config = (fields: Partial<HttpConfig> = {}): HttpConfig => ({
  stable: { ...standard, ...meta },
  pending: null,
  default: { ...standard, ...meta },
  active_config_type: 'stable',
  ...fields,
});

describe('nextHttpStep', () => {
  const failed = { ...ours, ...meta, error: 'not_promoted' };
  test.each<[string, Partial<HttpConfig>, string]>([
    ['nothing is set yet', {}, 'configure'],
    ['the hub has them for good', { stable: { ...ours, ...meta } }, 'done'],
    [
      'the hub shows those that are not set as null',
      { stable: { ...ours, ssl_certificate: null } as never, default: null },
      'done',
    ],
    ['ours are stored, and the hub restarts', { pending: { ...ours, ...meta } }, 'wait'],
    ['ours are on trial', { pending: { ...ours, ...meta }, active_config_type: 'pending' }, 'promote'],
    ['those of another client are on trial', { pending: theirs, active_config_type: 'pending' }, 'occupied'],
    [
      'those of another client are on trial, and ours are kept',
      { stable: ours, pending: theirs, active_config_type: 'pending' },
      'occupied',
    ],
    ['the hub gave ours up', { pending: failed }, 'reverted'],
    [
      'the hub gave up those of another client',
      { pending: { ...theirs, error: 'apply_failed' } },
      'configure',
    ],
    ['the hub gave ours up before, and has them now', { stable: ours, pending: failed }, 'done'],
  ])('%s', (_, fields, type) => {
    expect(nextHttpStep(config(fields), ours).type).toBe(type);
  });
});

describe('readHttpSection', () => {
  const read = (text: string, files = {}) => readHttpSection({ 'configuration.yaml': text, ...files });

  test('the settings have the form in which the hub shows them', () => {
    const text =
      'http:\n  base_url: https://a.example\n  use_x_forwarded_for: yes\n  trusted_proxies: [10.0.0.1, 10.0.0.0/255.0.0.0, 10.1.0.0/0.0.255.255, "fd00::1", "2001:DB8:0:0::/32", "::FFFF:10.0.0.1"]\n  cors_allowed_origins: https://a.example\n  login_attempts_threshold: 5\n';
    expect(read(text)).toEqual({
      type: 'settings',
      settings: {
        use_x_forwarded_for: true,
        trusted_proxies: [
          '10.0.0.1/32',
          '10.0.0.0/8',
          '10.1.0.0/16',
          'fd00::1/128',
          '2001:db8::/32',
          '::ffff:10.0.0.1/128',
        ],
        cors_allowed_origins: ['https://a.example'],
        login_attempts_threshold: 5,
      },
    });
  });

  test('an included file is read', () => {
    const files = { 'http.yaml': 'ip_ban_enabled: false\n' };
    expect(read('http: !include http.yaml\n', files)).toEqual({
      type: 'settings',
      settings: { ip_ban_enabled: false },
    });
  });

  test('without the section there is nothing to set, with an empty one the defaults', () => {
    expect(read('logger:\n')).toEqual({ type: 'absent' });
    expect(read('http:\n')).toEqual({ type: 'settings', settings: {} });
  });

  test.each([
    ['http: [1]\n', 'a mapping'],
    ['http:\n  colour: blue\n', 'no setting colour'],
    ['http:\n  server_port: !secret port\n', 'http.server_port must be a plain value'],
    ['http:\n  ip_ban_enabled: perhaps\n', 'http.ip_ban_enabled'],
    ['http: !include nowhere.yaml\n', 'a mapping'],
    ['homeassistant:\n  packages:\n    proxy:\n      http:\n', 'a package has it'],
  ])('%j is refused with the key', (text, words) => {
    expect(read(text)).toMatchObject({ type: 'invalid', message: expect.stringContaining(words) });
  });
});

describe('completeSettings', () => {
  test.each([
    ['intermediate_v6', { ssl_profile: 'modern' }, 'intermediate_v6'],
    ['intermediate_v6', { ssl_profile: 'modern_v6' }, 'modern_v6'],
    ['modern', { ssl_profile: 'intermediate' }, 'intermediate'],
    ['intermediate_v6', {}, 'intermediate_v6'],
  ])('with the default %s, the profile of %j is %s', (standard, settings, profile) => {
    const given = config({ default: { ssl_profile: standard } });
    expect(completeSettings(given, settings).ssl_profile).toBe(profile);
  });
});

describe('syncHttpSettings', () => {
  const files = {
    'configuration.yaml': 'http:\n  use_x_forwarded_for: true\n  trusted_proxies: [10.0.0.0/8]\n',
  };
  const auto = {
    strategy: 'auto',
    forced: false,
    restartWaitsFor: () => Promise.resolve(undefined),
    hadSection: false,
  } as const;
  type Policy = Omit<HttpPolicy, 'remember'>;

  async function run(
    given: Partial<HttpConfig> | Error,
    policy: Policy = auto,
    text = files,
    refusal?: HubRejected,
    version = '2026.11.0',
  ) {
    const sent: [string, HttpSettings | undefined][] = [];
    /** The stored settings, before or after a command. */
    const stored: (SentSettings | undefined)[] = [];
    const connection = {
      command: (type: string, fields: { config?: HttpSettings } = {}) => {
        if (type === 'get_config') return Promise.resolve({ version });
        if (type !== 'http/config') {
          sent.push([type, fields.config]);
          if (type.endsWith('configure')) expect(stored).toHaveLength(1);
          if (refusal) return Promise.reject(refusal);
        } else if (given instanceof Error) return Promise.reject(given);
        return Promise.resolve(config(given instanceof Error ? {} : given));
      },
    };
    const remember = (value: SentSettings | undefined) => Promise.resolve(void stored.push(value));
    const { source, condition } = await syncHttpSettings({ connection } as never, readHttpSection(text), {
      ...policy,
      remember,
    });
    return { sent, stored, source, reason: condition?.reason, message: condition?.message };
  }

  test.each<[string, boolean, Partial<HttpConfig> | Error, RegExp | undefined]>([
    ['that the hub never had', false, { stable: ours }, undefined],
    ['whose settings the hub keeps', true, { stable: ours }, /: trusted_proxies, use_x_forwarded_for\. /],
    ['with defaults alone', true, {}, undefined],
    ['of a hub that shows none', true, new HubRejected('unknown_command', ''), undefined],
  ])('a section that does not exist, %s, sends nothing', async (_, hadSection, given, names) => {
    const text = { 'configuration.yaml': 'logger:\n' };
    const { message, ...result } = await run(given, { ...auto, hadSection }, text);
    expect(result).toMatchObject({ sent: [], source: null, reason: names && 'Kept' });
    expect(message ?? '').toMatch(names ?? /^$/);
  });

  test('new settings are sent complete', async () => {
    expect(await run({})).toMatchObject({
      sent: [['http/config/configure', ours]],
      source: 'Api',
      reason: 'InProgress',
    });
  });

  test('settings on trial through which the hub answers are promoted', async () => {
    const result = await run({ pending: { ...ours, ...meta }, active_config_type: 'pending' });
    expect(result).toMatchObject({ sent: [['http/config/promote', undefined]], reason: 'Applied' });
  });

  test('a hub that refuses to keep settings on trial is asked again', async () => {
    const refusal = new HubRejected('not_allowed', 'not_allowed');
    const given: Partial<HttpConfig> = { pending: { ...ours, ...meta }, active_config_type: 'pending' };
    expect(await run(given, auto, files, refusal)).toMatchObject({ reason: 'InProgress' });
  });

  test.each<[string, Partial<HttpConfig>, string]>([
    ['the hub has them', { stable: ours }, 'Applied'],
    [
      'those of another client are on trial',
      { pending: theirs, active_config_type: 'pending' },
      'PendingChange',
    ],
    ['the hub could not use them', { pending: { ...ours, error: 'apply_failed' } }, 'Reverted'],
  ])('nothing is sent when %s', async (_, given, reason) => {
    expect(await run(given)).toMatchObject({ sent: [], reason });
  });

  test('settings that were given up are sent again on request', async () => {
    const given = { pending: { ...ours, error: 'apply_failed' } };
    expect((await run(given, { ...auto, forced: true })).sent).toHaveLength(1);
  });

  test('a trial that was not ended in time is repeated once', async () => {
    const given = { pending: { ...ours, error: 'not_promoted' } };
    const first = (await run({})).stored.at(-1);
    const second = await run(given, { ...auto, sent: first });
    expect(second.sent).toHaveLength(1);
    const third = await run(given, { ...auto, sent: second.stored.at(-1) });
    expect(third).toMatchObject({ sent: [], reason: 'Reverted' });
  });

  test('former settings of its own that are on trial give way', async () => {
    const sent = (await run({})).stored.at(-1);
    const text = { 'configuration.yaml': 'http:\n  ip_ban_enabled: false\n' };
    const pending = { ...ours, ...meta };
    const given = { pending, active_config_type: 'pending' } as const;
    expect((await run(given, { ...auto, sent }, text)).sent).toHaveLength(1);
    expect((await run(given, auto, text)).reason).toBe('PendingChange');
  });

  test('settings that the hub does not accept unchanged are sent twice, and not by another process', async () => {
    const first = await run({});
    const second = await run({}, { ...auto, sent: first.stored.at(-1) });
    expect(second.sent).toHaveLength(1);
    const sent = second.stored.at(-1);
    expect(await run({}, { ...auto, sent })).toMatchObject({ sent: [], stored: [], reason: 'Rejected' });
    // Other settings are not a repetition.
    const text = { 'configuration.yaml': 'http:\n  ip_ban_enabled: false\n' };
    expect((await run({}, { ...auto, sent }, text)).stored).toMatchObject([{ times: 1 }]);
  });

  test('settings that the hub refuses do not count as sent', async () => {
    const refusal = new HubRejected('invalid_format', 'expected a port');
    const { stored, reason } = await run({}, auto, files, refusal);
    expect({ last: stored.at(-1), reason }).toEqual({ last: undefined, reason: 'Rejected' });
  });

  test('the record of sent settings is forgotten when the hub has them', async () => {
    const sent = { hash: 'x', times: 1 };
    expect((await run({ stable: ours }, { ...auto, sent })).stored).toEqual([undefined]);
    expect((await run({ stable: ours })).stored).toEqual([]);
  });

  test('a hub is not restarted under hot-reload, or before what its restart waits for', async () => {
    expect(await run({}, { ...auto, strategy: 'hot-reload' })).toMatchObject({
      sent: [],
      reason: 'RestartPending',
    });
    const restartWaitsFor = () => Promise.resolve({ end: 'it has started', after: 5_000 });
    expect(await run({}, { ...auto, restartWaitsFor })).toMatchObject({
      sent: [],
      reason: 'InProgress',
      message: expect.stringContaining('once it has started'),
    });
  });

  test('a port that the Service does not expect is refused', async () => {
    const text = { 'configuration.yaml': 'http:\n  server_port: 80\n' };
    expect(await run({}, auto, text)).toMatchObject({
      sent: [],
      reason: 'Rejected',
      message: expect.stringContaining('remove it'),
    });
  });

  test('a hub older than 2026.8 reads the file', async () => {
    const unknown = new HubRejected('unknown_command', 'Unknown command.');
    expect(await run(unknown, auto, files, undefined, '2026.7.4')).toMatchObject({
      sent: [],
      source: 'Yaml',
      reason: undefined,
      message: undefined,
    });
  });

  test('a newer hub that does not show its settings gets none, and the condition says so', async () => {
    const unknown = new HubRejected('unknown_command', 'Unknown command.');
    expect(await run(unknown)).toMatchObject({ sent: [], source: 'Api', reason: 'Rejected' });
  });
});
