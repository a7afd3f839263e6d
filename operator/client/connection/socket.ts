import WebSocket from 'isomorphic-ws';
import type { HaWebSocket } from 'home-assistant-js-websocket';
import type { IncomingMessage } from 'node:http';
import { parseBounded, TooManyValues } from '../../base/bounded-json';
import type { Clock } from '../../base/clock';
import { type Message, MessageGate } from './message-gate';
import { assertMessage } from './message-limits';
import type { Logger } from '../../base/log';
import { HubBanned, type HubError, HubUnreachable, TokenRejected } from './errors';
import { connectionOptions, type HubAddress } from './hub-address';
import { describeNetworkError } from './network-error';
import { hubBodies, type RestClient } from './rest';

/** Milliseconds for the upgrade, and again for the authentication. */
const HANDSHAKE_TIMEOUT = 10_000;

/** Most bytes of a message. The registry of a hub with 10,000 entities has about 8 MiB. */
const MAX_MESSAGE_SIZE = 12 * 1024 * 1024;
/** Bytes that the hub may send before the operator is authenticated. */
const MAX_HANDSHAKE_SIZE = 64 * 1024;
const TOO_LONG_BEFORE = `it is longer than ${MAX_HANDSHAKE_SIZE} bytes before the authentication`;
/** Id of the first message, which the library does not use. */
export const FEATURES_COMMAND = 1;
/** Most frames of a message. A hub sends each message as one frame. */
const MAX_FRAGMENTS = 64;
/**
 * Most network packets of a message, since each takes memory in addition to its bytes. A network splits 12
 * MiB into 9,000 packets.
 */
const MAX_CHUNKS = 16_384;

/**
 * A WebSocket with limits. An invalid message, an exception of a listener, or a message larger than the
 * available memory ends only the connection, not the process.
 */
class HubSocket extends WebSocket {
  haVersion = '';
  log: Logger | undefined;
  isAuthenticated = false;
  /** The reason why the operator closed the connection, if the hub exceeded a limit. */
  refusal: string | undefined;
  private readonly gate = new MessageGate({
    pause: () => this.pause(),
    resume: () => this.resume(),
    onWait: () => this.endArrival(),
    read: (message) => {
      this.tell('message', message);
      return this.refusal === undefined;
    },
  });
  /** Bytes since the last message that was read. */
  private arrived = 0;
  private readonly arriving = hubBodies.hold(() =>
    this.refuse('too many large ones arrive at the same time'),
  );

  override emit(event: string | symbol, ...details: unknown[]): boolean {
    // Only from `open` on: before that, a listener would take away the first bytes of the connection.
    if (event === 'upgrade') this.once('open', () => this.watchSize(details[0] as IncomingMessage));
    if (event === 'error') this.refuseInvalidFrame(details[0] as { readonly code?: string });
    if (event === 'close') {
      this.arriving.release();
      this.gate.close();
    }
    if (event === 'message' && this.isAuthenticated && this.gate.holds(details as unknown as Message))
      return true;
    return this.tell(event, details);
  }

  private tell(event: string | symbol, details: readonly unknown[]): boolean {
    try {
      if (event === 'message') this.checkMessage(details[0] as Buffer);
      return super.emit(event, ...details);
    } catch (error) {
      if (error instanceof TooManyValues) this.refuse(error.message);
      else if (event === 'message') this.refuse('it is no message of a hub');
      else {
        this.log?.error(
          { error, event: String(event) },
          'listener of hub socket failed, reopening connection',
        );
        this.terminate();
      }
      return true;
    }
  }

  /** Limits the bytes of a message before it is complete, and the total of all hubs. */
  private watchSize({ socket }: IncomingMessage): void {
    socket.on('data', (chunk: Buffer) => {
      this.arrived += chunk.length;
      this.arriving.set(this.arrived);
      if (!this.isAuthenticated && this.arrived > MAX_HANDSHAKE_SIZE) this.refuse(TOO_LONG_BEFORE);
    });
  }

  /** @throws TooManyValues */
  private checkMessage(message: Buffer): void {
    if (!this.isAuthenticated && message.length > MAX_HANDSHAKE_SIZE) return this.refuse(TOO_LONG_BEFORE);
    this.endArrival();
    assertMessage(message);
  }

  /**
   * Ends the count for a complete message, which must not be aborted in favour of others that are arriving.
   */
  private endArrival(): void {
    if (this.isAuthenticated) this.arrived = 0;
    this.arriving.release();
  }

  private refuseInvalidFrame({ code }: { readonly code?: string }): void {
    if (code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH')
      this.refuse(`it is longer than ${MAX_MESSAGE_SIZE} bytes`);
    else if (code?.startsWith('WS_ERR_')) this.refuse(`it is not valid (${code})`);
  }

  private refuse(why: string): void {
    this.refusal ??= why;
    this.log?.warn({ why }, 'message of hub is not read, closing connection');
    this.terminate();
  }
}

/**
 * The error of a connection that the operator closed because the hub exceeded a limit; undefined if it did
 * not.
 */
export function refusalOf(socket: HaWebSocket | HubSocket): HubUnreachable | undefined {
  const { refusal } = socket as HubSocket;
  return refusal === undefined
    ? undefined
    : new HubUnreachable(`a message of the hub is not read: ${refusal}`);
}

/**
 * Connects to the hub's WebSocket and authenticates.
 *
 * @throws TokenRejected, HubBanned, HubUnreachable; NotHomeAssistant at an untrusted address
 */
export async function openSocket(
  rest: RestClient,
  token: string,
  clock: Clock,
  log: Logger,
): Promise<HaWebSocket> {
  await rest.verifyIsHub();
  const socket = new HubSocket(webSocketUrl(rest.address), {
    handshakeTimeout: HANDSHAKE_TIMEOUT,
    perMessageDeflate: false,
    maxPayload: MAX_MESSAGE_SIZE,
    maxFragments: MAX_FRAGMENTS,
    maxBufferedChunks: MAX_CHUNKS,
    ...connectionOptions(rest.address),
  });
  socket.log = log;
  try {
    await authenticate(socket, token, clock);
    socket.isAuthenticated = true;
  } catch (error) {
    socket.terminate();
    if (error instanceof UpgradeRefused && error.status === 403 && (await rest.isBanned())) {
      throw new HubBanned();
    }
    throw refusalOf(socket) ?? asHubError(error, rest);
  }
  // Allows the hub to send bursts of events in one frame.
  socket.send(
    JSON.stringify({ type: 'supported_features', id: FEATURES_COMMAND, features: { coalesce_messages: 1 } }),
  );
  // `ws` implements the parts of the browser's interface that the library uses; its types do not show that.
  return socket as unknown as HaWebSocket;
}

/** Ends a connection immediately, without a close handshake. */
export function terminate(socket: HaWebSocket | undefined): void {
  if (socket) (socket as unknown as HubSocket).terminate();
}

/** An error whose message may be written to a status. */
class HandshakeFailed extends Error {}

class UpgradeRefused extends HandshakeFailed {
  constructor(readonly status: number) {
    super(`its WebSocket answers HTTP ${status}`);
  }
}

function authenticate(socket: HubSocket, token: string, clock: Clock): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (finish: () => void) => {
      cancelTimeout();
      socket.off('message', onMessage);
      finish();
    };
    const fail = (error: Error) => settle(() => reject(error));
    const cancelTimeout = clock.after(2 * HANDSHAKE_TIMEOUT, () =>
      fail(new HandshakeFailed('no answer to the handshake')),
    );
    const onMessage = (data: WebSocket.RawData) => {
      const message = parseBounded(data as Buffer) as {
        type?: string;
        message?: string;
        ha_version?: string;
      };
      if (message.type === 'auth_required') {
        socket.send(JSON.stringify({ type: 'auth', access_token: token }));
      } else if (message.type === 'auth_invalid') {
        fail(new TokenRejected('auth_invalid'));
      } else if (message.type === 'auth_ok') {
        socket.haVersion = message.ha_version ?? '';
        settle(resolve);
      }
    };
    socket.on('message', onMessage);
    // The listeners are never removed: an `error` without a listener would be thrown, and a second rejection
    // has no effect.
    socket.on('error', fail);
    socket.on('close', () => fail(new HandshakeFailed('the connection broke')));
    socket.once('unexpected-response', (_request, response) => {
      response.resume();
      fail(new UpgradeRefused(response.statusCode ?? 0));
    });
  });
}

function asHubError(error: unknown, rest: RestClient): HubError {
  if (error instanceof TokenRejected) return error;
  const why = error instanceof HandshakeFailed ? error.message : describeNetworkError(error as Error);
  return new HubUnreachable(`${rest.address.url} cannot be reached: ${why}`);
}

function webSocketUrl({ url }: HubAddress): string {
  return new URL('/api/websocket', url.replace(/^http/, 'ws')).href;
}
