import type { Clock } from '../clock';
import type { Logger } from '../log';
import { type ClusterObject, pathOf } from './objects';
import { type Cluster, isConflict, isNotFound } from './transport';
import { builtin } from './types';

export interface LeaderOptions {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly log: Logger;
  readonly namespace: string;
  readonly leaseName: string;
  /** Unique among all who compete. */
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
  private observed: { renewal: string; at: number } | undefined;
  private readonly stopping = new AbortController();

  constructor(private readonly options: LeaderOptions) {
    this.leaseDuration = options.leaseDuration ?? 15_000;
    this.renewDeadline = options.renewDeadline ?? 10_000;
    this.retryPeriod = options.retryPeriod ?? 2_000;
  }

  /** Resolves when this process is the leader; false when it was stopped before. */
  async acquire(): Promise<boolean> {
    while (!this.stopping.signal.aborted) {
      try {
        if (await this.tryTake()) return true;
      } catch (error) {
        this.options.log.warn({ error: String(error) }, 'could not reach for the lease; trying again');
      }
      await this.pause();
    }
    return false;
  }

  /** Keeps the lease; resolves when it is lost or {@link stop} was called. */
  async hold(): Promise<'lost' | 'stopped'> {
    const { clock, log } = this.options;
    let renewedAt = clock.now();
    for (;;) {
      await this.pause();
      if (this.stopping.signal.aborted) return 'stopped';
      const deadline = renewedAt + this.renewDeadline;
      try {
        if (!(await this.inTime(this.tryTake(), deadline))) return 'lost';
        renewedAt = clock.now();
      } catch (error) {
        log.warn({ error: String(error) }, 'could not renew the lease');
        if (clock.now() >= deadline) return 'lost';
      }
    }
  }

  stop(): void {
    this.stopping.abort();
  }

  /** Gives the lease back, so that another takes it at once. Call when nothing is written any more. */
  async release(): Promise<void> {
    const lease = await this.read();
    if (lease?.spec?.holderIdentity !== this.options.identity) return;
    await this.put({ ...lease, spec: { ...lease.spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime: this.now() } });
  }

  private async tryTake(): Promise<boolean> {
    const { clock, identity } = this.options;
    const lease = await this.read();
    if (!lease) return this.unlessConflict(() => this.create());
    const { holderIdentity = '', renewTime = '', leaseTransitions = 0 } = lease.spec ?? {};
    const mine = holderIdentity === identity;
    if (!mine && holderIdentity !== '') {
      // The clocks of two machines differ: what counts is how long we ourselves have seen no renewal.
      const renewal = `${holderIdentity} ${renewTime}`;
      if (this.observed?.renewal !== renewal) this.observed = { renewal, at: clock.now() };
      const duration = (lease.spec?.leaseDurationSeconds ?? this.leaseDuration / 1_000) * 1_000;
      if (clock.now() - this.observed.at < duration) return false;
    }
    const spec = {
      ...this.spec(),
      acquireTime: mine ? (lease.spec?.acquireTime ?? this.now()) : this.now(),
      leaseTransitions: mine ? leaseTransitions : leaseTransitions + 1,
    };
    return this.unlessConflict(() => this.put({ ...lease, spec }));
  }

  private spec() {
    return {
      holderIdentity: this.options.identity,
      leaseDurationSeconds: Math.ceil(this.leaseDuration / 1_000),
      renewTime: this.now(),
    };
  }

  private async read(): Promise<Lease | undefined> {
    const { cluster, leaseName, namespace } = this.options;
    try {
      return await cluster.request<Lease>({ method: 'GET', path: pathOf(builtin.Lease, namespace, leaseName) });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  private create(): Promise<unknown> {
    const { cluster, leaseName, namespace } = this.options;
    const spec = { ...this.spec(), acquireTime: this.now(), leaseTransitions: 0 };
    const body = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: leaseName, namespace }, spec };
    return cluster.request({ method: 'POST', path: pathOf(builtin.Lease, namespace), body });
  }

  /** The resource version in `lease` makes this fail with a conflict when somebody else wrote meanwhile. */
  private put(lease: Lease): Promise<unknown> {
    const { cluster, leaseName, namespace } = this.options;
    return cluster.request({ method: 'PUT', path: pathOf(builtin.Lease, namespace, leaseName), body: lease });
  }

  private async unlessConflict(write: () => Promise<unknown>): Promise<boolean> {
    try {
      await write();
      return true;
    } catch (error) {
      if (isConflict(error)) return false;
      throw error;
    }
  }

  private async inTime<T>(answer: Promise<T>, deadline: number): Promise<T> {
    const { clock } = this.options;
    let cancel!: () => void;
    const late = new Promise<never>((_, reject) => {
      cancel = clock.after(deadline - clock.now(), () => reject(new Error('no answer before the renew deadline')));
    });
    try {
      return await Promise.race([answer, late]);
    } finally {
      cancel();
    }
  }

  private async pause(): Promise<void> {
    await this.options.clock.sleep(this.retryPeriod, this.stopping.signal).catch(() => undefined); // only stop() rejects it
  }

  /** `metav1.MicroTime` */
  private now(): string {
    return new Date(this.options.clock.now()).toISOString().replace('Z', '000Z');
  }
}
