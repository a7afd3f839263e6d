import type { KubeConfig } from '@kubernetes/client-node';
import axios, { type AxiosInstance, type AxiosResponse, isAxiosError } from 'axios';
import http from 'node:http';
import https from 'node:https';
import type { Readable } from 'node:stream';
import type { Clock } from '../clock';

/** The API server refused a request: HTTP status, and reason and message of the `metav1.Status` that it sent. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  constructor(
    readonly status: number,
    readonly reason: string,
    message: string,
    /** What the server asked for by `Retry-After`, in milliseconds. */
    readonly retryAfter?: number,
  ) {
    super(message);
  }
}

/** The API server gave no answer: refused, reset, timed out. */
export class ClusterUnreachable extends Error {
  override readonly name = 'ClusterUnreachable';
}

export const isNotFound = (error: unknown): boolean => error instanceof ApiError && error.status === 404;
export const isConflict = (error: unknown): boolean => error instanceof ApiError && error.status === 409;
/** The watch's resource version is too old: only a new list helps. */
export const isGone = (error: unknown): boolean => error instanceof ApiError && error.status === 410;

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export interface ClusterRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: Query;
  readonly body?: unknown;
  /** Default `application/json`; a patch names its own. */
  readonly contentType?: string;
  readonly accept?: string;
  readonly signal?: AbortSignal;
}

export interface ClusterOptions {
  readonly clock: Clock;
  /** Milliseconds after which a request without an answer is given up. */
  readonly timeout?: number;
  /** Once aborted, nothing but GET is sent any more: this process has lost the right to write. */
  readonly mayWrite?: AbortSignal;
  /** Called for each finished request, for metrics. */
  readonly onResponse?: (method: string, status: number | 'error') => void;
}

/** Credentials are asked of the kubeconfig anew this often: service account tokens are rotated on disk. */
const CREDENTIALS_LIFETIME = 60_000;
const DEFAULT_TIMEOUT = 30_000;

interface Credentials {
  readonly headers: Record<string, string>;
  readonly readAt: number;
}

/**
 * The one way to call the cluster: JSON over keep-alive connections, with the kubeconfig's authentication.
 * Requests throw {@link ApiError} or {@link ClusterUnreachable}, nothing else.
 */
export class Cluster {
  private readonly client: AxiosInstance;
  private readonly agents: { httpAgent?: http.Agent; httpsAgent?: https.Agent } = {};
  private tlsIdentity = '';
  private credentials: Credentials | undefined;

  constructor(
    private readonly kubeConfig: KubeConfig,
    private readonly options: ClusterOptions,
  ) {
    const server = kubeConfig.getCurrentCluster()?.server;
    if (!server) throw new Error('The kubeconfig names no cluster: set KUBECONFIG, or run inside a cluster.');
    this.client = axios.create({
      baseURL: server.replace(/\/$/, ''),
      maxRedirects: 0,
      maxBodyLength: Infinity,
      maxContentLength: Infinity,
      proxy: false,
      validateStatus: () => true,
      transitional: { silentJSONParsing: true, forcedJSONParsing: true, clarifyTimeoutError: true },
    });
  }

  async request<T>(request: ClusterRequest): Promise<T> {
    const timeout = this.options.timeout ?? DEFAULT_TIMEOUT;
    let response = await this.send<T>(request, 'json', timeout);
    if (response.status === 401) {
      // A rotated token: read it again, once.
      this.credentials = undefined;
      response = await this.send<T>(request, 'json', timeout);
    }
    if (response.status >= 400) throw apiError(response);
    return response.data;
  }

  /** Opens a stream of newline-separated JSON (a watch). The caller consumes or destroys it. */
  async stream(request: ClusterRequest): Promise<Readable> {
    const timeout = this.options.timeout ?? DEFAULT_TIMEOUT;
    const headers = new AbortController();
    const expired = this.options.clock.after(timeout, () =>
      headers.abort(new ClusterUnreachable(`no answer within ${timeout} ms`)),
    );
    const signal = request.signal ? AbortSignal.any([request.signal, headers.signal]) : headers.signal;
    try {
      const response = await this.send<Readable>({ ...request, signal }, 'stream', 0);
      if (response.status < 400) return response.data;
      if (response.status === 401) this.credentials = undefined;
      const text = await readAll(response.data);
      throw apiError({ ...response, data: parseJson(text) });
    } catch (error) {
      throw headers.signal.aborted ? headers.signal.reason : error;
    } finally {
      expired();
    }
  }

  /** Closes idle connections. */
  close(): void {
    this.agents.httpAgent?.destroy();
    this.agents.httpsAgent?.destroy();
  }

  /** @throws the signal's reason when `request.signal` or `mayWrite` is aborted */
  private async send<T>(request: ClusterRequest, responseType: 'json' | 'stream', timeout: number): Promise<AxiosResponse<T>> {
    if (request.method !== 'GET') this.options.mayWrite?.throwIfAborted();
    const { headers } = await this.authenticate();
    try {
      const response = await this.client.request<T>({
        method: request.method,
        url: request.path,
        ...(request.query && { params: request.query }),
        ...(request.body !== undefined && { data: JSON.stringify(request.body) }),
        ...(request.signal && { signal: request.signal }),
        headers: {
          ...headers,
          Accept: request.accept ?? 'application/json',
          'User-Agent': 'hub-operator',
          ...(request.body !== undefined && { 'Content-Type': request.contentType ?? 'application/json' }),
        },
        responseType,
        timeout,
        ...this.agents,
      });
      this.options.onResponse?.(request.method, response.status);
      return response;
    } catch (error) {
      if (request.signal?.aborted) throw request.signal.reason;
      this.options.onResponse?.(request.method, 'error');
      throw new ClusterUnreachable(
        `${request.method} ${request.path}: ${isAxiosError(error) ? (error.code ?? error.message) : String(error)}`,
        { cause: error },
      );
    }
  }

  private async authenticate(): Promise<Credentials> {
    const now = this.options.clock.now();
    if (this.credentials && now - this.credentials.readAt < CREDENTIALS_LIFETIME) return this.credentials;
    const tls: https.RequestOptions = {};
    await this.kubeConfig.applyToHTTPSOptions(tls);
    const headers: Record<string, string> = {};
    for (const [name, value] of Object.entries(tls.headers ?? {})) headers[name] = String(value);
    if (tls.auth) headers['Authorization'] = `Basic ${Buffer.from(tls.auth).toString('base64')}`;
    this.keepAgents(tls);
    this.credentials = { headers, readAt: now };
    return this.credentials;
  }

  /** One agent for as long as the TLS identity stays the same, so that connections are reused. */
  private keepAgents({ ca, cert, key, servername, rejectUnauthorized }: https.RequestOptions): void {
    const identity = JSON.stringify([ca, cert, key, servername, rejectUnauthorized].map((part) => part?.toString()));
    if (identity === this.tlsIdentity) return;
    this.tlsIdentity = identity;
    this.close();
    this.agents.httpAgent = new http.Agent({ keepAlive: true });
    this.agents.httpsAgent = new https.Agent({
      keepAlive: true,
      ...(ca !== undefined && { ca }),
      ...(cert !== undefined && { cert }),
      ...(key !== undefined && { key }),
      ...(servername !== undefined && { servername }),
      ...(rejectUnauthorized !== undefined && { rejectUnauthorized }),
    });
  }
}

function apiError({ status, statusText, data, headers }: AxiosResponse<unknown>): ApiError {
  const body = (typeof data === 'object' && data !== null ? data : {}) as { reason?: string; message?: string };
  const retryAfter = Number(headers['retry-after']);
  return new ApiError(
    status,
    body.reason ?? statusText,
    body.message ?? (typeof data === 'string' && data ? data.slice(0, 500) : `${status} ${statusText}`),
    Number.isFinite(retryAfter) && retryAfter > 0 ? retryAfter * 1_000 : undefined,
  );
}

async function readAll(stream: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text; // Proxies answer in plain text; apiError shows it as it is.
  }
}
