import { createServer, type Server } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { BodyBudget, BodyRefused, readBody } from '../base/body-budget';
import { largeTexts } from '../base/turns';
import { close, listen } from '../process/http-listener';
import { WEBHOOK } from '../kinds/object-names';
import type { Logger } from '../base/log';
import { NotAReview } from './admission-review';

/** Bytes. The API server takes requests of 3 MiB, and etcd objects of 1.5 MiB: a review has one of each. */
const MAX_BODY_SIZE = 5 * 1_024 * 1_024;
/** Bytes of all bodies that arrive at the same time. */
const MAX_LOAD = 8 * 1_024 * 1_024;
const MOST_CONNECTIONS = 256;
/** Milliseconds in which a request must have arrived. The API server waits for 10 s at most. */
const REQUEST_TIMEOUT = 10_000;
/** Longer than the API server keeps an idle connection (90 s): it must not send into one that is being closed. */
const KEEP_ALIVE = 120_000;
const CLOSED = 'the connection was closed';

interface Tls {
  /** PEM, the server's certificate first. */
  readonly certificate: string;
  /** PEM */
  readonly key: string;
}

interface AdmissionServerOptions {
  /** Answers the body of a review with the body of the answer. @throws NotAReview */
  readonly answer: (body: Buffer) => string;
  /** Called for each request that was answered: HTTP status, and seconds since it arrived. */
  readonly onAnswer: (status: number, seconds: number) => void;
  /** An answer failed because of a bug. */
  readonly onError: (error: unknown) => void;
  readonly log: Logger;
}

/** Serves reviews by HTTPS. Until {@link use} has given it a certificate, no connection succeeds. */
export class AdmissionServer {
  private readonly bodies = new BodyBudget(MAX_LOAD);

  private constructor(
    private readonly server: Server,
    private readonly options: AdmissionServerOptions,
  ) {
    server.on('request', (request, response) => void this.handle(request, response));
  }

  /** `port` 0: a free port. @throws Error a sentence for the user: the port is in use */
  static async listen(
    port: number,
    address: string,
    options: AdmissionServerOptions,
  ): Promise<AdmissionServer> {
    const server = createServer({
      minVersion: 'TLSv1.2',
      keepAliveTimeout: KEEP_ALIVE,
      requestTimeout: REQUEST_TIMEOUT,
      headersTimeout: REQUEST_TIMEOUT,
    });
    server.maxConnections = MOST_CONNECTIONS;
    const admission = new AdmissionServer(server, options);
    await listen(server, { port, address, option: '--webhook-port', log: options.log });
    return admission;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** New connections get this certificate; those that are open stay. @throws Error key and certificate do not fit */
  use({ certificate, key }: Tls): void {
    this.server.setSecureContext({ cert: certificate, key, minVersion: 'TLSv1.2' });
  }

  close(): Promise<void> {
    return close(this.server);
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const began = performance.now();
    const { status, body, type } = await this.answerTo(request);
    if (!request.complete) response.setHeader('Connection', 'close'); // the rest of the body is not read
    response.writeHead(status, { 'Content-Type': type }).end(body);
    this.options.onAnswer(status, (performance.now() - began) / 1_000);
  }

  private async answerTo(request: IncomingMessage): Promise<{ status: number; body: string; type: string }> {
    const text = (status: number, body: string) => ({
      status,
      body: `${body}\n`,
      type: 'text/plain; charset=utf-8',
    });
    try {
      if (request.url?.split('?')[0] !== WEBHOOK.path) return text(404, WEBHOOK.path);
      if (request.method !== 'POST') return text(405, `POST ${WEBHOOK.path}`);
      const body = await this.read(request);
      // A sender that has gone meanwhile would cost the others the time of its review.
      if (request.socket.destroyed) return text(400, CLOSED);
      return { status: 200, body: this.options.answer(body), type: 'application/json' };
    } catch (error) {
      if (error instanceof NotAReview) return text(400, error.message);
      if (error instanceof BodyRefused) return text(413, `the body is not read: ${error.message}`);
      if (request.destroyed && !request.complete) return text(400, CLOSED);
      this.options.onError(error);
      return text(500, 'the review failed');
    }
  }

  private async read(request: IncomingMessage): Promise<Buffer> {
    // A sender of large ones does not delay the small ones of others.
    if (largeTexts.isLarge(Number(request.headers['content-length'] ?? Infinity))) await largeTexts.rested();
    const body = await readBody(request, MAX_BODY_SIZE, this.bodies);
    await largeTexts.take(body.buffer.byteLength);
    return body;
  }
}
