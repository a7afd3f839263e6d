import { HubUnreachable } from './errors';

/** Bytes of the lists of all hubs together: those of a hub with 10,000 automations take 13 MB. */
const MOST = 40 * 1024 * 1024;
/** Bytes that a value takes beside its text. */
const PER_VALUE = 70;

/** A list of a hub that the operator keeps. */
export interface KeptList {
  /** About how many bytes it takes. */
  readonly weight: number;
  /** Forgets the content, which is read again before its next use. */
  drop(): void;
}

/**
 * The lists that the operator keeps of all hubs (rules.md, "Large resources"). The limits of a message bound one of them: several, or those of several hubs, may
 * be more than fits. Then the largest is dropped, which is that of a hub that has more than others.
 */
export class KeptLists {
  /** Weak, since a client that is closed does not tell its lists. */
  private readonly all = new Set<WeakRef<KeptList>>();

  constructor(private readonly most = MOST) {}

  /** @throws HubUnreachable the list itself is the largest, and was dropped */
  add(list: KeptList): void {
    this.all.add(new WeakRef(list));
    for (;;) {
      const kept = this.living();
      if (kept.reduce((sum, { weight }) => sum + weight, 0) <= this.most) return;
      const largest = kept.reduce((first, second) => (second.weight > first.weight ? second : first));
      largest.drop();
      if (largest === list)
        throw new HubUnreachable(
          'a list of the hub is not kept: with those of the other hubs it is too large',
        );
    }
  }

  private living(): readonly KeptList[] {
    const living = new Set<KeptList>();
    for (const reference of this.all) {
      const list = reference.deref();
      if (!list || list.weight === 0 || living.has(list)) this.all.delete(reference);
      else living.add(list);
    }
    return [...living];
  }
}

/** Lists of all hubs of this process. */
export const keptLists = new KeptLists();

/** About how many bytes a value takes, with all that is in it. */
export function weightOf(value: unknown): number {
  if (typeof value === 'string') return PER_VALUE + value.length;
  if (typeof value !== 'object' || value === null) return PER_VALUE;
  let weight = PER_VALUE;
  if (value instanceof Map) for (const [key, part] of value) weight += weightOf(key) + weightOf(part);
  else if (value instanceof Set) for (const part of value) weight += weightOf(part);
  else if (Array.isArray(value)) for (const part of value) weight += weightOf(part);
  else for (const [key, part] of Object.entries(value)) weight += PER_VALUE + key.length + weightOf(part);
  return weight;
}
