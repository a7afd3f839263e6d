import { randomUUID } from 'node:crypto';
import type { Clock } from '../base/clock';
import { withDeadline } from '../base/deadline';
import { Stopping } from '../base/errors';
import { LEASE_RELEASE_LIMIT } from '../base/limits';
import type { Logger } from '../base/log';
import type { ApiClient } from './api-client';
import { isConflict, isTransient } from './api-errors';
import { type Lease, LeaseLock } from './lease-lock';
import { ObservedLease, RELEASED } from './observed-lease';

export interface LeaderOptions {
  readonly cluster: ApiClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly namespace: string;
  readonly leaseName: string;
  /** The pod's name. The identity in the Lease is this and a random part. */
  readonly podName: string;
  /** Milliseconds; client-go's defaults. */
  readonly leaseDuration?: number;
  readonly renewDeadline?: number;
  readonly retryPeriod?: number;
}

/** Jitter of the retry period, as a factor, so that candidates do not retry at the same time. */
const JITTER = 0.2;

/**
 * Leader election by a Lease (rules.md, "Leader election").
 *
 * Guarantee: at no time may two processes write. A leader stops at the renew deadline, counted from before it sent its
 * last successful renewal; another takes the lease at the earliest a lease duration after it saw that renewal. A Lease
 * that is deleted, emptied or replaced by an older one counts as a renewal: its leader writes it again, or stops. Only a
 * release by the holder that a candidate has seen is free at once.
 *
 * Times are never compared between machines, and the wall clock may jump: each process measures durations by its own
 * monotonic clock. So the guarantee holds as long as no clock runs leaseDuration / renewDeadline (15/10) times as fast
 * as another. A process that was frozen is covered, because {@link assertLeader} is called before each write; a request
 * that was sent before the freeze is not.
 *
 * A process that has just started knows of no holder, and a new installation looks like a deleted Lease. So it gives a
 * leader two retry periods to write a missing or emptied Lease again, and believes a release. Not covered: a process
 * that starts within the renew deadline after a Lease was deleted or emptied whose leader is frozen or does not reach the
 * API server, or within a retry period after a released one was put back.
 */
export class LeaderElection {
  /** Unique per process: two processes with the same pod name must not take each other's lease for their own. */
  readonly identity: string;
  private readonly lock: LeaseLock;
  private readonly leaseDuration: number;
  private readonly renewDeadline: number;
  private readonly retryPeriod: number;
  private readonly stopping = new AbortController();
  /**
   * The server's answer to this process's last write of the lease; undefined when another process may have written it.
   */
  private ownLease: Lease | undefined;
  private readonly observed: ObservedLease;
  /** Until when this process is the leader, by the monotonic clock. */
  private leadsUntil = -Infinity;
  private acquiring: Promise<unknown> = Promise.resolve();
  private renewing: Promise<unknown> = Promise.resolve();

  /** @throws RangeError the durations are inconsistent */
  constructor(private readonly options: LeaderOptions) {
    const { leaseDuration = 15_000, renewDeadline = 10_000, retryPeriod = 2_000 } = options;
    if (!(leaseDuration > renewDeadline))
      throw new RangeError(
        `leaseDuration ${leaseDuration} must be greater than renewDeadline ${renewDeadline}`,
      );
    if (!(retryPeriod > 0 && renewDeadline > (1 + JITTER) * retryPeriod))
      throw new RangeError(
        `renewDeadline ${renewDeadline} must be greater than ${1 + JITTER} times retryPeriod ${retryPeriod}`,
      );
    this.leaseDuration = leaseDuration;
    this.renewDeadline = renewDeadline;
    this.retryPeriod = retryPeriod;
    this.identity = `${options.podName}_${randomUUID()}`;
    this.lock = new LeaseLock(options.cluster, options.clock, options.namespace, options.leaseName);
    this.observed = new ObservedLease({
      clock: options.clock,
      log: options.log,
      identity: this.identity,
      leaseDuration,
      grace: 2 * (1 + JITTER) * retryPeriod,
    });
  }

  /** Resolves with true when this process is the leader, with false when it was stopped before. Never rejects. */
  acquire(): Promise<boolean> {
    return (this.acquiring = this.acquireLoop());
  }

  /** Renews the lease until it is lost or {@link stop} is called. Never rejects. */
  renew(): Promise<'lost' | 'stopped'> {
    return (this.renewing = this.renewLoop());
  }

  /** @throws Stopping this process is not the leader; also if it was frozen and no timer has fired yet */
  assertLeader(): void {
    if (!this.isLeader) throw new Stopping('the lease was not renewed in time');
  }

  stop(): void {
    this.stopping.abort(new Stopping('the leader election was stopped'));
  }

  /** Releases the lease, so that another replica acquires it at its next attempt. Call it after the last write. */
  async release(): Promise<void> {
    const { clock } = this.options;
    this.stop();
    await Promise.all([this.acquiring, this.renewing]); // a request in flight would take the lease again
    this.leadsUntil = -Infinity;
    await withDeadline({ clock, delay: LEASE_RELEASE_LIMIT }, async () => {
      const released = await this.giveBack().catch((error: unknown) => {
        // A conflict: it was changed, for example annotated, or belongs to another process by now. Or an answer was late.
        if (!isTransient(error)) throw error;
        return this.giveBack();
      });
      if (released) await this.emit(released, 'stopped leading');
    });
  }

  /** Resolves with the lease without a holder; undefined: another process holds it. */
  private async giveBack(): Promise<Lease | undefined> {
    const lease = await this.lock.read();
    if (lease?.spec?.holderIdentity !== this.identity) return undefined;
    const { spec: held } = lease;
    const spec = { ...held, holderIdentity: '', leaseDurationSeconds: RELEASED, renewTime: this.lock.now() };
    return this.lock.update({ ...lease, spec });
  }

  private get isLeader(): boolean {
    return this.options.clock.monotonic() < this.leadsUntil;
  }

  private async acquireLoop(): Promise<boolean> {
    const { log } = this.options;
    while (!this.stopping.signal.aborted) {
      try {
        if ((await this.tryAcquireOrRenew()) && this.isLeader) {
          if (this.ownLease) void this.emit(this.ownLease, 'became leader');
          return true;
        }
      } catch (error) {
        log.warn({ error }, 'failed to acquire lease, retrying');
      }
      await this.pause(this.retryDelay());
    }
    return false;
  }

  private async renewLoop(): Promise<'lost' | 'stopped'> {
    const { clock, log } = this.options;
    for (;;) {
      await this.pause(Math.min(this.retryDelay(), this.leadsUntil - clock.monotonic()));
      if (this.stopping.signal.aborted) return 'stopped';
      if (!this.isLeader) break;
      try {
        const delay = this.leadsUntil - clock.monotonic();
        if (!(await withDeadline({ clock, delay }, () => this.tryAcquireOrRenew()))) break;
      } catch (error) {
        log.warn({ error }, 'failed to renew lease, retrying');
      }
    }
    this.stop(); // a late answer must not make this process the leader again
    this.leadsUntil = -Infinity;
    return 'lost';
  }

  /**
   * Acquires or renews the lease; false: another process holds it.
   *
   * @throws ApiError a conflict: another process has just written the lease
   */
  private async tryAcquireOrRenew(): Promise<boolean> {
    const { ownLease } = this;
    this.ownLease = undefined;
    if (ownLease) {
      try {
        return await this.write(ownLease);
      } catch (error) {
        if (!isConflict(error)) throw error; // the lease is read again below
      }
    }
    const askedAt = this.options.clock.monotonic();
    const lease = await this.lock.read();
    return this.isTaken(lease, askedAt) ? false : this.write(lease);
  }

  /** A leader writes a Lease again that is gone or has no holder: candidates wait for that. */
  private isTaken(lease: Lease | undefined, askedAt: number): boolean {
    const { holderIdentity: holder = '' } = lease?.spec ?? {};
    if (this.isLeader) return holder !== '' && holder !== this.identity;
    return this.observed.mayBeHeld(lease, askedAt);
  }

  private async write(lease: Lease | undefined): Promise<true> {
    const { leaseTransitions = 0, acquireTime, holderIdentity } = lease?.spec ?? {};
    const isOwn = holderIdentity === this.identity;
    // Counted from before the request is sent: other processes count the lease duration from after it.
    const sentAt = this.options.clock.monotonic();
    const spec = {
      holderIdentity: this.identity,
      leaseDurationSeconds: Math.ceil(this.leaseDuration / 1_000),
      acquireTime: isOwn ? (acquireTime ?? this.lock.now()) : this.lock.now(),
      renewTime: this.lock.now(),
      leaseTransitions: isOwn || !lease ? leaseTransitions : leaseTransitions + 1,
    };
    const answer = await (lease ? this.lock.update({ ...lease, spec }) : this.lock.create(spec));
    if (this.stopping.signal.aborted) return true;
    this.ownLease = answer;
    this.leadsUntil = sentAt + this.renewDeadline;
    return true;
  }

  /** A failure to write the event is only logged. */
  private async emit(lease: Lease, what: string): Promise<void> {
    const { log } = this.options;
    await this.lock
      .recordEvent(lease, `${this.identity} ${what}`)
      .catch((error: unknown) => log.warn({ error }, 'failed to write event of lease'));
  }

  private retryDelay(): number {
    return this.retryPeriod * (1 + JITTER * Math.random());
  }

  private async pause(delay: number): Promise<void> {
    await this.options.clock.sleep(delay, this.stopping.signal).catch(() => undefined); // only stop() rejects it
  }
}
