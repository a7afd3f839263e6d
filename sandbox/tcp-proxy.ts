import { connect, createServer, type Server, type Socket } from 'node:net';
import { readFile, writeFile } from 'node:fs/promises';
import { freePort } from './ports';

/** A way to the API server that can be cut: for what a network does to a controller. */
export class TcpProxy {
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    readonly port: number,
  ) {}

  /** Forwards `port` of this machine, a free one, to `target` of this machine. */
  static async start(target: number): Promise<TcpProxy> {
    const port = await freePort();
    const server = createServer();
    const proxy = new TcpProxy(server, port);
    server.on('connection', (client) => proxy.join(client, connect(target, '127.0.0.1')));
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    return proxy;
  }

  /** Connections that are open now. */
  get open(): number {
    return this.sockets.size / 2;
  }

  /** Resets all connections (RST), as a router does that forgets them. */
  reset(): void {
    for (const socket of this.sockets) socket.resetAndDestroy();
  }

  async stop(): Promise<void> {
    this.reset();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private join(client: Socket, upstream: Socket): void {
    for (const [one, other] of [[client, upstream] as const, [upstream, client] as const]) {
      this.sockets.add(one);
      one.on('data', (chunk) => other.write(chunk));
      one.on('end', () => other.end());
      one.on('error', () => other.resetAndDestroy()); // what breaks on one side breaks on the other
      one.on('close', () => {
        this.sockets.delete(one);
        other.destroy();
      });
    }
  }
}

/** A copy of a kubeconfig at `path` that leads to another port of this machine. */
export async function rerouted(kubeconfig: string, path: string, port: number): Promise<string> {
  const text = await readFile(kubeconfig, 'utf8');
  await writeFile(path, text.replace(/(https:\/\/127\.0\.0\.1):\d+/, `$1:${port}`), { mode: 0o600 });
  return path;
}
