import { systemClock } from '../../../operator/base/clock';
import { silentLog } from '../../cluster/silent-log';
import { type ProbeAnswers, ProbeServer } from '../../../operator/process/probes';

const well: ProbeAnswers = {
  livenessErrors: () => [],
  readinessErrors: () => [],
  metrics: () => Promise.resolve({ contentType: 'text/plain; version=0.0.4', text: 'up 1\n' }),
};

const services = { clock: systemClock, log: silentLog };

let server: ProbeServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

/** Returns status, type and body of one answer. */
async function ask(path: string, answers: Partial<ProbeAnswers> = {}) {
  server = await ProbeServer.listen(0, '127.0.0.1', { ...well, ...answers }, services);
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`);
  return [response.status, response.headers.get('content-type'), await response.text()];
}

const PLAIN = 'text/plain; charset=utf-8';

describe('ProbeServer', () => {
  test.each(['/healthz', '/readyz', '/healthz?verbose'])('%s of a healthy process says so', async (path) => {
    expect(await ask(path)).toEqual([200, PLAIN, 'ok\n']);
  });

  test('/healthz names each problem', async () => {
    const livenessErrors = () => ['the watch of Hub is stuck', 'a reconcile has been running for 480 s'];
    expect(await ask('/healthz', { livenessErrors })).toEqual([
      503,
      PLAIN,
      'the watch of Hub is stuck\na reconcile has been running for 480 s\n',
    ]);
  });

  test('/readyz names the missing conditions, in the words of the server, and no health problem', async () => {
    const readiness = () => ['Hub is not listed yet: hubs is forbidden: User “op” cannot list resource'];
    expect(await ask('/readyz', { readinessErrors: readiness, livenessErrors: () => ['ill'] })).toEqual([
      503,
      PLAIN,
      'Hub is not listed yet: hubs is forbidden: User “op” cannot list resource\n',
    ]);
  });

  test('/readyz?wait answers when the process becomes ready', async () => {
    let asked = 0;
    const readinessErrors = () => (++asked < 3 ? ['Hub is not listed yet'] : []);
    expect(await ask('/readyz?wait=60', { readinessErrors })).toEqual([200, PLAIN, 'ok\n']);
    expect(asked).toBe(3);
  });

  test('/readyz?wait names the missing conditions when the time is over', async () => {
    const readinessErrors = () => ['Hub is not listed yet'];
    expect(await ask('/readyz?wait=0.2', { readinessErrors })).toEqual([
      503,
      PLAIN,
      'Hub is not listed yet\n',
    ]);
  });

  test.each(['wait', 'wait=', 'wait=-1', 'wait=soon'])('/readyz?%s does not wait', async (query) => {
    let asked = 0;
    const readinessErrors = () => [`asked ${++asked} times`];
    expect(await ask(`/readyz?${query}`, { readinessErrors })).toEqual([503, PLAIN, 'asked 1 times\n']);
  });

  test('a shutdown while a probe waits answers it immediately, or closes its connection', async () => {
    server = await ProbeServer.listen(
      0,
      '127.0.0.1',
      { ...well, readinessErrors: () => ['Hub is not listed yet'] },
      services,
    );
    const waiting = fetch(`http://127.0.0.1:${server.port}/readyz?wait=60`).then(
      ({ status }) => status,
      () => 'cut off',
    );
    await server.close();
    expect([503, 'cut off']).toContain(await waiting);
  });

  test('/metrics returns the rendered registry', async () => {
    expect(await ask('/metrics')).toEqual([200, 'text/plain; version=0.0.4', 'up 1\n']);
  });

  test('/metrics that cannot be rendered are an error only of this scrape', async () => {
    const metrics = () => Promise.reject(new Error('no such label'));
    expect(await ask('/metrics', { metrics })).toEqual([500, 'text/plain', 'Error: no such label\n']);
  });

  test('any other path lists the available ones', async () => {
    expect(await ask('/')).toEqual([404, 'text/plain', '/healthz, /readyz or /metrics\n']);
  });

  test('a port in use is reported in one sentence', async () => {
    server = await ProbeServer.listen(0, '127.0.0.1', well, services);
    await expect(ProbeServer.listen(server.port, '127.0.0.1', well, services)).rejects.toThrow(
      `cannot listen on port ${server.port}: it is in use; choose another with --http-port, or 0 for a free one`,
    );
  });
});
