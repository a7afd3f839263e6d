import http from 'node:http';
import https from 'node:https';
import axios, { isAxiosError, type AxiosInstance, type AxiosResponse } from 'axios';
import type { Clock } from '../clock';
import { truncate } from '../truncate';
import {
  HubBanned,
  type HubError,
  HubFailed,
  HubRejected,
  HubUnreachable,
  NotHomeAssistant,
  NotFound,
  TokenRejected,
} from './errors';
import { hasLocalHost, lookupNonLocal } from './local-address';
import { HubIdentityCheck, verifyIsHub } from './hub-identity';
import type { Redact } from './redact';
import { AuthBackoff } from './auth-backoff';

/** The hub answers most calls in milliseconds. */
export const REQUEST_TIMEOUT = 10_000;
/** Config writes and reloads parse whole files: up to a second with 500 automations, more on a small board. */
export const WRITE_TIMEOUT = 30_000;

/** Bytes. The registry of a hub with 10,000 entities has about 8 MiB. */
export const MAX_RESPONSE_SIZE = 32 * 1024 * 1024;
/** Of an address that a person wrote: it must not exhaust the memory of the operator. */
export const MAX_UNTRUSTED_RESPONSE_SIZE = 4 * 1024 * 1024;
export const MAX_UNTRUSTED_MESSAGE_SIZE = 12 * 1024 * 1024;
const MAX_MESSAGE_LENGTH = 1_000;
// The hub closes idle connections after more than a minute; ours go first, so that no request meets a dead one.
const KEEP_ALIVE_TIMEOUT = 20_000;

/** Where a hub is, and how to get there. */
export interface HubAddress {
  /** `http(s)://host[:port]` */
  readonly url: string;
  /** PEM certificates that may sign the hub's certificate, instead of the system's. */
  readonly ca?: string | undefined;
  /** Source address of all connections. Only for sandbox and tests, where one machine plays several. */
  readonly localAddress?: string | undefined;
  /** A person wrote this address, and what is there may be no hub: a token goes there only after a proof. */
  readonly untrusted?: boolean | undefined;
  /** Whether an untrusted address may lead to this machine or its link. */
  readonly allowLocal?: boolean | undefined;
}

/** What all connections to an address have in common. */
export function connectionOptions({ localAddress, untrusted, allowLocal }: HubAddress) {
  return {
    ...(localAddress !== undefined && { localAddress }),
    ...(untrusted && !allowLocal && { lookup: lookupNonLocal }),
  };
}

export interface RestClientOptions extends HubAddress {
  /** Bearer of every call that does not say otherwise; without it, calls are unauthenticated. */
  readonly token?: string | undefined;
  /** Shared by all that use the same token. */
  readonly authBackoff?: AuthBackoff | undefined;
  readonly clock: Clock;
  /** Every text of the hub passes it before it becomes an error's message. */
  readonly redact: Redact;
  /** Throws when this process may not change anything in the hub any more. Asked right before each call that could. */
  readonly assertLeader?: (() => void) | undefined;
}

export interface CallOptions {
  /** Another bearer for this call; null: none. */
  readonly token?: string | null;
  /** Milliseconds until the whole answer must be there. */
  readonly timeout?: number;
}

type Method = 'GET' | 'POST' | 'DELETE';

/**
 * HTTP to one hub, over one set of keep-alive connections. Answers are the parsed JSON. Redirects are not followed,
 * proxies of the environment are not used.
 *
 * Every method throws only errors of `errors.ts`, and what `assertLeader` throws.
 */
export class RestClient {
  readonly address: HubAddress;
  readonly redact: Redact;
  readonly assertLeader: () => void;
  private readonly authBackoff: AuthBackoff;
  private readonly token: string | undefined;
  private readonly clock: Clock;
  private readonly agent: http.Agent;
  private readonly http: AxiosInstance;
  private readonly identityCheck: HubIdentityCheck | undefined;
  private closed = false;

  constructor(options: RestClientOptions) {
    this.address = options;
    this.redact = options.redact;
    this.assertLeader = options.assertLeader ?? (() => undefined);
    this.authBackoff = options.authBackoff ?? new AuthBackoff(options.clock);
    this.token = options.token;
    this.clock = options.clock;
    const connections = {
      keepAlive: true,
      timeout: KEEP_ALIVE_TIMEOUT,
      ...connectionOptions(options),
    };
    const tls = options.ca === undefined ? {} : { ca: options.ca };
    this.identityCheck = options.untrusted
      ? new HubIdentityCheck(() => verifyIsHub(this), options.clock)
      : undefined;
    this.agent = options.url.startsWith('https:')
      ? new https.Agent({ ...connections, ...tls })
      : new http.Agent(connections);
    this.http = axios.create({
      baseURL: options.url,
      httpAgent: this.agent,
      httpsAgent: this.agent,
      maxRedirects: 0,
      proxy: false,
      maxContentLength: options.untrusted ? MAX_UNTRUSTED_RESPONSE_SIZE : MAX_RESPONSE_SIZE,
      responseType: 'text',
      transformResponse: [],
      validateStatus: () => true,
    });
  }

  get<T>(path: string, options?: CallOptions): Promise<T> {
    return this.call('GET', path, undefined, options);
  }

  post<T>(path: string, body?: unknown, options?: CallOptions): Promise<T> {
    return this.call('POST', path, body, options);
  }

  /** A POST of a form, which is what the hub's token endpoint wants. */
  postForm<T>(path: string, fields: Readonly<Record<string, string>>, options?: CallOptions): Promise<T> {
    return this.call('POST', path, new URLSearchParams(fields), options);
  }

  delete<T>(path: string, options?: CallOptions): Promise<T> {
    return this.call('DELETE', path, undefined, options);
  }

  /** Whether the hub refuses our address altogether. Any other failure is not an answer to that, so it is false. */
  async isBanned(): Promise<boolean> {
    try {
      return (await this.send('GET', '/manifest.json', undefined, { token: null })).status === 403;
    } catch (error) {
      if (error instanceof HubUnreachable) return false;
      throw error;
    }
  }

  /** Whether nothing listens at the address, or a proxy there has no hub behind it. Needs no token. */
  async isDown(): Promise<boolean> {
    try {
      await this.get('/manifest.json', { token: null });
      return false;
    } catch (error) {
      return error instanceof HubUnreachable && error.isDown;
    }
  }

  /** Before a token goes to an untrusted address: shows that a hub is there. @throws NotHomeAssistant, HubUnreachable, … */
  async verifyIsHub(): Promise<void> {
    await this.identityCheck?.verify();
  }

  /** Cuts all connections; calls fail as unreachable from now on. */
  close(): void {
    this.closed = true;
    this.agent.destroy();
  }

  private async call<T>(method: Method, path: string, body: unknown, options: CallOptions = {}): Promise<T> {
    const ownToken = options.token === undefined && this.token !== undefined;
    if (ownToken || options.token != null) await this.verifyIsHub();
    if (!ownToken)
      return this.parsed(await this.send(method, path, body, options), path, options.token != null);
    this.authBackoff.admit();
    try {
      const answer = await this.parsed<T>(await this.send(method, path, body, options), path, true);
      this.authBackoff.recordSuccess();
      return answer;
    } catch (error) {
      if (error instanceof TokenRejected) this.authBackoff.recordRejection(error);
      else this.authBackoff.recordNoAnswer();
      throw error;
    }
  }

  private async parsed<T>(response: AxiosResponse<string>, path: string, withToken: boolean): Promise<T> {
    if (response.status >= 200 && response.status < 300) return parse(response) as T;
    throw await this.errorOf(response, path, withToken);
  }

  private async send(
    method: Method,
    path: string,
    body: unknown,
    options: CallOptions,
  ): Promise<AxiosResponse<string>> {
    if (this.closed) throw new HubUnreachable('the client of the hub is closed');
    if (method !== 'GET') this.assertLeader();
    this.refuseLocalHost();
    const timeout = options.timeout ?? REQUEST_TIMEOUT;
    const token = options.token === undefined ? this.token : options.token;
    const abort = new AbortController();
    const cancelTimeout = this.clock.after(timeout, () => abort.abort());
    try {
      return await this.http.request<string>({
        method,
        url: path,
        data: body,
        headers: token == null ? {} : { Authorization: `Bearer ${token}` },
        signal: abort.signal,
      });
    } catch (error) {
      if (!isAxiosError(error)) throw error;
      const reason = abort.signal.aborted
        ? `no answer within ${timeout / 1000} s`
        : describeNetworkError(error);
      const isDown = error.code === 'ECONNREFUSED';
      const failure = new HubUnreachable(`${this.address.url} cannot be reached: ${reason}`, isDown);
      this.identityCheck?.invalidateOn(failure);
      throw failure;
    } finally {
      cancelTimeout();
    }
  }

  private refuseLocalHost(): void {
    const { url, untrusted, allowLocal } = this.address;
    if (untrusted && !allowLocal && hasLocalHost(new URL(url))) {
      throw new NotHomeAssistant(`${url} is a loopback or link-local address, which is refused`);
    }
  }

  private async errorOf(
    response: AxiosResponse<string>,
    path: string,
    withToken: boolean,
  ): Promise<HubError> {
    const { status } = response;
    if (status >= 300 && status < 400) {
      return new NotHomeAssistant(
        `${this.address.url} answers with a redirect (${status}), which is not followed`,
      );
    }
    // Redacted before it is cut: half a secret would not be recognised.
    const text = truncate(this.redact(hubMessage(response) ?? `HTTP ${status}`), MAX_MESSAGE_LENGTH);
    switch (status) {
      case 401:
        return withToken ? new TokenRejected('HTTP 401') : new HubRejected('401', text);
      case 403:
        return path === '/manifest.json' || (await this.isBanned())
          ? new HubBanned()
          : new HubRejected('403', text);
      case 404:
        return new NotFound('404', text);
      case 429:
      case 502:
      case 503:
      case 504:
        return new HubUnreachable(`${this.address.url} is not available (HTTP ${status})`, status !== 429);
      default:
        return status >= 500 ? new HubFailed(text) : new HubRejected(String(status), text);
    }
  }
}

function parse(response: AxiosResponse<string>): unknown {
  const type = contentType(response);
  if (type === 'text/plain') return response.data;
  if (response.data === '') return undefined;
  // Neither quotes what was sent: it may come from anybody.
  if (!/[/+]json$/.test(type)) throw new NotHomeAssistant('an answer is not JSON, as a hub would give it');
  try {
    return JSON.parse(response.data);
  } catch {
    throw new HubFailed('an answer that is called JSON is not JSON');
  }
}

/** The hub's own words, if they are such: a proxy's error page is none. */
function hubMessage(response: AxiosResponse<string>): string | undefined {
  const type = contentType(response);
  const text =
    type === 'text/plain' ? response.data : /[/+]json$/.test(type) ? jsonMessage(response.data) : '';
  return text.trim() || undefined;
}

function jsonMessage(text: string): string {
  try {
    const body = JSON.parse(text) as Record<string, unknown> | null;
    for (const key of ['message', 'error_description', 'error']) {
      const value = body?.[key];
      if (typeof value === 'string' && value !== '') return value;
    }
    return text;
  } catch {
    return text; // still the hub's words, only not the shape that we know
  }
}

function contentType(response: AxiosResponse<string>): string {
  return String(response.headers['content-type'] ?? '')
    .replace(/;.*/, '')
    .trim()
    .toLowerCase();
}

/** In our words: those of a TLS failure quote the certificate, which anybody may have written. */
export function describeNetworkError({ code, message }: { code?: string; message: string }): string {
  switch (code) {
    case 'ECONNREFUSED':
      return 'connection refused';
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'its host name does not resolve';
    case 'ECONNRESET':
    case 'ERR_BAD_RESPONSE':
      return 'the connection broke';
    case 'ETIMEDOUT':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return 'nothing there answers';
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return 'its certificate is for another name';
    case 'CERT_HAS_EXPIRED':
      return 'its certificate has expired';
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'UNABLE_TO_GET_ISSUER_CERT':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
      return `its certificate is signed by nobody that we know (${code})`;
    case 'LOCAL_ADDRESS_REFUSED':
      return message;
    default:
      return code ?? 'the connection failed';
  }
}
