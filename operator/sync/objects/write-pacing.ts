import type { Clock } from '../../base/clock';
import { MIN_WRITE_INTERVAL, RESYNC } from '../../base/limits';
import { HubFailed, HubRejected } from '../../client/connection/errors';

// Times in this file are of the monotonic clock.

/** The memory of the writes of one object. Each `hash` identifies the content that was sent. */
export interface Paced {
  /** The time at which the last write began or, once the hub has accepted it, ended. */
  lastWriteAt?: number;
  /**
   * The hub rejected this content and would reject it again. `at` is Infinity if only another change can
   * help.
   */
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

  /**
   * The hub's rejection, while it would reject the content again.
   *
   * @returns undefined when the content may be sent
   */
  rejectionOf({ rejection }: Paced, hash: string): HubRejected | undefined {
    const isKnown = rejection?.hash === hash && this.clock.monotonic() - rejection.at < this.retryRejected;
    return isKnown ? rejection.error : undefined;
  }

  /**
   * Milliseconds until the next write. While the hub fails, for example because it cannot read a file, the
   * interval doubles.
   */
  pause({ failure, lastWriteAt = -Infinity }: Paced, hash: string): number {
    const interval =
      failure?.hash === hash
        ? Math.min(MIN_WRITE_INTERVAL * 2 ** failure.count, RESYNC / 2)
        : MIN_WRITE_INTERVAL;
    return Math.max(0, lastWriteAt + interval - this.clock.monotonic());
  }

  /** Records that a write begins, or that the hub has answered it. */
  mark(paced: Paced): void {
    paced.lastWriteAt = this.clock.monotonic();
  }

  /**
   * Records that the hub rejected a write or failed at it. Other errors say nothing about the content.
   *
   * @param isLasting a rejected write is not retried after some time
   */
  record(paced: Paced, hash: string, error: Error | undefined, isLasting = false): void {
    if (error instanceof HubRejected)
      paced.rejection = { hash, error, at: isLasting ? Infinity : this.clock.monotonic() };
    if (!(error instanceof HubFailed)) return;
    const count = (paced.failure?.hash === hash ? paced.failure.count : 0) + 1;
    paced.failure = { hash, count, error };
  }
}
