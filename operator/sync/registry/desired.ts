import type { RegistryFields, RegistryRecord } from '../../client/connection/api-types';
import type { FieldDiff } from '../objects/field-diff';
import { payloadHash } from '../objects/payload-hash';
import type { EntryField, EntryResource, EntryType } from './entry-type';
import type { References } from './resolve';

/** The entry that the hub should have for a resource. */
export interface DesiredEntry {
  /** The optional fields that the spec sets, by their names in the spec, sorted. */
  readonly declared: readonly string[];
  /** The name and the declared fields, as the hub names them. */
  readonly fields: RegistryFields & { readonly name: string };
  /** Fields that the operator set and that the spec does not set any more, with the value that clears each. */
  readonly cleared: RegistryFields;
  /** Hash of `fields`. */
  readonly hash: string;
}

type FieldValue = RegistryFields[string];

export function desiredEntry(
  entryType: EntryType,
  resource: EntryResource,
  references: References,
): DesiredEntry {
  const { spec } = resource;
  const all = Object.entries(entryType.fields);
  const declared = all.filter(([name]) => spec[name] !== undefined);
  const applied = appliedFields(resource);
  const cleared = all.filter(
    ([name, field]) => spec[name] === undefined && applied.includes(name) && field.cleared !== 'kept',
  );
  const fields = {
    name: spec.name,
    ...Object.fromEntries(
      declared.map(([name, field]) => [
        field.name,
        valueOf(field, references[name] ?? (spec[name] as FieldValue)),
      ]),
    ),
  };
  return {
    declared: declared.map(([name]) => name).sort(),
    fields,
    cleared: Object.fromEntries(
      cleared.map(([, { name, isSet, cleared }]) => [name, isSet ? [] : (cleared ?? null)]),
    ),
    hash: payloadHash(fields),
  };
}

/** The fields that the operator set, by their names in the spec. */
export function appliedFields({ status }: EntryResource): readonly string[] {
  return (status?.['appliedFields'] as readonly string[] | undefined) ?? [];
}

/** Where an entry of the hub differs from the desired one. Fields that are not the operator's do not count. */
export function entryDiff(record: RegistryRecord, { fields, cleared }: DesiredEntry): FieldDiff[] {
  return Object.entries({ ...fields, ...cleared })
    .map(([field, desired]) => ({ field, actual: record[field] ?? null, desired }))
    .filter(({ actual, desired }) => !isSame(actual, desired));
}

function isSame(actual: unknown, desired: unknown): boolean {
  if (!Array.isArray(actual) || !Array.isArray(desired)) return actual === desired;
  const set = new Set(actual);
  return set.size === desired.length && desired.every((item) => set.has(item));
}

/** Lists without duplicates and in one order, with items as the hub keeps them. */
function valueOf({ isSet, isNumber }: EntryField, value: FieldValue): FieldValue {
  if (isNumber) return Number(value);
  if (!isSet || !Array.isArray(value)) return value;
  const items = (value as readonly string[]).map(stripped).filter((item) => item !== '');
  return [...new Set(items)].sort();
}

/** White space to Python, whose `strip` the hub applies to aliases: JavaScript has another notion of it. */
const SPACE = '[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]';
const OUTER_SPACE = new RegExp(`^${SPACE}+|${SPACE}+$`, 'g');

function stripped(text: string): string {
  return text.replace(OUTER_SPACE, '');
}
