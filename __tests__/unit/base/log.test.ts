import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { AxiosError, AxiosHeaders } from 'axios';
import { build } from 'esbuild';
import { createLogger } from '../../../operator/base/log';
import { ApiError } from '../../../operator/runtime/api-errors';

function logged(fields: object): Record<string, unknown> {
  const lines: string[] = [];
  createLogger('debug', { write: (line) => void lines.push(line) }).error(fields, 'it failed');
  expect(lines).toHaveLength(1);
  return JSON.parse(lines[0]!) as Record<string, unknown>;
}

describe('createLogger', () => {
  test('writes level, time, fields and message as one JSON object', () => {
    expect(logged({ kind: 'Hub', name: 'my-hub' })).toEqual({
      level: 'error',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      kind: 'Hub',
      name: 'my-hub',
      msg: 'it failed',
    });
  });

  test('keeps status and reason of an answer of the API server', () => {
    expect(logged({ error: new ApiError(403, 'Forbidden', 'exceeded quota: small') })['error']).toMatchObject(
      {
        name: 'ApiError',
        message: 'exceeded quota: small',
        status: 403,
        reason: 'Forbidden',
        stack: expect.stringContaining('log.test.ts'),
      },
    );
  });

  test('keeps the chain of causes, without their stacks', () => {
    const root = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    const error = new Error('no answer', { cause: new Error('request failed', { cause: root }) });
    expect(logged({ error })['error']).toMatchObject({
      message: 'no answer',
      cause: {
        message: 'request failed',
        cause: { name: 'Error', message: 'connect ECONNREFUSED', code: 'ECONNREFUSED' },
      },
    });
    expect(JSON.stringify((logged({ error })['error'] as { cause: object }).cause)).not.toContain('stack');
  });

  test('ends a chain of causes that is a cycle', () => {
    const error = new Error('itself');
    error.cause = error;
    expect(JSON.stringify(logged({ error })).match(/itself/g)!.length).toBeLessThan(10);
  });

  test('prints no request of an HTTP library: its headers hold the bearer token', () => {
    const config = {
      headers: new AxiosHeaders({ Authorization: 'Bearer sesame-0815' }),
      data: 'sesame-0815',
    };
    const cause = new AxiosError('socket hang up', 'ECONNRESET', config, { headers: config.headers });
    for (const error of [cause, new Error('no answer', { cause })]) {
      const line = JSON.stringify(logged({ error }));
      expect(line).toContain('socket hang up');
      expect(line).not.toContain('sesame');
    }
  });

  describe('bounds fields that may quote the input of the operator', () => {
    const secret = 'hunter2!'.repeat(200_000);
    const failing = (message: string, options?: ErrorOptions) => new SyntaxError(message, options);
    const nested = (depth: number): Error =>
      failing(secret, depth > 0 ? { cause: nested(depth - 1) } : undefined);

    test.each([
      ['the message of an error, which its stack has as well', { error: failing(secret) }],
      ['its causes', { error: nested(20) }],
      ['errors of an AggregateError', { error: new AggregateError([nested(3), nested(3), secret], secret) }],
      ['code, status and reason', { error: Object.assign(failing('x'), { code: secret, reason: secret }) }],
      ['a stack of its own', { error: Object.assign(failing('x'), { stack: secret }) }],
      ['the name of an error', { error: Object.assign(failing('x'), { name: secret }) }],
      ['a thrown text', { error: secret }],
      ['an error under another key', { reason: failing(secret), list: [failing(secret)] }],
      ['texts of fields', { message: secret, nested: { list: [secret, { more: secret }] } }],
      ['many texts', { list: Array.from({ length: 10_000 }, () => 'hunter2!') }],
      ['keys', { fields: { [secret]: 1 } }],
    ])('%s', (_, fields) => {
      const line = JSON.stringify(logged(fields));
      expect(line.length).toBeLessThan(3_500);
      expect(line.split('hunter2!').length * 8).toBeLessThan(2_100);
    });

    test('the message of a line', () => {
      const lines: string[] = [];
      createLogger('debug', { write: (line) => void lines.push(line) }).info({}, secret);
      expect(lines[0]!.length).toBeLessThan(1_200);
    });

    test('keeps the class of a bug, and the calls that led to it', () => {
      const { error } = logged({ error: nested(2) }) as { error: Record<string, unknown> };
      expect(error).toMatchObject({
        name: 'SyntaxError',
        message: expect.stringMatching(/^hunter2!.*…$/),
        stack: expect.stringMatching(/^ {4}at failing .*log\.test\.ts:\d+/),
        cause: { name: 'SyntaxError', cause: { name: 'SyntaxError' } },
      });
    });
  });

  test('prints the text of a thrown value that is not an Error', () => {
    expect(logged({ error: 'broken' })['error']).toBe('broken');
    expect(logged({ error: { secret: 'sesame' } })['error']).toBe('[object Object]');
  });

  test('has written a line when the process is killed right after it', async () => {
    const entry = `
      import { createLogger } from './operator/base/log';
      createLogger('info').info({}, 'the last line');
      process.kill(process.pid, 'SIGKILL');
    `;
    const { outputFiles } = await build({
      stdin: { contents: entry, resolveDir: join(__dirname, '..', '..', '..') },
      bundle: true,
      platform: 'node',
      write: false,
    });
    const { signal, stdout } = spawnSync(process.execPath, ['-'], {
      input: outputFiles[0]!.text,
      encoding: 'utf8',
    });
    expect(signal).toBe('SIGKILL');
    expect(stdout).toContain('the last line');
  });
});
