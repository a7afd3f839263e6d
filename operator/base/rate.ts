import type { Clock } from './clock';

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
