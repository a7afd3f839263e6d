import { setTimeout as sleep } from 'node:timers/promises';

/** The result of `work`, or that of `late` if it is not there after so many milliseconds; the work then goes on unobserved. */
export async function withTimeLimit<T>(limit: number, work: Promise<T>, late: () => T): Promise<T> {
  const over = new AbortController();
  try {
    return await Promise.race([work, sleep(limit, undefined, { signal: over.signal }).then(late)]);
  } finally {
    over.abort();
  }
}
