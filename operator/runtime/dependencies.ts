import type { ObjectKey } from './object-key';

/** Reverse index of the references of all resources: which resources depend on an object. */
export class Dependencies {
  private readonly references = new Map<ObjectKey, readonly ObjectKey[]>();
  private readonly dependents = new Map<ObjectKey, Set<ObjectKey>>();

  /** Replaces the references of `dependent`. Duplicates are allowed. */
  set(dependent: ObjectKey, references: readonly ObjectKey[]): void {
    this.remove(dependent);
    const distinct = [...new Set(references)];
    this.references.set(dependent, distinct);
    for (const reference of distinct) {
      let set = this.dependents.get(reference);
      if (!set) this.dependents.set(reference, (set = new Set()));
      set.add(dependent);
    }
  }

  remove(dependent: ObjectKey): void {
    for (const reference of this.references.get(dependent) ?? []) {
      const set = this.dependents.get(reference)!;
      set.delete(dependent);
      if (set.size === 0) this.dependents.delete(reference);
    }
    this.references.delete(dependent);
  }

  /** The resources that depend on the object. */
  of(reference: ObjectKey): Iterable<ObjectKey> {
    return this.dependents.get(reference) ?? [];
  }
}
