import type { RegistryRecord } from '../../client/connection/api-types';
import type { RegistryType } from '../../client/connection/registry-types';
import type { EntryField, EntryType } from './entry-types';

/** The name of an entry by its registry and id; undefined: there is none. */
export type NameOfEntry = (type: RegistryType, id: string) => string | undefined;

/** The inverse of the desired entry: the spec that describes an entry, without `hubRef`. Empty fields are left out. */
export function entrySpecOf(
  { fields }: EntryType,
  record: RegistryRecord,
  nameOf: NameOfEntry,
): Readonly<Record<string, unknown>> {
  const declared = Object.entries(fields).flatMap(([name, field]) => {
    const value = specValue(field, record[field.name], nameOf);
    return value === undefined ? [] : [[name, value] as const];
  });
  return { name: record.name, ...Object.fromEntries(declared) };
}

function specValue(field: EntryField, value: unknown, nameOf: NameOfEntry): unknown {
  if (value === null || value === undefined || value === '' || value === field.cleared) return undefined;
  if (field.isNumber) return JSON.stringify(value);
  const { refersTo, isSet } = field;
  const named = (id: unknown) => (refersTo ? nameOf(refersTo.entryType.type, String(id)) : id);
  if (!isSet || !Array.isArray(value)) return named(value);
  const items = value.map(named).filter((item) => item !== undefined);
  return items.length === 0 ? undefined : items.sort();
}
