import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type WebSocket from 'ws';
import { WebSocketServer } from 'ws';
import { certificate, privateKey } from './certificate';

export interface Request {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly remoteAddress: string | undefined;
  readonly body: string;
}

export type Answer = (request: Request, response: ServerResponse) => void;

/** The smallest answer to `get_config` that the operator accepts. */
export const CONFIG = { version: '2026.11.0', state: 'RUNNING', unit_system: {} };

/** A command of the WebSocket, with methods to answer it. */
export interface Command {
  readonly message: { readonly id: number; readonly type: string } & Record<string, unknown>;
  /** @param result default: {@link CONFIG} for `get_config`, else null */
  succeed(result?: unknown): void;
  fail(code: string, message: string): void;
  readonly socket: WebSocket;
}

export const json =
  (status: number, body: unknown): Answer =>
  (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  };

export const text =
  (status: number, body: string, type = 'text/plain; charset=utf-8'): Answer =>
  (_request, response) => {
    response.writeHead(status, { 'content-type': type });
    response.end(body);
  };

export const manifest = json(200, { name: 'Home Assistant', short_name: 'Home Assistant' });

/**
 * A server on the wire of a hub that misbehaves on request, for faults that a real hub cannot be made to show.
 * The server's normal answers are minimal, since integration tests cover the behaviour of a real hub. A hub that keeps
 * a state, behind `HubClient`, is in unit/stand-in-hub.
 */
export class FakeHub {
  readonly requests: Request[] = [];
  readonly routes = new Map<string, Answer>([['GET /manifest.json', manifest]]);
  readonly commands: Command['message'][] = [];
  readonly clients = new Set<WebSocket>();
  /** Total number of connections that were upgraded. */
  connects = 0;
  token = 'good-token';
  /** HTTP status with which upgrades are refused. */
  refuseUpgrade: number | undefined;
  onCommand: (command: Command) => void = (command) => command.succeed();
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();
  private readonly webSockets = new WebSocketServer({ noServer: true });

  private constructor(readonly scheme: 'http' | 'https') {
    const answer = (request: IncomingMessage, response: ServerResponse) =>
      void this.answer(request, response);
    this.server =
      scheme === 'http'
        ? createServer(answer)
        : createTlsServer({ cert: certificate, key: privateKey }, answer);
    // Without a time limit, since a busy machine may stop this process for longer than the default 5 s
    // between two requests.
    this.server.keepAliveTimeout = 0;
    this.server.on('connection', (socket) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
    this.server.on('upgrade', (request, socket, head) => {
      if (this.refuseUpgrade !== undefined) {
        socket.end(`HTTP/1.1 ${this.refuseUpgrade} No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
        return;
      }
      this.webSockets.handleUpgrade(request, socket, head, (client) => this.converse(client));
    });
  }

  /**
   * @param port 0 for a port that the system chooses. To listen on the same port again, take it from
   * `freePort`.
   * @param address default: all addresses
   */
  static async start(scheme: 'http' | 'https' = 'http', port = 0, address?: string): Promise<FakeHub> {
    const hub = new FakeHub(scheme);
    await hub.listen(port, address);
    return hub;
  }

  async listen(port: number, address?: string): Promise<void> {
    this.server.listen(port, address);
    await once(this.server, 'listening');
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `${this.scheme}://127.0.0.1:${this.port}`;
  }

  asked(path: string): Request[] {
    return this.requests.filter((request) => request.path === path);
  }

  /** Ends all connections, and accepts no new ones. */
  async close(): Promise<void> {
    if (!this.server.listening) return;
    const closed = once(this.server, 'close');
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  private async answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const request = {
      method: incoming.method ?? '',
      path: incoming.url ?? '',
      headers: incoming.headers,
      remoteAddress: incoming.socket.remoteAddress,
      body: Buffer.concat(chunks).toString(),
    };
    this.requests.push(request);
    const answer = this.routes.get(`${request.method} ${request.path}`) ?? text(404, '404: Not Found');
    answer(request, response);
  }

  private converse(client: WebSocket): void {
    this.connects++;
    this.clients.add(client);
    client.once('close', () => this.clients.delete(client));
    client.on('error', () => client.terminate());
    const send = (message: object) => client.send(JSON.stringify(message));
    send({ type: 'auth_required', ha_version: '2026.11.0' });
    client.on('message', (data) => {
      const message = JSON.parse((data as Buffer).toString()) as Command['message'] & {
        access_token?: string;
      };
      if (message.type === 'auth') {
        const accepted = message.access_token === this.token;
        send(
          accepted ? { type: 'auth_ok', ha_version: '2026.11.0' } : { type: 'auth_invalid', message: 'no' },
        );
        if (!accepted) client.close();
        return;
      }
      if (message.type === 'supported_features') return;
      if (message.type === 'ping') return send({ id: message.id, type: 'pong' });
      this.commands.push(message);
      this.onCommand({
        message,
        socket: client,
        succeed: (result = message.type === 'get_config' ? CONFIG : null) =>
          send({ id: message.id, type: 'result', success: true, result }),
        fail: (code, reason) =>
          send({ id: message.id, type: 'result', success: false, error: { code, message: reason } }),
      });
    });
  }
}
