import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request that the code host received. */
interface CodeHostRequest {
  readonly path: string;
  readonly authorization: string | undefined;
}

type Answer = Buffer | ((request: IncomingMessage, response: ServerResponse) => void);

/** A code host on this machine that serves archives as GitHub does. */
export class CodeHost {
  readonly requests: CodeHostRequest[] = [];
  private readonly answers = new Map<string, Answer>();

  private constructor(private readonly server: Server) {}

  /** @param address of this machine; the operator sees each address as a host of its own */
  static async start(address = '127.0.0.1'): Promise<CodeHost> {
    const server = createServer((request, response) => host.answer(request, response));
    const host: CodeHost = new CodeHost(server);
    await new Promise<void>((resolve) => server.listen(0, address, resolve));
    return host;
  }

  get url(): string {
    const { address, port } = this.server.address() as AddressInfo;
    return `http://${address}:${port}`;
  }

  /** @param ref a tag such as `v1`, or a path that begins with a slash */
  serve(repository: string, ref: string, answer: Answer): void {
    this.answers.set(`/${repository}/archive/${ref}.zip`, answer);
  }

  serveAt(path: string, answer: Answer): void {
    this.answers.set(path, answer);
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private answer(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url ?? '';
    this.requests.push({ path, authorization: request.headers.authorization });
    const answer = this.answers.get(path);
    if (!answer) response.writeHead(404).end('<html>not found</html>');
    else if (typeof answer === 'function') answer(request, response);
    else response.writeHead(200, { 'content-type': 'application/zip' }).end(answer);
  }
}

export const redirectTo =
  (location: string): Answer =>
  (_, response) =>
    response.writeHead(302, { location }).end();
