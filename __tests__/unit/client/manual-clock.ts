import { setImmediate as macrotask } from 'node:timers/promises';
import type { Clock } from '../../../operator/clock';

/** A clock that stands still until it is told to advance. */
export class ManualClock implements Clock {
  #now = Date.UTC(2026, 0, 1);
  readonly #timers = new Set<{ readonly at: number; readonly callback: () => void }>();

  get pendingTimers(): number {
    return this.#timers.size;
  }

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#now;
  }

  after(delayMs: number, callback: () => void): () => void {
    const timer = { at: this.#now + Math.max(0, delayMs), callback };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const cancel = this.after(delayMs, resolve);
      signal?.addEventListener('abort', () => {
        cancel();
        reject(signal.reason);
      });
    });
  }

  /** Goes forward, stopping at each timer on the way so that what it sets off can run and set timers itself. */
  async advance(milliseconds: number): Promise<void> {
    const target = this.#now + milliseconds;
    await settle();
    for (;;) {
      const [next] = [...this.#timers].filter((timer) => timer.at <= target).sort((a, b) => a.at - b.at);
      if (!next) break;
      this.#timers.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.callback();
      await settle();
    }
    this.#now = target;
  }
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await macrotask();
}
