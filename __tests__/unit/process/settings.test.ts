import { hostname } from 'node:os';
import {
  readSettings,
  settingsHelp,
  SettingsRefused,
  settingsTable,
} from '../../../operator/process/settings';

jest.mock('node:os', () => ({ hostname: jest.fn(() => 'host') }));

const refusal = (args: readonly string[], environment: Record<string, string> = {}): string => {
  try {
    readSettings(args, environment);
  } catch (error) {
    if (error instanceof SettingsRefused) return error.message;
    throw error;
  }
  throw new Error('it was accepted');
};

describe('readSettings, settingsHelp', () => {
  test('flags take precedence over the environment, and the environment over the defaults', () => {
    expect(readSettings([], {}).workers).toBe(16);
    expect(readSettings([], { WORKERS: '8' }).workers).toBe(8);
    expect(readSettings(['--workers=4'], { WORKERS: '8' }).workers).toBe(4);
  });

  test('each setting has its type', () => {
    const settings = readSettings(['--watch-namespaces', 'home, office,', '--leader-election=false'], {});
    expect(settings.watchNamespaces).toEqual(['home', 'office']);
    expect(settings.leaderElection).toBe(false);
    expect(readSettings([], {}).watchNamespaces).toEqual([]);
  });

  test.each<[string, string[], Record<string, string>, string[]]>([
    ['an unknown flag', ['--worker=4'], {}, ['--worker', '--workers']],
    ['a stray word', ['workers'], {}, ['workers']],
    ['a word instead of a number', ['--workers=many'], {}, ['--workers=many', '1 to 256']],
    ['a number out of range', [], { WORKERS: '0' }, ['WORKERS=0', '1 to 256']],
    ['half a worker', ['--workers=0.5'], {}, ['--workers=0.5', 'whole number']],
    ['no number at all', [], { HTTP_PORT: '' }, ['HTTP_PORT=']],
    ['an unknown level', [], { LOG_LEVEL: 'loud' }, ['LOG_LEVEL=loud', 'debug, info']],
    ['an empty name', [], { POD_NAME: '' }, ['POD_NAME=:', 'at most 253']],
    ['a name that no pod has', ['--pod-name=My_Pod'], {}, ['--pod-name=My_Pod', 'a-z, 0-9']],
    ['a name with an empty part', [], { LEASE_NAME: 'a..b' }, ['LEASE_NAME=a..b', 'each part']],
    ['a name that is too long', [], { LEASE_NAME: 'a'.repeat(254) }, ['LEASE_NAME=', 'at most 253']],
    ['no namespace', [], { POD_NAMESPACE: '' }, ['POD_NAMESPACE=:', 'at most 63']],
    ['a namespace with a dot', [], { POD_NAMESPACE: 'a.b' }, ['POD_NAMESPACE=a.b', 'name of a namespace']],
    ['a namespace in upper case', [], { WATCH_NAMESPACES: 'office,Home' }, ['=office,Home', 'a-z, 0-9']],
    ['a path for a namespace', ['--watch-namespaces=a/b'], {}, ['--watch-namespaces=a/b', 'a-z, 0-9']],
    ['a namespace that is too long', [], { WATCH_NAMESPACES: 'a'.repeat(64) }, ['at most 63']],
    ['a name for an address', [], { POD_IP: 'localhost' }, ['POD_IP=localhost', 'IPv4 or IPv6']],
    ['half an address', [], { POD_IP: '10.0.0' }, ['POD_IP=10.0.0:', 'IPv4 or IPv6']],
    ['an unknown way to make a certificate', [], { WEBHOOK: 'true' }, ['WEBHOOK=true', 'self-signed']],
    ['neither true nor false', ['--leader-election=yes'], {}, ['--leader-election=yes', 'true or false']],
  ])('%s is refused by name', (_, args, environment, words) => {
    const message = refusal(args, environment);
    for (const word of words) expect(message).toContain(word);
  });

  test.each(['allow-local-hubs', 'freeze-cache', 'hub-url-annotation', 'hub-source-address'])(
    '--%s is not a setting: only the entry point of the sandbox passes it',
    (flag) => {
      expect(refusal([`--${flag}=true`], {})).toContain(`Unknown option '--${flag}'`);
      expect(settingsTable().map((row) => row.flag)).not.toContain(`--${flag}`);
      const environment = {
        ALLOW_LOCAL_HUBS: 'true',
        FREEZE_CACHE: 'true',
        HUB_URL_ANNOTATION: 'a',
        HUB_SOURCE_ADDRESS: '::1',
      };
      expect(readSettings([], environment)).toEqual(readSettings([], {}));
      expect(readSettings([], {}, { freezeCache: true })).toMatchObject({
        freezeCache: true,
        allowLocalHubs: false,
      });
    },
  );

  test('namespaces are named or selected by label, not both', () => {
    expect(readSettings(['--watch-namespace-selector=home=managed'], {})).toMatchObject({
      watchNamespaceSelector: 'home=managed',
      watchNamespaces: [],
    });
    expect(() =>
      readSettings(['--watch-namespace-selector=home=managed', '--watch-namespaces=home'], {}),
    ).toThrow('both set: name the namespaces, or select them by label');
  });

  test('names and addresses are what Kubernetes has', () => {
    const settings = readSettings([], {
      WATCH_NAMESPACES: 'home, office,home,1st',
      POD_NAME: 'hub-operator-7d9c.example',
      POD_IP: 'fd00::7',
    });
    expect(settings).toMatchObject({
      watchNamespaces: ['home', 'office', '1st'],
      podName: 'hub-operator-7d9c.example',
      podIp: 'fd00::7',
    });
  });

  test.each([
    ['my-host.local', 'my-host.local'],
    ["Anna's_MacBook.local", 'anna-s-macbook.local'],
    ['-a..b-', 'a.b'],
    ['___', 'hub-operator'],
    ['', 'hub-operator'],
  ])('without POD_NAME the host name %j becomes %s', async (host, name) => {
    jest.mocked(hostname).mockReturnValue(host);
    await jest.isolateModulesAsync(async () => {
      const fresh = await import('../../../operator/process/settings');
      expect(fresh.readSettings([], {}).podName).toBe(name);
    });
  });

  test('the help and the reference name every setting with flag, variable and meaning', () => {
    const table = settingsTable();
    expect(table.length).toBeGreaterThan(5);
    for (const { flag, env, about } of table) {
      expect(settingsHelp()).toContain(`${flag}=`);
      expect(settingsHelp()).toContain(env);
      expect(about).toMatch(/\.$/);
    }
  });
});
