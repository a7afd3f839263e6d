import { nearestName } from '../base/nearest-name';

/**
 * Fields by the wrong key that people write instead, for names that are not similar: keys of the hub's own
 * YAML, and keys of another kind. Items of lists are in the syntax of the hub, where old keys (`service`,
 * `platform`) are no mistake.
 */
const byKind: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  HubAutomation: { name: 'alias', platform: 'triggers', sequence: 'actions', service: 'actions' },
  HubScript: { name: 'alias', action: 'sequence', actions: 'sequence', service: 'sequence' },
  HubScene: { alias: 'name' },
};

/**
 * Normalizes case, underscores and a plural: `max_exceeded` and `maxExceeded` become equal, and so do
 * `trigger` and `triggers`.
 */
const plain = (name: string): string => name.toLowerCase().replaceAll(/[-_]|s$/g, '');

/**
 * Guesses which field an unknown key was meant to be. @returns undefined if there is no guess
 *
 * @param known the fields that are allowed in its place
 */
export function intendedField(kind: string, unknown: string, known: readonly string[]): string | undefined {
  const alike = known.find((name) => plain(name) === plain(unknown));
  const table = byKind[kind] ?? {};
  const listed = Object.hasOwn(table, unknown) ? table[unknown] : undefined;
  return alike ?? known.find((name) => name === listed) ?? nearestName(unknown, known);
}
