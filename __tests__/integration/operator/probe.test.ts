import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { PROBE } from '../../../operator/sync/hub-pod/scripts';
import { freePort } from '../../../sandbox/ports';
import { runPython } from '../../cluster/python-script';

// Tests the script of the probes alone, in both modes.

const open = new Set<Socket>();
const servers: Server[] = [];

async function listen(onConnection: (socket: Socket) => void): Promise<string> {
  const server = createServer((socket) => {
    open.add(socket);
    socket.on('error', () => socket.destroy());
    onConnection(socket);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, resolve));
  return String((server.address() as AddressInfo).port);
}

function close(server: Server): Promise<void> {
  for (const socket of open) socket.destroy();
  return new Promise((resolve) => server.close(() => resolve()));
}

afterAll(() => Promise.all(servers.map(close)));

describe('the probe', () => {
  test.each([
    ['an answer', 'HTTP/1.1 200 OK\r\n\r\n', 0],
    ['the answer that its address is banned', 'HTTP/1.1 403 Forbidden\r\n\r\n', 0],
    ['an answer that is not HTTP', '\x15\x03\x01\x00\x02\x02', 1],
  ])('of %s', async (_name, answer, code) => {
    const port = await listen((socket) => socket.end(answer));
    expect(await runPython(PROBE, port)).toMatchObject({ code });
    expect(await runPython(PROBE, port, 'live', '/nowhere')).toMatchObject({ code });
  });

  test('of a closed port: a hub that restores a backup is alive and not ready', async () => {
    const port = String(await freePort());
    expect(await runPython(PROBE, port)).toMatchObject({
      code: 1,
      output: expect.stringMatching(/^the hub does not answer: .*refused/) as string,
    });
    expect(await runPython(PROBE, port, 'live', '/nowhere')).toEqual({ code: 0, output: '' });
  });

  test('of a port that accepts and never answers: a hub that hangs is neither', async () => {
    const port = await listen(() => undefined);
    const failed = { code: 1, output: 'the hub does not answer: timed out\n' };
    expect(await Promise.all([runPython(PROBE, port), runPython(PROBE, port, 'live', '/nowhere')])).toEqual([
      failed,
      failed,
    ]);
  });
});
