import {
  errorLine,
  formatError,
  isOfMachine,
  isRefusal,
  SandboxError,
  serverError,
  stepError,
} from '../../../sandbox/sandbox-error';

describe('SandboxError', () => {
  test.each([
    ['write /x: no space left on device', 'Building failed: the disk is full.'],
    ['OSError: [Errno 28] No space left on device', 'Building failed: the disk is full.'],
    [
      'go: go.mod requires go >= 1.26.0 (running go 1.24.3; GOTOOLCHAIN=local)',
      'Building failed: the installed Go is too old.',
    ],
    [
      'k8s.io/api@v0.36.3: Get "https://proxy.golang.org/x": dial tcp: lookup proxy.golang.org: no such host',
      'Building failed: a download failed: the network or the package registry is unreachable.',
    ],
    [
      'error: Failed to fetch: `https://pypi.org/simple/x/`\n  Caused by: dns error',
      'Building failed: a download failed: the network or the package registry is unreachable.',
    ],
    [
      'failed to listen on 127.0.0.1:2379: bind: address already in use',
      'Building failed: a port is in use.',
    ],
    [
      'main.go:10:2: reading https://proxy.golang.org/x/@v/v1.0.0.zip: 404 Not Found',
      'Building failed: the package registry does not have a download.',
    ],
    [
      'I: Retrieving Release \nE: Failed getting release file http://deb.debian.org/debian/dists/bookworm/Release',
      'Building failed: Debian could not be installed.',
    ],
    ['verifying module: checksum mismatch', 'Building failed: the checksum of a download is wrong.'],
    ['main.go:3:1: syntax error', 'Building failed.'],
  ])('the output %j is explained as %j', (output, sentence) => {
    const failure = stepError('Building', output);
    expect(failure.message).toBe(sentence);
    expect(failure.hint).toMatch(/\.$/);
  });

  test('a full disk has precedence over the download that failed because of it', () => {
    const output = 'error sending request\nno space left on device';
    expect(stepError('Building', output).message).toContain('the disk is full');
  });

  test('the formatted error has the message, the hint, the last lines and the log, but no stack', () => {
    const output = Array.from({ length: 50 }, (_, index) => `line ${index}`).join('\n');
    const text = formatError(stepError('Building the control plane', output, '/cache/kube.log'));
    expect(text).toMatch(/^Building the control plane failed\.\n/);
    expect(text).toContain('  | line 49');
    expect(text).not.toContain('line 40\n');
    expect(text).toContain('The full log: /cache/kube.log');
    expect(text).not.toContain('    at ');
  });

  test('a known error of the operating system is explained, any other error is printed with its stack', () => {
    const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { syscall: 'write' });
    expect(formatError(full)).toMatch(/^The sandbox failed: the disk is full\.\n/);
    expect(formatError(new Error('undefined is not a function'))).toContain('    at ');
    expect(formatError(new SandboxError('No.', 'Yes.'))).toBe('No.\nYes.');
  });

  test.each([
    'dial tcp: i/o timeout',
    'lookup proxy.golang.org: no such host',
    'getaddrinfo EAI_AGAIN registry.npmjs.org',
    'reading https://proxy.golang.org/x.zip: 503 Service Unavailable',
    'reading https://proxy.golang.org/x.zip: 403 Forbidden',
    'reading https://proxy.golang.org/x.zip: 407 Proxy Authentication Required',
    'HTTP status server error (502 Bad Gateway) for url (https://pypi.org/simple/x/)',
    'HTTP status client error (403 Forbidden) for url (https://pypi.org/simple/x/)',
    'write /x: no space left on device',
    'fork/exec /usr/bin/ld: cannot allocate memory',
    'compile: signal: killed',
    'open /proc/sys/vm/overcommit_memory: read-only file system',
  ])('%j is a fault of the machine', (output) => {
    expect(isOfMachine(stepError('Building', output))).toBe(true);
  });

  test.each([
    'main.go:3:1: syntax error',
    'reading https://proxy.golang.org/x.zip: 404 Not Found',
    'Failed to fetch: `https://pypi.org/x`\n  HTTP status client error (404 Not Found) for url (https://pypi.org/x)',
    'verifying module: checksum mismatch',
    'open /x: permission denied',
    'listen tcp 127.0.0.1:80: bind: address already in use',
    'dial unix /run/containerd/containerd.sock: connect: connection refused',
  ])('%j may be a fault of the repository', (output) => {
    expect(isOfMachine(stepError('Building', output))).toBe(false);
  });

  test('what a server that has ended says of its connections is no fault of the network', () => {
    const log = 'dial tcp 198.18.0.2:2379: connect: connection refused\nunknown flag: --such';
    expect(isOfMachine(serverError('etcd', log, '/run/etcd.log'))).toBe(false);
    expect(serverError('etcd', log, '/run/etcd.log').message).toBe('Starting etcd failed.');
    expect(isOfMachine(serverError('etcd', 'no space left on device', '/run/etcd.log'))).toBe(true);
  });

  test('an error of a system call is one of the machine if its cause is, any other exception never', () => {
    const ofSystem = (message: string) => Object.assign(new Error(message), { syscall: 'write' });
    expect(isOfMachine(ofSystem('ENOSPC: no space left on device, write'))).toBe(true);
    expect(isOfMachine(ofSystem('EACCES: permission denied, write'))).toBe(false);
    expect(isOfMachine(ofSystem('ENOENT: no such file or directory, open'))).toBe(false);
    expect(isOfMachine(new TypeError('no space left on device'))).toBe(false);
  });

  test('a refusal is an error of a step, a system call or a program, not an exception of our own code', () => {
    expect(isRefusal(stepError('Mounting', 'mount: wrong fs type'))).toBe(true);
    expect(isRefusal(Object.assign(new Error('EPERM'), { syscall: 'mkdir' }))).toBe(true);
    expect(isRefusal(Object.assign(new Error('Command failed'), { code: 1, stderr: 'no' }))).toBe(true);
    expect(isRefusal(Object.assign(new TypeError('x'), { code: 'ERR_INVALID_ARG_TYPE' }))).toBe(false);
    expect(isRefusal('no')).toBe(false);
  });

  test('as a reason it is one line with what was printed', () => {
    expect(errorLine(stepError('Mounting', 'mount: wrong fs type\n  dmesg may tell more\n'))).toBe(
      'Mounting failed. mount: wrong fs type dmesg may tell more',
    );
    expect(errorLine(new Error('no'))).toBe('no');
  });
});
