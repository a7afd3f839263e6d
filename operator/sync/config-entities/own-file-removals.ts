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

/** Milliseconds of removals after which the hub is reloaded. Until then, the removed objects do not run. */
const LONGEST_GAP = 1_000;

/**
 * Takes objects whose definitions are delivered out of the hub's own files. The hub unregisters the entity of
 * a removed object, and registers it again with all of its settings at the next reload. So only a few objects
 * are removed at a time, followed by a reload.
 */
export class OwnFileRemovals {
  private readonly queues = new Map<ConfigEntityKind, Removal[]>();

  constructor(
    private readonly client: Pick<HubClient, 'entities' | 'reloads'>,
    private readonly clock: Clock,
  ) {}

  /** Removes an object, and resolves with the result of the reload that follows. */
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
