import { type Changes, FollowedCollection } from '../connection/collection';
import { undefinedIf } from '../../base/undefined-if';
import { isNotFound, isUnknownCommand, HubTooLarge } from '../connection/errors';
import type { CommandFields, CommandResult } from '../connection/commands';
import type { HubConnection } from '../connection/connection';
import { type ConfigEntityKind, isConfigEntityKind } from '../connection/config-entity';
import type { EntityRegistryUpdated, RegistryEntity } from '../connection/api-types';
import { domainOf } from '../connection/entity-id';
import { type CollectionType, collectionTypes } from '../connection/registry-types';
import { textOf } from './settings';

/**
 * The types of entities that are followed. The unique id of an entity is the id of the object in the hub's
 * file or collection.
 */
type FollowedKind = ConfigEntityKind | CollectionType;

/** Called with the kind and the unique id of an entity. */
export type EntityListener = (kind: FollowedKind, uniqueId: string) => void;

const PLATFORMS: Readonly<Record<FollowedKind, string>> = {
  automation: 'automation',
  scene: 'homeassistant',
  script: 'script',
  ...(Object.fromEntries(collectionTypes.map((type) => [type, type])) as Record<CollectionType, string>),
};

/** Called with the id of an entity that the hub has got, of any integration. */
type EntityAppearanceListener = (entityId: string) => void;

/** An automation, scene or script with a label. */
export interface LabelledEntity {
  readonly kind: ConfigEntityKind;
  /** Id of the object in the hub's file. */
  readonly id: string;
  readonly entityId: string;
  readonly labels: readonly string[];
}

/** The entries of the registry by entity id and by unique id. */
class EntityIndex {
  private readonly byEntityId = new Map<string, RegistryEntity>();
  private readonly byUniqueId = new Map<string, RegistryEntity>();

  get(entityId: string): RegistryEntity | undefined {
    return this.byEntityId.get(entityId);
  }

  keys(): Iterable<string> {
    return this.byEntityId.keys();
  }

  get all(): Iterable<RegistryEntity> {
    return this.byEntityId.values();
  }

  find(domain: string, platform: string, uniqueId: string): RegistryEntity | undefined {
    return this.byUniqueId.get(key(domain, platform, uniqueId));
  }

  set(entityId: string, entity: RegistryEntity): void {
    this.delete(entityId);
    this.byEntityId.set(entityId, entity);
    this.byUniqueId.set(uniqueKey(entity), entity);
  }

  delete(entityId: string): void {
    const entity = this.byEntityId.get(entityId);
    if (!entity) return;
    this.byEntityId.delete(entityId);
    if (this.byUniqueId.get(uniqueKey(entity)) === entity) this.byUniqueId.delete(uniqueKey(entity));
  }
}

/**
 * The hub's entity registry: finds the entity for an id in the hub's file. Entity ids cannot be computed,
 * because the hub derives them from the name at creation and restores former ones for 30 days after a
 * deletion.
 */
export class EntityRegistry {
  private readonly listeners = new Set<EntityListener>();
  private readonly appearanceListeners = new Set<EntityAppearanceListener>();
  private readonly entities: FollowedCollection<RegistryEntity, EntityIndex>;
  private lastList: Promise<unknown> = Promise.resolve();
  private nextList: Promise<CommandResult<'config/entity_registry/list'>> | undefined;

  constructor(private readonly connection: HubConnection) {
    this.entities = new FollowedCollection(connection, {
      subscribe: () => connection.subscribeEvents('entity_registry_updated', (data) => this.onUpdated(data)),
      name: 'entities',
      fetch: (hold) => this.list(hold),
      refresh: (entityIds) => this.read(entityIds),
    });
  }

  /**
   * The entity of an automation, scene, script or collection entry, by the id of that object; undefined until
   * the hub has loaded it.
   */
  async find(kind: FollowedKind, uniqueId: string): Promise<RegistryEntity | undefined> {
    return (await this.entities.get()).find(kind, PLATFORMS[kind], uniqueId);
  }

  /**
   * The automation, scene, script or collection entry with this entity id; undefined if the registry has
   * none.
   */
  async get(entityId: string): Promise<RegistryEntity | undefined> {
    return (await this.entities.get()).get(entityId);
  }

  /**
   * {@link find} after all events that the hub has sent so far. The result therefore includes changes by HTTP
   * requests.
   */
  async findNow(kind: ConfigEntityKind, uniqueId: string): Promise<RegistryEntity | undefined> {
    await this.entries([]);
    return this.find(kind, uniqueId);
  }

  /**
   * {@link findNow} for a removal. If the list takes too much memory to be kept, the removal does not wait:
   * the list is read once and discarded.
   */
  async findToRemove(kind: ConfigEntityKind, uniqueId: string): Promise<RegistryEntity | undefined> {
    try {
      return await this.findNow(kind, uniqueId);
    } catch (error) {
      if (!(error instanceof HubTooLarge)) throw error;
      const all = await this.wholeList();
      return all.find((entity) => kindOf(entity) === kind && entity.unique_id === uniqueId);
    }
  }

  /** Reads the list without keeping it. Callers that ask before a read begins share its result. */
  private wholeList(): Promise<CommandResult<'config/entity_registry/list'>> {
    this.nextList ??= this.lastList.then(() => {
      this.nextList = undefined;
      const list = this.connection.command('config/entity_registry/list');
      this.lastList = list.catch(() => undefined);
      return list;
    });
    return this.nextList;
  }

  /** All automations, scenes and scripts that have this label. */
  async withLabel(labelId: string): Promise<readonly LabelledEntity[]> {
    return [...(await this.entities.get()).all].flatMap((entity) => {
      const { entity_id: entityId, unique_id: id, labels = [] } = entity;
      const kind = kindOf(entity);
      return kind && isConfigEntityKind(kind) && labels.includes(labelId)
        ? [{ kind, id, entityId, labels }]
        : [];
    });
  }

  /** Enables a disabled entity. The entity has no state until its component is reloaded. */
  async enable(entityId: string): Promise<void> {
    await this.update({ entity_id: entityId, disabled_by: null });
  }

  async setLabels(entityId: string, labels: readonly string[]): Promise<void> {
    await this.update({ entity_id: entityId, labels });
  }

  /** @throws HubRejected `invalid_info`: the new entity id is taken */
  async rename(entityId: string, newEntityId: string): Promise<void> {
    await this.update({ entity_id: entityId, new_entity_id: newEntityId });
  }

  private async update(fields: CommandFields<'config/entity_registry/update'>): Promise<void> {
    await this.connection.command('config/entity_registry/update', fields);
  }

  /**
   * Removes the entry and the state of an entity; the hub stops an automation. An entity that does not exist
   * is not an error.
   */
  async remove(entityId: string): Promise<void> {
    const removal = this.connection.command('config/entity_registry/remove', { entity_id: entityId });
    await undefinedIf(isNotFound, removal);
  }

  /**
   * Calls `listener` when a known entity is removed, renamed, disabled or enabled.
   * @returns a function that removes the listener
   */
  onChange(listener: EntityListener): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** Calls `listener` when an entity gets an entry, or an entry gets this entity id. */
  onAppearance(listener: EntityAppearanceListener): void {
    this.appearanceListeners.add(listener);
  }

  /** The entities of these that have no entry in the registry. */
  async withoutEntry(entityIds: readonly string[]): Promise<readonly string[]> {
    const entries = await this.entries(entityIds);
    return entityIds.filter((entityId) => !(Object.hasOwn(entries, entityId) && entries[entityId]));
  }

  /**
   * Reads the entries. The hub's list has no icons, so the entries of the followed types are read
   * individually, and all others are dropped.
   */
  private async list(hold: (entityIds: readonly string[]) => void): Promise<EntityIndex> {
    const index = new EntityIndex();
    const entityIds = await this.followedIds();
    hold(entityIds);
    if (entityIds.length === 0) return index;
    for (const [entityId, entity] of await this.read(entityIds)) if (entity) index.set(entityId, entity);
    return index;
  }

  /**
   * A separate function, because the whole list would otherwise stay in memory until the individual entries
   * arrive.
   */
  private async followedIds(): Promise<readonly string[]> {
    const all = await this.connection.command('config/entity_registry/list');
    return all.filter((entity) => kindOf(entity)).map(({ entity_id: entityId }) => entityId);
  }

  private async read(entityIds: readonly string[]): Promise<Changes<RegistryEntity>> {
    const entries = await this.entries(entityIds);
    return entityIds.map((entityId) => {
      const entity = Object.hasOwn(entries, entityId) ? entries[entityId] : undefined;
      return [entityId, entity && kindOf(entity) ? picked(entity) : undefined];
    });
  }

  /**
   * Reads entries by entity id. For a hub that has no command for individual entries, the result comes from
   * its list, without icons.
   */
  private async entries(
    entityIds: readonly string[],
  ): Promise<CommandResult<'config/entity_registry/get_entries'>> {
    try {
      return await this.connection.command('config/entity_registry/get_entries', { entity_ids: entityIds });
    } catch (error) {
      if (!isUnknownCommand(error)) throw error;
      const all = await this.connection.command('config/entity_registry/list');
      const listed = new Map(all.map((entity) => [entity.entity_id, entity]));
      return Object.fromEntries(entityIds.map((entityId) => [entityId, listed.get(entityId) ?? null]));
    }
  }

  private onUpdated(data: EntityRegistryUpdated): void {
    const { action, entity_id: entityId, old_entity_id: formerId, changes = {} } = data;
    const known = this.entities.lastKnown?.get(formerId ?? entityId);
    if (action === 'remove') this.entities.change(entityId, undefined);
    else if (isOfKind(entityId)) this.entities.invalidate(entityId);
    if (formerId !== undefined && isOfKind(formerId)) this.entities.invalidate(formerId);
    if (action === 'create' || formerId !== undefined)
      for (const listener of this.appearanceListeners) listener(entityId);
    const isRelevant = action === 'remove' || formerId !== undefined || 'disabled_by' in changes;
    const kind = known && kindOf(known);
    if (!isRelevant || !kind) return;
    for (const listener of this.listeners) listener(kind, known.unique_id);
  }
}

function kindOf({ platform, entity_id: entityId }: RegistryEntity): FollowedKind | undefined {
  const kinds = Object.keys(PLATFORMS) as FollowedKind[];
  return kinds.find((kind) => PLATFORMS[kind] === platform && entityId.startsWith(`${kind}.`));
}

/** Only the used fields are kept: a hub may have thousands of entities with options of any size. */
function picked(entity: RegistryEntity): RegistryEntity {
  const { id, entity_id, unique_id, platform, disabled_by, original_name, original_icon, labels } = entity;
  return { id, entity_id, unique_id, platform, disabled_by, original_name, original_icon, labels };
}

const isOfKind = (entityId: string): boolean =>
  Object.keys(PLATFORMS).some((kind) => entityId.startsWith(`${kind}.`));

function uniqueKey({ entity_id: entityId, platform, unique_id: uniqueId }: RegistryEntity): string {
  return key(domainOf(entityId), platform, textOf(uniqueId) ?? '');
}

/** Key of the index. A unique id is unique only within a domain and an integration. */
function key(domain: string, platform: string, uniqueId: string): string {
  return `${domain} ${platform} ${uniqueId}`;
}
