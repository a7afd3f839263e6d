import type { CustomResource } from '../kinds/resource';
import { PerResource } from './hub-connection/per-hub';
import type { Services } from './services';

/**
 * The time for which this process has seen a resource being deleted. It is measured by the monotonic clock,
 * since `deletionTimestamp` comes from the clock of the API server, which may differ from that of the
 * operator. Time in which no operator ran does not count.
 */
export class DeletionAge {
  private readonly firstSeen: PerResource<CustomResource, number>;

  constructor(private readonly services: Pick<Services, 'cache' | 'clock'>) {
    this.firstSeen = new PerResource(services.cache);
  }

  /** Milliseconds since the first call for this resource. */
  of(resource: CustomResource): number {
    const now = this.services.clock.monotonic();
    const since = this.firstSeen.get(resource);
    if (since === undefined) this.firstSeen.set(resource, now);
    return now - (since ?? now);
  }
}
