import { createHash } from 'node:crypto';
import type { Hub } from '../../../kinds/index';
import { ROLLOUT_DEBOUNCE, ROLLOUT_DEBOUNCE_LIMIT } from '../../../base/limits';
import type { Manifest } from '../../../runtime/apply';
import type { Services } from '../../services';
import type { StatefulSet } from '../../hub-workload/owned-objects';
import { PerHub } from '../../hub-access/per-hub';

/** A template that differs from the applied one. Times are of the monotonic clock. */
interface PendingTemplate {
  readonly digest: string;
  /** Stable since then. */
  readonly since: number;
  /** The first difference was seen then. */
  readonly first: number;
}

/**
 * Decides when a changed pod template restarts the hub: once it has been stable for a moment and nothing is being loaded
 * into the hub, so that a burst of changes to the Hub, its configuration and its secrets is one rollout (rules.md, "Rollout
 * and debounce").
 */
export class RolloutDebounce {
  private readonly pending: PerHub<PendingTemplate>;

  /** @param isLoading whether a configuration is being loaded into the hub, which may need a restart as well */
  constructor(
    private readonly services: Pick<Services, 'applier' | 'clock' | 'cache'>,
    private readonly isLoading: (hub: Hub) => boolean,
  ) {
    this.pending = new PerHub(services.cache);
  }

  /** Milliseconds until `desired` may replace `present`. Undefined: it is applied, or there is nothing to replace. */
  remaining(hub: Hub, present: StatefulSet | undefined, desired: Manifest): number | undefined {
    const { applier, clock } = this.services;
    // The new StatefulSet carries the first hashes, or a second rollout would follow at once.
    if (!present || applier.matchesLastApplied(present, desired, { owner: hub })) {
      this.pending.delete(hub);
      return undefined;
    }
    const digest = createHash('sha256').update(JSON.stringify(desired)).digest('hex');
    const before = this.pending.get(hub);
    const now = clock.monotonic();
    const since = before?.digest === digest && !this.isLoading(hub) ? before.since : now;
    const first = before?.first ?? now;
    this.pending.set(hub, { digest, since, first });
    return Math.max(0, Math.min(since + ROLLOUT_DEBOUNCE, first + ROLLOUT_DEBOUNCE_LIMIT) - now);
  }
}
