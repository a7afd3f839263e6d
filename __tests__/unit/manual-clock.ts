import { setImmediate as macrotask, setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../operator/base/clock';

interface Timer {
  readonly at: number;
  readonly callback: () => void;
}

/** A clock that stands still until it is told to advance. */
export class ManualClock implements Clock {
  private time = 0;
  /** The time of day when `time` is 0. */
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

  /** Goes forward, stopping at each timer on the way so that its effects can run and set timers themselves. */
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

  /** Jumps forward without a timer having fired, as when the process was frozen meanwhile. */
  freeze(milliseconds: number): void {
    this.time += milliseconds;
  }

  /** Sets the clock on the wall, forward or back. No time passes by that. */
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
 * Lets time go by until the returned function is called: so slowly that nothing that this process does by itself misses a
 * deadline, also when a busy machine stops the process for longer than that.
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

/** Lets everything run that waits for no timer. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await macrotask();
}
