import { HubFailed, HubRejected, HubUnreachable, NotFound } from './errors';
import type { Redact } from './redact';

/**
 * Translates what the WebSocket library rejects with: the hub's own `{code, message}`, or, for a lost connection, a
 * number, alone or as a `code` inside an `error`. Anything else (ours, or a bug) is handed on as it is.
 */
export function commandError(error: unknown, redact: Redact): unknown {
  if (error instanceof Error) return error;
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  if (typeof code !== 'string') return new HubUnreachable('the connection to the hub was lost');
  const text = redact(typeof message === 'string' ? message : code);
  switch (code) {
    case 'not_found':
      return new NotFound(code, text);
    case 'unknown_error': // what the hub calls an exception that it did not expect
      return new HubFailed(text);
    default:
      return new HubRejected(code, text);
  }
}
