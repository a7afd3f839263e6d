import type { ConfigEntityKind } from '../../client/connection/config-entity';
import type { ReloadResult } from '../../client/config-entities/reload-retry';
import type { HubClient } from '../../client/hub-client';
import type { Clock } from '../../base/clock';

interface Removal {
  readonly id: string;
  readonly shouldRemove: () => boolean;
  readonly resolve: (result: ReloadResult) => void;
  readonly reject: (error: unknown) => void;
}

/** Milliseconds of removals after which the hub is reloaded: the removed objects do not run before that. */
const LONGEST_GAP = 1_000;

/**
 * Takes objects out of the hub's own files whose definitions are delivered. With the object the hub unregisters its entity, and
 * registers it again, with all that the household has set, at the next reload: so a few are removed at a time, each time with a reload.
 */
export class OwnFileRemovals {
  private readonly queues = new Map<ConfigEntityKind, Removal[]>();

  constructor(
    private readonly client: Pick<HubClient, 'entities' | 'reloads'>,
    private readonly clock: Clock,
  ) {}

  /** Resolves with the result of the reload after it. */
  remove(kind: ConfigEntityKind, id: string, shouldRemove: () => boolean): Promise<ReloadResult> {
    return new Promise((resolve, reject) => {
      const removal = { id, shouldRemove, resolve, reject };
      const queue = this.queues.get(kind);
      if (queue) {
        queue.push(removal);
        return;
      }
      const started = [removal];
      this.queues.set(kind, started);
      void this.work(kind, started);
    });
  }

  private async work(kind: ConfigEntityKind, queue: Removal[]): Promise<void> {
    while (queue.length > 0) {
      const removed = await this.removeSome(kind, queue);
      if (removed.length === 0) continue;
      const result = await this.client.reloads.request(kind, 0);
      for (const { resolve } of removed) resolve(result);
    }
    this.queues.delete(kind);
  }

  private async removeSome(kind: ConfigEntityKind, queue: Removal[]): Promise<readonly Removal[]> {
    const began = this.clock.monotonic();
    const removed: Removal[] = [];
    do {
      const next = queue.shift();
      if (!next) break;
      try {
        await this.client.entities.remove(kind, next.id, { shouldRemove: next.shouldRemove });
        removed.push(next);
      } catch (error) {
        next.reject(error);
      }
    } while (this.clock.monotonic() - began < LONGEST_GAP);
    return removed;
  }
}
