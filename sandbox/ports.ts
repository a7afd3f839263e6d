import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { createServer, type Server } from 'node:net';

// The range lies above the ports that the development node assigns to pods, and below the ephemeral range
// (32768 on Linux, 49152 on macOS): an outgoing connection could otherwise occupy the port of a server that
// restarts.
const LOWEST = 30_000;
const HIGHEST = 32_768;
const ATTEMPTS = 1_000;

/**
 * Returns `count` different free ports of the loopback interface. Until this process ends, no other call gets
 * one of them, in this process or another, because a server may take a while to start, or may stop and start
 * again.
 */
export async function freePorts(count: number): Promise<number[]> {
  const taken: Server[] = [];
  try {
    for (let attempt = 0; taken.length < count; attempt++) {
      if (attempt === ATTEMPTS + count)
        throw new Error(`cannot find ${count} free ports between ${LOWEST} and ${HIGHEST}`);
      const port = randomInt(LOWEST, HIGHEST);
      if (!(await reserve(port))) continue;
      const server = await listen(port);
      if (server) taken.push(server);
    }
    return taken.map(portOf);
  } finally {
    await Promise.all(taken.map((server) => new Promise((resolve) => server.close(resolve))));
  }
}

export async function freePort(): Promise<number> {
  const [port] = await freePorts(1);
  return port!;
}

/** A bound UDP port of the same number marks the reservation: the kernel gives it to one process only. */
function reserve(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createSocket('udp4').unref();
    socket.once('error', () => {
      socket.close();
      resolve(false);
    });
    socket.bind({ address: '127.0.0.1', port, exclusive: true }, () => resolve(true));
  });
}

function listen(port: number): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen({ host: '127.0.0.1', port, exclusive: true }, () => resolve(server));
  });
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('cannot read the port of a server');
  return address.port;
}
