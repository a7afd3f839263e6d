import type { KindDefinition } from '../kinds/kind';
import type { CustomResource } from '../kinds/resource';
import { byAge } from './age';
import type { ObjectKey } from './object-key';

/** A resource that describes an object in a hub. */
interface Contender {
  readonly key: ObjectKey;
  /** RFC 3339 with whole seconds. */
  readonly creationTimestamp: string;
  readonly uid: string;
}

/**
 * Finds the resource that owns an object in a hub (rules.md, "Ownership of objects in the hub"). The oldest
 * resource with an identity owns the object; after its deletion, the next oldest does.
 */
export class IdOwnership {
  /** The resources with an identity, the oldest first. */
  private readonly contenders = new Map<string, readonly Contender[]>();
  private readonly identityOf = new Map<ObjectKey, string>();

  /** Sets the identity of a resource. @returns the other resources whose owner changes */
  set(contender: Contender, identity: string): ObjectKey[] {
    if (this.identityOf.get(contender.key) === identity) return [];
    const successors = this.remove(contender.key);
    const all = [...(this.contenders.get(identity) ?? []), contender].sort(byAge);
    this.identityOf.set(contender.key, identity);
    this.contenders.set(identity, all);
    const displaced = all[0] === contender ? all.slice(1) : [];
    return [...successors, ...displaced.map(({ key }) => key)];
  }

  /** Removes the identity of a resource. @returns the other resources whose owner changes */
  remove(key: ObjectKey): ObjectKey[] {
    const identity = this.identityOf.get(key);
    if (identity === undefined) return [];
    this.identityOf.delete(key);
    const all = this.contenders.get(identity)!;
    const others = all.filter((contender) => contender.key !== key);
    if (others.length > 0) this.contenders.set(identity, others);
    else this.contenders.delete(identity);
    return all[0] === others[0] ? [] : others.map((contender) => contender.key);
  }

  /** The other resources with an identity, the oldest first. `key` need not be in the index. */
  others(key: ObjectKey, identity: string): ObjectKey[] {
    return (this.contenders.get(identity) ?? []).map((each) => each.key).filter((each) => each !== key);
  }

  /** The oldest resource with the same identity; undefined if that is this resource. */
  conflictingOwner(key: ObjectKey): ObjectKey | undefined {
    const identity = this.identityOf.get(key);
    const owner = identity === undefined ? undefined : this.contenders.get(identity)![0]!.key;
    return owner === key ? undefined : owner;
  }
}

/** The identity of a resource, unique across hubs, kinds and namespaces; undefined if it has none (yet). */
export function identityInHub(definition: KindDefinition, resource: CustomResource): string | undefined {
  const identity = definition.identity?.(resource);
  if (identity === undefined) return undefined;
  return [definition.kind, resource.metadata.namespace, definition.hubName(resource), identity].join('/');
}
