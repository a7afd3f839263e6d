import type { RegistryFields, RegistryRecord } from '../../client/connection/api-types';
import { registryName } from '../../kinds/ids';
import { conditionOf } from '../../runtime/conditions';
import type { FieldDiff } from '../objects/field-diff';
import { payloadHash } from '../objects/payload-hash';
import type { EntryField, EntryResource, EntryType } from './entry-types';
import type { References } from './locate-entry';
import type { RegistryType } from '../../client/connection/registry-types';

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
  const applied = appliedFields(resource);
  const declared: string[] = [];
  const fields: Record<string, FieldValue> & { name: string } = { name: spec.name };
  const cleared: Record<string, FieldValue> = {};
  for (const [name, field] of Object.entries(entryType.fields)) {
    if (spec[name] !== undefined) {
      declared.push(name);
      fields[field.name] = valueOf(field, references[name] ?? (spec[name] as FieldValue));
    } else if (applied.includes(name) && field.cleared !== 'kept') {
      cleared[field.name] = field.isSet ? [] : (field.cleared ?? null);
    }
  }
  return { declared: declared.sort(), fields, cleared, hash: payloadHash(fields) };
}

/** The fields that the operator set, by their names in the spec. */
function appliedFields({ status }: EntryResource): readonly string[] {
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
  const items = (value as readonly string[]).map((item) => item.replace(OUTER_SPACE, ''));
  return [...new Set(items.filter((item) => item !== ''))].sort();
}

/**
 * White space as defined by Python, whose `strip` the hub applies to aliases. JavaScript has a different
 * definition.
 */
const SPACE = '[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]';
const OUTER_SPACE = new RegExp(`^${SPACE}+|${SPACE}+$`, 'g');

/** A resource and its desired entry, as status tells of them before and after a write. */
interface Recording {
  readonly resource: EntryResource;
  readonly desired: DesiredEntry;
}

/**
 * Status says that the entry is about to be created. A retry of a rejected entry is not announced again: that would be
 * two writes of status each time.
 */
export function isAnnounced(recording: Recording): boolean {
  const { metadata, spec, status } = recording.resource;
  if (status?.['pendingName'] !== registryName(spec.name) || !isRecorded(recording)) return false;
  const ready = conditionOf(recording.resource, 'Ready');
  return ready?.reason !== 'RejectedByHub' || ready.observedGeneration === metadata.generation;
}

/** Status has all fields that a write would set, so that they can be cleared even after a crash. */
export function isRecorded({ resource, desired }: Recording): boolean {
  return desired.declared.every((field) => appliedFields(resource).includes(field));
}

/** `status.appliedFields` before a write: those that were set, and those that are about to be. */
export function recordedFields({ resource, desired }: Recording): readonly string[] {
  return [...new Set([...appliedFields(resource), ...desired.declared])].sort();
}

/** Returns the name of an entry by its registry and id, undefined if there is none. */
type NameOfEntry = (type: RegistryType, id: string) => string | undefined;

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
