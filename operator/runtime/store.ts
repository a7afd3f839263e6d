import { type ObjectKey, objectKeyOf } from './object-key';
import type { ClusterObject } from './objects';

export type Change<T> =
  | { readonly type: 'added'; readonly object: T }
  | { readonly type: 'modified'; readonly object: T; readonly previous: T }
  | { readonly type: 'deleted'; readonly object: T };

/**
 * What the operator knows of one list of the API server. Every way in says what changed by it, each difference once,
 * and older news never overwrites newer. An object that was deleted and made anew under its name is another object.
 */
export class Store<T extends ClusterObject> {
  private readonly objects = new Map<ObjectKey, T>();
  /** The newest version that the server has shown us. */
  private seenAt = 0n;

  get size(): number {
    return this.objects.size;
  }

  get(key: ObjectKey): T | undefined {
    return this.objects.get(key);
  }

  values(): IterableIterator<T> {
    return this.objects.values();
  }

  /** What a watch says: the object is like this now. */
  put(object: T): Change<T>[] {
    const key = objectKeyOf(object);
    const previous = this.objects.get(key);
    if (previous && versionOf(object) <= versionOf(previous)) return [];
    return this.set(key, object, previous);
  }

  /**
   * Takes the server's answer to a write of ours, before the watch brings it. An object that is not here went, or was
   * made anew, while the answer was on its way.
   */
  recordWrite(object: T): Change<T>[] {
    return this.objects.get(objectKeyOf(object))?.metadata.uid === object.metadata.uid
      ? this.put(object)
      : [];
  }

  /** `object` is its last state, as a DELETED event carries it, with the resource version of the deletion. */
  remove(object: T): Change<T>[] {
    const previous = this.objects.get(objectKeyOf(object));
    if (!previous || versionOf(object) < versionOf(previous)) return [];
    this.objects.delete(objectKeyOf(object));
    return [{ type: 'deleted', object }];
  }

  /** What a watch has come to, by an event or a bookmark: no list may be older than that. */
  seen(version: string): void {
    const at = BigInt(version);
    if (at > this.seenAt) this.seenAt = at;
  }

  /**
   * Takes over a whole list, read at `version`: what it does not hold was deleted meanwhile, what is newer here was
   * learned meanwhile. A list that is older than what a list or watch has shown before means that the server was
   * restored from a backup: then it is the truth as it stands.
   */
  replace(list: readonly T[], version: string): Change<T>[] {
    const readAt = BigInt(version);
    const restored = readAt < this.seenAt;
    this.seenAt = readAt;
    const listed = new Set(list.map(objectKeyOf));
    const changes: Change<T>[] = [];
    for (const [key, object] of this.objects) {
      if (listed.has(key) || (versionOf(object) > readAt && !restored)) continue;
      this.objects.delete(key);
      changes.push({ type: 'deleted', object });
    }
    for (const object of list) {
      const key = objectKeyOf(object);
      changes.push(...(restored ? this.set(key, object, this.objects.get(key)) : this.put(object)));
    }
    return changes;
  }

  private set(key: ObjectKey, object: T, previous: T | undefined): Change<T>[] {
    this.objects.set(key, object);
    if (!previous) return [{ type: 'added', object }];
    if (previous.metadata.uid === object.metadata.uid) return [{ type: 'modified', object, previous }];
    return [
      { type: 'deleted', object: previous },
      { type: 'added', object },
    ];
  }
}

/** Resource versions are comparable numbers (Kubernetes' API concepts, "Resource versions"). */
function versionOf(object: ClusterObject): bigint {
  return BigInt(object.metadata.resourceVersion ?? '0');
}
