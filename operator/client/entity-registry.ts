import type { HubConnection } from './connection';
import type { ConfigEntityKind } from './config-entities';

/** An entry of the hub's entity registry, as far as we use it. */
export interface RegistryEntity {
  readonly entity_id: string;
  readonly unique_id: string;
  /** The integration that made it. */
  readonly platform: string;
  /** `user`, `integration`, …: it has no state then. */
  readonly disabled_by: string | null;
}

const PLATFORMS: Readonly<Record<ConfigEntityKind, string>> = {
  automation: 'automation',
  scene: 'homeassistant',
  script: 'script',
};

/**
 * The hub's entity registry, read once and again after the hub has told of a change. The way to an object's entity:
 * entity ids cannot be computed, since the hub makes them from the name at first creation and restores them for 30
 * days after a deletion.
 */
export class EntityRegistry {
  readonly #connection: HubConnection;
  #watching: Promise<unknown> | undefined;
  #entities: Promise<ReadonlyMap<string, RegistryEntity>> | undefined;

  constructor(connection: HubConnection) {
    this.#connection = connection;
    const forget = () => (this.#entities = undefined);
    connection.onLost(forget);
    connection.onReconnect(forget);
  }

  /** The entity of an automation, scene or script by its id in the file; undefined until the hub has loaded it. */
  async find(kind: ConfigEntityKind, uniqueId: string): Promise<RegistryEntity | undefined> {
    await (this.#watching ??= this.#watch());
    const entities = await (this.#entities ??= this.#list());
    return entities.get(key(PLATFORMS[kind], uniqueId));
  }

  async #watch(): Promise<void> {
    try {
      await this.#connection.subscribeEvents('entity_registry_updated', () => (this.#entities = undefined));
    } catch (error) {
      this.#watching = undefined;
      throw error;
    }
  }

  async #list(): Promise<ReadonlyMap<string, RegistryEntity>> {
    try {
      const entities = await this.#connection.command<RegistryEntity[]>('config/entity_registry/list');
      return new Map(entities.map((entity) => [key(entity.platform, entity.unique_id), entity]));
    } catch (error) {
      this.#entities = undefined;
      throw error;
    }
  }
}

function key(platform: string, uniqueId: string): string {
  return `${platform} ${uniqueId}`;
}
