import { createHash } from 'node:crypto';

/** Names of resources that a person can read; the longest that also fits as the value of a label. */
const LONGEST = 63;

/** Gives each object a name from its alias, else from its id. The same objects in the same order get the same names. */
export class Names {
  private readonly taken = new Set<string>();

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

/** `Küche: Licht an!` is `kuche-licht-an`; empty where no Latin letter or digit is left. */
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
