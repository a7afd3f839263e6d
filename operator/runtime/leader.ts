import { Stopping } from '../errors';
import type { Clock } from '../clock';
import { withDeadline } from '../deadline';
import type { Logger } from '../log';
import { type ClusterObject, pathOf } from './objects';
import type { ApiClient } from './api-client';
import { builtin } from './types';

export interface LeaderOptions {
  readonly cluster: ApiClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly namespace: string;
  readonly leaseName: string;
  /** Unique among all who compete. A process that is started again under its name takes its lease again at once. */
  readonly identity: string;
  /** Milliseconds; client-go's defaults. */
  readonly leaseDuration?: number;
  readonly renewDeadline?: number;
  readonly retryPeriod?: number;
}

interface Lease extends ClusterObject {
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    readonly acquireTime?: string;
    readonly renewTime?: string;
    readonly leaseTransitions?: number;
  };
}

/**
 * Leader election by a Lease. The holder of a lease that was not renewed for its duration, as seen by our own clock,
 * has lost it; a leader that could not renew by the deadline stops before that, so that two never work at once.
 */
export class LeaderElection {
  private readonly leaseDuration: number;
  private readonly renewDeadline: number;
  private readonly retryPeriod: number;
  private readonly stopping = new AbortController();
  /** The last renewal by somebody else, and when we first saw it: clocks of two machines differ, and may be set. */
  private observed: { renewal: string; at: number } | undefined;
  /** Until when this process may take itself for the leader, by the monotonic clock. */
  private leadsUntil = -Infinity;
  private acquiring: Promise<unknown> = Promise.resolve();
  private renewing: Promise<unknown> = Promise.resolve();

  constructor(private readonly options: LeaderOptions) {
    this.leaseDuration = options.leaseDuration ?? 15_000;
    this.renewDeadline = options.renewDeadline ?? 10_000;
    this.retryPeriod = options.retryPeriod ?? 2_000;
  }

  /** Resolves when this process is the leader; false when it was stopped before. */
  acquire(): Promise<boolean> {
    const acquiring = this.acquireLoop();
    this.acquiring = acquiring;
    return acquiring;
  }

  private async acquireLoop(): Promise<boolean> {
    while (!this.stopping.signal.aborted) {
      try {
        if ((await this.tryAcquireOrRenew()) && this.isLeader) return true;
      } catch (error) {
        this.options.log.warn({ error: String(error) }, 'could not acquire the lease; trying again');
      }
      await this.pause(this.retryPeriod);
    }
    return false;
  }

  /** Keeps the lease; resolves when it is lost or {@link stop} was called. */
  renew(): Promise<'lost' | 'stopped'> {
    const renewing = this.renewLoop();
    this.renewing = renewing;
    return renewing;
  }

  /** Throws when the lease may be another's by now, even if no timer could tell it yet since the process was asleep. */
  assertLeader(): void {
    if (!this.isLeader) throw new Stopping('the lease was not renewed in time');
  }

  stop(): void {
    this.stopping.abort();
  }

  /** Gives the lease back, so that another takes it at once. Call when nothing is written any more. */
  async release(): Promise<void> {
    this.stop();
    await Promise.all([this.acquiring, this.renewing]); // a request under way would take the lease again
    this.leadsUntil = -Infinity;
    const lease = await this.read();
    if (lease?.spec?.holderIdentity !== this.options.identity) return;
    await this.put({
      ...lease,
      spec: { ...lease.spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime: this.now() },
    });
  }

  private get isLeader(): boolean {
    return this.options.clock.monotonic() < this.leadsUntil;
  }

  private async renewLoop(): Promise<'lost' | 'stopped'> {
    const { clock, log } = this.options;
    for (;;) {
      await this.pause(Math.min(this.retryPeriod, this.leadsUntil - clock.monotonic()));
      if (this.stopping.signal.aborted) return 'stopped';
      if (!this.isLeader) break;
      try {
        const delay = this.leadsUntil - clock.monotonic();
        if (!(await withDeadline({ clock, delay }, () => this.tryAcquireOrRenew()))) break;
      } catch (error) {
        log.warn({ error: String(error) }, 'could not renew the lease');
      }
    }
    this.stop(); // an answer that comes late changes nothing any more
    this.leadsUntil = -Infinity;
    return 'lost';
  }

  /** Takes the lease, or renews it; false: it is another's. Throws a conflict when somebody else wrote to it just now. */
  private async tryAcquireOrRenew(): Promise<boolean> {
    const { clock, identity } = this.options;
    const lease = await this.read();
    const { holderIdentity = '', renewTime = '', leaseTransitions = 0, acquireTime } = lease?.spec ?? {};
    const mine = holderIdentity === identity;
    if (!mine && holderIdentity !== '') {
      const renewal = `${holderIdentity} ${renewTime}`;
      if (this.observed?.renewal !== renewal) this.observed = { renewal, at: clock.monotonic() };
      const duration = (lease?.spec?.leaseDurationSeconds ?? this.leaseDuration / 1_000) * 1_000;
      if (clock.monotonic() - this.observed.at < duration) return false;
    }
    // Counted from before the server hears of it: another counts the lease's duration from after that.
    const sentAt = clock.monotonic();
    const spec = {
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(this.leaseDuration / 1_000),
      acquireTime: mine ? (acquireTime ?? this.now()) : this.now(),
      renewTime: this.now(),
      leaseTransitions: mine || !lease ? leaseTransitions : leaseTransitions + 1,
    };
    await (lease ? this.put({ ...lease, spec }) : this.create(spec));
    if (!this.stopping.signal.aborted) this.leadsUntil = sentAt + this.renewDeadline;
    return true;
  }

  private read(): Promise<Lease | undefined> {
    const { cluster, leaseName, namespace } = this.options;
    return cluster.find<Lease>(builtin.Lease, namespace, leaseName);
  }

  private create(spec: Lease['spec']): Promise<unknown> {
    const { cluster, leaseName: name, namespace } = this.options;
    const body = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name, namespace }, spec };
    return cluster.request({ method: 'POST', path: pathOf(builtin.Lease, namespace), body });
  }

  /** The resource version in `lease` makes this fail with a conflict when somebody else wrote meanwhile. */
  private put(lease: Lease): Promise<unknown> {
    const { cluster, leaseName, namespace } = this.options;
    return cluster.request({ method: 'PUT', path: pathOf(builtin.Lease, namespace, leaseName), body: lease });
  }

  private async pause(delay: number): Promise<void> {
    await this.options.clock.sleep(delay, this.stopping.signal).catch(() => undefined); // only stop() rejects it
  }

  /** `metav1.MicroTime` */
  private now(): string {
    return new Date(this.options.clock.now()).toISOString().replace('Z', '000Z');
  }
}
