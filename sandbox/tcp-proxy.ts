import { connect, createServer, type Server, type Socket } from 'node:net';
import { readFile, writeFile } from 'node:fs/promises';
import { freePort } from './ports';

/** A TCP proxy whose connections can be reset, to test network faults between a controller and the API server. */
export class TcpProxy {
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    readonly port: number,
  ) {}

  /**
   * Starts a proxy that forwards a free port of this machine (`port`) to the port `target` of this machine.
   */
  static async start(target: number): Promise<TcpProxy> {
    const port = await freePort();
    const server = createServer();
    const proxy = new TcpProxy(server, port);
    server.on('connection', (client) => proxy.join(client, connect(target, '127.0.0.1')));
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    return proxy;
  }

  /** Number of open connections. */
  get open(): number {
    return this.sockets.size / 2;
  }

  /** Resets all connections (RST). */
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
      one.on('error', () => other.resetAndDestroy()); // an error on one side resets the other
      one.on('close', () => {
        this.sockets.delete(one);
        other.destroy();
      });
    }
  }
}

/** Writes a copy of a kubeconfig, with another port of the server, to `path`. Returns `path`. */
export async function rerouted(kubeconfig: string, path: string, port: number): Promise<string> {
  const text = await readFile(kubeconfig, 'utf8');
  await writeFile(path, text.replace(/(https:\/\/127\.0\.0\.1):\d+/, `$1:${port}`), { mode: 0o600 });
  return path;
}
