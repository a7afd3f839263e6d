import type { KubeConfig } from '@kubernetes/client-node';
import axios, { type AxiosInstance, type AxiosResponse, isAxiosError } from 'axios';
import http from 'node:http';
import https from 'node:https';
import { createSecureContext } from 'node:tls';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { Clock } from '../base/clock';
import { CombinedSignal } from '../base/combined-signal';
import { truncate } from '../base/truncate';
import { ApiError, ApiServerUnreachable, isNotFound } from './api-errors';
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
  /** How many brackets are open in an object of the answer ({@link parseObjects}). Default 1: the answer is the object. */
  readonly objectDepth?: number;
  readonly signal?: AbortSignal;
}

export interface ApiClientOptions {
  readonly clock: Clock;
  /** Timeout of a request in milliseconds, from the moment when it has a connection or opens one. */
  readonly timeout?: number;
  /** Most connections at once; further requests wait for one of them. Default: no limit. */
  readonly connections?: number;
  /**
   * When aborted, this process may no longer write: requests in flight are aborted, and only GET is sent afterwards.
   */
  readonly leaderSignal?: AbortSignal;
  /** Called before each write; throws when the lease has expired, also if no timer has fired yet, as after a freeze. */
  readonly assertLeader?: () => void;
  /** Called for each finished request, for metrics. */
  readonly onResponse?: (method: string, status: number | 'error') => void;
}

/**
 * Milliseconds after which credentials are read again from the kubeconfig: service account tokens are rotated on disk.
 */
const CREDENTIALS_LIFETIME = 60_000;
const DEFAULT_TIMEOUT = 30_000;

type ResponseType = 'arraybuffer' | 'stream';
type Response<Type extends ResponseType> = AxiosResponse<Type extends 'stream' ? Readable : Buffer>;

interface Credentials {
  readonly readAt: number;
  readonly headers: Promise<Readonly<Record<string, string>>>;
}

/** Idle connections beyond this many are closed: a burst of requests opens one for each of them. */
export const MAX_IDLE_CONNECTIONS = 8;

/**
 * The client of the API server: JSON over keep-alive connections, authenticated as the kubeconfig states. All requests
 * of the operator use it. They throw only {@link ApiError}, {@link ApiServerUnreachable}, or the reason of an aborted
 * signal.
 */
export class ApiClient {
  private readonly client: AxiosInstance;
  private readonly timeout: number;
  private readonly agentOptions: http.AgentOptions;
  private agents: { readonly httpAgent: http.Agent; readonly httpsAgent: https.Agent };
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
    this.agents = {
      httpAgent: new http.Agent(this.agentOptions),
      httpsAgent: new https.Agent(this.agentOptions),
    };
    this.client = axios.create({
      baseURL: server.replace(/\/$/, ''),
      maxRedirects: 0,
      // -1: no limit. With Infinity axios wraps a stream in a generator; while that waits for the next chunk of an idle
      // watch, destroying the stream neither ends it nor closes the connection.
      maxContentLength: -1,
      maxBodyLength: -1,
      proxy: false,
      validateStatus: () => true,
      transformRequest: [(body: unknown) => body],
      transformResponse: [(body: unknown) => body],
    });
  }

  async request<T>(request: ApiRequest): Promise<T> {
    const { data } = await this.authenticated(request, 'arraybuffer');
    const body = parseAnswer(data, request.objectDepth);
    // Only a proxy between the operator and the server answers with another content type.
    if (body === undefined)
      throw new ApiServerUnreachable(`${nameOf(request)}: the answer is not JSON: ${excerpt(data, 200)}`);
    return body as T;
  }

  /** Reads an object; undefined: not found. */
  async find<T extends ClusterObject>(
    type: ResourceType,
    namespace: string | undefined,
    name: string,
  ): Promise<T | undefined> {
    try {
      return await this.request<T>({ method: 'GET', path: pathOf(type, namespace, name) });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** Opens a stream of newline-separated JSON (a watch). The caller consumes or destroys it. */
  async stream(request: ApiRequest): Promise<Readable> {
    return (await this.authenticated(request, 'stream')).data;
  }

  /** Closes all connections. */
  close(): void {
    this.agents.httpAgent.destroy();
    this.agents.httpsAgent.destroy();
  }

  private async authenticated<Type extends ResponseType>(
    request: ApiRequest,
    type: Type,
  ): Promise<Response<Type>> {
    try {
      return await this.send(request, type);
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 401) throw error;
      this.credentials = undefined; // the token may have been rotated: read it again, once
      return this.send(request, type);
    }
  }

  private async send<Type extends ResponseType>(request: ApiRequest, type: Type): Promise<Response<Type>> {
    const { clock, leaderSignal, assertLeader, onResponse } = this.options;
    const headers = await this.authenticate();
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
      const response: Response<Type> = await this.client.request({
        method: request.method,
        url: request.path,
        ...(request.query && { params: request.query }),
        ...(request.body !== undefined && { data: JSON.stringify(request.body) }),
        signal: link.signal,
        headers: {
          ...headers,
          Accept: request.accept ?? 'application/json',
          'User-Agent': 'hub-operator',
          ...(request.body !== undefined && { 'Content-Type': request.contentType ?? 'application/json' }),
        },
        responseType: type,
        transport: transportOf(startTime),
        ...this.agents,
      });
      status = response.status;
      if (status >= 400) throw apiError(request, response, await bodyOf(response.data));
      streaming = !Buffer.isBuffer(response.data);
      if (!Buffer.isBuffer(response.data)) response.data.once('close', () => link.dispose());
      return response;
    } catch (error) {
      if (link.signal.aborted) throw link.signal.reason;
      if (error instanceof ApiError) throw error;
      const why = isAxiosError(error) ? (error.code ?? error.message) : String(error);
      throw new ApiServerUnreachable(`${nameOf(request)}: ${why}`, { cause: error });
    } finally {
      cancel();
      if (!streaming) link.dispose();
      onResponse?.(request.method, status);
    }
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
    this.keepAgents(tls);
    const headers: Record<string, string> = {};
    for (const [name, value] of Object.entries(tls.headers ?? {})) headers[name] = String(value);
    if (tls.auth) headers['Authorization'] = `Basic ${Buffer.from(tls.auth).toString('base64')}`;
    return headers;
  }

  /** An agent stays while the TLS identity stays the same, so that connections are reused. */
  private keepAgents({ ca, cert, key, servername, rejectUnauthorized }: https.RequestOptions): void {
    const identity = JSON.stringify([ca, cert, key, servername, rejectUnauthorized]);
    if (identity === this.tlsIdentity) return;
    // The previous agent finishes its requests in flight; the server closes its idle connections.
    this.agents = {
      ...this.agents,
      httpsAgent: new https.Agent({
        ...this.agentOptions,
        // Else each connection reads the certificates and the key again, which takes longer than a short request.
        secureContext: createSecureContext({ ca, cert, key }),
        ...(servername !== undefined && { servername }),
        ...(rejectUnauthorized !== undefined && { rejectUnauthorized }),
      }),
    };
    this.tlsIdentity = identity; // last: certificates that do not fit are read again
  }
}

/** The parts of `metav1.Status` that are read. */
interface StatusAnswer {
  readonly reason?: string;
  readonly message?: string;
  readonly details?: { readonly causes?: readonly { readonly field?: string; readonly reason?: string }[] };
}

const nameOf = ({ method, path }: ApiRequest): string => `${method} ${path}`;

/** The modules of Node.js for axios. `onConnection`: the request waits no longer for one of the connections. */
const transportOf = (onConnection: () => void) => ({
  request: (options: https.RequestOptions, onResponse: (response: http.IncomingMessage) => void) =>
    (options.protocol === 'https:' ? https : http).request(options, onResponse).once('socket', onConnection),
});

async function bodyOf(data: Buffer | Readable): Promise<Buffer> {
  return Buffer.isBuffer(data) ? data : buffer(data);
}

const excerpt = (body: Buffer, length: number): string =>
  truncate(body.toString('utf8', 0, 4 * length), length);

function apiError(
  request: ApiRequest,
  { status, statusText, headers }: AxiosResponse,
  body: Buffer,
): ApiError {
  const answer = (parseAnswer(body) ?? {}) as StatusAnswer;
  const retryAfter = Number(headers['retry-after']);
  // A request with the uid of an object that was recreated is rejected as invalid; it is treated as a conflict.
  const replaced = status === 422 && answer.details?.causes?.[0]?.field === 'metadata.uid';
  return new ApiError(
    replaced ? 409 : status,
    replaced ? 'Conflict' : (answer.reason ?? statusText),
    answer.message ?? `${nameOf(request)}: ${status} ${excerpt(body, 500) || statusText}`,
    Number.isFinite(retryAfter) && retryAfter > 0 ? retryAfter * 1_000 : undefined,
    answer.details?.causes?.flatMap(({ reason }) => reason ?? []),
  );
}

/** Undefined if the body is not JSON: proxies answer with plain text. */
function parseAnswer(body: Buffer, objectDepth = 1): unknown {
  try {
    return parseObjects(body, objectDepth);
  } catch {
    return undefined;
  }
}
