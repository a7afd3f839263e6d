import { nearestName } from '../../../base/nearest-name';
import { domainOf } from '../../../client/connection/entity-id';

/**
 * The id among `all` that a mistyped one, such as `light.sofaa` or `lihgt.sofa`, probably stands for.
 *
 * @returns undefined when no id is similar
 */
export function suggestionFor(id: string, all: Iterable<string>): string | undefined {
  const domain = domainOf(id);
  const name = id.slice(domain.length);
  const [ofDomain, others] = [[] as string[], [] as string[]];
  for (const each of all) {
    if (each.startsWith(`${domain}.`)) ofDomain.push(each.slice(domain.length));
    else if (each.endsWith(name) && each.length - name.length === domainOf(each).length)
      others.push(domainOf(each));
  }
  const near = nearestName(name, ofDomain);
  if (near !== undefined) return `${domain}${near}`;
  const [only, ...more] = new Set(others);
  const other = nearestName(domain, others) ?? (more.length === 0 ? only : undefined);
  return other && `${other}${name}`;
}

/** Maximum number of ids that are remembered for one hub. */
const MOST_REMEMBERED = 2_000;

/**
 * The results of {@link suggestionFor} for the names that a hub has at present. A search through all names takes
 * milliseconds, and a resource with a missing reference is reconciled again and again.
 */
export class Suggestions {
  private version = -1;
  private readonly remembered = new Map<string, string | undefined>();

  /**
   * @param own entity that is never suggested, or the type of other names
   * @param version of the names. A name that the hub no longer has does not change it.
   * @param names.all the names but `own`
   */
  suggest(
    id: string,
    own: string,
    version: number,
    names: { readonly has: (name: string) => boolean; readonly all: () => Iterable<string> },
  ): string | undefined {
    if (this.version !== version) this.remembered.clear();
    this.version = version;
    const key = `${own} ${id}`;
    const known = this.remembered.get(key);
    if (this.remembered.has(key) && (known === undefined || names.has(known))) return known;
    const found = suggestionFor(id, names.all());
    if (this.remembered.size >= MOST_REMEMBERED) this.remembered.clear();
    this.remembered.set(key, found);
    return found;
  }
}
