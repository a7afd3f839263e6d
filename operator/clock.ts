/**
 * Time, from one place, so that tests need not wait. Everything in the operator that asks for the time or waits for
 * it does so through a `Clock`; `systemClock` is the real one, tests pass their own.
 */
export interface Clock {
  /** Milliseconds since the epoch, for timestamps and for what is compared with one. It may jump: somebody may set it. */
  now(): number;
  /** Milliseconds since some moment, for durations and deadlines: it only goes forward. */
  monotonic(): number;
  /** Calls `callback` once after `delayMs` milliseconds, unless the returned function is called before. */
  after(delayMs: number, callback: () => void): () => void;
  /** Resolves after `delayMs` milliseconds; rejects with the signal's reason when that aborts first. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
}

// setTimeout takes milliseconds as a signed 32-bit number; a longer delay would fire at once.
const LONGEST_TIMEOUT = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(delayMs, callback) {
    const timer = setTimeout(callback, Math.min(Math.max(0, delayMs), LONGEST_TIMEOUT));
    return () => clearTimeout(timer);
  },
  sleep(delayMs, signal) {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const onAbort = () => {
        cancel();
        reject(signal?.reason);
      };
      const cancel = systemClock.after(delayMs, () => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      });
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  },
};

/** RFC 3339 with whole seconds, as Kubernetes' `metav1.Time` wants it. */
export function timestamp(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d{3}Z$/, 'Z');
}
