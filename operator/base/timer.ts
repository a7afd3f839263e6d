import type { Clock } from './clock';

/** A timer with at most one pending callback. */
export class Timer {
  private cancel: (() => void) | undefined;

  constructor(private readonly clock: Clock) {}

  /** Whether a callback is pending. */
  get pending(): boolean {
    return this.cancel !== undefined;
  }

  /** Calls `callback` once after `delay` milliseconds; replaces a pending callback. */
  set(delay: number, callback: () => void): void {
    this.clear();
    this.cancel = this.clock.after(delay, () => {
      this.cancel = undefined;
      callback();
    });
  }

  clear(): void {
    this.cancel?.();
    this.cancel = undefined;
  }
}

/** Counts events in periods of fixed length. A period begins with the first event after the period before. */
export class Rate {
  private began = -Infinity;
  private count = 0;

  /** @param period milliseconds */
  constructor(
    private readonly clock: Clock,
    private readonly period: number,
  ) {}

  /** Counts one more event. @returns the number of events in the current period */
  add(): number {
    const now = this.clock.monotonic();
    if (now - this.began >= this.period) {
      this.began = now;
      this.count = 0;
    }
    return ++this.count;
  }
}
