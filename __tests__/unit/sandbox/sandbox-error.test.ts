import { formatError, isOfMachine, stepError } from '../../../sandbox/sandbox-error';

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

  test.each([
    'dial tcp: i/o timeout',
    'reading https://proxy.golang.org/x.zip: 503 Service Unavailable',
    'reading https://proxy.golang.org/x.zip: 403 Forbidden',
    'HTTP status server error (502 Bad Gateway) for url (https://pypi.org/simple/x/)',
    'write /x: no space left on device',
    'fork/exec /usr/bin/ld: cannot allocate memory',
    'compile: signal: killed',
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
});
