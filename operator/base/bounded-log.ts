import type { Clock } from './clock';
import type { Logger } from './log';

/** Milliseconds between two lines. */
const PERIOD = 60_000;

/** Writes one line a minute of what another program can cause without an end: it has the number since the line before. */
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
