import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../base/clock';
import type { Logger } from '../base/log';
import type { Lease } from './lease-lock';

interface Options {
  readonly clock: Clock;
  readonly log: Logger;
  /** Identity of this process in the Lease. */
  readonly identity: string;
  /** Lease duration in milliseconds. */
  readonly leaseDuration: number;
  /** Milliseconds within which a leader that reaches the API server writes a missing Lease again. */
  readonly grace: number;
}

/** Value of `leaseDurationSeconds` that a holder writes when it releases its Lease, as client-go does. */
export const RELEASED = 1;

/**
 * The states of the Lease that a candidate has seen. A missing holder proves nothing until the Lease has
 * stayed in that state for a lease duration. A Lease that its holder has released is free at once.
 */
export class ObservedLease {
  private seen:
    | {
        /** The spec of the Lease; undefined if there was no Lease. */
        readonly spec: Lease['spec'];
        /** Time at which the first response with this state arrived, by the monotonic clock. */
        readonly at: number;
        /** Milliseconds after `at` during which another process may be the leader. */
        readonly lasts: number;
      }
    | undefined;

  constructor(private readonly options: Options) {}

  /**
   * Records the state of the Lease. @returns whether another process may be the leader
   *
   * @param askedAt time at which the Lease was requested, by the monotonic clock; if the process was frozen
   * since, the response is old
   */
  mayBeHeld(lease: Lease | undefined, askedAt: number): boolean {
    const spec = lease?.spec;
    if (!this.seen || !isDeepStrictEqual(spec, this.seen.spec)) {
      const lasts = this.durationOf(spec);
      this.report(spec, lasts);
      this.seen = { spec, at: this.options.clock.monotonic(), lasts };
    }
    const { at, lasts } = this.seen;
    return lasts > 0 && askedAt < at + lasts; // a free lease is taken the first time it is seen
  }

  private durationOf(spec: Lease['spec']): number {
    const { grace, identity, leaseDuration } = this.options;
    const { holderIdentity: holder = '', leaseDurationSeconds = 0 } = spec ?? {};
    if (holder === identity || this.isRelease(spec)) return 0;
    if (holder === '') return this.seen ? leaseDuration : grace;
    return Math.max(leaseDurationSeconds * 1_000, leaseDuration);
  }

  /**
   * Whether the holder has released the Lease, recognized by an unchanged term. Another client that empties
   * the Lease does not change its duration, and an older Lease that is restored has another term.
   */
  private isRelease(spec: Lease['spec']): boolean {
    if (spec?.holderIdentity || spec?.leaseDurationSeconds !== RELEASED) return false;
    return !this.seen || isDeepStrictEqual(termOf(spec), termOf(this.seen.spec));
  }

  private report(spec: Lease['spec'], lasts: number): void {
    const { log } = this.options;
    const holder = spec?.holderIdentity ?? '';
    if (lasts === 0 || (this.seen && holder === (this.seen.spec?.holderIdentity ?? ''))) return;
    if (holder === '') log.info({}, 'waiting for lease without a holder, a leader may write it again');
    else log.info({ holder }, 'waiting for lease, another replica is the leader');
  }
}

/**
 * The fields that identify the term of a holder: written once, and left in place when the holder releases the
 * Lease.
 */
const termOf = (spec: Lease['spec']) => [spec?.acquireTime, spec?.leaseTransitions];
