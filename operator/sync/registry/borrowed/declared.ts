import { fewNames } from '../../../base/few-names';
import type { Setting, Settings } from '../../../client/registries/settings';
import type { FieldDiff } from '../../objects/field-diff';
import type { References } from '../locate-entry';
import { byAge } from '../../../runtime/age';
import { recordedId } from '../../objects/ownership';
import type { Borrower, BorrowedType } from './borrowed-type';

/** The settings of a spec, with the ids of areas and labels. */
export function declaredSettings(
  { fields }: Pick<BorrowedType, 'fields'>,
  spec: Readonly<Record<string, unknown>>,
  ids: References,
): Settings {
  const all = Object.keys(fields).map((name) => [name, ids[name] ?? valueAt(spec, name)] as const);
  return Object.fromEntries(all.filter((each): each is readonly [string, Setting] => each[1] !== undefined));
}

function valueAt(spec: Readonly<Record<string, unknown>>, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((value, key) => (value as Readonly<Record<string, unknown>> | undefined)?.[key], spec);
}

/** The spec that declares settings; the inverse of {@link declaredSettings}. None is left out. Lists are sorted. */
export function specOfSettings(
  { fields }: Pick<BorrowedType, 'fields'>,
  settings: Settings,
  nameOf: (type: string, id: string) => string | undefined,
): Readonly<Record<string, unknown>> {
  const spec: Record<string, unknown> = {};
  for (const [path, { refersTo }] of Object.entries(fields)) {
    const value = settings[path];
    if (value === undefined || value === null) continue;
    const named = (each: unknown) => (refersTo ? nameOf(refersTo.entryType.type, String(each)) : each);
    const written = Array.isArray(value)
      ? value
          .map(named)
          .filter((each) => each !== undefined)
          .sort()
      : named(value);
    if (written === undefined || (Array.isArray(written) && written.length === 0)) continue;
    const [name, inner] = path.split('.') as [string, string?];
    spec[name] = inner === undefined ? written : { ...(spec[name] as object | undefined), [inner]: written };
  }
  return spec;
}

/**
 * The one of other resources with this entry that has it rather than this resource. Of two that have recorded it, the older one keeps it.
 */
export function ownerAmong(
  others: readonly Borrower[],
  type: Pick<BorrowedType, 'idField'>,
  resource: Borrower,
  id: string,
): Borrower | undefined {
  if (recordedId(type, resource) !== id) return others[0];
  return others.find((other) => byAge(other.metadata, resource.metadata) < 0);
}

export const changesOf = (differences: readonly FieldDiff[]): Settings =>
  Object.fromEntries(differences.map(({ field, desired }) => [field, desired as Setting]));

const MOST_NAMES = 5;

/** A sentence of a selector that fits several entries. @param names of these */
export function ambiguousText(names: readonly string[]): string {
  return `spec.select fits several: ${fewNames(names.toSorted(), MOST_NAMES)}. Narrow it, in a new resource.`;
}
