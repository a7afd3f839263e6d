import { isObject } from '../../base/is-object';
import { type DetailedEntity, detailedEntity, type EntityRegistryUpdated } from '../connection/api-types';
import { type Changes, type Entries, FollowedCollection } from '../connection/collection';
import type { CommandFields } from '../connection/commands';
import type { HubConnection } from '../connection/connection';
import { domainOf } from '../connection/entity-id';
import { type CategoryScope, categoryScopes } from '../connection/registry-types';
import { checked, nullable, record } from '../connection/shape';
import {
  byUser,
  commandFields,
  type Configurable,
  iterated,
  Listeners,
  type Setting,
  type Settings,
  type SettingsEntries,
  type SettingsRegistry,
  textOf,
} from './settings';

/** An entity with its settings, and the fields by which a resource selects it. */
export interface EntityRecord extends Configurable {
  readonly entityId: string;
  /** The integration that provides the entity. */
  readonly integration: string;
  readonly uniqueId: string;
  readonly deviceId: string | null;
  readonly configEntryId: string | null;
  readonly translationKey: string | null;
  /** The name that the integration gave to the entity, without the name of its device. */
  readonly originalName: string | null;
  readonly originalDeviceClass: string | null;
  /** Whether the name of the entity is one of its aliases. */
  readonly hasOwnAlias: boolean;
  /**
   * Options by assistant, and by domain for domains with a setting. The hub replaces the options of each as a
   * whole.
   */
  readonly options: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

type EntityFields = Omit<CommandFields<'config/entity_registry/update'>, 'entity_id'>;

/** The hub's names of the assistants, by setting. */
export const ASSISTANTS = {
  'expose.conversation': 'conversation',
  'expose.alexa': 'cloud.alexa',
  'expose.googleAssistant': 'cloud.google_assistant',
} as const;

/** The name of an option in the hub, by setting. */
const OPTIONS = { unit: 'unit_of_measurement', precision: 'display_precision' } as const;

/** The settings that are options of a domain. Other options, such as the code of a lock, are never read. */
const OPTIONS_OF: Readonly<Record<string, readonly (keyof typeof OPTIONS)[]>> = {
  sensor: ['unit', 'precision'],
  number: ['unit'],
};

/**
 * The fields of the update command, by setting. One command contains all of them, since the hub validates
 * name and area together.
 */
const TO_HUB: Readonly<Record<string, (value: Setting, entity: EntityRecord) => EntityFields>> = {
  name: (value) => ({ name: value as string | null }),
  icon: (value) => ({ icon: value as string | null }),
  areaName: (value) => ({ area_id: value as string | null }),
  labels: (value) => ({ labels: value as readonly string[] }),
  aliases: (value, { hasOwnAlias }) => ({
    aliases: [...(hasOwnAlias ? [null] : []), ...(value as readonly string[])],
  }),
  hidden: (value) => ({ hidden_by: byUser(value) }),
  disabled: (value) => ({ disabled_by: byUser(value) }),
  deviceClass: (value) => ({ device_class: value as string | null }),
};

/** The setting of the category in a scope. */
export const categorySetting = (scope: CategoryScope) => `categories.${scope}` as const;

/** One field of the command has the categories of all scopes. */
function categoryFields(changes: Settings): EntityFields {
  const changed = categoryScopes
    .filter((scope) => changes[categorySetting(scope)] !== undefined)
    .map((scope) => [scope, changes[categorySetting(scope)]] as const);
  return changed.length > 0 ? { categories: Object.fromEntries(changed) } : {};
}

/** Number of entities that one command reads. */
const PER_COMMAND = 500;

/**
 * Entity ids of valid form. An invalid one, such as `sensor.a__b` of an old registry, makes the hub reject
 * the whole command.
 */
const READABLE_ID = /^(?!.+__)(?!_)[\da-z_]+(?<!_)\.(?!_)[\da-z_]+(?<!_)$/;

/** Index of entities by entity id, and by id of the registry entry. */
class EntityRecords implements Entries<EntityRecord> {
  private readonly byEntityId = new Map<string, EntityRecord>();
  private readonly byId = new Map<string, EntityRecord>();

  get(entityId: string): EntityRecord | undefined {
    return this.byEntityId.get(entityId);
  }

  withId(id: string): EntityRecord | undefined {
    return this.byId.get(id);
  }

  keys(): Iterable<string> {
    return this.byEntityId.keys();
  }

  get all(): Iterable<EntityRecord> {
    return iterated(() => this.byEntityId.values());
  }

  set(entityId: string, entity: EntityRecord): void {
    this.delete(entityId);
    this.byEntityId.set(entityId, entity);
    this.byId.set(entity.id, entity);
  }

  delete(entityId: string): void {
    const entity = this.byEntityId.get(entityId);
    if (!entity) return;
    this.byEntityId.delete(entityId);
    if (this.byId.get(entity.id) === entity) this.byId.delete(entity.id);
  }
}

/** The entities of a hub with their settings. They are read only if a resource needs them. */
export class EntitySettings implements SettingsRegistry<EntityRecord> {
  private readonly entities: FollowedCollection<EntityRecord, EntityRecords>;
  private readonly listeners = new Listeners();

  constructor(private readonly connection: HubConnection) {
    this.entities = new FollowedCollection(connection, {
      name: 'settings of entities',
      subscribe: () => connection.subscribeEvents('entity_registry_updated', (data) => this.onUpdated(data)),
      fetch: (hold) => this.list(hold),
      refresh: (entityIds) => this.read(entityIds),
    });
    connection.onReconnect(() => this.listeners.call());
  }

  async entries(): Promise<SettingsEntries<EntityRecord>> {
    const entities = await this.entities.get();
    return { get: (id) => entities.withId(id), all: entities.all };
  }

  invalidate(): void {
    this.entities.invalidate();
  }

  onChange(listener: () => void): () => void {
    return this.listeners.add(listener);
  }

  /**
   * Sends the changes in several commands. After a crash between two of them, the next reconcile sends the
   * rest. The entity id changes last, because the other commands use the former one.
   */
  async update(entity: EntityRecord, changes: Settings): Promise<EntityRecord | undefined> {
    const { id, entityId } = entity;
    const newId = changes['entityId'] as string | undefined;
    const entityIds = newId === undefined ? [entityId] : [entityId, newId];
    return this.listeners.whileChanging(entityIds, async () => {
      await this.updateFields(entity, changes);
      await this.updateOptions(entity, changes);
      await this.updateExposure(entity, changes);
      if (newId !== undefined) await this.send(entityId, { new_entity_id: newId });
      for (const each of entityIds) this.entities.invalidate(each);
      return (await this.entities.get()).withId(id);
    });
  }

  private async updateFields(entity: EntityRecord, changes: Settings): Promise<void> {
    const fields = { ...commandFields(TO_HUB, changes, entity), ...categoryFields(changes) };
    if (Object.keys(fields).length > 0) await this.send(entity.entityId, fields);
  }

  private async updateOptions({ entityId, options }: EntityRecord, changes: Settings): Promise<void> {
    const domain = domainOf(entityId);
    const names = (OPTIONS_OF[domain] ?? []).filter((name) => changes[name] !== undefined);
    if (names.length === 0) return;
    const changed = Object.fromEntries(names.map((name) => [OPTIONS[name], changes[name]!]));
    await this.send(entityId, { options_domain: domain, options: merged(options[domain], changed) });
  }

  /**
   * Changes which assistants see the entity. To restore a value that was not stored before, the option is
   * removed: the command for assistants always stores a value.
   */
  private async updateExposure({ entityId, options }: EntityRecord, changes: Settings): Promise<void> {
    for (const [name, assistant] of Object.entries(ASSISTANTS)) {
      const value = changes[name];
      if (value === undefined) continue;
      if (value === null)
        await this.send(entityId, {
          options_domain: assistant,
          options: merged(options[assistant], { should_expose: null }),
        });
      else
        await this.connection.command('homeassistant/expose_entity', {
          assistants: [assistant],
          entity_ids: [entityId],
          should_expose: value === true,
        });
    }
  }

  private send(entityId: string, fields: EntityFields): Promise<unknown> {
    return this.connection.command('config/entity_registry/update', { entity_id: entityId, ...fields });
  }

  private async list(hold: (entityIds: readonly string[]) => void): Promise<EntityRecords> {
    const entityIds = await this.allIds();
    hold(entityIds);
    const records = new EntityRecords();
    for (const [entityId, entity] of await this.read(entityIds)) if (entity) records.set(entityId, entity);
    return records;
  }

  /**
   * A separate function, because the whole list would otherwise stay in memory until the individual entries
   * arrive.
   */
  private async allIds(): Promise<readonly string[]> {
    const all = await this.connection.command('config/entity_registry/list');
    return all.map(({ entity_id: entityId }) => entityId);
  }

  /**
   * Reads entities in several commands, because the hub's answer to a single one could exceed the size limit,
   * for example after many events.
   */
  private async read(entityIds: readonly string[]): Promise<Changes<EntityRecord>> {
    const readable = entityIds.filter((entityId) => READABLE_ID.test(entityId));
    const found = new Map<string, EntityRecord | undefined>(
      entityIds.map((entityId) => [entityId, undefined]),
    );
    for (let start = 0; start < readable.length; start += PER_COMMAND)
      for (const [entityId, entity] of await this.readPart(readable.slice(start, start + PER_COMMAND)))
        found.set(entityId, entity);
    return found;
  }

  private async readPart(entityIds: readonly string[]): Promise<Changes<EntityRecord>> {
    const command = 'config/entity_registry/get_entries';
    const answer = await this.connection.command(command, { entity_ids: entityIds });
    const entries = checked<Readonly<Record<string, DetailedEntity | null>>>(
      command,
      answer,
      record(nullable(detailedEntity)),
    );
    return entityIds.map((entityId) => {
      const entity = Object.hasOwn(entries, entityId) ? entries[entityId] : undefined;
      return [entityId, entity ? picked(entity) : undefined];
    });
  }

  private onUpdated({ action, entity_id: entityId, old_entity_id: formerId }: EntityRegistryUpdated): void {
    if (action === 'remove') this.entities.change(entityId, undefined);
    else this.entities.invalidate(entityId);
    if (formerId !== undefined) this.entities.invalidate(formerId);
    this.listeners.call(entityId);
  }
}

/**
 * The options merged with the changed ones, of which null removes an option. The result is null if no option
 * is left, which removes all.
 */
function merged(
  present: Readonly<Record<string, unknown>> | undefined,
  changed: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> | null {
  const all = Object.entries({ ...present, ...changed }).filter(([, value]) => value !== null);
  return all.length > 0 ? Object.fromEntries(all) : null;
}

/**
 * The fields that the operator uses. Others are dropped, since a hub may have thousands of entities with
 * large or secret options.
 */
function picked(entity: DetailedEntity): EntityRecord {
  const { disabled_by: disabledBy = null } = entity;
  const options = pickedOptions(entity);
  return {
    id: entity.id,
    entityId: entity.entity_id,
    integration: entity.platform,
    uniqueId: textOf(entity.unique_id) ?? '',
    deviceId: entity.device_id ?? null,
    configEntryId: entity.config_entry_id ?? null,
    translationKey: textOf(entity.translation_key),
    originalName: textOf(entity.original_name),
    originalDeviceClass: textOf(entity.original_device_class),
    hasOwnAlias: entity.aliases.includes(null),
    disabledBy,
    options,
    settings: {
      name: entity.name ?? null,
      icon: entity.icon ?? null,
      areaName: entity.area_id ?? null,
      labels: entity.labels,
      aliases: entity.aliases.filter((alias) => alias !== null),
      hidden: (entity.hidden_by ?? null) !== null,
      disabled: disabledBy !== null,
      deviceClass: entity.device_class ?? null,
      entityId: entity.entity_id,
      ...categoriesOf(entity),
      ...settingsInOptions(entity, options),
    },
  };
}

/** The options of the assistants and of the domain of the entity. */
function pickedOptions({ entity_id: entityId, options }: DetailedEntity): EntityRecord['options'] {
  const domain = domainOf(entityId);
  return Object.fromEntries(
    [...Object.values(ASSISTANTS), ...(domain in OPTIONS_OF ? [domain] : [])]
      .map(
        (name) =>
          [name, isObject(options) && Object.hasOwn(options, name) ? options[name] : undefined] as const,
      )
      .filter((each): each is readonly [string, Readonly<Record<string, unknown>>] => isObject(each[1])),
  );
}

/** The categories that are set. Most entities have none: thousands would keep as many empty settings. */
function categoriesOf({ categories }: DetailedEntity): Settings {
  return Object.fromEntries(
    categoryScopes
      .filter((scope) => typeof categories?.[scope] === 'string')
      .map((scope) => [categorySetting(scope), categories![scope] as string]),
  );
}

function settingsInOptions(
  { entity_id: entityId }: DetailedEntity,
  options: EntityRecord['options'],
): Settings {
  const domain = domainOf(entityId);
  return Object.fromEntries([
    ...(OPTIONS_OF[domain] ?? []).map((name) => [name, scalarOf(options[domain]?.[OPTIONS[name]])] as const),
    ...Object.entries(ASSISTANTS).map(
      ([name, assistant]) => [name, scalarOf(options[assistant]?.['should_expose'])] as const,
    ),
  ]);
}

/** A scalar value; null for a value of another type. */
function scalarOf(value: unknown): Setting {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null;
}
