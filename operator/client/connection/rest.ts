import http from 'node:http';
import https from 'node:https';
import axios, { type AxiosInstance } from 'axios';
import type { Readable } from 'node:stream';
import { BodyBudget, BodyRefused, readBody } from '../../base/body-budget';
import { TooManyValues } from '../../base/bounded-json';
import type { Clock } from '../../base/clock';
import { messageOf } from '../../base/errors';
import { largeTexts } from '../../base/turns';
import { truncate } from '../../base/truncate';
import {
  AnswerTooLarge,
  HubBanned,
  type HubError,
  HubFailed,
  HubRejected,
  HubUnreachable,
  NotHomeAssistant,
  NotFound,
  TokenRejected,
} from './errors';
import { type Answer, hubMessage, parse } from './answer-body';
import { connectionOptions, type HubAddress } from './hub-address';
import { hasLocalHost, LOCAL_ADDRESS } from './local-address';
import { describeNetworkError, isNetworkError } from './network-error';
import { HubIdentityCheck, verifyIsHub } from './hub-identity';
import type { Redact } from './redact';
import { checked, type Shape } from './shape';
import { AuthBackoff } from './auth-backoff';

/** Milliseconds. The hub answers most requests in a few milliseconds. */
const REQUEST_TIMEOUT = 10_000;
/** Milliseconds. Writes and reloads parse whole files: up to a second with 500 automations, more on a small board. */
const WRITE_TIMEOUT = 30_000;

/**
 * Bytes of an answer over HTTP, such as the configuration of an automation, a form, or the names of
 * components.
 */
export const MAX_ANSWER_SIZE = 4 * 1024 * 1024;
/** The limit in bytes for all large answers and messages of hubs that are arriving at the same time. */
export const hubBodies = new BodyBudget(20 * 1024 * 1024);
/** Most characters of a hub's text in an error. */
export const MAX_MESSAGE_LENGTH = 1_000;
// Milliseconds. Shorter than the hub's own timeout (over a minute), so that no request uses a connection that
// the hub is closing.
const KEEP_ALIVE_TIMEOUT = 20_000;

export interface RestClientOptions extends HubAddress {
  /** Bearer token of calls without {@link CallOptions.token}. Without it, such calls are unauthenticated. */
  readonly token?: string | undefined;
  /** Shared by all clients with the same token. */
  readonly authBackoff?: AuthBackoff | undefined;
  /**
   * Milliseconds until the hub must have answered a request for which it parses or writes a file. Default
   * {@link WRITE_TIMEOUT}.
   */
  readonly writeTimeout?: number | undefined;
  readonly clock: Clock;
  /** Applied to every text of the hub that becomes part of an error. */
  readonly redact: Redact;
  /**
   * Throws when this process may no longer write to the hub. Called right before each request that is not a
   * GET.
   */
  readonly assertLeader?: (() => void) | undefined;
}

export interface CallOptions<T = unknown> {
  /** The shape that the answer must have. Absent if the answer is not used. */
  readonly answer?: Shape<T>;
  /** Another bearer token for this call; null for none. */
  readonly token?: string | null;
  /** Timeout for the complete answer in milliseconds. Default {@link REQUEST_TIMEOUT}. */
  readonly timeout?: number;
  /** Aborting it cancels the request; its reason becomes the message of the error. */
  readonly signal?: AbortSignal;
}

type Method = 'GET' | 'POST' | 'DELETE';

/**
 * HTTP client of one hub with keep-alive connections. Results are parsed JSON. Redirects are not followed,
 * and proxy settings of the environment are ignored.
 *
 * Every method throws only errors of `errors.ts`, and the error of `assertLeader`.
 */
export class RestClient {
  readonly address: HubAddress;
  readonly redact: Redact;
  readonly assertLeader: () => void;
  readonly writeTimeout: number;
  private readonly authBackoff: AuthBackoff;
  private readonly token: string | undefined;
  private readonly clock: Clock;
  private readonly agent: http.Agent;
  private readonly http: AxiosInstance;
  private readonly identityCheck: HubIdentityCheck | undefined;
  private closed = false;
  /**
   * Seconds by which the hub’s clock is ahead of the operator’s, from the header `Date` of its last answer;
   * undefined if that had none.
   */
  clockOffset: number | undefined;

  constructor(options: RestClientOptions) {
    this.address = options;
    this.redact = options.redact;
    this.writeTimeout = options.writeTimeout ?? WRITE_TIMEOUT;
    this.assertLeader = options.assertLeader ?? (() => undefined);
    this.authBackoff = options.authBackoff ?? new AuthBackoff(options.clock);
    this.token = options.token;
    this.clock = options.clock;
    const connections = { keepAlive: true, timeout: KEEP_ALIVE_TIMEOUT, ...connectionOptions(options) };
    this.identityCheck = options.untrusted
      ? new HubIdentityCheck(() => verifyIsHub(this), options.clock)
      : undefined;
    this.agent = new (options.url.startsWith('https:') ? https : http).Agent(connections);
    this.http = axios.create({
      baseURL: options.url,
      httpAgent: this.agent,
      httpsAgent: this.agent,
      maxRedirects: 0,
      proxy: false,
      maxContentLength: -1, // `readBody` limits the size
      responseType: 'stream',
      validateStatus: () => true,
    });
  }

  get<T>(path: string, options?: CallOptions<T>): Promise<T> {
    return this.call('GET', path, undefined, options);
  }

  post<T>(path: string, body?: unknown, options?: CallOptions<T>): Promise<T> {
    return this.call('POST', path, body, options);
  }

  /** POSTs a URL-encoded form, which the hub's token endpoint requires. */
  postForm<T>(path: string, fields: Readonly<Record<string, string>>, options?: CallOptions<T>): Promise<T> {
    return this.call('POST', path, new URLSearchParams(fields), options);
  }

  delete<T>(path: string, options?: CallOptions<T>): Promise<T> {
    return this.call('DELETE', path, undefined, options);
  }

  /** Whether the hub has banned the operator's address; false when the hub does not answer. */
  async isBanned(): Promise<boolean> {
    try {
      return (await this.send('GET', '/manifest.json', undefined, { token: null })).status === 403;
    } catch (error) {
      if (error instanceof HubUnreachable) return false;
      throw error;
    }
  }

  /**
   * Whether the connection is refused, or a proxy reports that its backend is down. The check sends no token.
   */
  async isDown(): Promise<boolean> {
    try {
      await this.get('/manifest.json', { token: null });
      return false;
    } catch (error) {
      return error instanceof HubUnreachable && error.isDown;
    }
  }

  /**
   * Verifies that an untrusted address is a hub, before a token is sent. @throws NotHomeAssistant,
   * HubUnreachable, …
   */
  async verifyIsHub(): Promise<void> {
    await this.identityCheck?.verify();
  }

  /** Closes all connections; later calls fail with HubUnreachable. */
  close(): void {
    this.closed = true;
    this.agent.destroy();
  }

  private async call<T>(
    method: Method,
    path: string,
    body: unknown,
    options: CallOptions<T> = {},
  ): Promise<T> {
    const answer = await this.request(method, path, body, options);
    return options.answer ? checked(`${method} ${path}`, answer, options.answer) : (answer as T);
  }

  /** @throws HubUnreachable this client was closed, because another one replaced it */
  assertOpen(): void {
    if (this.closed) throw new HubUnreachable('the client of the hub is closed');
  }

  private async request(method: Method, path: string, body: unknown, options: CallOptions): Promise<unknown> {
    const ownToken = options.token === undefined && this.token !== undefined;
    if (ownToken || options.token != null) await this.verifyIsHub();
    if (!ownToken)
      return this.parsed(await this.send(method, path, body, options), method, path, options.token != null);
    this.authBackoff.admit();
    try {
      const answer = await this.parsed(await this.send(method, path, body, options), method, path, true);
      this.authBackoff.recordSuccess();
      return answer;
    } catch (error) {
      if (error instanceof TokenRejected) this.authBackoff.recordRejection(error);
      else this.authBackoff.recordNoAnswer();
      throw error;
    }
  }

  private async parsed(answer: Answer, method: Method, path: string, withToken: boolean): Promise<unknown> {
    if (answer.status < 200 || answer.status >= 300)
      throw await this.errorOf(answer, method, path, withToken);
    try {
      return parse(answer);
    } catch (error) {
      throw error instanceof TooManyValues ? this.refused(error) : error;
    }
  }

  private refused({ message }: Error): AnswerTooLarge {
    return new AnswerTooLarge(`an answer of ${this.address.url} is not read: ${message}`);
  }

  private async send(method: Method, path: string, body: unknown, options: CallOptions): Promise<Answer> {
    this.assertOpen();
    if (method !== 'GET') this.assertLeader();
    this.refuseLocalHost();
    const timeout = options.timeout ?? REQUEST_TIMEOUT;
    const token = options.token === undefined ? this.token : options.token;
    const abort = new AbortController();
    const cancelTimeout = this.clock.after(timeout, () => abort.abort());
    const giveUp = () => abort.abort();
    options.signal?.addEventListener('abort', giveUp);
    try {
      const { data, headers, status } = await this.http.request<Readable>({
        method,
        url: path,
        data: body,
        headers: token == null ? {} : { Authorization: `Bearer ${token}` },
        signal: abort.signal,
      });
      this.clockOffset = offsetOf(headers['date'], this.clock.now());
      return { status, contentType: contentType(headers['content-type']), body: await received(data) };
    } catch (error) {
      if (error instanceof BodyRefused) throw this.refused(error);
      if (!isNetworkError(error)) throw error;
      const reason = options.signal?.aborted
        ? messageOf(options.signal.reason)
        : abort.signal.aborted
          ? `no answer within ${timeout / 1000} s`
          : describeNetworkError(error);
      const isDown = error.code === 'ECONNREFUSED';
      const failure = new HubUnreachable(`${this.address.url} cannot be reached: ${reason}`, isDown);
      this.identityCheck?.invalidateOn(failure);
      throw failure;
    } finally {
      cancelTimeout();
      options.signal?.removeEventListener('abort', giveUp);
    }
  }

  private refuseLocalHost(): void {
    const { url, untrusted, allowLocal } = this.address;
    if (untrusted && !allowLocal && hasLocalHost(new URL(url))) {
      throw new NotHomeAssistant(`${url} is ${LOCAL_ADDRESS}, which is refused`);
    }
  }

  private async errorOf(answer: Answer, method: Method, path: string, withToken: boolean): Promise<HubError> {
    const { status } = answer;
    const requestType = method === 'GET' ? 'read' : 'write';
    if (status >= 300 && status < 400) {
      return new NotHomeAssistant(
        `${this.address.url} answers with a redirect (${status}), which is not followed`,
      );
    }
    // Redacted before it is truncated: part of a truncated secret would not be recognized.
    const text = truncate(this.redact(hubMessage(answer) ?? `HTTP ${status}`), MAX_MESSAGE_LENGTH);
    switch (status) {
      case 401:
        return withToken ? new TokenRejected('HTTP 401') : new HubRejected('401', text, requestType);
      case 403:
        return path === '/manifest.json' || (await this.isBanned())
          ? new HubBanned()
          : new HubRejected('403', text, requestType);
      case 404:
        return new NotFound('404', text, requestType);
      case 429:
      case 502:
      case 503:
      case 504:
        return new HubUnreachable(`${this.address.url} is not available (HTTP ${status})`, status !== 429);
      default:
        return status >= 500
          ? new HubFailed(text, status)
          : new HubRejected(String(status), text, requestType);
    }
  }
}

/** Reads the body of an answer and waits for its turn to be parsed. */
async function received(data: Readable): Promise<Buffer> {
  const body = await readBody(data, MAX_ANSWER_SIZE, hubBodies).finally(
    () => !data.readableEnded && data.destroy(),
  );
  await largeTexts.take(body.buffer.byteLength);
  return body;
}

/** @param date value of the header `Date`, with whole seconds */
function offsetOf(date: unknown, now: number): number | undefined {
  const seconds = Math.round((Date.parse(String(date)) + 499 - now) / 1_000);
  return Number.isNaN(seconds) ? undefined : seconds;
}

function contentType(header: unknown): string {
  return (typeof header === 'string' ? header : '').replace(/;.*/, '').trim().toLowerCase();
}
