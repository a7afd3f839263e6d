import { type ObjectKey, objectKeyOf } from './object-key';
import type { ClusterObject } from './objects';

export type Change<T> =
  | { readonly type: 'added'; readonly object: T }
  | { readonly type: 'modified'; readonly object: T; readonly previous: T }
  | { readonly type: 'deleted'; readonly object: T };

/**
 * Computes the index value by which {@link Store.byIndex} finds an object. If it is undefined, the object is
 * not in the index.
 */
export type IndexBy<T> = (object: T) => string | undefined;

/**
 * Keys of objects by an index value. Most values have one object, for which a set would take five times the
 * memory.
 */
class Index<T> {
  private readonly keys = new Map<string, ObjectKey | Set<ObjectKey>>();

  constructor(private readonly valueOf: IndexBy<T>) {}

  /** The keys in the order of insertion. */
  get(value: string): Iterable<ObjectKey> {
    const found = this.keys.get(value) ?? [];
    return typeof found === 'string' ? [found] : found;
  }

  update(key: ObjectKey, previous: T | undefined, object: T | undefined): void {
    const before = previous && this.valueOf(previous);
    const after = object && this.valueOf(object);
    if (before === after) return;
    if (before !== undefined) this.remove(before, key);
    if (after !== undefined) this.add(after, key);
  }

  private add(value: string, key: ObjectKey): void {
    const found = this.keys.get(value);
    if (found === undefined) this.keys.set(value, key);
    else if (typeof found === 'string') this.keys.set(value, new Set([found, key]));
    else found.add(key);
  }

  private remove(value: string, key: ObjectKey): void {
    const found = this.keys.get(value);
    if (typeof found === 'object') found.delete(key);
    if (found === key || (typeof found === 'object' && found.size === 0)) this.keys.delete(value);
  }
}

/**
 * The objects of one list of the API server. Every method that writes returns the changes that it made, each
 * change once. An older version never replaces a newer one. A recreated object with the same name counts as
 * another object. Objects are shared with all readers and must not be changed.
 */
export class Store<T extends ClusterObject> {
  private readonly objects = new Map<ObjectKey, T>();
  private readonly index: Index<T>;
  /** By field of status. Each index is created when its field is first used. */
  private readonly statusIndexes = new Map<string, Index<T>>();
  /** The newest resource version of the collection, from a list, an event or a bookmark. */
  private latestVersion = 0;

  constructor(private readonly indexBy: IndexBy<T> = () => undefined) {
    this.index = new Index(indexBy);
  }

  get size(): number {
    return this.objects.size;
  }

  get(key: ObjectKey): T | undefined {
    return this.objects.get(key);
  }

  values(): IterableIterator<T> {
    return this.objects.values();
  }

  *byIndex(value: string): Generator<T> {
    for (const key of this.index.get(value)) yield this.objects.get(key)!;
  }

  /** The objects of {@link byIndex} that have this text in a field of their status. */
  *byStatus(indexValue: string, field: string, text: string): Generator<T> {
    for (const key of this.statusIndex(field).get(`${indexValue} ${text}`)) yield this.objects.get(key)!;
  }

  /** Records an object from a watch event. */
  put(object: T): Change<T>[] {
    const key = objectKeyOf(object);
    const previous = this.objects.get(key);
    if (previous && versionOf(object) <= versionOf(previous)) return [];
    return this.set(key, object, previous);
  }

  /**
   * Records the response to a write before the watch event arrives. An unknown object is new if its version
   * is newer than the watch; otherwise it was deleted before the response arrived.
   */
  recordWrite(object: T): Change<T>[] {
    const isKnown = this.objects.get(objectKeyOf(object))?.metadata.uid === object.metadata.uid;
    return isKnown || versionOf(object) > this.latestVersion ? this.put(object) : [];
  }

  /**
   * @param object last state of the object from a DELETED event, with the resource version of the deletion
   */
  remove(object: T): Change<T>[] {
    const key = objectKeyOf(object);
    const previous = this.objects.get(key);
    if (!previous || versionOf(object) < versionOf(previous)) return [];
    this.delete(key, previous);
    return [{ type: 'deleted', object }];
  }

  /**
   * Records the resource version of an event or a bookmark. If a later list is older, the API server was
   * restored from a backup.
   */
  observeVersion(version: string): void {
    this.latestVersion = Math.max(this.latestVersion, Number(version));
  }

  /**
   * To be called after the API server was restored from a backup: versions before and after the restore
   * cannot be compared. The next list replaces all entries.
   */
  distrust(): void {
    this.latestVersion = Infinity;
  }

  /**
   * Whether a version is older than one seen before: the API server was restored, or the one that answered
   * lags behind.
   */
  isOlder(version: string): boolean {
    return Number(version) < this.latestVersion;
  }

  /**
   * Whether a list proves that the API server was restored from a backup. A list is never served by a server
   * that lags behind. The proof is a list that is older than a recorded version, or an object in an older
   * state than the list's version should contain.
   */
  provesRestore(list: readonly T[], version: string): boolean {
    const readAt = Number(version);
    const isBefore = (object: T) => {
      const known = this.objects.get(objectKeyOf(object));
      return known !== undefined && versionOf(object) < versionOf(known) && versionOf(known) <= readAt;
    };
    return this.isOlder(version) || list.some(isBefore);
  }

  /** Removes the objects of a namespace that is no longer watched. */
  drop(namespace: string): Change<T>[] {
    const changes: Change<T>[] = [];
    for (const [key, object] of this.objects) {
      if (object.metadata.namespace !== namespace) continue;
      this.delete(key, object);
      changes.push({ type: 'deleted', object });
    }
    return changes;
  }

  /**
   * Replaces the content by a complete list with the given version. Objects that are missing from the list
   * were deleted. Entries newer than the list are kept, since they come from responses to writes. A list
   * after a restore from a backup replaces all entries.
   */
  replace(list: readonly T[], version: string, restored = this.provesRestore(list, version)): Change<T>[] {
    const readAt = Number(version);
    this.latestVersion = readAt;
    const listed = new Set(list.map(objectKeyOf));
    const changes: Change<T>[] = [];
    for (const [key, object] of this.objects) {
      if (listed.has(key) || (versionOf(object) > readAt && !restored)) continue;
      this.delete(key, object);
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
    this.reindex(key, previous, object);
    if (!previous) return [{ type: 'added', object }];
    if (previous.metadata.uid === object.metadata.uid) return [{ type: 'modified', object, previous }];
    return [
      { type: 'deleted', object: previous },
      { type: 'added', object },
    ];
  }

  private delete(key: ObjectKey, object: T): void {
    this.objects.delete(key);
    this.reindex(key, object, undefined);
  }

  private reindex(key: ObjectKey, previous: T | undefined, object: T | undefined): void {
    for (const index of [this.index, ...this.statusIndexes.values()]) index.update(key, previous, object);
  }

  private statusIndex(field: string): Index<T> {
    let index = this.statusIndexes.get(field);
    if (!index) {
      index = new Index((object) => this.statusValue(object, field));
      for (const [key, object] of this.objects) index.update(key, undefined, object);
      this.statusIndexes.set(field, index);
    }
    return index;
  }

  private statusValue(object: T & { readonly status?: Readonly<Record<string, unknown>> }, field: string) {
    const value = this.indexBy(object);
    const text = object.status?.[field];
    return value !== undefined && typeof text === 'string' ? `${value} ${text}` : undefined;
  }
}

/**
 * Resource versions are comparable integers (Kubernetes API concepts, "Resource versions"). They count the
 * writes of a cluster and stay far below 2^53.
 */
export function versionOf(object: ClusterObject): number {
  return Number(object.metadata.resourceVersion ?? '0');
}
