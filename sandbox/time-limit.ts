import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Resolves with the result of `work`, or with that of `late` if `work` takes longer than `limit`
 * milliseconds. Then the work continues in the background.
 */
export async function withTimeLimit<T>(limit: number, work: Promise<T>, late: () => T): Promise<T> {
  const over = new AbortController();
  try {
    return await Promise.race([work, sleep(limit, undefined, { signal: over.signal }).then(late)]);
  } finally {
    over.abort();
  }
}
