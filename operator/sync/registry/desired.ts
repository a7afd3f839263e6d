import { isDeepStrictEqual } from 'node:util';
import type { RegistryFields, RegistryRecord, RegistryValue } from '../../client/connection/api-types';
import type { HubClient } from '../../client/hub-client';
import { conditionOf } from '../../runtime/conditions';
import type { FieldDiff } from '../objects/field-diff';
import { payloadHash } from '../objects/payload-hash';
import type { EntryField, EntryResource, EntryType } from './entry-type';
import type { References } from './locate-entry';
import { specWith, valueAt } from './spec-path';

/** The entry that the hub should have for a resource. */
export interface DesiredEntry {
  /** The optional fields that the spec sets, by their names in the spec, sorted. */
  readonly declared: readonly string[];
  /**
   * The name and the declared fields, under the hub's names. For an entry that is written as a whole: all
   * fields with a value.
   */
  readonly fields: RegistryFields & { readonly name: string };
  /**
   * Fields that the operator set and that the spec no longer sets, each with the value that clears it. For an
   * entry that is written as a whole: the fields without a value, which are cleared by leaving them out.
   */
  readonly cleared: RegistryFields;
  /** Hash of `fields`. */
  readonly hash: string;
}

export function desiredEntry(
  entryType: EntryType,
  resource: EntryResource,
  references: References,
): DesiredEntry {
  const { spec } = resource;
  const { isWhole } = entryType;
  const applied = appliedFields(resource);
  const declared: string[] = [];
  const fields: Record<string, RegistryValue> & { name: string } = { name: spec.name };
  const cleared: Record<string, RegistryValue> = {};
  for (const [path, field] of Object.entries(entryType.fields)) {
    // A field of the spec with the value null is absent, while a reference may stand for null.
    const value = path in references ? references[path] : (valueAt(spec, path) ?? undefined);
    if (value !== undefined) {
      declared.push(path);
      fields[field.name] = normalOf(field, value);
    } else if (field.cleared === 'kept') continue;
    else if (isWhole && field.default !== undefined) fields[field.name] = field.default;
    else if (isWhole || applied.includes(path))
      cleared[field.name] = field.isSet ? [] : (field.cleared ?? null);
  }
  const hash = payloadHash(fields);
  // The spec defines all fields of a whole entry, so none has to be recorded.
  return { declared: isWhole ? [] : declared.sort(), fields, cleared, hash };
}

/** The fields that the operator set, by their names in the spec. */
function appliedFields({ status }: EntryResource): readonly string[] {
  return (status?.['appliedFields'] as readonly string[] | undefined) ?? [];
}

/**
 * The differences between an entry of the hub and the desired one. Fields that the operator does not manage
 * are ignored.
 */
export function entryDiff(
  { fields }: Pick<EntryType, 'fields'>,
  record: RegistryRecord,
  { fields: desired, cleared }: DesiredEntry,
): FieldDiff[] {
  const byName = new Map(Object.values(fields).map((field) => [field.name, field]));
  return Object.entries({ ...desired, ...cleared })
    .map(([name, value]) => {
      const field = byName.get(name);
      const actual = record[name] ?? field?.default ?? null;
      return {
        field: name,
        actual: field?.form && actual !== null ? field.form.toHub(actual) : actual,
        desired: value,
      };
    })
    .filter(({ field, actual, desired: value }) => !isSame(byName.get(field), actual, value));
}

function isSame(field: EntryField | undefined, actual: unknown, desired: unknown): boolean {
  if (!field?.isSet || !Array.isArray(actual) || !Array.isArray(desired))
    return isDeepStrictEqual(actual, desired);
  const set = new Set(actual);
  return set.size === desired.length && desired.every((item) => set.has(item));
}

/**
 * The fields to send with an update. If the entry is written as a whole, its fields that no spec has are
 * included, since the hub would otherwise drop them.
 */
export function changesOf(
  { type, isWhole, sent, ignored = [] }: EntryType,
  record: RegistryRecord,
  { fields, cleared }: DesiredEntry,
  differences: readonly FieldDiff[],
): RegistryFields {
  if (!isWhole)
    return Object.fromEntries(differences.map(({ field, desired }) => [field, desired as RegistryValue]));
  const left: ReadonlySet<string> = new Set(['id', `${type}_id`, ...ignored, ...Object.keys(cleared)]);
  const kept = Object.entries(record).filter(([name]) => (sent ? name in sent : !left.has(name)));
  return { ...sent, ...(Object.fromEntries(kept) as RegistryFields), ...fields };
}

/**
 * The desired entry without the entities that the hub has taken away since they do not exist, and that were
 * in the entry before. They are put back once they exist.
 *
 * @param missing the entities of the spec that do not exist
 */
export function withoutRemoved(
  { fields }: Pick<EntryType, 'fields'>,
  record: RegistryRecord,
  desired: DesiredEntry,
  missing: readonly string[],
): DesiredEntry {
  if (missing.length === 0) return desired;
  const left = { ...desired.fields };
  for (const { name, ofEntities } of Object.values(fields)) {
    const items = desired.fields[name];
    if (!ofEntities || !Array.isArray(items)) continue;
    const present = record[name] as readonly string[];
    left[name] = (items as readonly string[]).filter((id) => present.includes(id) || !missing.includes(id));
  }
  return { ...desired, fields: left };
}

/** The value of a field as the hub stores it: lists have no duplicates and are sorted. */
function normalOf({ isSet, form }: EntryField, value: unknown): RegistryValue {
  if (form) return form.toHub(value);
  if (!isSet || !Array.isArray(value)) return value as RegistryValue;
  const items = (value as readonly string[]).map((item) => item.replace(OUTER_SPACE, ''));
  return [...new Set(items.filter((item) => item !== ''))].sort();
}

/**
 * White space as defined by Python, whose `strip` the hub applies to aliases. JavaScript has a different
 * definition.
 */
const SPACE = '[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]';
const OUTER_SPACE = new RegExp(`^${SPACE}+|${SPACE}+$`, 'g');

/** A resource and its desired entry, to compare with status before and after a write. */
interface Recording {
  readonly entryType: EntryType;
  readonly resource: EntryResource;
  readonly desired: DesiredEntry;
}

/**
 * Reports whether status says that the entry is about to be created. The retry of a rejected entry is not
 * announced again, since that would cause two more writes of status each time.
 */
export function isAnnounced(recording: Recording): boolean {
  const { entryType, resource } = recording;
  const { metadata, status } = resource;
  if (status?.['pendingName'] !== entryType.identity.of(resource) || !isRecorded(recording)) return false;
  const ready = conditionOf(resource, 'Ready');
  return ready?.reason !== 'RejectedByHub' || ready.observedGeneration === metadata.generation;
}

/**
 * Reports whether status has all fields that a write sets, so that they can be cleared even after a crash.
 */
export function isRecorded({ resource, desired }: Omit<Recording, 'entryType'>): boolean {
  return desired.declared.every((field) => appliedFields(resource).includes(field));
}

/**
 * Value of `status.appliedFields` before a write: the fields that were set, and those that are about to be
 * set.
 */
export function recordedFields({ resource, desired }: Omit<Recording, 'entryType'>): readonly string[] {
  return [...new Set([...appliedFields(resource), ...desired.declared])].sort();
}

/** The names in the hub to which fields of a spec refer by a lookup, by noun and value. */
export async function lookedUpNames(
  { fields }: Pick<EntryType, 'fields'>,
  client: HubClient,
): Promise<LookedUpNames> {
  const found = new Map<string, ReadonlyMap<string, string>>();
  for (const { lookup } of Object.values(fields))
    if (lookup) found.set(lookup.noun, await lookup.names(client));
  return found;
}

export type LookedUpNames = ReadonlyMap<string, ReadonlyMap<string, string>>;

/**
 * Returns the name of an entry by its registry and id, or that of a value by the noun of its lookup.
 * Undefined if there is none.
 */
export type NameOfEntry = (type: string, id: string) => string | undefined;

/**
 * The inverse of {@link desiredEntry}: the spec for an entry, without `hubRef`. Empty fields are left out.
 */
export function entrySpecOf(
  { type, fields, typeFields, identity, isWhole }: EntryType,
  record: RegistryRecord,
  nameOf: NameOfEntry,
): Readonly<Record<string, unknown>> {
  const declared = Object.entries(fields).flatMap(([path, field]) => {
    const value = isWhole
      ? wholeValue(field, record[field.name], nameOf)
      : specValue(field, record[field.name], nameOf);
    return value === undefined ? [] : [[path, value] as const];
  });
  const id = identity.specOf(record[`${type}_id`] as string);
  return { ...typeFields, ...id, name: record.name, ...specWith(declared) };
}

function wholeValue(
  { form, lookup, default: ofNew }: EntryField,
  value: unknown,
  nameOf: NameOfEntry,
): unknown {
  if (value === null || value === undefined) return undefined;
  if (lookup) return nameOf(lookup.noun, value as string);
  const normal = form ? form.toHub(value) : (value as RegistryValue);
  return normal === null || isDeepStrictEqual(normal, ofNew) ? undefined : normal;
}

function specValue(field: EntryField, value: unknown, nameOf: NameOfEntry): unknown {
  if (value === null || value === undefined || value === '' || value === field.cleared) return undefined;
  const { refersTo, isSet, form } = field;
  if (form) return form.toSpec ? form.toSpec(form.toHub(value)) : value;
  const named = (id: unknown) => (refersTo ? nameOf(refersTo.entryType.type, String(id)) : id);
  if (!isSet || !Array.isArray(value)) return named(value);
  const items = value.map(named).filter((item) => item !== undefined);
  return items.length === 0 ? undefined : items.sort();
}
