import { type Clock, timestamp } from '../base/clock';
import type { ApiClient } from './api-client';
import { type ClusterObject, pathOf } from './objects';
import { builtin } from './types';

/** A Lease of `coordination.k8s.io/v1`. */
export interface Lease extends ClusterObject {
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    /** RFC 3339 with microseconds, like all times of a Lease. */
    readonly acquireTime?: string;
    readonly renewTime?: string;
    readonly leaseTransitions?: number;
  };
}

const LEASE = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' };

/** The Lease for which the candidates compete. The API server's optimistic lock decides. */
export class LeaseLock {
  constructor(
    private readonly cluster: ApiClient,
    private readonly clock: Clock,
    private readonly namespace: string,
    private readonly name: string,
  ) {}

  read(): Promise<Lease | undefined> {
    return this.cluster.find<Lease>(builtin.Lease, this.namespace, this.name);
  }

  create(spec: Lease['spec']): Promise<Lease> {
    const { name, namespace } = this;
    const body = { ...LEASE, metadata: { name, namespace }, spec };
    return this.cluster.request<Lease>({ method: 'POST', path: pathOf(builtin.Lease, namespace), body });
  }

  /** @throws ApiError a conflict: the lease was changed since `lease` was read */
  update(lease: Lease): Promise<Lease> {
    const path = pathOf(builtin.Lease, this.namespace, this.name);
    return this.cluster.request<Lease>({ method: 'PUT', path, body: lease });
  }

  /** Records an event on the Lease, as client-go does: this process became the leader or stopped being it. */
  async recordEvent({ metadata: { name, uid, resourceVersion } }: Lease, message: string): Promise<void> {
    const { namespace } = this;
    const at = timestamp(this.clock.now());
    await this.cluster.request({
      method: 'POST',
      path: pathOf(builtin.Event, namespace),
      body: {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { generateName: `${name}.`, namespace },
        involvedObject: { ...LEASE, name, namespace, uid, resourceVersion },
        type: 'Normal',
        reason: 'LeaderElection',
        message,
        source: { component: 'hub-operator' },
        firstTimestamp: at,
        lastTimestamp: at,
        count: 1,
      },
    });
  }

  /** The current time as a `metav1.MicroTime`. */
  now(): string {
    return new Date(this.clock.now()).toISOString().replace('Z', '000Z');
  }
}
