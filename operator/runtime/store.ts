import { type ClusterObject, keyOf } from './objects';

export type Change<T> =
  | { readonly type: 'added'; readonly object: T }
  | { readonly type: 'modified'; readonly object: T; readonly previous: T }
  | { readonly type: 'deleted'; readonly object: T };

/**
 * What the operator knows of one list of the API server. Every way in says what changed by it, and older news never
 * overwrites newer: our own writes are put here before their watch event arrives.
 */
export class Store<T extends ClusterObject> {
  private readonly objects = new Map<string, T>();
  /** Resource versions at which objects went, so that a late answer to an older write does not bring one back. */
  private readonly gone = new Map<string, bigint>();

  get size(): number {
    return this.objects.size;
  }

  get(key: string): T | undefined {
    return this.objects.get(key);
  }

  values(): IterableIterator<T> {
    return this.objects.values();
  }

  put(object: T): Change<T> | undefined {
    const key = keyOf(object);
    const version = versionOf(object);
    const previous = this.objects.get(key);
    if (previous ? version <= versionOf(previous) : version <= (this.gone.get(key) ?? -1n)) return undefined;
    this.gone.delete(key);
    this.objects.set(key, object);
    return previous ? { type: 'modified', object, previous } : { type: 'added', object };
  }

  /** `object` is its last state, as a DELETED event carries it, with the resource version of the deletion. */
  remove(object: T): Change<T> | undefined {
    const key = keyOf(object);
    const previous = this.objects.get(key);
    if (!previous || versionOf(previous) > versionOf(object)) return undefined;
    this.objects.delete(key);
    this.gone.set(key, versionOf(object));
    return { type: 'deleted', object };
  }

  /** Takes over a whole list, read at `version`: what it does not hold was deleted meanwhile. */
  replace(list: readonly T[], version: string): Change<T>[] {
    const listed = new Map(list.map((object) => [keyOf(object), object]));
    const changes: Change<T>[] = [];
    this.gone.clear();
    for (const [key, object] of this.objects) {
      if (listed.has(key) || versionOf(object) > BigInt(version)) continue;
      this.objects.delete(key);
      changes.push({ type: 'deleted', object });
    }
    for (const object of listed.values()) {
      const change = this.put(object);
      if (change) changes.push(change);
    }
    return changes;
  }
}

/** Resource versions are comparable numbers (Kubernetes' API concepts, "Resource versions"). */
function versionOf(object: ClusterObject): bigint {
  return BigInt(object.metadata.resourceVersion ?? '0');
}
