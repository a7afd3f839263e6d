import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { ApiClient, type ApiClientOptions, MAX_IDLE_CONNECTIONS } from '../../../operator/runtime/api-client';
import {
  AnswerTooLarge,
  ApiError,
  ApiServerUnreachable,
  isTransient,
} from '../../../operator/runtime/api-errors';
import { issueCertificate } from '../../../operator/webhook/certificate/issue';
import { ManualClock, settle } from '../manual-clock';
import { until } from '../until';
import { kubeConfigFor } from './fake-api-client';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

let server: Server;
let answer: Answer;
const seen: IncomingMessage[] = [];
const clusters: ApiClient[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    seen.push(request);
    answer(request, response);
  }).listen(0, '127.0.0.1');
  // Without a time limit, since a busy machine may stop this process for longer than the default 5 s between
  // two requests.
  server.keepAliveTimeout = 0;
  await once(server, 'listening');
});

beforeEach(() => {
  seen.length = 0;
  answer = (_, response) => json(response, 200, { ok: true });
});

afterEach(() => {
  for (const cluster of clusters.splice(0)) cluster.close();
  server.closeAllConnections();
});

afterAll(() => server.close());

const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

function connect(
  options: Partial<ApiClientOptions> = {},
  headers: () => Record<string, string> = () => ({}),
  path = '',
): ApiClient {
  const kubeConfig = {
    ...kubeConfigFor(`${url()}${path}`),
    applyToHTTPSOptions: (tls: { headers?: Record<string, string> }) => {
      tls.headers = headers();
      return Promise.resolve();
    },
  };
  const cluster = new ApiClient(kubeConfig, {
    clock: new ManualClock(), // no deadline passes with this clock
    ...options,
  });
  clusters.push(cluster);
  return cluster;
}

function json(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body));
}

const get = { method: 'GET', path: '/api' } as const;
const patch = {
  method: 'PATCH',
  path: '/api',
  body: {},
  contentType: 'application/apply-patch+yaml',
} as const;

describe('ApiClient: answers', () => {
  test('a JSON answer is parsed, and requests share a connection', async () => {
    const cluster = connect();
    expect(await cluster.request(get)).toEqual({ ok: true });
    await cluster.request(get);
    expect(seen[0]?.socket).toBe(seen[1]?.socket);
  });

  test('a burst of requests leaves a few idle connections', async () => {
    const waiting: ServerResponse[] = [];
    answer = (_, response) => void waiting.push(response);
    const cluster = connect();
    const burst = Array.from({ length: 40 }, () => cluster.request({ method: 'GET', path: '/x' }));
    await until(() => waiting.length === 40);
    for (const response of waiting) json(response, 200, {});
    await Promise.all(burst);
    const connections = () =>
      new Promise<number>((resolve, reject) =>
        server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
      );
    let open = 40;
    await until(() => {
      void connections().then((count) => (open = count));
      return open <= MAX_IDLE_CONNECTIONS;
    });
    expect(open).toBe(MAX_IDLE_CONNECTIONS);
  });

  test('requests beyond the maximum of connections wait for one of them', async () => {
    answer = (_, response) => setImmediate(() => json(response, 200, {}));
    const cluster = connect({ connections: 3 });
    await Promise.all(Array.from({ length: 12 }, () => cluster.request(get)));
    expect(seen).toHaveLength(12);
    expect(new Set(seen.map(({ socket }) => socket)).size).toBe(3);
  });

  test('an error has the status, the reason and the message of the server, and its Retry-After', async () => {
    answer = (_, response) =>
      json(response, 429, { reason: 'TooManyRequests', message: 'slow down' }, { 'Retry-After': '7' });
    const error = await connect()
      .request(get)
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({
      status: 429,
      reason: 'TooManyRequests',
      message: 'slow down',
      retryAfter: 7_000,
    });
  });

  test('an error in plain text names the request', async () => {
    answer = (_, response) => response.writeHead(502).end('bad gateway');
    await expect(connect().request(get)).rejects.toMatchObject({
      status: 502,
      message: 'GET /api: 502 bad gateway',
    });
  });

  test('an HTML page of a proxy means that the server is unreachable', async () => {
    answer = (_, response) => response.writeHead(200).end('<html>log in');
    await expect(connect().request(get)).rejects.toThrow(ApiServerUnreachable);
  });

  test('an incomplete answer means that the server is unreachable', async () => {
    answer = (_, response) => {
      response.writeHead(200, { 'Transfer-Encoding': 'chunked' });
      response.write('{"half":');
      setTimeout(() => response.destroy(), 20);
    };
    await expect(connect().request(get)).rejects.toThrow(ApiServerUnreachable);
  });

  test('a connection that is closed without an answer means that the server is unreachable', async () => {
    const cluster = connect();
    answer = ({ socket }) =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n');
    await expect(cluster.request(get)).rejects.toThrow('GET /api: closed without an answer');
    await expect(cluster.stream(get)).rejects.toThrow(ApiServerUnreachable);
  });

  test('a rejected stream throws the same error as other requests', async () => {
    answer = (_, response) => json(response, 410, { reason: 'Expired', message: 'too old' });
    await expect(connect().stream(get)).rejects.toMatchObject({ status: 410, reason: 'Expired' });
  });

  test('an answer with more values than are parsed is named, and not retried; an error with them stays that error', async () => {
    const large = { items: Array.from({ length: 700_001 }, () => 0) };
    answer = (_, response) => json(response, 200, large);
    const error: unknown = await connect()
      .request(get)
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(AnswerTooLarge);
    expect(error).toMatchObject({
      message: 'GET /api: the answer is too large: it has more than 700000 keys and values',
    });
    expect(isTransient(error)).toBe(false);
    answer = (_, response) => json(response, 403, large);
    await expect(connect().request(get)).rejects.toMatchObject({ name: 'ApiError', status: 403 });
  });

  test('a plain answer has its values as JSON.parse reads them', async () => {
    const large = '{"id":12345678901234567890}';
    answer = (_, response) => response.writeHead(200).end(large);
    const cluster = connect();
    expect(await cluster.request({ ...get, plain: true })).toEqual({ id: 12345678901234567000 });
    expect(await cluster.request(get)).toEqual({
      id: expect.stringContaining('12345678901234567890') as string,
    });
  });

  test('a compressed answer is read, and a stream is requested without compression', async () => {
    const body = gzipSync(JSON.stringify({ ok: 'ä' }));
    answer = (_, response) => response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(body);
    const cluster = connect();
    expect(await cluster.request(get)).toEqual({ ok: 'ä' });
    (await cluster.stream(get)).destroy();
    expect(seen.map(({ headers }) => headers['accept-encoding'])).toEqual(['gzip', 'identity']);
  });

  test('a request has the path of the server, its query without what is undefined, and its body', async () => {
    let received = '';
    answer = (request, response) => {
      request.setEncoding('utf8').on('data', (text: string) => (received += text));
      request.once('end', () => json(response, 200, {}));
    };
    await connect({}, undefined, '/k8s/').request({
      method: 'DELETE',
      path: '/api',
      query: { labelSelector: 'a=ü b', limit: 5, continue: undefined },
      body: { kind: 'Ä' },
    });
    const { headers, method, url: asked } = seen[0]!;
    expect(new URL(asked!, url()).pathname).toBe('/k8s/api');
    expect([...new URL(asked!, url()).searchParams]).toEqual([
      ['labelSelector', 'a=ü b'],
      ['limit', '5'],
    ]);
    expect({ method, received, length: headers['content-length'] }).toEqual({
      method: 'DELETE',
      received: '{"kind":"Ä"}',
      length: '13',
    });
  });

  test('an object that is not found is undefined', async () => {
    answer = (_, response) => json(response, 404, { reason: 'NotFound', message: 'none' });
    const type = { group: '', version: 'v1', plural: 'secrets', kind: 'Secret' };
    expect(await connect().find(type, 'home', 'x')).toBeUndefined();
    expect(seen[0]?.url).toBe('/api/v1/namespaces/home/secrets/x');
  });
});

describe('ApiClient: time', () => {
  test('a request without an answer times out, and its connection is closed', async () => {
    const clock = new ManualClock();
    let closed = false;
    answer = (request) => request.socket.once('close', () => (closed = true));
    const request = connect({ clock }).request(get);
    request.catch(() => undefined);
    await until(() => seen.length === 1);
    await clock.advance(30_000);
    await expect(request).rejects.toThrow('no answer within 30 s');
    await until(() => closed);
    expect(clock.pendingTimers).toBe(0);
  });

  test('the timeout of a request does not include the time that it waits for a connection', async () => {
    const clock = new ManualClock();
    const waiting: ServerResponse[] = [];
    answer = (_, response) => void waiting.push(response);
    const cluster = connect({ clock, connections: 1 });
    const first = cluster.request(get);
    await until(() => waiting.length === 1);
    const second = cluster.request(get).catch((error: unknown) => error);
    await settle();
    await clock.advance(20_000);
    json(waiting[0]!, 200, {});
    await first;
    await until(() => waiting.length === 2);
    await clock.advance(29_999);
    expect(clock.pendingTimers).toBe(1);
    await clock.advance(1);
    expect(clock.pendingTimers).toBe(0);
    expect(await second).toMatchObject({ message: 'GET /api: no answer within 30 s' });
  });

  test('a request that waits for a connection ends at once when it is aborted', async () => {
    answer = () => undefined;
    const cluster = connect({ connections: 1 });
    cluster.request(get).catch(() => undefined);
    await until(() => seen.length === 1);
    const stopping = new AbortController();
    const waiting = cluster.request({ ...get, signal: stopping.signal });
    await settle();
    stopping.abort(new Error('stopped'));
    await expect(waiting).rejects.toThrow('stopped');
  });

  test('an open stream has no timeout and follows its signal', async () => {
    const clock = new ManualClock();
    const stopping = new AbortController();
    answer = (_, response) => response.writeHead(200).flushHeaders();
    const stream = await connect({ clock }).stream({ ...get, signal: stopping.signal });
    await clock.advance(3_600_000);
    expect(stream.destroyed).toBe(false);
    const ended = once(stream, 'error');
    stopping.abort(new Error('stopped'));
    await ended;
    expect(stream.destroyed).toBe(true);
  });

  test('the reason of the caller’s abort is thrown unchanged', async () => {
    const reason = new Error('changed my mind');
    answer = () => undefined;
    await expect(connect().request({ ...get, signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });
});

describe('ApiClient: credentials', () => {
  test('a token that was rotated is read again, once', async () => {
    let token = 'old';
    answer = (request, response) =>
      request.headers.authorization === 'Bearer new'
        ? json(response, 200, {})
        : json(response, 401, { reason: 'Unauthorized' });
    const cluster = connect({}, () => ({ Authorization: `Bearer ${token}` }));
    await expect(cluster.request(get)).rejects.toMatchObject({ status: 401 });
    expect(seen).toHaveLength(2);
    token = 'new';
    await cluster.request(get);
    expect((await cluster.stream(get)).destroy()).toBeDefined();
  });

  test('a token that ends with a newline is sent without it', async () => {
    await connect({}, () => ({ Authorization: 'Bearer new\n' })).request(get);
    expect(seen[0]?.headers.authorization).toBe('Bearer new');
  });

  test('are read once for all requests of a minute', async () => {
    const clock = new ManualClock();
    const headers = jest.fn(() => ({}));
    const cluster = connect({ clock }, headers);
    await Promise.all([cluster.request(get), cluster.request(get), cluster.request(get)]);
    expect(headers).toHaveBeenCalledTimes(1);
    await clock.advance(60_000);
    await cluster.request(get);
    expect(headers).toHaveBeenCalledTimes(2);
  });

  test('that cannot be read are an error of the cluster, and retried', async () => {
    let broken = true;
    const cluster = connect({}, () => {
      if (broken) throw new Error('ENOENT: token');
      return {};
    });
    await expect(cluster.request(get)).rejects.toThrow(ApiServerUnreachable);
    broken = false;
    await cluster.request(get);
  });
});

test('a certificate and a key that do not match are named by each request, until they do', async () => {
  const [former, current] = [
    issueCertificate('127.0.0.1', Date.now()),
    issueCertificate('127.0.0.1', Date.now()),
  ];
  const secure = createSecureServer({ cert: current.certificate, key: current.key }, (_, response) =>
    json(response, 200, { ok: true }),
  ).listen(0, '127.0.0.1');
  await once(secure, 'listening');
  const tls = { ca: current.ca, cert: current.certificate, key: former.key };
  const cluster = new ApiClient(
    {
      ...kubeConfigFor(`https://127.0.0.1:${(secure.address() as AddressInfo).port}`),
      applyToHTTPSOptions: (options) => Promise.resolve(void Object.assign(options, tls)),
    },
    { clock: new ManualClock() },
  );
  clusters.push(cluster);
  try {
    await expect(cluster.request(get)).rejects.toThrow('key values mismatch');
    await expect(cluster.request(get)).rejects.toThrow('key values mismatch');
    tls.key = current.key;
    expect(await cluster.request(get)).toEqual({ ok: true });
  } finally {
    secure.closeAllConnections();
    secure.close();
  }
});

describe('ApiClient: the leader signal', () => {
  test('only GET is sent after it was aborted', async () => {
    const writing = new AbortController();
    const cluster = connect({ leaderSignal: writing.signal });
    writing.abort(new Error('no longer the leader'));
    await expect(cluster.request(patch)).rejects.toThrow('no longer the leader');
    await cluster.request(get);
    expect(seen.map(({ method }) => method)).toEqual(['GET']);
  });

  test('an abort cuts a write in flight but not a read', async () => {
    const writing = new AbortController();
    const answers: (() => void)[] = [];
    answer = (_, response) => answers.push(() => json(response, 200, {}));
    const cluster = connect({ leaderSignal: writing.signal });
    const write = cluster.request(patch).catch((error: unknown) => error);
    const read = cluster.request(get);
    await until(() => seen.length === 2);
    writing.abort(new Error('no longer the leader'));
    expect(await write).toMatchObject({ message: 'no longer the leader' });
    for (const give of answers) give();
    await read;
  });

  test('assertLeader is called before each write, so that an expired lease is detected without a timer', async () => {
    const cluster = connect({
      assertLeader: () => {
        throw new Error('the lease was not renewed in time');
      },
    });
    await expect(cluster.request(patch)).rejects.toThrow('not renewed');
    expect(seen).toEqual([]);
  });

  test('many concurrent requests follow it without a warning and leave no listener', async () => {
    const warned = jest.fn();
    process.on('warning', warned);
    const writing = new AbortController();
    const removed = jest.spyOn(writing.signal, 'removeEventListener');
    const cluster = connect({ leaderSignal: writing.signal });
    await Promise.all(Array.from({ length: 30 }, () => cluster.request(patch)));
    await settle();
    process.off('warning', warned);
    expect(warned).not.toHaveBeenCalled();
    expect(removed).toHaveBeenCalledTimes(30);
  });
});

test('each request is reported with its result', async () => {
  const told: string[] = [];
  const cluster = connect({ onResponse: (method, status) => told.push(`${method} ${status}`) });
  await cluster.request(get);
  answer = (_, response) => json(response, 409, {});
  await cluster.request(patch).catch(() => undefined);
  answer = (_, response) => response.destroy();
  await cluster.request(get).catch(() => undefined);
  answer = (_, response) => {
    response.writeHead(200, { 'Content-Length': 100 }).write('{"half":');
    setTimeout(() => response.destroy(), 20);
  };
  await cluster.request(get).catch(() => undefined);
  expect(told).toEqual(['GET 200', 'PATCH 409', 'GET error', 'GET error']);
});
