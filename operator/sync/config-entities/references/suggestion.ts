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
