import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Cluster } from '../../../cli/cluster';
import { kinds } from '../../../operator/kinds';
import { ManualClock } from '../manual-clock';

test('the lists of all kinds share three connections: a handshake takes longer than a short list', async () => {
  const sockets = new Set<Socket>();
  let requests = 0;
  const server = createServer(({ socket }, response) => {
    sockets.add(socket);
    requests += 1;
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"items":[]}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const folder = await mkdtemp(join(tmpdir(), 'kubeconfig-'));
  const kubeconfig = join(folder, 'config');
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await writeFile(
    kubeconfig,
    JSON.stringify({
      clusters: [{ name: 'test', cluster: { server: address, 'insecure-skip-tls-verify': true } }],
      users: [{ name: 'test', user: {} }],
      contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
      'current-context': 'test',
    }),
  );
  const cluster = Cluster.connect({ kubeconfig }, new ManualClock());
  try {
    await cluster.listAll();
    expect(requests).toBe(kinds.length);
    expect(sockets.size).toBe(3);
  } finally {
    cluster.close();
    server.closeAllConnections();
    server.close();
    await rm(folder, { recursive: true });
  }
});
