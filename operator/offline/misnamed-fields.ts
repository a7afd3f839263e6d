import { nearestName } from '../base/nearest-name';

/**
 * Fields by the key that people write in their place, where the two names are not alike: keys of the hub's own YAML, and those
 * of another kind. The items of lists have the keys of the hub, old ones as well (`service`, `platform`): none is a mistake there.
 */
const byKind: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  HubAutomation: { name: 'alias', platform: 'triggers', sequence: 'actions', service: 'actions' },
  HubScript: { name: 'alias', action: 'sequence', actions: 'sequence', service: 'sequence' },
  HubScene: { alias: 'name' },
};

/** Case, underscores and a plural aside: `max_exceeded` and `maxExceeded`, `trigger` and `triggers` are alike. */
const plain = (name: string): string => name.toLowerCase().replaceAll(/[-_]|s$/g, '');

/**
 * The field that an unknown one is meant to be; undefined: none is known.
 *
 * @param known the fields beside it
 */
export function intendedField(kind: string, unknown: string, known: readonly string[]): string | undefined {
  const alike = known.find((name) => plain(name) === plain(unknown));
  const table = byKind[kind] ?? {};
  const listed = Object.hasOwn(table, unknown) ? table[unknown] : undefined;
  return alike ?? known.find((name) => name === listed) ?? nearestName(unknown, known);
}
