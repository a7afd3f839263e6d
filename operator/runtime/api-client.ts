import { OperationalError } from '../errors';
import type { KubeConfig } from '@kubernetes/client-node';
import axios, { type AxiosInstance, type AxiosResponse, isAxiosError } from 'axios';
import http from 'node:http';
import https from 'node:https';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Clock } from '../clock';
import { CombinedSignal } from '../combined-signal';
import { truncate } from '../truncate';
import { parseJson } from './json';
import { type ClusterObject, pathOf, type ResourceType } from './objects';

/** The API server refused a request: HTTP status, and reason and message of the `metav1.Status` that it sent. */
export class ApiError extends OperationalError {
  override readonly name = 'ApiError';
  constructor(
    readonly status: number,
    readonly reason: string,
    message: string,
    /** What the server asked for by `Retry-After`, in milliseconds. */
    readonly retryAfter?: number,
    /** Reasons of the single causes, where the server names them. */
    readonly causes: readonly string[] = [],
  ) {
    super(message);
  }
}

/** The API server gave no answer: refused, reset, timed out. */
export class ApiServerUnreachable extends OperationalError {
  override readonly name = 'ApiServerUnreachable';
}

export const isNotFound = (error: unknown): boolean => error instanceof ApiError && error.status === 404;
export const isConflict = (error: unknown): boolean => error instanceof ApiError && error.status === 409;
/** The watch's resource version is too old: only a new list helps. */
export const isGone = (error: unknown): boolean => error instanceof ApiError && error.status === 410;

/** Nothing new may be made in a namespace that is being deleted. */
export const isNamespaceTerminating = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.causes.includes('NamespaceTerminating');

/** An admission webhook that gives no answer: it concerns the objects that it is registered for, and no others. */
export const isWebhookFailure = (error: unknown): boolean =>
  error instanceof ApiError && error.status === 500 && error.message.includes('failed calling webhook');

/** The server is not there or not itself, for whoever asks: one that has lost its etcd still answers, with 5xx or 429. */
export const isServerUnavailable = (error: unknown): boolean =>
  error instanceof ApiServerUnreachable ||
  (error instanceof ApiError && (error.status === 429 || error.status >= 500) && !isWebhookFailure(error));

/** Says something of the moment, nothing of what was asked for: the same request may well succeed soon. */
export const isTransient = (error: unknown): boolean => isServerUnavailable(error) || isConflict(error);

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: Query;
  readonly body?: unknown;
  /** Default `application/json`; a patch names its own. */
  readonly contentType?: string;
  readonly accept?: string;
  readonly signal?: AbortSignal;
}

export interface ApiClientOptions {
  readonly clock: Clock;
  /** Milliseconds after which a request without an answer is given up. */
  readonly timeout?: number;
  /** Once aborted, nothing but GET is sent any more and what is under way is cut: the right to write is lost. */
  readonly leaderSignal?: AbortSignal;
  /** Called before each write; throws when the right is lost and nobody has noticed yet, as after a sleep. */
  readonly assertLeader?: () => void;
  /** Called for each finished request, for metrics. */
  readonly onResponse?: (method: string, status: number | 'error') => void;
}

/** Credentials are asked of the kubeconfig anew this often: service account tokens are rotated on disk. */
const CREDENTIALS_LIFETIME = 60_000;
const DEFAULT_TIMEOUT = 30_000;

type ResponseType = 'text' | 'stream';
type Response<Type extends ResponseType> = AxiosResponse<Type extends 'text' ? string : Readable>;

interface Credentials {
  readonly readAt: number;
  readonly headers: Promise<Readonly<Record<string, string>>>;
}

/**
 * The one way to call the cluster: JSON over keep-alive connections, with the kubeconfig's authentication. Requests
 * throw {@link ApiError}, {@link ApiServerUnreachable}, or the reason of the signal that aborted them; nothing else.
 */
export class ApiClient {
  private readonly client: AxiosInstance;
  private readonly timeout: number;
  private agents = {
    httpAgent: new http.Agent({ keepAlive: true }),
    httpsAgent: new https.Agent({ keepAlive: true }),
  };
  private tlsIdentity = '';
  private credentials: Credentials | undefined;

  constructor(
    private readonly kubeConfig: Pick<KubeConfig, 'getCurrentCluster' | 'applyToHTTPSOptions'>,
    private readonly options: ApiClientOptions,
  ) {
    const server = kubeConfig.getCurrentCluster()?.server;
    if (!server) throw new Error('The kubeconfig names no cluster: set KUBECONFIG, or run inside a cluster.');
    this.timeout = options.timeout ?? DEFAULT_TIMEOUT;
    this.client = axios.create({
      baseURL: server.replace(/\/$/, ''),
      maxRedirects: 0,
      // No limit. Infinity is one: axios then wraps a stream in a generator, and while that waits for the next chunk
      // of a silent watch, destroying the stream neither ends it nor closes the connection.
      maxContentLength: -1,
      maxBodyLength: -1,
      proxy: false,
      validateStatus: () => true,
      transformRequest: [(body: unknown) => body],
      transformResponse: [(body: unknown) => body],
    });
  }

  async request<T>(request: ApiRequest): Promise<T> {
    const { data } = await this.authenticated(request, 'text');
    const body = parseAnswer(data);
    // Only something between us and the server answers in another language.
    if (body === undefined)
      throw new ApiServerUnreachable(`${nameOf(request)}: the answer is not JSON: ${truncate(data, 200)}`);
    return body as T;
  }

  /** The object as the server has it now; undefined when there is none. */
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
      this.credentials = undefined; // a rotated token: read it again, once
      return this.send(request, type);
    }
  }

  private async send<Type extends ResponseType>(request: ApiRequest, type: Type): Promise<Response<Type>> {
    const { clock, leaderSignal, assertLeader, onResponse } = this.options;
    const headers = await this.authenticate();
    const writes = request.method !== 'GET';
    if (writes) assertLeader?.();
    const link = new CombinedSignal(request.signal, writes ? leaderSignal : undefined);
    const cancel = clock.after(this.timeout, () =>
      link.abort(new ApiServerUnreachable(`${nameOf(request)}: no answer within ${this.timeout / 1_000} s`)),
    );
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
        ...this.agents,
      });
      status = response.status;
      if (status >= 400) throw apiError(request, response, await bodyOf(response.data));
      streaming = typeof response.data !== 'string';
      if (typeof response.data !== 'string') response.data.once('close', () => link.dispose());
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
      throw new ApiServerUnreachable(`The kubeconfig's credentials cannot be read: ${String(error)}`, {
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

  /** One agent for as long as the TLS identity stays the same, so that connections are reused. */
  private keepAgents({ ca, cert, key, servername, rejectUnauthorized }: https.RequestOptions): void {
    const identity = JSON.stringify([ca, cert, key, servername, rejectUnauthorized]);
    if (identity === this.tlsIdentity) return;
    this.tlsIdentity = identity;
    // The agent before is left to end what it has under way; its idle connections are closed by the server.
    this.agents = {
      ...this.agents,
      httpsAgent: new https.Agent({
        keepAlive: true,
        ...(ca !== undefined && { ca }),
        ...(cert !== undefined && { cert }),
        ...(key !== undefined && { key }),
        ...(servername !== undefined && { servername }),
        ...(rejectUnauthorized !== undefined && { rejectUnauthorized }),
      }),
    };
  }
}

/** The parts of `metav1.Status` that are looked at. */
interface StatusAnswer {
  readonly reason?: string;
  readonly message?: string;
  readonly details?: { readonly causes?: readonly { readonly field?: string; readonly reason?: string }[] };
}

const nameOf = ({ method, path }: ApiRequest): string => `${method} ${path}`;

async function bodyOf(data: string | Readable): Promise<string> {
  return typeof data === 'string' ? data : text(data);
}

function apiError(
  request: ApiRequest,
  { status, statusText, headers }: AxiosResponse,
  body: string,
): ApiError {
  const answer = (parseAnswer(body) ?? {}) as StatusAnswer;
  const retryAfter = Number(headers['retry-after']);
  // What names the uid of an object that was recreated since is refused as invalid; it is a conflict like any other.
  const replaced = status === 422 && answer.details?.causes?.[0]?.field === 'metadata.uid';
  return new ApiError(
    replaced ? 409 : status,
    replaced ? 'Conflict' : (answer.reason ?? statusText),
    answer.message ?? `${nameOf(request)}: ${status} ${truncate(body, 500) || statusText}`,
    Number.isFinite(retryAfter) && retryAfter > 0 ? retryAfter * 1_000 : undefined,
    answer.details?.causes?.flatMap(({ reason }) => reason ?? []),
  );
}

/** Undefined for what is not JSON: proxies answer in plain text. */
function parseAnswer(body: string): unknown {
  try {
    return parseJson(body);
  } catch {
    return undefined;
  }
}
