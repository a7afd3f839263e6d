import type { CustomResource } from '../kinds/resource';
import { PerResource } from './hub-connection/per-hub';
import type { Services } from './services';

/**
 * For how long this process has seen resources being deleted. By the monotonic clock: `deletionTimestamp` is of the API
 * server's clock, which may differ from that of the operator. Time in which no operator ran does not count.
 */
export class DeletionAge {
  private readonly firstSeen: PerResource<CustomResource, number>;

  constructor(private readonly services: Pick<Services, 'cache' | 'clock'>) {
    this.firstSeen = new PerResource(services.cache);
  }

  /** In milliseconds, since the first call for this resource. */
  of(resource: CustomResource): number {
    const now = this.services.clock.monotonic();
    const since = this.firstSeen.get(resource);
    if (since === undefined) this.firstSeen.set(resource, now);
    return now - (since ?? now);
  }
}
