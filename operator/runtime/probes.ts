import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ProbeAnswers {
  /** Why this process must be restarted, one sentence per problem; empty: it is alive. */
  livenessErrors(): readonly string[];
  /** Why this process is not ready, one sentence per cause; empty: it is ready. */
  readinessErrors(): readonly string[];
  metrics(): Promise<{ readonly contentType: string; readonly text: string }>;
}

/** Serves `/healthz`, `/readyz` and `/metrics` over HTTP; the answer of a failing probe contains the causes. */
export class ProbeServer {
  private constructor(
    private readonly server: Server,
    readonly port: number,
  ) {}

  /** `port` 0: a free port. @throws Error a sentence for the user: the port is in use */
  static async listen(port: number, address: string, answers: ProbeAnswers): Promise<ProbeServer> {
    const server = createServer((request, response) => {
      const probe = (errors: readonly string[]) =>
        response
          .writeHead(errors.length === 0 ? 200 : 503, { 'Content-Type': 'text/plain; charset=utf-8' })
          .end(errors.length === 0 ? 'ok\n' : `${errors.join('\n')}\n`);
      switch (request.url?.split('?')[0]) {
        case '/healthz':
          return probe(answers.livenessErrors());
        case '/readyz':
          return probe(answers.readinessErrors());
        case '/metrics':
          return void answers.metrics().then(
            ({ contentType, text }) => response.writeHead(200, { 'Content-Type': contentType }).end(text),
            (error: unknown) =>
              response.writeHead(500, { 'Content-Type': 'text/plain' }).end(`${String(error)}\n`),
          );
        default:
          return response
            .writeHead(404, { 'Content-Type': 'text/plain' })
            .end('/healthz, /readyz or /metrics\n');
      }
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error: NodeJS.ErrnoException) =>
        reject(
          error.code === 'EADDRINUSE'
            ? new Error(`Port ${port} is in use: choose another with --http-port, or 0 for a free one.`)
            : error,
        ),
      );
      server.listen(port, address || undefined, resolve);
    });
    return new ProbeServer(server, (server.address() as AddressInfo).port);
  }

  async close(): Promise<void> {
    await new Promise((resolve) => {
      this.server.close(resolve);
      this.server.closeAllConnections();
    });
  }
}
