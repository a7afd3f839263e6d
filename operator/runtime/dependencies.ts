/** Who has to be worked again when an object changes: the references of every resource, turned round. */
export class Dependencies {
  private readonly references = new Map<string, ReadonlySet<string>>();
  private readonly dependents = new Map<string, Set<string>>();

  /** Identifies an object among all kinds. */
  static id(kind: string, namespace: string, name: string): string {
    return `${kind}/${namespace}/${name}`;
  }

  /** Replaces what `dependent` refers to; the same object may be named twice. */
  set(dependent: string, references: readonly string[]): void {
    this.remove(dependent);
    const distinct = new Set(references);
    this.references.set(dependent, distinct);
    for (const reference of distinct) {
      let set = this.dependents.get(reference);
      if (!set) this.dependents.set(reference, (set = new Set()));
      set.add(dependent);
    }
  }

  remove(dependent: string): void {
    for (const reference of this.references.get(dependent) ?? []) {
      const set = this.dependents.get(reference)!;
      set.delete(dependent);
      if (set.size === 0) this.dependents.delete(reference);
    }
    this.references.delete(dependent);
  }

  of(reference: string): Iterable<string> {
    return this.dependents.get(reference) ?? [];
  }
}
