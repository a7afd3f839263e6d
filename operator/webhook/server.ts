import { createServer, type Server } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { BodyBudget, BodyRefused, readBody } from '../base/body-budget';
import { largeTexts } from '../base/turns';
import { close, listen } from '../process/http-listener';
import { WEBHOOK } from '../kinds/object-names';
import type { Logger } from '../base/log';
import { NotAReview } from './admission-review';

/**
 * Bytes of a review. The API server accepts requests of 3 MiB, and etcd objects of 1.5 MiB; a review contains
 * one of each.
 */
const MAX_BODY_SIZE = 5 * 1_024 * 1_024;
/** Limit in bytes for all bodies that are arriving at the same time. */
const MAX_LOAD = 8 * 1_024 * 1_024;
const MOST_CONNECTIONS = 256;
/** Milliseconds within which a request must arrive completely. The API server waits for 10 s at most. */
const REQUEST_TIMEOUT = 10_000;
/**
 * Milliseconds. The API server closes an idle connection after 90 s. The longer time here ensures that it
 * never sends on a connection that this server is closing.
 */
const KEEP_ALIVE = 120_000;
const CLOSED = 'the connection was closed';

interface Tls {
  /** PEM, the server's certificate first. */
  readonly certificate: string;
  /** PEM */
  readonly key: string;
}

interface AdmissionServerOptions {
  /** Computes the response to the body of a review. @throws NotAReview */
  readonly answer: (body: Buffer) => string;
  /** Called for each request that was answered: HTTP status, and seconds since it arrived. */
  readonly onAnswer: (status: number, seconds: number) => void;
  /** Called when an answer failed because of a bug. */
  readonly onError: (error: unknown) => void;
  readonly log: Logger;
}

/** Answers reviews over HTTPS. No connection succeeds before {@link use} has set a certificate. */
export class AdmissionServer {
  private readonly bodies = new BodyBudget(MAX_LOAD);

  private constructor(
    private readonly server: Server,
    private readonly options: AdmissionServerOptions,
  ) {
    server.on('request', (request, response) => void this.handle(request, response));
  }

  /**
   * @param port 0 selects a free port
   * @throws Error a sentence for the user: the port is in use
   */
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

  /**
   * Sets the certificate for new connections; open ones are not affected. @throws Error key and certificate
   * do not match
   */
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
      // The sender has disconnected: a review now would only delay the others.
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
    // Only senders of large bodies wait, so that small ones are not delayed.
    if (largeTexts.isLarge(Number(request.headers['content-length'] ?? Infinity))) await largeTexts.rested();
    const body = await readBody(request, MAX_BODY_SIZE, this.bodies);
    await largeTexts.take(body.buffer.byteLength);
    return body;
  }
}
