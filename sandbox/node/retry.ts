import { ApiException } from '@kubernetes/client-node';
import { pause, pauseAfter } from './pause';

export type Log = (line: string) => void;

/**
 * Repeats a request until the API server answers, without a limit. Returns `undefined` when the object is
 * gone or exists already (404, 409), when the server rejects the request (which is logged), or when the
 * signal is aborted.
 */
export async function retry<T>(
  what: string,
  request: () => Promise<T>,
  signal: AbortSignal,
  log: Log,
): Promise<T | undefined> {
  for (let failures = 0; !signal.aborted; failures++) {
    try {
      return await request();
    } catch (error) {
      const code = statusCode(error);
      if (code === 404 || code === 409) return undefined;
      log(`${what}: ${describe(error)}`);
      if (code >= 400 && code < 500 && code !== 429) return undefined;
      await pause(pauseAfter(failures), signal);
    }
  }
  return undefined;
}

/** Returns the HTTP status of an API error, or 0 when the server did not answer. */
function statusCode(error: unknown): number {
  return error instanceof ApiException ? error.code : 0;
}

/** Returns the error in one line, with the message of the API server's Status if there is one. */
export function describe(error: unknown): string {
  if (!(error instanceof ApiException)) return error instanceof Error ? error.message : String(error);
  const body: unknown = error.body;
  try {
    const status = (typeof body === 'string' ? JSON.parse(body) : body) as { message?: string } | undefined;
    return `${error.code} ${status?.message ?? ''}`.trim();
  } catch {
    // Not every error body is a Status: a proxy or a starting server answers with plain text.
    return `${error.code} ${String(body)}`;
  }
}
