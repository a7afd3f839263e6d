import type { Hub } from '../../kinds';
import { userAnnotations } from '../../kinds/annotations';
import { objectNames } from '../../kinds/object-names';
import { HUB_RETURN_LIMIT, HUB_START_LIMIT } from '../../limits';
import { builtin } from '../../runtime/types';
import type { Pod } from '../hub/pod';
import { HUB_CONTAINER } from '../hub/owned-objects';
import { PerHub } from '../per-hub';
import type { Services } from '../services';

/** How long a change waits for a hub that does not answer: one that comes back may load it without a restart. */
export class HubReturn {
  /** Since when a change waits, by the monotonic clock. */
  private readonly waiting: PerHub<{ readonly change: string; readonly since: number }>;

  constructor(private readonly services: Pick<Services, 'cache' | 'clock'>) {
    this.waiting = new PerHub(services.cache);
  }

  /**
   * Whether the change waits, and a sentence about it if that may take long; undefined: it has waited long enough.
   *
   * @param change tells it from others
   * @param isGood the hub has run with the configuration that it starts with
   */
  hold(hub: Hub, change: string, isGood: boolean): { readonly hint?: string } | undefined {
    const isStarting = this.isStarting(hub);
    // A configuration that has not run yet may be the reason that the hub does not start.
    if (!this.mayReturn(hub, change, isStarting && isGood ? HUB_START_LIMIT : HUB_RETURN_LIMIT))
      return undefined;
    return isStarting ? { hint: START_HINT } : {};
  }

  /** The change waits no longer. The same change waits for the full time if it is made again. */
  end(hub: Hub): void {
    this.waiting.delete(hub);
  }

  private mayReturn(hub: Hub, change: string, limit: number): boolean {
    const now = this.services.clock.monotonic();
    const before = this.waiting.get(hub);
    const since = before?.change === change ? before.since : now;
    this.waiting.set(hub, { change, since });
    return now - since < limit;
  }

  /** It may be migrating its database, which must not be interrupted without need. */
  private isStarting({ metadata: { namespace, name } }: Hub): boolean {
    const pod = this.services.cache.get<Pod>(builtin.Pod.kind, namespace, objectNames(name).pod);
    const container = pod?.status?.containerStatuses?.find((each) => each.name === HUB_CONTAINER);
    return container?.started === false && container.state?.running !== undefined;
  }
}

const START_HINT = `The hub is starting, and the change waits for up to ${HUB_START_LIMIT / 60_000} minutes. Annotate this resource with ${userAnnotations.reconcileAt} to restart the hub with it now.`;
