import { whyNoRealNode } from '../../../../sandbox/real-node/requirements';

const { platform } = process;
const path = process.env['PATH'];

const beOn = (value: NodeJS.Platform) => Object.defineProperty(process, 'platform', { value });
const be = (user: number) => {
  process.getuid = () => user;
};
const { getuid } = process;

afterEach(() => {
  beOn(platform);
  process.env['PATH'] = path;
  if (getuid) process.getuid = getuid;
});

// On a machine that passes these, it installs packages: that is seen by `make test-node` alone.
describe('whyNoRealNode', () => {
  test('elsewhere than on Linux it names Linux', async () => {
    beOn('darwin');
    expect(await whyNoRealNode()).toBe('it needs Linux');
  });

  test('for a user who is not root it names root', async () => {
    beOn('linux');
    be(1000);
    expect(await whyNoRealNode()).toBe('it needs root');
  });

  test('where programs are missing it names them', async () => {
    beOn('linux');
    be(0);
    process.env['PATH'] = '/nowhere:/neither';
    expect(await whyNoRealNode()).toBe(
      'it needs chroot, curl, find, ip, mount, nsenter, ss, tar, unshare, which PATH does not have',
    );
  });

  test('what a system call refuses is a reason, and an exception of our own code is thrown', async () => {
    beOn('linux');
    const throwing = (error: Error) => {
      process.getuid = () => {
        throw error;
      };
    };
    throwing(Object.assign(new Error('EPERM: not permitted'), { syscall: 'getuid' }));
    expect(await whyNoRealNode()).toBe('EPERM: not permitted');
    throwing(new TypeError('x is not a function'));
    await expect(whyNoRealNode()).rejects.toThrow('x is not a function');
  });
});
