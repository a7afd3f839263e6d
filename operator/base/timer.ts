import type { Clock } from './clock';

/** At most one pending callback. */
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

/** Counts what happens within a time, from the first of it on. */
export class Rate {
  private began = -Infinity;
  private count = 0;

  /** @param period milliseconds */
  constructor(
    private readonly clock: Clock,
    private readonly period: number,
  ) {}

  /** Counts one more, and returns how many there were within the time. */
  add(): number {
    const now = this.clock.monotonic();
    if (now - this.began >= this.period) {
      this.began = now;
      this.count = 0;
    }
    return ++this.count;
  }
}
