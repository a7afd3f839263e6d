import { HubFailed, HubRejected, HubUnreachable, NotFound, type RequestType } from './errors';
import type { Redact } from './redact';
import { truncate } from '../../base/truncate';
import { MAX_MESSAGE_LENGTH } from './rest';

/**
 * Converts an error of the WebSocket library: the hub's `{code, message}` or, for a lost connection, a
 * number, either alone or as the `code` of an `error`. Instances of Error (the operator's own errors, or
 * bugs) are returned unchanged.
 */
export function commandError(error: unknown, redact: Redact, requestType: RequestType): unknown {
  if (error instanceof Error) return error;
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  if (typeof code !== 'string') return new HubUnreachable('the connection to the hub was lost');
  const text = truncate(redact(typeof message === 'string' ? message : code), MAX_MESSAGE_LENGTH);
  switch (code) {
    case 'not_found':
      return new NotFound(code, text, requestType);
    case 'unknown_error': // an unexpected exception in the hub
      return new HubFailed(text);
    default:
      return new HubRejected(code, text, requestType);
  }
}
