interface Claimant {
  /** Among all kinds: `<kind>/<namespace>/<name>`. */
  readonly id: string;
  /** RFC 3339 with whole seconds. */
  readonly createdAt: string;
  readonly uid: string;
}

/**
 * Who has what in the hub: every object there belongs to one resource. Of several that claim the same one the oldest
 * has it, and the others take over when it goes.
 */
export class Claims {
  private readonly claimants = new Map<string, Claimant[]>();
  private readonly claimOf = new Map<string, string>();

  /** Notes a resource's claim. Answers with the others whose right it changes. */
  set(claimant: Claimant, claim: string): string[] {
    if (this.claimOf.get(claimant.id) === claim) return [];
    const heirs = this.remove(claimant.id);
    const all = [...(this.claimants.get(claim) ?? []), claimant].sort(byAge);
    this.claimOf.set(claimant.id, claim);
    this.claimants.set(claim, all);
    const losers = all[0] === claimant ? all.slice(1) : [];
    return [...heirs, ...losers.map(({ id }) => id)];
  }

  /** The resource claims nothing any more. If it had what it claimed, answers with those to whom that falls. */
  remove(id: string): string[] {
    const claim = this.claimOf.get(id);
    if (claim === undefined) return [];
    this.claimOf.delete(id);
    const all = this.claimants.get(claim)!;
    const rest = all.filter((claimant) => claimant.id !== id);
    if (rest.length > 0) this.claimants.set(claim, rest);
    else this.claimants.delete(claim);
    return all[0] === rest[0] ? [] : rest.map((claimant) => claimant.id);
  }

  /** The older resource that has what this one claims; undefined when this one has it. */
  rival(id: string): string | undefined {
    const claim = this.claimOf.get(id);
    const holder = claim === undefined ? undefined : this.claimants.get(claim)![0]!.id;
    return holder === id ? undefined : holder;
  }
}

/** Of two of the same second, one must still be the older in every process that asks. */
function byAge(a: Claimant, b: Claimant): number {
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt ? -1 : 1;
  return a.uid < b.uid ? -1 : 1;
}
