import WebSocket from 'isomorphic-ws';
import type { HaWebSocket } from 'home-assistant-js-websocket';
import type { Clock } from '../clock';
import type { Logger } from '../log';
import { HubBanned, type HubError, HubUnreachable, TokenRejected } from './errors';
import {
  MAX_RESPONSE_SIZE,
  MAX_UNTRUSTED_MESSAGE_SIZE,
  connectionOptions,
  describeNetworkError,
  type HubAddress,
  type RestClient,
} from './rest';

/** Milliseconds that the upgrade and the authentication may take, each. */
export const HANDSHAKE_TIMEOUT = 10_000;

/**
 * A WebSocket on which neither an invalid frame nor an exception of a listener can end the process: both end the
 * connection, which is then reopened.
 */
class HubSocket extends WebSocket {
  haVersion = '';
  log: Logger | undefined;

  override emit(event: string | symbol, ...details: unknown[]): boolean {
    try {
      return super.emit(event, ...details);
    } catch (error) {
      this.log?.error({ error, event: String(event) }, 'listener of hub socket failed, reopening connection');
      this.terminate();
      return true;
    }
  }
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
    maxPayload: rest.address.untrusted ? MAX_UNTRUSTED_MESSAGE_SIZE : MAX_RESPONSE_SIZE,
    ...(rest.address.ca !== undefined && { ca: rest.address.ca }),
    ...connectionOptions(rest.address),
  });
  socket.log = log;
  try {
    await authenticate(socket, token, clock);
  } catch (error) {
    socket.terminate();
    if (error instanceof UpgradeRefused && error.status === 403 && (await rest.isBanned())) {
      throw new HubBanned();
    }
    throw asHubError(error, rest);
  }
  // Lets the hub send bursts of events in one frame.
  socket.send(JSON.stringify({ type: 'supported_features', id: 1, features: { coalesce_messages: 1 } }));
  // `ws` has the parts of the browser's interface that the library uses; the types do not show that.
  return socket as unknown as HaWebSocket;
}

/** Ends a connection at once, without a close handshake. */
export function terminate(socket: HaWebSocket | undefined): void {
  if (socket) (socket as unknown as HubSocket).terminate();
}

/** Its message may be written to a status. */
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
      const message = JSON.parse((data as Buffer).toString()) as {
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
    // These two listeners stay: an `error` without a listener would be thrown, and a second rejection has no effect.
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
