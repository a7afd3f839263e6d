import { randomInt } from 'node:crypto';
import { createServer, type Server } from 'node:net';

// Above the range that the development node gives to hubs, and below the range from which kernels take the ports of outgoing connections (32768 on Linux, 49152 on macOS). A port in
// that range may be gone, or a client may have connected to itself there, when a killed server wants it back.
const LOWEST = 30_000;
const HIGHEST = 32_768;
const ATTEMPTS = 100;

/** `count` different ports of the loopback interface on which nothing listens. */
export async function freePorts(count: number): Promise<number[]> {
  const taken: Server[] = [];
  try {
    for (let attempt = 0; taken.length < count; attempt++) {
      if (attempt === ATTEMPTS + count)
        throw new Error(`no ${count} free ports between ${LOWEST} and ${HIGHEST}`);
      const server = await listen(randomInt(LOWEST, HIGHEST));
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

function listen(port: number): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen({ host: '127.0.0.1', port, exclusive: true }, () => resolve(server));
  });
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a listening server has no port');
  return address.port;
}
