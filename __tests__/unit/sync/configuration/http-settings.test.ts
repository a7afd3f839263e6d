import type { HttpConfig, HttpSettings } from '../../../../operator/client/api-types';
import { HubRejected } from '../../../../operator/client/errors';
import { readHttpSection } from '../../../../operator/sync/configuration/http-section';
import { nextHttpStep, syncHttpSettings } from '../../../../operator/sync/configuration/http-settings';

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

  test('the settings have the form that the hub shows', () => {
    const text =
      'http:\n  use_x_forwarded_for: yes\n  trusted_proxies: [10.0.0.1, 10.0.0.0/255.0.0.0, 10.1.0.0/0.0.255.255, "fd00::1", "2001:DB8:0:0::/32"]\n  cors_allowed_origins: https://a.example\n  login_attempts_threshold: 5\n';
    expect(read(text)).toEqual({
      type: 'settings',
      settings: {
        use_x_forwarded_for: true,
        trusted_proxies: ['10.0.0.1/32', '10.0.0.0/8', '10.1.0.0/16', 'fd00::1/128', '2001:db8::/32'],
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
  ])('%j is refused with the key', (text, words) => {
    expect(read(text)).toMatchObject({ type: 'invalid', message: expect.stringContaining(words) });
  });
});

describe('syncHttpSettings', () => {
  const files = {
    'configuration.yaml': 'http:\n  use_x_forwarded_for: true\n  trusted_proxies: [10.0.0.0/8]\n',
  };
  const auto = { strategy: 'auto', forced: false, mayRestart: true } as const;

  async function run(
    given: Partial<HttpConfig> | Error,
    policy: Parameters<typeof syncHttpSettings>[2] = auto,
    text = files,
  ) {
    const sent: [string, HttpSettings | undefined][] = [];
    const connection = {
      command: (type: string, fields: { config?: HttpSettings } = {}) => {
        if (type !== 'http/config') sent.push([type, fields.config]);
        else if (given instanceof Error) return Promise.reject(given);
        return Promise.resolve(config(given instanceof Error ? {} : given));
      },
    };
    const { source, condition, sent: key } = await syncHttpSettings({ connection } as never, text, policy);
    return { sent, key, source, reason: condition?.reason, message: condition?.message };
  }

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
    const first = await run(given);
    expect(first.sent).toHaveLength(1);
    expect(await run(given, { ...auto, sent: first.key })).toMatchObject({ sent: [], reason: 'Reverted' });
  });

  test('former settings of its own that are on trial give way', async () => {
    const { key } = await run({});
    const text = { 'configuration.yaml': 'http:\n  ip_ban_enabled: false\n' };
    const pending = { ...ours, ...meta };
    const given = { pending, active_config_type: 'pending' } as const;
    expect((await run(given, { ...auto, sent: key }, text)).sent).toHaveLength(1);
    expect((await run(given, auto, text)).reason).toBe('PendingChange');
  });

  test('settings that the hub does not take as they are do not restart it again', async () => {
    const { key } = await run({});
    expect(await run({}, { ...auto, sent: key })).toMatchObject({ sent: [], reason: 'Rejected' });
  });

  test('a hub is not restarted under hot-reload, or beside another load', async () => {
    expect(await run({}, { ...auto, strategy: 'hot-reload' })).toMatchObject({
      sent: [],
      reason: 'RestartPending',
    });
    expect(await run({}, { ...auto, mayRestart: false })).toMatchObject({ sent: [], reason: 'InProgress' });
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
    expect(await run(unknown)).toMatchObject({
      sent: [],
      source: 'Yaml',
      reason: undefined,
      message: undefined,
    });
  });
});
