import {
  hasLocalHost,
  isLocalAddress,
  lookupNonLocal,
  refusingLocal,
  rejectOwnAddresses,
} from '../../../../operator/client/connection/local-address';

describe('isLocalAddress, hasLocalHost', () => {
  test.each([
    '127.0.0.1',
    '127.255.1.9',
    '0.0.0.0',
    '169.254.169.254',
    '::1',
    '::',
    'fe80::1',
    'fe80::1%eth0',
    'febf::1',
    '::ffff:127.0.0.1',
    '::ffff:a9fe:a9fe',
    '::7f00:1',
    '64:ff9b::7f00:1',
    '64:ff9b::a9fe:a9fe',
    'fd00:ec2::254',
    'fd20:ce::254',
    '100.100.100.200',
    '::ffff:100.100.100.200',
    '64:ff9b::6464:64c8',
    '168.63.129.16',
    '64:ff9b::a83f:8110',
  ])('%s is a local address', (ip) => expect(isLocalAddress(ip)).toBe(true));

  test.each([
    '192.168.1.10',
    '10.0.0.1',
    '100.64.0.1',
    '169.253.0.1',
    '1.1.1.1',
    'fd00::1',
    'fd00:ec2::253',
    '168.63.129.17',
    '2001:db8::1',
    '::ffff:10.0.0.1',
    '64:ff9b::a00:1',
    'home.arpa',
  ])('%s is no local address', (ip) => expect(isLocalAddress(ip)).toBe(false));

  test.each([
    'http://127.0.0.1:8123',
    'http://2130706433',
    'http://0x7f.1',
    'http://0177.0.0.1',
    'http://[::1]:8123',
    'https://[::ffff:7f00:1]',
  ])('the host of %s is a local address', (url) => expect(hasLocalHost(new URL(url))).toBe(true));

  test.each(['http://192.168.1.10', 'http://[fd00::1]', 'http://hub.home'])(
    'the host of %s is no local address',
    (url) => expect(hasLocalHost(new URL(url))).toBe(false),
  );
});

describe('rejectOwnAddresses', () => {
  test.each([
    ['POD_IP', '10.244.1.7'],
    ['POD_IP', 'fd12::7'],
    ['HUB_OPERATOR_METRICS_SERVICE_HOST', '10.96.3.1'],
    ['KUBERNETES_SERVICE_HOST', '10.96.0.1'],
  ])('rejects %s=%s from then on', (name, address) => {
    expect(isLocalAddress(address)).toBe(false);
    rejectOwnAddresses({ [name]: address });
    expect(isLocalAddress(address)).toBe(true);
  });

  test.each([
    ['POD_IP', ''],
    ['KUBERNETES_SERVICE_HOST', 'kubernetes.default'],
    ['SOMETHING', '10.0.0.9'],
  ])('allows %s=%s', (name, address) => {
    rejectOwnAddresses({ [name]: address });
    expect(isLocalAddress(address)).toBe(false);
  });
});

describe('lookupNonLocal', () => {
  const resolve = (name: string, all: boolean) =>
    new Promise((done, fail) =>
      lookupNonLocal(name, { all }, (error, address, family) =>
        error ? fail(error) : done([address, family]),
      ),
    );

  test.each([true, false])('refuses a name that leads to this machine (all: %s)', async (all) => {
    await expect(resolve('localhost', all)).rejects.toMatchObject({ code: 'LOCAL_ADDRESS_REFUSED' });
    await expect(resolve('localhost.', all)).rejects.toMatchObject({
      code: expect.stringMatching(/LOCAL_ADDRESS_REFUSED|ENOTFOUND|EAI_AGAIN/),
    });
  });

  test.each([
    ['first', ['127.0.0.1', '192.0.2.1']],
    ['last', ['192.0.2.1', '169.254.169.254']],
  ])('refuses a name with one local address among others: the %s one', (_, ips) => {
    for (const all of [true, false]) {
      const answer = jest.fn();
      const addresses = ips.map((address) => ({ address, family: 4 }));
      refusingLocal((_name, _options, done) => done(null, addresses))('two.example.org', { all }, answer);
      expect(answer.mock.calls).toEqual([
        [expect.objectContaining({ code: 'LOCAL_ADDRESS_REFUSED' }), '', 0],
      ]);
    }
  });

  test('answers in both forms for another address', async () => {
    expect(await resolve('192.0.2.1', false)).toEqual(['192.0.2.1', 4]);
    expect(await resolve('192.0.2.1', true)).toEqual([[{ address: '192.0.2.1', family: 4 }], undefined]);
  });

  test('says when there is no such name', async () => {
    await expect(resolve('no-such-host.invalid', true)).rejects.toMatchObject({
      code: expect.stringMatching(/ENOTFOUND|EAI_AGAIN/),
    });
  });
});
