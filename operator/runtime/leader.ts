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
  /** Name of the pod. The identity in the Lease consists of the name and a random part. */
  readonly podName: string;
  /** Milliseconds. The defaults are those of client-go. */
  readonly leaseDuration?: number;
  readonly renewDeadline?: number;
  readonly retryPeriod?: number;
}

/** Jitter of the retry period, as a factor, so that candidates do not retry at the same time. */
const JITTER = 0.2;

/**
 * Leader election with a Lease (rules.md, "Leader election").
 *
 * Guarantee: at no time may two processes write. A leader stops at the renew deadline, counted from before it
 * sent its last successful renewal. Another process takes the lease no earlier than a lease duration after it
 * saw that renewal. If the Lease is deleted, emptied or replaced by an older one, candidates treat that like
 * a renewal: the leader writes its Lease again, or stops. The lease is free at once only after a release by
 * the holder that a candidate has seen.
 *
 * Times are never compared between machines, and the wall clock may jump: each process measures durations by
 * its own monotonic clock. The guarantee therefore holds as long as no clock runs leaseDuration /
 * renewDeadline (15/10) times as fast as another. A process that was frozen is covered, because {@link
 * assertLeader} is called before each write. A request that was sent before the freeze is not covered.
 *
 * A process that has just started knows of no holder, and cannot tell a new installation from a deleted
 * Lease. It therefore gives a leader two retry periods to write a missing or emptied Lease again, and trusts
 * a release. Two cases are not covered. In the first, a process starts within the renew deadline after a
 * Lease was deleted or emptied, and the leader is frozen or does not reach the API server. In the second, a
 * process starts within a retry period after a released Lease was restored.
 */
export class LeaderElection {
  /**
   * Unique per process: two processes in pods with the same name must not mistake each other's lease for
   * their own.
   */
  readonly identity: string;
  private readonly lock: LeaseLock;
  private readonly leaseDuration: number;
  private readonly renewDeadline: number;
  private readonly retryPeriod: number;
  private readonly stopping = new AbortController();
  /**
   * The API server's response to this process's last write of the lease; undefined if another process may
   * have written it since.
   */
  private ownLease: Lease | undefined;
  private readonly observed: ObservedLease;
  /** Time until which this process is the leader, by the monotonic clock. */
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

  /**
   * Resolves with true when this process is the leader, or with false when it was stopped first. Never
   * rejects.
   */
  acquire(): Promise<boolean> {
    return (this.acquiring = this.acquireLoop());
  }

  /** Renews the lease until it is lost or {@link stop} is called. Never rejects. */
  renew(): Promise<'lost' | 'stopped'> {
    return (this.renewing = this.renewLoop());
  }

  /** @throws Stopping if this process is not the leader, even if it was frozen and no timer has fired yet */
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
        // After a conflict, the lease was changed, for example annotated, or belongs to another process.
        // Other errors may be a lost response.
        if (!isTransient(error)) throw error;
        return this.giveBack();
      });
      if (released) await this.emit(released, 'stopped leading');
    });
  }

  /** Removes the holder from the lease. @returns undefined if another process holds the lease */
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
    this.stop(); // a late response must not make this process the leader again
    this.leadsUntil = -Infinity;
    return 'lost';
  }

  /**
   * Acquires or renews the lease. @returns false if another process holds it
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
        if (!isConflict(error)) throw error; // conflict: the lease is read again below
      }
    }
    const askedAt = this.options.clock.monotonic();
    const lease = await this.lock.read();
    return this.isTaken(lease, askedAt) ? false : this.write(lease);
  }

  /**
   * Whether another process holds the lease. A leader does not regard a Lease without a holder as taken: it
   * writes its own identity again, and candidates wait for that.
   */
  private isTaken(lease: Lease | undefined, askedAt: number): boolean {
    const { holderIdentity: holder = '' } = lease?.spec ?? {};
    if (this.isLeader) return holder !== '' && holder !== this.identity;
    return this.observed.mayBeHeld(lease, askedAt);
  }

  private async write(lease: Lease | undefined): Promise<true> {
    const { leaseTransitions = 0, acquireTime, holderIdentity } = lease?.spec ?? {};
    const isOwn = holderIdentity === this.identity;
    // Taken before the request is sent: other processes count the lease duration from after it.
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

  /** Writes an event. A failure is only logged. */
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
    await this.options.clock.sleep(delay, this.stopping.signal).catch(() => undefined); // rejected by stop()
  }
}
