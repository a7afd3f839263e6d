import { formatError, SandboxError, stepError } from '../../../sandbox/sandbox-error';

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
      'Building failed: a download failed: no network, or no way to the package registry.',
    ],
    [
      'error: Failed to fetch: `https://pypi.org/simple/x/`\n  Caused by: dns error',
      'Building failed: a download failed: no network, or no way to the package registry.',
    ],
    [
      'failed to listen on 127.0.0.1:2379: bind: address already in use',
      'Building failed: a port that it needs is in use.',
    ],
    ['verifying module: checksum mismatch', 'Building failed: what was downloaded is not what was expected.'],
    ['main.go:3:1: syntax error', 'Building failed.'],
  ])('%s', (output, sentence) => {
    const failure = stepError('Building', output);
    expect(failure.message).toBe(sentence);
    expect(failure.hint).toMatch(/\.$/);
  });

  test('a full disk is named before the download that it broke', () => {
    const output = 'error sending request\nno space left on device';
    expect(stepError('Building', output).message).toContain('the disk is full');
  });

  test('is explained by sentence, hint, last lines and log, without a stack', () => {
    const output = Array.from({ length: 50 }, (_, index) => `line ${index}`).join('\n');
    const text = formatError(stepError('Building the control plane', output, '/cache/kube.log'));
    expect(text).toMatch(/^Building the control plane failed\.\n/);
    expect(text).toContain('  | line 49');
    expect(text).not.toContain('line 40\n');
    expect(text).toContain('The full log: /cache/kube.log');
    expect(text).not.toContain('    at ');
  });

  test('an error of the operating system is explained too, a bug keeps its stack', () => {
    const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { syscall: 'write' });
    expect(formatError(full)).toMatch(/^The sandbox failed: the disk is full\.\n/);
    expect(formatError(new Error('undefined is not a function'))).toContain('    at ');
    expect(formatError(new SandboxError('No.', 'Yes.'))).toBe('No.\nYes.');
  });
});
