import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import { getConfig } from '../../../operator/client/setup/core';
import { NotHomeAssistant, HubUnreachable } from '../../../operator/client/connection/errors';
import { HubClient } from '../../../operator/client/hub-client';
import { RestClient } from '../../../operator/client/connection/rest';
import { openSocket } from '../../../operator/client/connection/socket';
import { freePort } from '../../../sandbox/ports';
import { silentLog } from '../../cluster/silent-log';
import { ManualClock } from '../manual-clock';
import { FakeHub, json, manifest, text, type Answer } from './fake-hub';

let server: FakeHub;
let client: HubClient;

const clientOf = (url: string, allowLocal = true) =>
  new HubClient({
    url,
    token: 'good-token',
    untrusted: true,
    allowLocal,
    clock: new ManualClock(),
    log: silentLog,
  });

beforeEach(async () => {
  server = await FakeHub.start('http', await freePort()); // a port on which the server can listen again
  server.routes.set('GET /api/config', json(200, { version: '1' }));
  client = clientOf(server.url);
});
afterEach(async () => {
  client.close();
  await server.close();
});

const failureOf = async (call: Promise<unknown>): Promise<Error> =>
  call.then(
    () => Promise.reject(new Error('no failure')),
    (error: Error) => error,
  );
const tokensSeen = () => server.requests.filter(({ headers }) => headers.authorization !== undefined);

describe('HubClient: an untrusted address', () => {
  test('cannot exhaust memory with an answer of 64 MiB, over HTTP or over the WebSocket', async () => {
    let sent = 0;
    server.routes.set('GET /api/config', (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const chunk = ' '.repeat(1024 * 1024);
      const write = () => {
        while (sent < 64 && !response.destroyed) {
          sent += 1;
          if (!response.write(chunk)) return void response.once('drain', write);
        }
      };
      write();
    });
    expect(await failureOf(client.rest.get('/api/config'))).toBeInstanceOf(HubUnreachable);
    expect(sent).toBeLessThan(32);
    server.onCommand = (command) => command.succeed('x'.repeat(64 * 1024 * 1024));
    expect(await failureOf(client.connection.command('get_config'))).toBeInstanceOf(HubUnreachable);
  });

  test('cannot exhaust memory with few bytes and many values, and the error says why the answer is not read', async () => {
    const flood = `[${'{},'.repeat(1_000_000)}{}]`;
    server.routes.set('GET /api/config', text(200, flood, 'application/json'));
    expect((await failureOf(client.rest.get('/api/config'))).message).toBe(
      `an answer of ${server.url} is not read: it has more than 100000 keys and values`,
    );
    server.onCommand = ({ socket }) => socket.send(`{"result":${flood}}`);
    const lost = await failureOf(client.connection.command('get_config'));
    expect(lost).toBeInstanceOf(HubUnreachable);
    // Until the connection is opened again after a pause, the error has the reason.
    expect((await failureOf(client.connection.command('get_config'))).message).toBe(
      'a message of the hub is not read: it has more than 700000 keys and values',
    );
    expect(server.connects).toBe(1);
  });

  test('an answer in chunks of one byte takes no more memory than its bytes', async () => {
    server.routes.set('GET /api/config', (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.flushHeaders();
      response.socket!.write('1\r\n \r\n'.repeat(100_000));
      response.socket!.write('2\r\n{}\r\n0\r\n\r\n');
    });
    expect(await client.rest.get('/api/config')).toEqual({});
  });

  test('sends at most 64 KiB before the authentication', async () => {
    const hostile = new WebSocketServer({ port: 0 });
    hostile.on('connection', (socket) => socket.send('x'.repeat(70 * 1024)));
    const { port } = hostile.address() as AddressInfo;
    const rest = new RestClient({
      url: `http://127.0.0.1:${port}`,
      clock: new ManualClock(),
      redact: (words) => words,
    });
    await expect(openSocket(rest, 'token', new ManualClock(), silentLog)).rejects.toThrow(
      'a message of the hub is not read: it is longer than 65536 bytes before the authentication',
    );
    hostile.close();
  });

  test('cannot report a version of any length, which would be written to the status', async () => {
    server.routes.set('GET /api/config', json(200, { version: '1'.repeat(65) }));
    expect(await failureOf(getConfig(client.rest))).toBeInstanceOf(NotHomeAssistant);
  });

  test('gets the token after the check that it is a hub', async () => {
    await client.rest.get('/api/config');
    await client.rest.get('/api/config');
    await client.connection.command('get_config');
    expect(server.requests[0]).toMatchObject({ path: '/manifest.json' });
    expect(server.requests[0]!.headers.authorization).toBeUndefined();
    expect(server.asked('/manifest.json')).toHaveLength(1);
  });

  test.each<[string, Answer]>([
    ['another program', json(200, { name: 'Grafana' })],
    ['a page', text(200, '<html>top secret', 'text/html')],
    ['an odd type', text(200, 'top secret', 'top/secret')],
    ['broken JSON', text(200, 'top secret', 'application/json')],
    ['an error with words', json(400, { message: 'top secret' })],
    ['a failure with words', text(500, 'top secret')],
    [
      'a redirect',
      (_, response) => response.writeHead(302, { location: 'http://127.0.0.1/top-secret' }).end(),
    ],
    ['nothing', text(404, 'top secret')],
  ])('never gets the token when it is %s, and its text is not shown anywhere', async (_what, answer) => {
    server.routes.set('GET /manifest.json', answer);
    for (const call of [client.rest.get('/api/config'), client.connection.command('get_config')]) {
      const failure = await failureOf(call);
      expect(failure.message).not.toMatch(/secret|Grafana/i);
    }
    expect(tokensSeen()).toEqual([]);
    expect(server.connects).toBe(0);
  });

  test('is checked again after the connection broke, because another server may have taken the address', async () => {
    await client.rest.get('/api/config');
    const { port } = server;
    await server.close();
    await expect(client.rest.get('/api/config')).rejects.toThrow(HubUnreachable);
    server.routes.set('GET /manifest.json', json(200, { name: 'Grafana' }));
    server.requests.length = 0;
    await server.listen(port);
    await expect(client.rest.get('/api/config')).rejects.toThrow(NotHomeAssistant);
    expect(tokensSeen()).toEqual([]);
    server.routes.set('GET /manifest.json', manifest);
    expect(await client.rest.get('/api/config')).toEqual({ version: '1' });
  });

  test('must not be this machine, by IP address or by name', async () => {
    for (const url of [
      server.url,
      server.url.replace('127.0.0.1', 'localhost'),
      server.url.replace('127.0.0.1', '[::1]'),
    ]) {
      const restricted = clientOf(url, false);
      for (const call of [restricted.rest.get('/api/config'), restricted.connection.command('get_config')]) {
        expect((await failureOf(call)).message).toMatch(/loopback or link-local address.*, which is refused/);
      }
      restricted.close();
    }
    expect(server.requests).toEqual([]);
  });

  test('gets a fixed error text when its certificate is not trusted', async () => {
    const secure = await FakeHub.start('https');
    const stranger = clientOf(secure.url);
    expect((await failureOf(stranger.rest.get('/api/config'))).message).toMatch(
      /its certificate is signed by an unknown authority/,
    );
    stranger.close();
    await secure.close();
  });
});
