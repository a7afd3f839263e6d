import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import http from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A fault that replaces the server's answer, or precedes it. */
export type Fault =
  | { readonly type: 'answer'; readonly status: number; readonly headers?: Readonly<Record<string, string>> }
  | { readonly type: 'slow'; readonly milliseconds: number }
  | { readonly type: 'reset' }
  /** Accepted but never answered. */
  | { readonly type: 'silence' };

interface Upstream {
  /** URL of the API server: `https://127.0.0.1:<port>`. */
  readonly apiServer: string;
  /** Certificate of the authority. This and the certificates below are PEM. */
  readonly certificateAuthority: string;
  /** Client certificate for requests without credentials. */
  readonly client?: { readonly certificate: string; readonly key: string };
}

/** Returns the administrator's access to the API server of a sandbox in `directory`. */
export async function administrator(directory: string, apiServer: string): Promise<Upstream> {
  const identity = (file: string) => readFile(`${directory}/cluster/identities/${file}`, 'utf8');
  const [certificateAuthority, certificate, key] = await Promise.all(
    ['ca.crt', 'admin.crt', 'admin.key'].map(identity),
  );
  return {
    apiServer,
    certificateAuthority: certificateAuthority!,
    client: { certificate: certificate!, key: key! },
  };
}

/**
 * A proxy between the operator and the API server that causes faults. It talks plain HTTP to the operator, so
 * that it sees the bytes, and HTTPS to the server.
 */
export class FaultProxy {
  /** `<method> <path with query>` of every request so far. */
  readonly requests: string[] = [];
  /** Returns the fault of a request, if any. */
  fault: (request: http.IncomingMessage) => Fault | undefined = () => undefined;
  /** Answers of the server that are not complete yet, mostly watches. */
  private readonly streams = new Set<{
    readonly answer: http.IncomingMessage;
    readonly response: http.ServerResponse;
    readonly watch: boolean;
  }>();

  private constructor(
    private readonly server: http.Server,
    private readonly upstream: Upstream,
    private readonly agent: https.Agent,
  ) {
    server.on('request', (request: http.IncomingMessage, response: http.ServerResponse) => {
      // A broken connection is intended here: it resets the connection on the other side.
      this.pass(request, response).catch(() => reset(response));
    });
  }

  static async start(upstream: Upstream): Promise<FaultProxy> {
    const { certificateAuthority: ca, client } = upstream;
    const agent = new https.Agent({
      keepAlive: true,
      timeout: 30_000, // the server closes idle connections after 90 s
      ca,
      ...(client && { cert: client.certificate, key: client.key }),
    });
    const server = http.createServer();
    // Without a time limit, no connection is closed while the operator sends a request, which would be an
    // unintended fault.
    server.keepAliveTimeout = 0;
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new FaultProxy(server, upstream, agent);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Number of open watches that the server has begun to answer. */
  get openWatches(): number {
    return [...this.streams].filter(({ watch }) => watch).length;
  }

  connections(): Promise<number> {
    return new Promise((resolve, reject) => {
      this.server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
    });
  }

  /** Resets all streams, like a router that lost their state. */
  resetStreams(): void {
    for (const { response } of this.streams) reset(response);
  }

  /** Ends all streams properly, as the server does with a watch at its time limit. */
  endStreams(): void {
    for (const { answer, response } of this.streams) {
      answer.unpipe();
      answer.destroy();
      response.end();
    }
  }

  /** Keeps the streams open but passes nothing on, like half-open connections. */
  freezeStreams(): void {
    for (const { answer } of this.streams) {
      answer.unpipe();
      answer.resume(); // the data is lost
    }
  }

  /** Ends all streams in the middle of a chunk and of a line. */
  truncateStreams(): void {
    for (const { response } of this.streams) {
      response.socket?.write('ff\r\n{"type":"ADDED","object":{"metadata":{"na');
      response.socket?.destroySoon();
    }
  }

  /** Inserts a line that the server did not send. */
  injectLine(line: string): void {
    for (const { response } of this.streams) response.write(`${line}\n`);
  }

  async stop(): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    this.agent.destroy();
    await once(this.server, 'close');
  }

  private async pass(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const { method = 'GET', url = '/', headers } = request;
    this.requests.push(`${method} ${url}`);
    const fault = this.fault(request);
    switch (fault?.type) {
      case 'silence':
        return;
      case 'reset':
        return reset(response);
      case 'answer':
        return answerWith(response, fault.status, fault.headers);
      case 'slow':
        await sleep(fault.milliseconds);
    }
    const { host: _, ...passed } = headers;
    const onward = https.request(`${this.upstream.apiServer}${url}`, {
      method,
      headers: passed,
      agent: this.agent,
    });
    response.on('close', () => onward.destroy());
    request.pipe(onward);
    const [answer] = (await once(onward, 'response')) as [http.IncomingMessage];
    const stream = { answer, response, watch: new URL(url, this.url).searchParams.has('watch') };
    this.streams.add(stream);
    response.on('close', () => this.streams.delete(stream));
    answer.on('error', () => reset(response));
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    response.flushHeaders();
    answer.pipe(response);
  }
}

function answerWith(
  response: http.ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>> = {},
): void {
  const body = {
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    code: status,
    reason: `Injected${status}`,
    message: 'injected',
  };
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body));
}

function reset(response: http.ServerResponse): void {
  response.socket?.resetAndDestroy();
}
