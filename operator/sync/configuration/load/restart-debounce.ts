import type { Hub } from '../../../kinds';
import { ROLLOUT_DEBOUNCE_LIMIT } from '../../../limits';
import { PerHub } from '../../per-hub';
import type { Services } from '../../services';

/** In a burst of changes, only the last one restarts the hub (rules.md, "Rollout and debounce"). */
export class RestartDebounce {
  /** Since when a restart is delayed, by the monotonic clock. */
  private readonly delayedSince: PerHub<number>;

  constructor(private readonly services: Pick<Services, 'cache' | 'clock'>) {
    this.delayedSince = new PerHub(services.cache);
  }

  /**
   * Whether a restart is left to the next content. A burst delays it for {@link ROLLOUT_DEBOUNCE_LIMIT} at most.
   *
   * @param isOutdated the content has changed since its load began
   */
  shouldDelay(hub: Hub, isOutdated: boolean): boolean {
    const now = this.services.clock.monotonic();
    const since = this.delayedSince.get(hub) ?? now;
    if (!isOutdated || now - since >= ROLLOUT_DEBOUNCE_LIMIT) {
      this.delayedSince.delete(hub);
      return false;
    }
    this.delayedSince.set(hub, since);
    return true;
  }
}
