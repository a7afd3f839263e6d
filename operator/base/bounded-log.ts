import type { Clock } from './clock';
import type { Logger } from './log';

/** Milliseconds between two lines. */
const PERIOD = 60_000;

/**
 * Writes at most one log line a minute about an event that another program can cause without limit. The line
 * has the number of events since the previous line.
 */
export class BoundedLog {
  private lastAt = -Infinity;
  private count = 0;

  constructor(
    private readonly options: { readonly clock: Clock; readonly log: Logger },
    private readonly message: string,
  ) {}

  add(fields: object): void {
    this.count += 1;
    const now = this.options.clock.monotonic();
    if (now - this.lastAt < PERIOD) return;
    this.options.log.warn({ ...fields, count: this.count }, this.message);
    this.lastAt = now;
    this.count = 0;
  }
}
