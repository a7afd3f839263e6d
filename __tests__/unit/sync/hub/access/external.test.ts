import { invalidUrl } from '../../../../../operator/sync/hub/access/external';

describe('invalidUrl', () => {
  test.each(['http://192.168.1.10:8123', 'https://hub.home.arpa', 'http://hub/', 'http://[fd00::10]:8123'])(
    'accepts %s',
    (url) => {
      expect(invalidUrl({ url }, false)).toBeUndefined();
    },
  );

  test.each([
    ['ftp://192.168.1.10', 'must be http or https'],
    ['file:///etc/passwd', 'must be http or https'],
    ['hub:8123', 'must be http or https'],
    ['nonsense', 'is invalid: no valid host'],
    ['http://box:99999', 'a port that is not 1–65535'],
    ['http://user:pass@192.168.1.10', 'credentials'],
    ['http://user@192.168.1.10', 'credentials'],
    ['http://@192.168.1.10', 'credentials'],
    ['http://192.168.1.10/api', 'only scheme, host and port'],
    ['http://192.168.1.10?x', 'only scheme, host and port'],
    ['http://192.168.1.10#x', 'only scheme, host and port'],
    ['http://127.0.0.1:8123', 'loopback or link-local'],
    ['http://2130706433', 'loopback or link-local'],
    ['http://0x7f.1', 'loopback or link-local'],
    ['http://[::1]', 'loopback or link-local'],
    ['http://[::ffff:127.0.0.1]', 'loopback or link-local'],
    ['http://169.254.169.254', 'loopback or link-local'],
    ['http://[fe80::1]', 'loopback or link-local'],
    ['http://0.0.0.0', 'loopback or link-local'],
  ])('rejects %s', (url, words) => expect(invalidUrl({ url }, false)).toContain(words));

  test('accepts a local address where a setting allows it, and nothing else in addition', () => {
    expect(invalidUrl({ url: 'http://127.0.0.1:8123' }, true)).toBeUndefined();
    expect(invalidUrl({ url: 'http://u:p@127.0.0.1:8123' }, true)).toContain('credentials');
  });
});
