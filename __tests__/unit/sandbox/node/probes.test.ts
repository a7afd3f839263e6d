import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { V1Probe } from '@kubernetes/client-node';
import { ask, verdicts } from '../../../../sandbox/node/probes';

let answers: number[];
let seen: string[];
let server: Server;
let port: number;

beforeEach(async () => {
  answers = [];
  seen = [];
  server = createServer((request, response) => {
    seen.push(`${request.url} ${request.headers['x-from'] ?? ''}`);
    const status = answers.shift();
    if (status) response.writeHead(status).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

/** The default of a second is too short for a busy machine. */
const PATIENT = { timeoutSeconds: 60 };
const http: V1Probe = {
  ...PATIENT,
  httpGet: { path: '/ok', port: 'http', httpHeaders: [{ name: 'X-From', value: 'probe' }] },
};
const never = new AbortController().signal;
const target = () => ({
  port,
  command: (line: readonly string[]) => ({
    line,
    environment: { PATH: process.env['PATH']! },
    workingDirectory: '/',
  }),
});

describe('ask, verdicts', () => {
  test('HTTP: 200 to 399 is healthy, and the headers are sent', async () => {
    answers = [200, 302, 404, 503];
    expect(await ask(http, target(), never)).toBeUndefined();
    expect(await ask(http, target(), never)).toBeUndefined();
    expect(await ask(http, target(), never)).toBe('HTTP probe failed with statuscode: 404');
    expect(await ask(http, target(), never)).toBe('HTTP probe failed with statuscode: 503');
    expect(seen[0]).toBe('/ok probe');
  });

  test('HTTP: a timeout and a refused connection are failures', async () => {
    expect(await ask({ ...http, timeoutSeconds: 0.1 }, target(), never)).toContain(
      'context deadline exceeded',
    );
    server.closeAllConnections();
    server.close();
    expect(await ask(http, target(), never)).toContain('ECONNREFUSED');
  });

  test('a probe ends after its timeout although garbage is collected meanwhile', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const asked = Array.from({ length: 20 }, () => ask({ ...http, timeoutSeconds: 0.3 }, target(), never));
    let ended = 0;
    for (const each of asked) void each.then(() => ended++);
    // Requests that a busy machine sends too late end without an answer.
    while (seen.length + ended < asked.length) await new Promise(setImmediate);
    for (let count = 0; count < 5; count++) {
      collect();
      await new Promise(setImmediate);
    }
    for (const problem of await Promise.all(asked)) expect(problem).toContain('context deadline exceeded');
  });

  test('TCP: the probe succeeds when the port is open and fails when it is closed', async () => {
    expect(await ask({ ...PATIENT, tcpSocket: { port: 8123 } }, target(), never)).toBeUndefined();
    server.close();
    expect(await ask({ ...PATIENT, tcpSocket: { port: 8123 } }, target(), never)).toContain('ECONNREFUSED');
  });

  test('a verdict needs as many answers in a row as the thresholds say', async () => {
    answers = [200, 500, 500, 200, 200, 500, 500, 500];
    const probe = { ...http, periodSeconds: 0.01, successThreshold: 2, failureThreshold: 3 };
    const ending = new AbortController();
    const told: boolean[] = [];
    const failures: string[] = [];
    for await (const healthy of verdicts(probe, target(), ending.signal, (problem) =>
      failures.push(problem),
    )) {
      told.push(healthy);
      if (told.length === 2) ending.abort();
    }
    expect(told).toEqual([true, false]);
    expect(seen).toHaveLength(8);
    expect(failures).toHaveLength(5);
  });

  test('a command: its exit code counts, and its output says why', async () => {
    const command = (script: string) => ({ ...PATIENT, exec: { command: ['sh', '-c', script] } });
    expect(await ask(command('exit 0'), target(), never)).toBeUndefined();
    expect(await ask(command('echo broken; exit 3'), target(), never)).toBe('broken');
    expect(await ask({ ...command('sleep 60'), timeoutSeconds: 0.1 }, target(), never)).toContain(
      'context deadline exceeded',
    );
  });
});
