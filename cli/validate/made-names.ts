import type { CollectionType } from '../../operator/client/connection/registry-types';
import type { HubClient } from '../../operator/client/hub-client';
import { integration } from '../../operator/kinds';
import { registryName } from '../../operator/kinds/ids';
import type { CustomResource } from '../../operator/kinds/resource';
import type { Reference } from '../../operator/sync/config-entities/references/extract';
import { referenceText } from '../../operator/sync/config-entities/references/verdict';
import type { Child } from '../../operator/sync/objects/child';
import { type EntryResource, type EntryType, entryTypeOf } from '../../operator/sync/registry/entry-types';
import { slugOf } from '../../operator/sync/registry/identity';
import { entityTypeOf } from '../diff/config-entity-change';

const CONFIG_REGISTRIES = ['area', 'floor', 'label'] as const;
type ConfigRegistry = (typeof CONFIG_REGISTRIES)[number];

/** Names that a hub does not have yet, and that resources of it make. */
export class MadeNames {
  private readonly references = new Set<string>();
  /** Areas, floors, labels and domains of entities with a name from which only the hub can derive the id. */
  private readonly unknown = new Set<string>();
  /** Domains of integrations that resources set up. */
  private readonly integrations = new Set<string>();

  /** @throws HubError */
  static async of(client: HubClient, resources: readonly CustomResource[]): Promise<MadeNames> {
    const made = new MadeNames();
    for (const resource of resources) await made.add(client, resource);
    return made;
  }

  /** Reports whether a resource makes it, or may make it under an id that only the hub can tell. */
  has(reference: Reference): boolean {
    const { type, id } = reference;
    const [domain = ''] = id.split('.', 1);
    if (type === 'action')
      return this.integrations.has(domain) || this.has({ type: 'entity', id: scriptOf(id) });
    const group = type === 'entity' ? domain : type;
    return this.references.has(referenceText(reference)) || this.unknown.has(group);
  }

  /** The ids of entities. */
  get entities(): readonly string[] {
    return [...this.references].flatMap((text) => (text.startsWith('entity ') ? [text.slice(7)] : []));
  }

  private async add(client: HubClient, resource: CustomResource): Promise<void> {
    if (resource.kind === integration.kind) {
      this.integrations.add(String((resource.spec as Readonly<Record<string, unknown>>)['domain']));
      return;
    }
    const entryType = entryTypeOf(resource);
    if (entryType) return this.addEntry(client, entryType, resource as EntryResource);
    const entityType = entityTypeOf(resource.kind);
    if (!entityType) return;
    const { type } = entityType;
    const id = entityType.id(resource as Child);
    if (await client.entityRegistry.find(type, id)) return; // under the entity id that it has in the hub
    const name = entityType.nameOf(entityType.spec(resource as Child), id);
    this.addName('entity', type, type === 'script' ? id : slugOf(name));
  }

  private async addEntry(
    client: HubClient,
    { type, identity }: EntryType,
    resource: EntryResource,
  ): Promise<void> {
    const { name } = resource.spec;
    const registry = CONFIG_REGISTRIES.find((each) => each === type);
    if (registry === undefined) {
      const id = identity.isName ? slugOf(name) : identity.of(resource);
      const isNew = identity.isName || !(await client.entityRegistry.find(type as CollectionType, id!));
      if (isNew) this.addName('entity', type, id);
    } else if (!(await isInRegistry(client, registry, name))) {
      this.addName(registry, registry, slugOf(name));
    }
  }

  private addName(type: Reference['type'], group: string, id: string | undefined): void {
    if (id === undefined) this.unknown.add(group);
    else this.references.add(referenceText({ type, id: type === 'entity' ? `${group}.${id}` : id }));
  }
}

/** The entity of the script that is called by its own action. No entity for another action. */
const scriptOf = (action: string): string => (action.startsWith('script.') ? action : '');

/** Reports whether the hub has the entry, under an id that may be that of a former name. */
async function isInRegistry(client: HubClient, type: ConfigRegistry, name: string): Promise<boolean> {
  const entries = await client.registries[type].entries();
  return [...entries.values()].some((each) => registryName(each.name) === registryName(name));
}
