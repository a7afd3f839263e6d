import { Readable } from 'node:stream';
import type { ApiRequest } from '../../../operator/runtime/api-client';
import { logLine } from '../../../cli/output';
import { CommandLine, resource } from './command-line';

const villa = resource('Hub', 'villa', {});

/** Returns a command line for a pod with this log. */
function podLogging(text: string) {
  const line = new CommandLine(villa);
  const requests: ApiRequest[] = [];
  Object.assign(line.client, {
    stream: (request: ApiRequest) => {
      requests.push(request);
      return Promise.resolve(Readable.from([Buffer.from(text)]));
    },
  });
  return { line, requests };
}

describe('logs', () => {
  test('lines of the container cannot change the terminal, and keep their indentation', async () => {
    const { line } = podLogging(
      '\u001b[31mERROR\u001b[0m Traceback:\n  File "a.py"\n\tlamp \u001b]0;owned\u0007\u001b[2J\u009b1A\u0008on\n',
    );
    expect(await line.run('logs villa')).toMatchObject({
      code: 0,
      stdout: 'ERROR Traceback:\n  File "a.py"\n\tlamp ]0;ownedon\n',
    });
  });

  test.each([
    ['', undefined],
    [' --tail 0', 0],
    [' --tail 25', 25],
  ])('logs villa%s asks for %s lines', async (option, tailLines) => {
    const { line, requests } = podLogging('');
    expect(await line.run(`logs villa${option}`)).toMatchObject({ code: 0 });
    expect(requests).toMatchObject([{ query: { tailLines } }]);
  });

  test.each([
    [
      'logs villa --tail abc',
      "option '--tail <lines>' argument 'abc' is invalid. Write a whole number from 0 on.",
    ],
    [
      'logs villa --tail -1',
      "option '--tail <lines>' argument '-1' is invalid. Write a whole number from 0 on.",
    ],
    ['logs villa --system --tail 1.5', "option '--tail <lines>' argument '1.5' is invalid."],
    ['logs villa --tail=', "option '--tail <lines>' argument '' is invalid."],
    ['logs villa --tail 1e3', "option '--tail <lines>' argument '1e3' is invalid."],
    [
      'trace porch --runs abc',
      "option '--runs <count>' argument 'abc' is invalid. Write a whole number from 1 on.",
    ],
    [
      'trace porch --runs 0',
      "option '--runs <count>' argument '0' is invalid. Write a whole number from 1 on.",
    ],
  ])('%s names the flag and the value', async (command, message) => {
    const { line, requests } = podLogging('');
    const { code, stderr } = await line.run(command);
    expect(stderr).toContain(message);
    expect(code).toBe(2);
    expect(requests).toEqual([]);
  });
});

describe('logLine', () => {
  test('leaves no character by which a terminal is controlled', () => {
    const all = String.fromCharCode(...Array.from({ length: 160 }, (_, code) => code));
    expect(logLine(all)).toMatch(/^\t[\u0020-\u007e]+$/);
    expect(logLine('21.5 °C – grün')).toBe('21.5 °C – grün');
  });
});
