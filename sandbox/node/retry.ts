import { ApiException } from '@kubernetes/client-node';
import { pause, pauseAfter } from './pause';

export type Log = (line: string) => void;

/**
 * Asks the API server until it answers, however long it is away. `undefined` when the object is gone or already as
 * wanted (404, 409), when the server refuses (logged), or when the signal ended it.
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

/** HTTP status of a refusal; 0 when the server could not be asked. */
export function statusCode(error: unknown): number {
  return error instanceof ApiException ? error.code : 0;
}

/** One line: the API server's own message when there is one. */
export function describe(error: unknown): string {
  if (!(error instanceof ApiException)) return error instanceof Error ? error.message : String(error);
  const body: unknown = error.body;
  try {
    const status = (typeof body === 'string' ? JSON.parse(body) : body) as { message?: string } | undefined;
    return `${error.code} ${status?.message ?? ''}`.trim();
  } catch {
    // Not every refusal is a Status: a proxy or a starting server answers in plain text.
    return `${error.code} ${String(body)}`;
  }
}
