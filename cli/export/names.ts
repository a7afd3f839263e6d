import { createHash } from 'node:crypto';

/** Longest name that an object gets, which is also the limit for the value of a label. Resources may have longer ones. */
export const LONGEST = 63;

/**
 * Gives each object a name from its alias, or else from its id. Equal objects in equal order get equal names.
 */
export class Names {
  private readonly taken: Set<string>;

  /** @param taken names that no object gets */
  constructor(taken: Iterable<string> = []) {
    this.taken = new Set(taken);
  }

  take(alias: unknown, id: string): string {
    const base = slugOf(typeof alias === 'string' ? alias : '') || slugOf(id) || `object-${hashOf(id)}`;
    let name = base;
    for (let number = 2; this.taken.has(name); number += 1) {
      const suffix = `-${number}`;
      name = `${base.slice(0, LONGEST - suffix.length).replace(/-+$/, '')}${suffix}`;
    }
    this.taken.add(name);
    return name;
  }
}

/**
 * Converts a text to a name: `Küche: Licht an!` becomes `kuche-licht-an`. The result is empty if the text has
 * no Latin letter or digit.
 */
export function slugOf(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/ß/g, 'ss')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, LONGEST + 1)
    .replace(/^-+/, '')
    .slice(0, LONGEST)
    .replace(/-+$/, '');
}

const hashOf = (id: string): string => createHash('sha256').update(id).digest('hex').slice(0, 8);
