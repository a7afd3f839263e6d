import type { ConfigEntityKind, EntityPayload } from '../../operator/client/connection/config-entity';
import type { CategoryScope, RegistryType } from '../../operator/client/connection/registry-types';
import type { Clock } from '../../operator/base/clock';
import type { HubClient } from '../../operator/client/hub-client';
import type { Categories } from '../../operator/client/registries/category-registry';
import type { RegistryEntries } from '../../operator/client/registries/registry';
import { readEntities } from '../export/config-entities';

/**
 * Largest number of objects of a kind that are read one by one. For more, all are read together, because the
 * hub parses its whole file for each single read.
 */
const MOST_SINGLE_READS = 20;

/** The objects of one hub. Each is read once. */
export class StoredObjects {
  private readonly all = new Map<ConfigEntityKind, Promise<ReadonlyMap<string, EntityPayload>>>();
  private reads = 0;
  private readingVersion: Promise<string> | undefined;

  constructor(
    readonly client: HubClient,
    readonly clock: Clock,
  ) {}

  /** The definition in the hub's file; undefined if the file lacks it. */
  async entity(kind: ConfigEntityKind, id: string): Promise<EntityPayload | undefined> {
    if (!this.all.has(kind) && (this.reads += 1) <= MOST_SINGLE_READS) return this.readOne(kind, id);
    const reading = this.all.get(kind) ?? this.readAll(kind);
    this.all.set(kind, reading);
    return (await reading).get(id);
  }

  entries(type: RegistryType): Promise<RegistryEntries> {
    return this.client.registries[type].entries();
  }

  categories(scope: CategoryScope): Promise<Categories> {
    return this.client.categories.entries(scope);
  }

  /** The version of the hub. */
  version(): Promise<string> {
    this.readingVersion ??= this.client.connection.command('get_config').then(({ version }) => version);
    return this.readingVersion;
  }

  private async readOne(kind: ConfigEntityKind, id: string): Promise<EntityPayload | undefined> {
    const found = await this.client.entities.read(kind, id);
    if (!found) return undefined;
    const { id: _, ...payload } = found;
    return payload;
  }

  private async readAll(kind: ConfigEntityKind): Promise<ReadonlyMap<string, EntityPayload>> {
    const { stored } = await readEntities(this.client, kind, () => undefined);
    return new Map(stored.map(({ id, payload }) => [id, payload]));
  }
}
