import { setImmediate as macrotask, setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../operator/base/clock';

interface Timer {
  readonly at: number;
  readonly callback: () => void;
}

/** A clock that stands still until a test advances it. */
export class ManualClock implements Clock {
  private time = 0;
  /** The wall-clock time when `time` is 0. */
  private epoch = Date.UTC(2026, 0, 1);
  private readonly timers = new Set<Timer>();

  get pendingTimers(): number {
    return this.timers.size;
  }

  now(): number {
    return this.epoch + this.time;
  }

  monotonic(): number {
    return this.time;
  }

  after(delayMs: number, callback: () => void): () => void {
    const timer = { at: this.time + Math.max(0, delayMs), callback };
    this.timers.add(timer);
    return () => void this.timers.delete(timer);
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const onAbort = () => {
        cancel();
        reject(signal?.reason);
      };
      const cancel = this.after(delayMs, () => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      });
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  /**
   * Advances the clock and stops at each timer on the way, so that its effects can run and set timers
   * themselves.
   */
  async advance(milliseconds: number): Promise<void> {
    const target = this.time + milliseconds;
    await settle();
    for (let next = this.next(target); next; next = this.next(target)) {
      this.timers.delete(next);
      this.time = Math.max(this.time, next.at);
      next.callback();
      await settle();
    }
    this.time = target;
  }

  /** Jumps forward without firing timers, as if the process had been frozen. */
  freeze(milliseconds: number): void {
    this.time += milliseconds;
  }

  /** Sets the wall clock forward or back. No time passes. */
  set(by: number): void {
    this.epoch += by;
  }

  private next(target: number): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.timers) if (timer.at <= target && (!next || timer.at < next.at)) next = timer;
    return next;
  }
}

/**
 * Advances the clock until the returned function is called. This happens so slowly that no work of this
 * process misses a deadline, even when a busy machine stops the process for longer.
 */
export function letTimePass(clock: ManualClock): () => void {
  let isOver = false;
  void (async () => {
    while (!isOver) {
      await clock.advance(20);
      await sleep(5);
    }
  })();
  return () => (isOver = true);
}

/** Runs all work that waits for no timer. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await macrotask();
}
