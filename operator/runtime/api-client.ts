import type { KubeConfig } from '@kubernetes/client-node';
import http from 'node:http';
import https from 'node:https';
import { createSecureContext } from 'node:tls';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { TooManyValues } from '../base/bounded-json';
import type { Clock } from '../base/clock';
import { CombinedSignal } from '../base/deadline';
import { messageOf } from '../base/errors';
import { truncate } from '../base/truncate';
import { undefinedIf } from '../base/undefined-if';
import { AnswerTooLarge, ApiError, ApiServerUnreachable, isNotFound } from './api-errors';
import { parseObjects } from './json';
import { type ClusterObject, pathOf, type ResourceType } from './objects';

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: Query;
  readonly body?: unknown;
  /** Default `application/json`; a patch sets its own. */
  readonly contentType?: string;
  readonly accept?: string;
  /**
   * Nesting depth at which objects begin in the response ({@link parseObjects}). Default 1: the response is
   * one object.
   */
  readonly objectDepth?: number;
  /**
   * Parses the response with `JSON.parse`, which is several times faster but rounds integers beyond 2^53 and
   * leaves nothing out. For a process that shows the response and exits.
   */
  readonly plain?: boolean;
  readonly signal?: AbortSignal;
}

export interface ApiClientOptions {
  readonly clock: Clock;
  /** Timeout of a request in milliseconds. It begins when the request has a connection or opens one. */
  readonly timeout?: number;
  /** Largest number of concurrent connections; further requests wait for one. Default: no limit. */
  readonly connections?: number;
  /**
   * Aborted when this process may no longer write: requests in flight are then aborted, and only GET requests
   * are sent afterwards.
   */
  readonly leaderSignal?: AbortSignal;
  /**
   * Called before each write. It throws when the lease has expired, even if no timer has fired yet because
   * the process was frozen.
   */
  readonly assertLeader?: () => void;
  /** Called for each finished request, for metrics. */
  readonly onResponse?: (method: string, status: number | 'error') => void;
}

/**
 * Milliseconds after which credentials are read again from the kubeconfig: service account tokens are rotated on disk.
 */
const CREDENTIALS_LIFETIME = 60_000;
const DEFAULT_TIMEOUT = 30_000;
/**
 * Milliseconds. If a connection was cut without a notice, the keep-alive of the operating system detects
 * that, and an idle watch ends.
 */
const TCP_KEEP_ALIVE = 60_000;

/** How a successful response is requested and read. */
interface Form<T extends Buffer | Readable> {
  readonly encoding: 'gzip' | 'identity';
  /** Reads the response within the timeout of the request. */
  readonly read: (answer: http.IncomingMessage) => T | Promise<T>;
}

/**
 * Reads the whole response. Over a slow network a long list arrives earlier when compressed, and the API
 * server compresses only long responses.
 */
const whole: Form<Buffer> = {
  encoding: 'gzip',
  read: async (answer) => {
    const parts: Buffer[] = [];
    for await (const part of answer) parts.push(part as Buffer);
    const body = Buffer.concat(parts);
    return answer.headers['content-encoding'] === 'gzip' ? promisify(gunzip)(body) : body;
  },
};
const streamed: Form<Readable> = { encoding: 'identity', read: (answer) => answer };

interface Credentials {
  readonly readAt: number;
  readonly headers: Promise<Readonly<Record<string, string>>>;
}

/**
 * Idle connections beyond this number are closed: a burst of requests opens one connection for each request.
 */
export const MAX_IDLE_CONNECTIONS = 8;

/**
 * The client of the API server: JSON over keep-alive connections, authenticated as the kubeconfig states. All
 * requests of the operator use it. Requests throw only {@link ApiError}, {@link ApiServerUnreachable}, {@link
 * AnswerTooLarge}, or the reason of an aborted signal.
 *
 * The client uses only modules of Node.js: loading an HTTP library takes longer than running a short command.
 */
export class ApiClient {
  private readonly server: string;
  private readonly timeout: number;
  private readonly agentOptions: http.AgentOptions;
  private readonly isSecure: boolean;
  private agent: http.Agent;
  private tlsIdentity = '';
  private credentials: Credentials | undefined;

  constructor(
    private readonly kubeConfig: Pick<KubeConfig, 'getCurrentCluster' | 'applyToHTTPSOptions'>,
    private readonly options: ApiClientOptions,
  ) {
    const server = kubeConfig.getCurrentCluster()?.server;
    if (!server)
      throw new Error(
        'cannot connect to the API server: the kubeconfig names no cluster; set KUBECONFIG, or run inside a cluster',
      );
    const { timeout = DEFAULT_TIMEOUT, connections = Infinity } = options;
    this.timeout = timeout;
    this.agentOptions = { keepAlive: true, maxSockets: connections, maxFreeSockets: MAX_IDLE_CONNECTIONS };
    this.server = server.replace(/\/$/, '');
    this.isSecure = /^https:/i.test(server);
    this.agent = new (this.isSecure ? https : http).Agent(this.agentOptions);
  }

  async request<T>(request: ApiRequest): Promise<T> {
    const body = await this.authenticated(request, whole);
    const answer = answerOf(request, body);
    // Only a proxy between the operator and the API server returns another content type.
    if (answer === undefined)
      throw new ApiServerUnreachable(`${nameOf(request)}: the answer is not JSON: ${excerpt(body, 200)}`);
    return answer as T;
  }

  /** Reads an object. @returns undefined if it does not exist */
  find<T extends ClusterObject>(
    type: ResourceType,
    namespace: string | undefined,
    name: string,
  ): Promise<T | undefined> {
    return undefinedIf(isNotFound, this.request<T>({ method: 'GET', path: pathOf(type, namespace, name) }));
  }

  /** Opens a stream of newline-separated JSON (a watch). The caller consumes or destroys it. */
  stream(request: ApiRequest): Promise<Readable> {
    return this.authenticated(request, streamed);
  }

  /** Closes all connections. */
  close(): void {
    this.agent.destroy();
  }

  private async authenticated<T extends Buffer | Readable>(request: ApiRequest, form: Form<T>): Promise<T> {
    try {
      return await this.send(request, form);
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 401) throw error;
      this.credentials = undefined; // the token may have been rotated, so it is read again once
      return this.send(request, form);
    }
  }

  private async send<T extends Buffer | Readable>(
    request: ApiRequest,
    { encoding, read }: Form<T>,
  ): Promise<T> {
    const { clock, leaderSignal, assertLeader, onResponse } = this.options;
    const credentials = await this.authenticate();
    const writes = request.method !== 'GET';
    if (writes) assertLeader?.();
    const link = new CombinedSignal(request.signal, writes ? leaderSignal : undefined);
    let cancel = () => {};
    const startTime = () => {
      cancel = clock.after(this.timeout, () =>
        link.abort(
          new ApiServerUnreachable(`${nameOf(request)}: no answer within ${this.timeout / 1_000} s`),
        ),
      );
    };
    let status: number | 'error' = 'error';
    let streaming = false;
    try {
      const headers = { ...credentials, 'Accept-Encoding': encoding };
      const answer = await this.exchange(request, headers, link.signal, startTime);
      status = answer.statusCode!;
      if (status >= 400) throw apiError(request, answer, await whole.read(answer));
      const body = await read(answer);
      streaming = !Buffer.isBuffer(body);
      if (streaming) answer.once('close', () => link.dispose());
      return body;
    } catch (error) {
      if (!(error instanceof ApiError)) status = 'error'; // the body may break off after the status
      if (link.signal.aborted) throw link.signal.reason;
      if (error instanceof ApiError) throw error;
      const { code = messageOf(error) } = error as { readonly code?: string };
      throw new ApiServerUnreachable(`${nameOf(request)}: ${code}`, { cause: error });
    } finally {
      cancel();
      if (!streaming) link.dispose();
      onResponse?.(request.method, status);
    }
  }

  /**
   * Sends a request. Aborting the signal ends the request, or the reading of the response's body.
   *
   * @param onConnection is called when the request has a connection
   * @returns the response as soon as its body begins
   */
  private exchange(
    sent: ApiRequest,
    ownHeaders: Readonly<Record<string, string>>,
    signal: AbortSignal,
    onConnection: () => void,
  ): Promise<http.IncomingMessage> {
    const { method, body } = sent;
    const url = urlOf(this.server, sent);
    const content = body === undefined ? undefined : JSON.stringify(body);
    const headers = { ...ownHeaders, ...headersOf(sent, content) };
    const { agent, isSecure } = this;
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const request = (isSecure ? https : http).request(url, { method, headers, agent });
      let exchanged: http.ClientRequest | http.IncomingMessage = request;
      const end = () => {
        exchanged.destroy(signal.reason as Error);
        reject(signal.reason as Error); // a request that still waits for a connection is rejected here only
      };
      signal.addEventListener('abort', end);
      request
        .once('socket', (socket) => {
          socket.setKeepAlive(true, TCP_KEEP_ALIVE);
          onConnection();
        })
        .once('response', (answer) => resolve((exchanged = answer)))
        .once('close', () => {
          signal.removeEventListener('abort', end);
          reject(new Error('closed without an answer')); // as after status 101, which no request asks for
        })
        .on('error', reject)
        .end(content);
    });
  }

  private async authenticate(): Promise<Readonly<Record<string, string>>> {
    const now = this.options.clock.monotonic();
    if (!this.credentials || now - this.credentials.readAt >= CREDENTIALS_LIFETIME) {
      this.credentials = { readAt: now, headers: this.readCredentials() };
    }
    const { credentials } = this;
    try {
      return await credentials.headers;
    } catch (error) {
      if (this.credentials === credentials) this.credentials = undefined;
      throw new ApiServerUnreachable(`cannot read the credentials of the kubeconfig: ${String(error)}`, {
        cause: error,
      });
    }
  }

  private async readCredentials(): Promise<Record<string, string>> {
    const tls: https.RequestOptions = {};
    await this.kubeConfig.applyToHTTPSOptions(tls);
    if (this.isSecure) this.keepAgent(tls);
    const headers: Record<string, string> = {};
    // A token may end with a newline, in its file or in the output of a credential plugin. A header may not.
    for (const [name, value] of Object.entries(tls.headers ?? {})) headers[name] = String(value).trim();
    if (tls.auth) headers['Authorization'] = `Basic ${Buffer.from(tls.auth).toString('base64')}`;
    return headers;
  }

  /** Keeps the agent while the TLS identity is unchanged, so that connections are reused. */
  private keepAgent({ ca, cert, key, servername, rejectUnauthorized }: https.RequestOptions): void {
    const identity = JSON.stringify([ca, cert, key, servername, rejectUnauthorized]);
    if (identity === this.tlsIdentity) return;
    // The previous agent completes its requests in flight; the API server closes its idle connections.
    this.agent = new https.Agent({
      ...this.agentOptions,
      // Created once: otherwise each connection parses certificates and key again, which takes longer than a
      // short request.
      secureContext: createSecureContext({ ca, cert, key }),
      ...(servername !== undefined && { servername }),
      ...(rejectUnauthorized !== undefined && { rejectUnauthorized }),
    });
    this.tlsIdentity = identity; // set last, so that certificates that do not match are read again
  }
}

function urlOf(server: string, { path, query = {} }: ApiRequest): URL {
  const url = new URL(`${server}${path}`);
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) url.searchParams.set(name, String(value));
  return url;
}

/** @param content the body as it is sent */
function headersOf({ accept, contentType }: ApiRequest, content: string | undefined) {
  return {
    Accept: accept ?? 'application/json',
    'User-Agent': 'hub-operator',
    ...(content !== undefined && {
      'Content-Type': contentType ?? 'application/json',
      'Content-Length': Buffer.byteLength(content),
    }),
  };
}

/** The fields of a `metav1.Status` that the client reads. */
interface StatusAnswer {
  readonly reason?: string;
  readonly message?: string;
  readonly details?: { readonly causes?: readonly { readonly field?: string; readonly reason?: string }[] };
}

const nameOf = ({ method, path }: ApiRequest): string => `${method} ${path}`;

const excerpt = (body: Buffer, length: number): string =>
  truncate(body.toString('utf8', 0, 4 * length), length);

function apiError(
  request: ApiRequest,
  { statusCode: status = 0, statusMessage = '', headers }: http.IncomingMessage,
  body: Buffer,
): ApiError {
  const answer = (parsed(() => parseObjects(body, 1)) ?? {}) as StatusAnswer;
  const retryAfter = Number(headers['retry-after']);
  // A request with the uid of an object that was recreated is rejected as invalid. Callers expect a conflict.
  const replaced = status === 422 && answer.details?.causes?.[0]?.field === 'metadata.uid';
  return new ApiError(
    replaced ? 409 : status,
    replaced ? 'Conflict' : (answer.reason ?? statusMessage),
    answer.message ?? `${nameOf(request)}: ${status} ${excerpt(body, 500) || statusMessage}`,
    Number.isFinite(retryAfter) && retryAfter > 0 ? retryAfter * 1_000 : undefined,
    answer.details?.causes?.flatMap(({ reason }) => reason ?? []),
  );
}

/**
 * Parses the body of a response. @returns undefined if the body is not JSON, such as the page of a proxy
 *
 * @throws AnswerTooLarge
 */
function answerOf(request: ApiRequest, body: Buffer): unknown {
  const { objectDepth = 1, plain } = request;
  return parsed(
    () => (plain ? JSON.parse(body.toString()) : parseObjects(body, objectDepth)),
    ({ message }) => {
      throw new AnswerTooLarge(`${nameOf(request)}: the answer is too large: ${message}`);
    },
  );
}

/** @returns undefined if the text is not JSON */
function parsed(parse: () => unknown, onTooMany?: (error: TooManyValues) => never): unknown {
  try {
    return parse();
  } catch (error) {
    if (error instanceof TooManyValues) return onTooMany?.(error);
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}
