import type { Clock } from '../../base/clock';
import { MIN_WRITE_INTERVAL, RESYNC } from '../../base/limits';
import { HubFailed, HubRejected } from '../../client/connection/errors';

// Times are of the monotonic clock.

/** The memory of the writes of one object. `hash`: of the content that was sent. */
export interface Paced {
  /** When the last write began or, once the hub has accepted it, ended. */
  lastWriteAt?: number;
  /** The hub rejected this content. It would reject the same one again. `at` Infinity: until something else changes. */
  rejection?: { readonly hash: string; readonly error: HubRejected; readonly at: number } | undefined;
  /** The hub failed to write this content `count` times in a row. */
  failure?: { readonly hash: string; readonly count: number; readonly error: HubFailed } | undefined;
}

/** Decides when the next write of an object may be sent. */
export class WritePacing {
  /** @param retryRejected milliseconds until rejected content is sent again */
  constructor(
    private readonly clock: Clock,
    private readonly retryRejected: number,
  ) {}

  /** The words of the hub, while it would reject the content again; undefined: it may be sent. */
  rejectionOf({ rejection }: Paced, hash: string): HubRejected | undefined {
    const isKnown = rejection?.hash === hash && this.clock.monotonic() - rejection.at < this.retryRejected;
    return isKnown ? rejection.error : undefined;
  }

  /** Milliseconds until the next write. While the hub fails, as with a file that it cannot read, the interval doubles. */
  pause({ failure, lastWriteAt = -Infinity }: Paced, hash: string): number {
    const interval =
      failure?.hash === hash
        ? Math.min(MIN_WRITE_INTERVAL * 2 ** failure.count, RESYNC / 2)
        : MIN_WRITE_INTERVAL;
    return Math.max(0, lastWriteAt + interval - this.clock.monotonic());
  }

  /** A write begins, or the hub has answered it. */
  mark(paced: Paced): void {
    paced.lastWriteAt = this.clock.monotonic();
  }

  /**
   * Remembers a write that the hub rejected or failed at. Other errors say nothing of the content.
   *
   * @param isLasting a rejected write is not retried with time
   */
  record(paced: Paced, hash: string, error: Error | undefined, isLasting = false): void {
    if (error instanceof HubRejected)
      paced.rejection = { hash, error, at: isLasting ? Infinity : this.clock.monotonic() };
    if (!(error instanceof HubFailed)) return;
    const count = (paced.failure?.hash === hash ? paced.failure.count : 0) + 1;
    paced.failure = { hash, count, error };
  }
}
