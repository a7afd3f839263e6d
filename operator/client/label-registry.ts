import type { LabelRecord } from './api-types';
import { FollowedCollection } from './collection';
import type { HubConnection } from './connection';

/** A label as the hub shows it. */
export interface LabelDefinition {
  readonly name: string;
  /** `mdi:…`. */
  readonly icon: string;
  /** A color of the hub's themes, such as `indigo`. */
  readonly color: string;
  readonly description: string;
}

/** The labels of a hub, by name. */
export class LabelRegistry {
  /** Ids by normalized name. */
  private readonly ids: FollowedCollection<ReadonlyMap<string, string>>;
  private readonly creating = new Map<string, Promise<string>>();

  constructor(private readonly connection: HubConnection) {
    this.ids = new FollowedCollection(connection, {
      subscribe: () => connection.subscribeEvents('label_registry_updated', () => this.ids.invalidate()),
      fetch: async () => idsOf(await connection.command('config/label_registry/list')),
    });
  }

  /** The id of a label; undefined: the hub has none of that name. */
  async find(name: string): Promise<string | undefined> {
    return (await this.ids.get()).get(normalized(name));
  }

  /** The id of a label, which is created if it does not exist. */
  async ensure(label: LabelDefinition): Promise<string> {
    const existing = await this.find(label.name);
    if (existing !== undefined) return existing;
    let creation = this.creating.get(label.name);
    if (!creation) {
      creation = this.create(label).finally(() => this.creating.delete(label.name));
      this.creating.set(label.name, creation);
    }
    return creation;
  }

  private async create(label: LabelDefinition): Promise<string> {
    const { label_id: id } = await this.connection.command('config/label_registry/create', { ...label });
    this.ids.invalidate();
    return id;
  }
}

function idsOf(labels: readonly LabelRecord[]): ReadonlyMap<string, string> {
  return new Map(labels.map(({ label_id: id, name }) => [normalized(name), id]));
}

/** The hub compares names without case and spaces. */
const normalized = (name: string): string => name.toLowerCase().replaceAll(' ', '');
