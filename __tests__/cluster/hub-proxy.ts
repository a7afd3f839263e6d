import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';

/** A request that got an answer, as `POST /api/…`, and its HTTP status. */
interface Passed {
  readonly what: string;
  readonly status: number;
}

/** A proxy in front of a real hub that records requests and can answer in place of the hub. */
export class HubProxy {
  readonly passed: Passed[] = [];
  /** Requests whose client closed the connection before it had the answer. */
  readonly cut: string[] = [];
  /**
   * Returns the HTTP status or the JSON for a request that the proxy answers itself. With undefined the hub
   * answers.
   */
  fault: (what: string) => number | object | undefined = () => undefined;
  /**
   * Holds a request on the way to the hub, or its answer on the way back, until the promise resolves. With
   * `drop` it goes no further: the kernel may report the end of a killed client later than that of its process.
   */
  hold: (moment: 'request' | 'answer', what: string) => Promise<'drop' | void> | undefined = () => undefined;
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    private readonly target: URL,
  ) {}

  static async start(target: string): Promise<HubProxy> {
    const server = createServer();
    // Without a time limit, no connection is closed while the operator sends a request, which would be an
    // unintended fault.
    server.keepAliveTimeout = 0;
    const proxy = new HubProxy(server, new URL(target));
    server.on('request', (incoming, response) => void proxy.forward(incoming, response));
    server.on('upgrade', (incoming: IncomingMessage, socket: Socket, head) =>
      proxy.tunnel(incoming, socket, head),
    );
    server.on('connection', (socket) => {
      proxy.sockets.add(socket);
      socket.once('close', () => proxy.sockets.delete(socket));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Ends all faults and delays. */
  mend(): void {
    this.fault = () => undefined;
    this.hold = () => undefined;
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async forward(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const what = `${incoming.method} ${incoming.url}`;
    response.on('close', () => {
      if (!response.writableFinished) this.cut.push(what);
    });
    const instead = this.fault(what);
    if (instead !== undefined) {
      const [status, type, text] =
        typeof instead === 'number'
          ? [instead, 'text/plain', 'as the test wants it']
          : [200, 'application/json', JSON.stringify(instead)];
      this.passed.push({ what, status });
      incoming.resume();
      response.writeHead(status, { 'content-type': type }).end(text);
      return;
    }
    if ((await this.hold('request', what)) === 'drop') response.destroy();
    if (response.destroyed) return;
    const { hostname, port } = this.target;
    const { method, url: path, headers } = incoming;
    const pass = async (answer: IncomingMessage) => {
      this.passed.push({ what, status: answer.statusCode ?? 0 });
      if ((await this.hold('answer', what)) === 'drop') response.destroy();
      if (response.destroyed) return;
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    };
    const outgoing = request({ hostname, port, method, path, headers }, (answer) => void pass(answer));
    outgoing.on('error', () => response.destroy());
    response.on('close', () => outgoing.destroy());
    incoming.pipe(outgoing);
  }

  private tunnel(incoming: IncomingMessage, socket: Socket, head: Buffer): void {
    const upstream = connect(Number(this.target.port), this.target.hostname, () => {
      const headers = Object.entries(incoming.headers).map(([name, value]) => `${name}: ${String(value)}`);
      upstream.write([`GET ${incoming.url} HTTP/1.1`, ...headers, '', ''].join('\r\n'));
      upstream.write(head);
      socket.pipe(upstream).pipe(socket);
    });
    upstream.on('error', () => socket.destroy());
    upstream.on('close', () => socket.destroy());
    socket.on('error', () => upstream.destroy());
    socket.on('close', () => upstream.destroy());
  }
}
