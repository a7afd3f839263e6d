import type { HubConnection } from './connection';
import type { ConfigEntityKind } from './config-entity';
import { RegistryEntity, EntityRegistryUpdated } from './api-types';

/** An entity that we know of was removed, renamed, disabled or enabled. */
export type EntityListener = (kind: ConfigEntityKind, uniqueId: string) => void;
const PLATFORMS: Readonly<Record<ConfigEntityKind, string>> = {
  automation: 'automation',
  scene: 'homeassistant',
  script: 'script',
};

/**
 * The hub's entity registry, read once; afterwards only what the hub tells to have changed. The way to an object's
 * entity: entity ids cannot be computed, since the hub makes them from the name at first creation and restores them
 * for 30 days after a deletion.
 */
export class EntityRegistry {
  private readonly connection: HubConnection;
  private readonly listeners = new Set<EntityListener>();
  private readonly byEntityId = new Map<string, RegistryEntity>();
  private readonly byUniqueId = new Map<string, RegistryEntity>();
  /** Entity ids whose entry has changed since it was read. */
  private stale = new Set<string>();
  private watching: Promise<unknown> | undefined;
  private reading: Promise<void> | undefined;
  /** The whole registry was read on this connection. */
  private listed = false;

  constructor(connection: HubConnection) {
    this.connection = connection;
    const forget = () => (this.listed = false);
    connection.onLost(forget);
    connection.onReconnect(forget);
  }

  /** The entity of an automation, scene or script by its id in the file; undefined until the hub has loaded it. */
  async find(kind: ConfigEntityKind, uniqueId: string): Promise<RegistryEntity | undefined> {
    await (this.watching ??= this.watch());
    while (this.reading || !this.listed || this.stale.size > 0) {
      await (this.reading ??= this.read());
    }
    return this.byUniqueId.get(key(kind, PLATFORMS[kind], uniqueId));
  }

  /** The same, after all that the hub has told so far has arrived: for what another connection brought about. */
  async findNow(kind: ConfigEntityKind, uniqueId: string): Promise<RegistryEntity | undefined> {
    await this.connection.command('config/entity_registry/get_entries', { entity_ids: [] });
    return this.find(kind, uniqueId);
  }

  /** Makes a disabled entity usable again. It has no state before its component is reloaded. */
  async enable(entityId: string): Promise<void> {
    await this.connection.command('config/entity_registry/update', {
      entity_id: entityId,
      disabled_by: null,
    });
  }

  onChange(listener: EntityListener): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  private async watch(): Promise<void> {
    try {
      await this.connection.subscribeEvents('entity_registry_updated', (data) => this.onUpdated(data));
    } catch (error) {
      this.watching = undefined;
      throw error;
    }
  }

  private async read(): Promise<void> {
    try {
      if (this.listed) await this.refresh();
      else await this.list();
    } finally {
      this.reading = undefined;
    }
  }

  private async list(): Promise<void> {
    this.stale = new Set(); // what changes from here on is told, and read again
    this.listed = true;
    try {
      const entities = await this.connection.command('config/entity_registry/list');
      this.byEntityId.clear();
      this.byUniqueId.clear();
      for (const entity of entities) this.keep(entity);
    } catch (error) {
      this.listed = false;
      throw error;
    }
  }

  private async refresh(): Promise<void> {
    const stale = this.stale;
    this.stale = new Set();
    try {
      const entries = await this.connection.command('config/entity_registry/get_entries', {
        entity_ids: [...stale],
      });
      for (const [entityId, entity] of Object.entries(entries)) {
        this.drop(entityId);
        if (entity) this.keep(entity);
      }
    } catch (error) {
      for (const entityId of stale) this.stale.add(entityId);
      throw error;
    }
  }

  private onUpdated(data: EntityRegistryUpdated): void {
    const { action, entity_id: entityId, old_entity_id: formerId, changes = {} } = data;
    const known = this.byEntityId.get(formerId ?? entityId);
    if (action === 'remove') this.drop(entityId);
    else this.stale.add(entityId);
    if (formerId !== undefined) this.stale.add(formerId);
    const matters = action === 'remove' || formerId !== undefined || 'disabled_by' in changes;
    const kind = known && kindOf(known);
    if (!matters || !kind) return;
    for (const listener of this.listeners) listener(kind, known.unique_id);
  }

  private keep(entity: RegistryEntity): void {
    this.byEntityId.set(entity.entity_id, entity);
    this.byUniqueId.set(keyOf(entity), entity);
  }

  private drop(entityId: string): void {
    const entity = this.byEntityId.get(entityId);
    if (!entity) return;
    this.byEntityId.delete(entityId);
    if (this.byUniqueId.get(keyOf(entity)) === entity) this.byUniqueId.delete(keyOf(entity));
  }
}

function kindOf({ platform, entity_id: entityId }: RegistryEntity): ConfigEntityKind | undefined {
  const kinds = Object.keys(PLATFORMS) as ConfigEntityKind[];
  return kinds.find((kind) => PLATFORMS[kind] === platform && entityId.startsWith(`${kind}.`));
}

function keyOf({ entity_id: entityId, platform, unique_id: uniqueId }: RegistryEntity): string {
  return key(entityId.slice(0, entityId.indexOf('.')), platform, uniqueId);
}

/** A unique id is unique among the entities of one domain that one integration makes. */
function key(domain: string, platform: string, uniqueId: string): string {
  return `${domain} ${platform} ${uniqueId}`;
}
