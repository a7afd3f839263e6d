import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import WebSocket, { WebSocketServer } from 'ws';

const UNKNOWN_COMMAND = { code: 'unknown_command', message: 'Unknown command.' };

const CHANGING_REQUEST = /^(POST|PUT|PATCH|DELETE) /;
const CHANGING_COMMAND =
  /^command (.*(create|update|remove|delete|reload|save|promote|expose_entity)|call_service|execute_script)$/;

/** A proxy in front of a hub that records requests and commands of the WebSocket. */
export class HubRecorder {
  /** `POST /api/…` or `command config/auth/list`, in the order of arrival. */
  readonly sent: string[] = [];
  /** The source address of each entry in `sent`. */
  readonly senders: (string | undefined)[] = [];
  /** Called with each request that the hub has answered. The answer is held until the promise resolves. */
  hold: (what: string) => Promise<void> | undefined = () => undefined;
  /**
   * Called with each command of the WebSocket before the hub gets it. With false the hub does not get the
   * command, and no answer is sent.
   */
  admit: (command: string) => boolean | Promise<boolean> = () => true;
  /** Called with each command of the WebSocket after the hub has got it. */
  admitted: (command: string) => void | Promise<void> = () => undefined;
  /** Commands that the proxy answers itself, as a hub that does not know them. */
  lacking: ReadonlySet<string> = new Set();
  private readonly sockets = new Set<Socket>();
  private readonly webSockets = new WebSocketServer({ noServer: true });

  private constructor(
    private readonly server: Server,
    private readonly target: URL,
  ) {}

  static async start(target: string): Promise<HubRecorder> {
    const server = createServer();
    // Without a time limit, no connection is closed while the operator sends a request, which would be an
    // unintended fault.
    server.keepAliveTimeout = 0;
    const recorder = new HubRecorder(server, new URL(target));
    server.on('request', (incoming, response) => recorder.forward(incoming, response));
    server.on('upgrade', (incoming: IncomingMessage, socket: Socket, head: Buffer) =>
      recorder.webSockets.handleUpgrade(incoming, socket, head, (client) => recorder.relay(client, incoming)),
    );
    server.on('connection', (socket) => {
      recorder.sockets.add(socket);
      socket.once('close', () => recorder.sockets.delete(socket));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return recorder;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Returns the requests and commands that may change something in the hub. */
  changes(): readonly string[] {
    return this.sent.filter(
      (what) => what !== 'POST /api/template' && (CHANGING_REQUEST.test(what) || CHANGING_COMMAND.test(what)),
    );
  }

  /** Ends all connections, after which the operator connects again. */
  disconnect(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  async stop(): Promise<void> {
    this.disconnect();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private forward(incoming: IncomingMessage, response: ServerResponse): void {
    const { method, url: path, headers } = incoming;
    const what = `${method} ${path}`;
    this.sent.push(what);
    this.senders.push(incoming.socket.remoteAddress);
    const { hostname, port } = this.target;
    const outgoing = request({ hostname, port, method, path, headers }, (answer) => {
      void Promise.resolve(this.hold(what)).then(() => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      });
    });
    outgoing.on('error', () => response.destroy());
    response.on('close', () => outgoing.destroy());
    incoming.pipe(outgoing);
  }

  private relay(client: WebSocket, { url = '/', socket }: IncomingMessage): void {
    const upstream = new WebSocket(`ws://${this.target.host}${url}`);
    // Commands are passed on one after another, because the hub refuses commands whose ids do not increase.
    let passed = new Promise<void>((resolve) => upstream.once('open', resolve));
    client.on('message', (data: Buffer) => {
      const messages = [JSON.parse(data.toString())].flat() as { id: number; type: string }[];
      this.sent.push(...messages.map(({ type }) => `command ${type}`));
      this.senders.push(...messages.map(() => socket.remoteAddress));
      for (const { id } of messages.filter(({ type }) => this.lacking.has(type)))
        client.send(JSON.stringify({ id, type: 'result', success: false, error: UNKNOWN_COMMAND }));
      const known = messages.filter(({ type }) => !this.lacking.has(type));
      passed = passed.then(async () => {
        for (const message of known) {
          if (!(await this.admit(message.type))) continue;
          await new Promise<void>((sent) => upstream.send(JSON.stringify(message), () => sent()));
          await this.admitted(message.type);
        }
      });
    });
    upstream.on('message', (data: Buffer) => client.send(data.toString()));
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      one.on('close', () => other.terminate());
      one.on('error', () => other.terminate());
    }
  }
}
