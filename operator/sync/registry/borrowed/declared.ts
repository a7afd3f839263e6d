import { fewNames } from '../../../base/few-names';
import type { CategoryScope } from '../../../client/connection/registry-types';
import type { Setting, Settings } from '../../../client/registries/settings';
import type { FieldDiff } from '../../objects/field-diff';
import type { References } from '../locate-entry';
import { valueAt } from '../spec-path';
import { byAge } from '../../../runtime/age';
import type { Child } from '../../objects/child';
import { recordedId } from '../../objects/ownership';
import type { Borrower, SettingsKind } from './borrowed-type';

/** The settings of a spec, with the ids of areas and labels. */
export function declaredSettings(
  { fields }: Pick<SettingsKind, 'fields'>,
  spec: Readonly<Record<string, unknown>>,
  ids: References,
): Settings {
  const all = Object.entries(fields).map(
    ([name, { at = name }]) => [name, ids[name] ?? valueAt(spec, at)] as const,
  );
  return Object.fromEntries(all.filter((each): each is readonly [string, Setting] => each[1] !== undefined));
}

type Fields = Record<string, unknown>;

/** Name of the type of a category in messages. */
export const categoryType = (scope: CategoryScope): string => `${scope} category`;

/**
 * The spec that declares settings: the inverse of {@link declaredSettings}. Settings without a value are left
 * out. Lists are sorted.
 */
export function specOfSettings(
  { fields }: Pick<SettingsKind, 'fields'>,
  settings: Settings,
  nameOf: (type: string, id: string) => string | undefined,
): Readonly<Record<string, unknown>> {
  const spec: Fields = {};
  for (const [name, { refersTo, category, at = name }] of Object.entries(fields)) {
    const value = settings[name];
    if (value === undefined || value === null) continue;
    const type = refersTo?.entryType.type ?? (category && categoryType(category));
    const named = (each: unknown) => (type === undefined ? each : nameOf(type, String(each)));
    const written = Array.isArray(value)
      ? value
          .map(named)
          .filter((each) => each !== undefined)
          .sort()
      : named(value);
    if (written === undefined || (Array.isArray(written) && written.length === 0)) continue;
    const path = at.split('.');
    const last = path.pop()!;
    const holder = path.reduce<Fields>((object, key) => (object[key] ??= {}) as Fields, spec);
    holder[last] = written;
  }
  return spec;
}

/**
 * The other resource that owns this entry instead of this resource. If both have recorded the entry, the
 * older one keeps it.
 */
export function ownerAmong(
  others: readonly Borrower[],
  type: Pick<SettingsKind, 'idField'>,
  resource: Borrower,
  id: string,
): Borrower | undefined {
  if (recordedId(type, resource) !== id) return others[0];
  return others.find((other) => byAge(other.metadata, resource.metadata) < 0);
}

/** A sentence for a resource whose entry another resource creates. */
export const madeText = (entry: string, { kind, metadata: { name } }: Child): string =>
  `The ${kind} ${name} makes ${entry}: set entity in the ${kind} ${name}, and delete this resource.`;

export const changesOf = (differences: readonly FieldDiff[]): Settings =>
  Object.fromEntries(differences.map(({ field, desired }) => [field, desired as Setting]));

const MOST_NAMES = 5;

/**
 * A sentence about a selector that matches several entries.
 *
 * @param names names of these entries
 */
export function ambiguousText(names: readonly string[]): string {
  return `spec.select fits several: ${fewNames(names.toSorted(), MOST_NAMES)}. Narrow it, in a new resource.`;
}
