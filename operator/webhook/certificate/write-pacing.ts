import type { Clock } from '../../clock';
import { WEBHOOK_WRITE_CALM, WEBHOOK_WRITE_PAUSE, WEBHOOK_WRITES_AT_ONCE } from '../../limits';

/**
 * When an object may be written again that another program changes back: a few times at once, then after a pause that doubles
 * (rules.md, "Certificate of the webhook").
 */
export class WritePacing {
  /** Writes since the object was left alone for a while. */
  private count = 0;
  /** Of the last write, by the monotonic clock. */
  private last = -Infinity;

  constructor(private readonly clock: Clock) {}

  /** Milliseconds until the next write; 0: now. */
  remaining(): number {
    const since = this.clock.monotonic() - this.last;
    if (since >= WEBHOOK_WRITE_CALM) this.count = 0;
    if (this.count < WEBHOOK_WRITES_AT_ONCE) return 0;
    const [first, longest] = WEBHOOK_WRITE_PAUSE;
    const pause = Math.min(first * 2 ** (this.count - WEBHOOK_WRITES_AT_ONCE), longest);
    return Math.max(0, pause - since);
  }

  /** Whether another program writes the object as often as this one. */
  get isContested(): boolean {
    return this.count >= WEBHOOK_WRITES_AT_ONCE;
  }

  written(): void {
    this.count += 1;
    this.last = this.clock.monotonic();
  }
}
