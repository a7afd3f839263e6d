import { largeTexts } from '../../../../operator/base/turns';
import {
  HubBanned,
  HubFailed,
  HubRejected,
  HubUnreachable,
  NotHomeAssistant,
  NotFound,
  TokenRejected,
} from '../../../../operator/client/connection/errors';
import { RestClient, type RestClientOptions } from '../../../../operator/client/connection/rest';
import { redactor } from '../../../../operator/client/connection/redact';
import { FakeHub, json, text, type Answer } from '../fake-hub';
import { ManualClock } from '../../manual-clock';
import { until } from '../../until';

let hub: FakeHub;
const opened: RestClient[] = [];

function open(options: Partial<RestClientOptions> = {}): RestClient {
  const rest = new RestClient({
    url: hub.url,
    token: 'good-token',
    clock: new ManualClock(), // no deadline passes with this clock
    redact: (t) => t,
    ...options,
  });
  opened.push(rest);
  return rest;
}

const answerWith = (answer: Answer) => hub.routes.set('GET /api/config', answer);

beforeEach(async () => {
  hub = await FakeHub.start();
});

afterEach(async () => {
  for (const rest of opened.splice(0)) rest.close();
  await hub.close();
});

describe('RestClient with an answer', () => {
  test('that is large waits for its turn before it is parsed', async () => {
    const add = jest.spyOn(largeTexts, 'add').mockImplementation();
    answerWith(json(200, { note: 'x'.repeat(100_000) }));
    const parse = jest.spyOn(JSON, 'parse');
    const answer = open().get('/api/config');
    await until(() => add.mock.calls.length === 1);
    expect(parse).not.toHaveBeenCalled();
    add.mock.calls[0]![0]();
    expect(await answer).toHaveProperty('note');
    for (const mock of [add, parse]) mock.mockRestore();
  });

  test.each([
    [400, json(400, { message: 'Message malformed: no' }), HubRejected, 'Message malformed: no'],
    [400, json(400, { error: 'invalid_grant' }), HubRejected, 'invalid_grant'],
    [400, text(400, '400: Bad Request'), HubRejected, '400: Bad Request'],
    [401, text(401, '401: Unauthorized'), TokenRejected, 'the hub rejected the token (HTTP 401)'],
    [403, json(403, { message: 'Entry cannot be reloaded' }), HubRejected, 'Entry cannot be reloaded'],
    [404, json(404, { message: 'Resource not found' }), NotFound, 'Resource not found'],
    [500, text(500, 'Server got itself in trouble'), HubFailed, 'Server got itself in trouble'],
    [500, text(500, '<h1>Some proxy</h1>', 'text/html'), HubFailed, 'HTTP 500'],
    [429, text(429, 'slow down'), HubUnreachable, 'HTTP 429'],
    [502, text(502, '<h1>Bad gateway</h1>', 'text/html'), HubUnreachable, 'HTTP 502'],
    [503, text(503, ''), HubUnreachable, 'HTTP 503'],
    [504, text(504, ''), HubUnreachable, 'HTTP 504'],
    [200, text(200, '<html>log in</html>', 'text/html'), NotHomeAssistant, 'not JSON'],
    [200, text(200, '{"half":', 'application/json'), HubFailed, 'not JSON'],
  ])('HTTP %s', async (_status, answer, type, message) => {
    answerWith(answer);
    const failure = await open()
      .get('/api/config')
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(type);
    expect((failure as Error).message).toContain(message);
  });

  test.each([
    ['get', 'read'],
    ['post', 'write'],
    ['delete', 'write'],
  ] as const)(
    'a rejection reports whether the request would have changed anything (%s)',
    async (method, type) => {
      hub.routes.set(`${method.toUpperCase()} /api/x`, json(404, { message: 'Resource not found' }));
      await expect(open()[method]('/api/x')).rejects.toMatchObject({ name: 'NotFound', requestType: type });
    },
  );

  test('a successful answer is the parsed JSON, or undefined for an empty body', async () => {
    answerWith(json(200, { state: 'RUNNING' }));
    hub.routes.set('POST /auth/revoke', (_request, response) => response.writeHead(200).end());
    const clock = new ManualClock();
    expect(await open({ clock }).get('/api/config')).toEqual({ state: 'RUNNING' });
    expect(clock.pendingTimers).toBe(0);
    expect(await open().postForm('/auth/revoke', { token: 'x' })).toBeUndefined();
  });

  test('an answer shows how far the clock of the hub is ahead', async () => {
    const clock = new ManualClock();
    const rest = open({ clock });
    expect(rest.clockOffset).toBeUndefined();
    for (const [ahead, expected] of [
      [90, 90],
      [-90, -90],
      [0, 0],
      [undefined, undefined],
    ]) {
      hub.routes.set('GET /api/config', (_request, response) => {
        response.sendDate = false;
        if (ahead !== undefined)
          response.setHeader('Date', new Date(clock.now() + ahead * 1_000).toUTCString());
        json(200, {})(_request, response);
      });
      await rest.get('/api/config');
      expect(rest.clockOffset).toBe(expected);
    }
  });

  test('a 403 is HubBanned if /manifest.json, read without a token, is 403 as well', async () => {
    answerWith(text(403, '403: Forbidden'));
    hub.routes.set('GET /manifest.json', text(403, '403: Forbidden'));
    await expect(open().get('/api/config')).rejects.toThrow(HubBanned);
    expect(hub.asked('/manifest.json')).toHaveLength(1);
    expect(hub.asked('/manifest.json')[0]?.headers.authorization).toBeUndefined();
  });

  test('secrets in texts of the hub are masked, also where the text is truncated', async () => {
    answerWith(json(400, { message: `${'x'.repeat(995)}hunter2hunter2 got 'hunter2hunter2'` }));
    const rest = open({ redact: redactor(['hunter2hunter2']) });
    const failure = await rest.get('/api/config').catch((error: unknown) => error as Error);
    if (!(failure instanceof HubRejected)) throw new Error('was not refused');
    expect(failure.message).not.toContain('hunte');
    expect(failure.message.length).toBeLessThanOrEqual(1_000);
  });
});

describe('RestClient without an answer', () => {
  test('is unreachable when refused', async () => {
    const rest = open();
    await hub.close();
    await expect(rest.get('/api/config')).rejects.toThrow(/cannot be reached: connection refused/);
    await expect(rest.get('/api/config')).rejects.toThrow(HubUnreachable);
  });

  test('is unreachable when the name does not resolve', async () => {
    const rest = open({ url: 'http://no-such-hub.invalid:8123' });
    await expect(rest.get('/api/config')).rejects.toThrow(/does not resolve/);
  });

  test('is unreachable when the answer is cut off', async () => {
    answerWith((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
      response.write('{"state":', () => response.destroy());
    });
    await expect(open().get('/api/config')).rejects.toThrow(HubUnreachable);
  });

  test('is unreachable when the request is aborted, with the reason of the abort', async () => {
    const given = new AbortController();
    answerWith(() => given.abort(new Error('the hub is dead')));
    const { signal } = given;
    await expect(open().get('/api/config', { signal })).rejects.toThrow('cannot be reached: the hub is dead');
  });

  test('is unreachable when the answer begins but does not end in time', async () => {
    const clock = new ManualClock();
    const asked = new Promise<void>((resolve) =>
      answerWith((_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.write('{', () => resolve());
      }),
    );
    const failure = expect(open({ clock }).get('/api/config')).rejects.toThrow('no answer within 10 s');
    await asked;
    await clock.advance(10_000);
    await failure;
    expect(clock.pendingTimers).toBe(0);
  });

  test('is unreachable immediately after close, also for requests in flight', async () => {
    const rest = open({ clock: new ManualClock() });
    const asked = new Promise<void>((resolve) => answerWith(() => resolve()));
    const failure = expect(rest.get('/api/config')).rejects.toThrow(HubUnreachable);
    await asked;
    rest.close();
    await failure;
    await expect(rest.get('/api/config')).rejects.toThrow(HubUnreachable);
  });
});

describe('RestClient', () => {
  test('does not follow a redirect', async () => {
    const other = await FakeHub.start();
    answerWith((_request, response) =>
      response.writeHead(302, { location: `${other.url}/api/config` }).end(),
    );
    await expect(open().get('/api/config')).rejects.toThrow(NotHomeAssistant);
    expect(other.requests).toEqual([]);
    await other.close();
  });

  test('does not send a rejected token again, for any number of calls', async () => {
    answerWith(text(401, '401: Unauthorized'));
    const rest = open();
    await expect(rest.get('/api/config')).rejects.toThrow(TokenRejected);
    for (let call = 0; call < 20; call++)
      await expect(rest.get('/api/config')).rejects.toThrow(TokenRejected);
    expect(hub.asked('/api/config')).toHaveLength(1);
  });

  test('a rejected token of one call does not block the token of the client', async () => {
    answerWith((request, response) =>
      (request.headers.authorization === 'Bearer good-token' ? json(200, {}) : text(401, ''))(
        request,
        response,
      ),
    );
    const rest = open();
    await expect(rest.get('/api/config', { token: 'other' })).rejects.toThrow(TokenRejected);
    await rest.get('/api/config');
  });

  test('sends only reads when this process is no longer the leader', async () => {
    const lost = new Error('the lease was not renewed in time');
    let leads = true;
    const rest = open({
      assertLeader: () => {
        if (!leads) throw lost;
      },
    });
    answerWith(json(200, {}));
    hub.routes.set('POST /api/x', json(200, {}));
    hub.routes.set('DELETE /api/x', json(200, {}));
    await rest.post('/api/x');
    leads = false;
    for (const call of [
      () => rest.post('/api/x'),
      () => rest.postForm('/api/x', {}),
      () => rest.delete('/api/x'),
    ])
      await expect(call()).rejects.toBe(lost);
    await rest.get('/api/config');
    expect(hub.requests.map(({ method }) => method)).toEqual(['POST', 'GET']);
  });

  test('ignores proxies of the environment', async () => {
    process.env['http_proxy'] = 'http://127.0.0.1:9';
    try {
      answerWith(json(200, { version: '2026.11.0' }));
      await expect(open().get('/api/config')).resolves.toEqual({ version: '2026.11.0' });
    } finally {
      delete process.env['http_proxy'];
    }
  });

  test('uses the configured source address', async () => {
    answerWith(json(200, {}));
    await open({ localAddress: '127.0.0.7' }).get('/api/config');
    expect(hub.requests[0]?.remoteAddress).toContain('127.0.0.7');
  });

  test('reuses its connection for consecutive calls', async () => {
    answerWith(json(200, {}));
    const ports = new Set<number | undefined>();
    const rest = open();
    answerWith((request, response) => {
      ports.add(response.socket?.remotePort);
      json(200, {})(request, response);
    });
    for (let call = 0; call < 5; call++) await rest.get('/api/config');
    expect(ports.size).toBe(1);
  });
});
