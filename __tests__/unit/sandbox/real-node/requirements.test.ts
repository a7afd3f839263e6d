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

// Only `make test-node` covers a machine that meets these requirements, since packages are installed there.
describe('whyNoRealNode', () => {
  test('on another system than Linux it names Linux', async () => {
    beOn('darwin');
    expect(await whyNoRealNode()).toBe('it needs Linux');
  });

  test('for a user who is not root it names root', async () => {
    beOn('linux');
    be(1000);
    expect(await whyNoRealNode()).toBe('it needs root');
  });

  test('missing programs are named', async () => {
    beOn('linux');
    be(0);
    process.env['PATH'] = '/nowhere:/neither';
    expect(await whyNoRealNode()).toBe(
      'it needs chroot, curl, find, ip, mount, nsenter, ss, tar, unshare, which PATH does not have',
    );
  });

  test('the refusal of a system call is a reason, and an exception of our own code is thrown', async () => {
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
