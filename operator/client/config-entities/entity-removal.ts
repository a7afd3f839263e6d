import type { Clock } from '../../base/clock';
import type { ConfigEntities } from './config-entities';
import type { ConfigEntityKind } from '../connection/config-entity';
import type { EntityRegistry } from '../registries/entity-registry';
import type { Reloads } from './reloads';

export interface RemovalOptions {
  /**
   * Called right before each request that removes something; if it returns false, nothing more is removed.
   */
  readonly shouldRemove: () => boolean;
  /**
   * Whether the component may be reloaded, to detect an entity that a concurrent reload has registered again.
   */
  readonly reload: boolean;
  /**
   * Called right before each request that removes something. A removal that ends before such a request has
   * changed nothing in the hub.
   */
  readonly prepare?: () => Promise<void>;
}

/**
 * Milliseconds within which the hub may still execute a write whose connection was cut. Measured: 0.4 s with
 * 300 automations.
 */
const LATE_WRITE_PERIOD = 10_000;

/**
 * Removes automations, scenes and scripts from the hub's file and from its entity registry.
 *
 * The answer to DELETE does not prove that the object is gone. A handler in the hub whose connection is cut
 * after it wrote the file never unregisters the entity. A write whose connection was cut may still be
 * executed. A reload that read the file before the removal registers the entity after it (rules.md,
 * "Ownership of objects in the hub").
 */
export class EntityRemoval {
  private readonly createdAt: number;

  constructor(
    private readonly hub: {
      readonly entities: Pick<ConfigEntities, 'remove' | 'removeRegistration' | 'lastCutAt'>;
      readonly entityRegistry: Pick<EntityRegistry, 'findToRemove'>;
      readonly reloads: Pick<Reloads, 'request'>;
    },
    private readonly clock: Clock,
  ) {
    this.createdAt = clock.monotonic();
  }

  /**
   * Resolves when the object is neither in the file nor in the registry.
   *
   * @param id id of the object in the file
   * @throws HubUnreachable, HubRejected, …; the removal can be repeated
   */
  async remove(kind: ConfigEntityKind, id: string, options: RemovalOptions): Promise<void> {
    const existed = await this.removeOnce(kind, id, options);
    if (!existed) await this.removeLateWrite(kind, id, options);
    if (!options.reload || !options.shouldRemove()) return;
    await this.hub.reloads.request(kind);
    await this.removeOnce(kind, id, options, { onlyRegistered: true });
  }

  /**
   * Milliseconds during which a write without an answer may still be executed; 0 or less if no write may be.
   */
  get lateWritePeriod(): number {
    const since = Math.max(this.createdAt, this.hub.entities.lastCutAt);
    return since + LATE_WRITE_PERIOD - this.clock.monotonic();
  }

  /** @returns whether the file had the object */
  private async removeOnce(
    kind: ConfigEntityKind,
    id: string,
    { shouldRemove, prepare }: RemovalOptions,
    { onlyRegistered = false } = {},
  ): Promise<boolean> {
    const { entities, entityRegistry } = this.hub;
    if (onlyRegistered && !(await entityRegistry.findToRemove(kind, id))) return false;
    const existed = await entities.remove(kind, id, { shouldRemove, prepare });
    if (shouldRemove() && (await entityRegistry.findToRemove(kind, id)))
      await entities.removeRegistration(kind, id, { shouldRemove, prepare });
    return existed;
  }

  /**
   * Removes the object again after a pause. A write of this process or the previous one, whose connection was
   * cut, may not have reached the file yet: in that case the hub answers that it does not know the object.
   */
  private async removeLateWrite(kind: ConfigEntityKind, id: string, options: RemovalOptions): Promise<void> {
    const { lateWritePeriod } = this;
    if (lateWritePeriod <= 0 || !options.shouldRemove()) return;
    await this.clock.sleep(lateWritePeriod);
    if (options.shouldRemove()) await this.removeOnce(kind, id, options);
  }
}
