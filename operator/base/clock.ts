/**
 * The operator reads the time and waits only through a `Clock`: `systemClock` in production, a manual clock in tests.
 */
export interface Clock {
  /**
   * Milliseconds since the epoch, for timestamps and comparisons with them. It may jump when the system time is set.
   */
  now(): number;
  /** Milliseconds since an arbitrary moment, for durations and deadlines. It never goes back. */
  monotonic(): number;
  /** Calls `callback` once after `delayMs` milliseconds. The returned function cancels it. */
  after(delayMs: number, callback: () => void): () => void;
  /**
   * Resolves after `delayMs` milliseconds, or rejects with the signal's reason if the signal aborts first.
   */
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

/** RFC 3339 with whole seconds, the format of `metav1.Time`. */
export function timestamp(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d{3}Z$/, 'Z');
}
