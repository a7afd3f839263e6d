import type { Registry, RegistryEntries } from './registry';

/** A label as the hub shows it. */
export interface LabelDefinition {
  readonly name: string;
  /** Name of an icon, `mdi:…`. */
  readonly icon: string;
  /** A color of the hub's themes, such as `indigo`. */
  readonly color: string;
  readonly description: string;
}

/** The labels of a hub, by name. */
export class LabelRegistry {
  private readonly creating = new Map<string, Promise<string>>();

  constructor(private readonly registry: Registry) {}

  /** The id of a label; undefined if the hub has none with that name. */
  async find(name: string): Promise<string | undefined> {
    return findId(await this.registry.entries(), name);
  }

  /** The id of a label. The label is created if it does not exist. */
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
    const { label_id: id } = await this.registry.create({ ...label });
    return id as string;
  }
}

function findId(entries: RegistryEntries, name: string): string | undefined {
  const searched = normalized(name);
  for (const [id, entry] of entries) if (normalized(entry.name) === searched) return id;
  return undefined;
}

/** Normalizes a name like the hub, which ignores case and spaces. */
const normalized = (name: string): string => name.toLowerCase().replaceAll(' ', '');
