import type { RegistryFields, RegistryRecord, RegistryValue } from '../../client/connection/api-types';
import type { HubClient } from '../../client/hub-client';
import type { RegistryEntries } from '../../client/registries/registry';
import { registryName } from '../../kinds/ids';
import { AREA_DEPENDENCY_REQUEUE, DEPENDENCY_REQUEUE } from '../../base/limits';
import { type Waiting, waiting } from '../../runtime/outcome';
import { recordedId } from '../objects/ownership';
import type { Services } from '../services';
import type { EntryResource, EntryType, ReferringField } from './entry-type';
import { byAge } from '../../runtime/age';
import { conditionOf } from '../../runtime/conditions';
import { valueAt } from './spec-path';

/** The id of the entry with a name, or the end of a sentence that says why there is none yet. */
type Resolved = { readonly id: string } | { readonly missing: string };

/**
 * Finds the entry of another registry that a resource refers to by name. A resource with this `spec.name`
 * comes first, then one with this `metadata.name`, then an entry of this name that a user made in the hub.
 */
export function resolveName(
  entryType: EntryType,
  name: string,
  resources: readonly EntryResource[],
  entries: RegistryEntries,
): Resolved {
  const existing = resources.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const byName = existing.filter(({ spec }) => registryName(spec.name) === registryName(name));
  const candidates = byName.length > 0 ? byName : existing.filter(({ metadata }) => metadata.name === name);
  const [first] = candidates;
  if (!first) {
    const id = idByName(entries, name);
    const { definition, type } = entryType;
    return id === undefined
      ? { missing: `there is no ${definition.kind} and no ${type} of this name` }
      : { id };
  }
  // If there are several candidates, one of them owns the entry. The id is checked, since the hub would
  // accept the id of a floor that it does not have.
  for (const candidate of candidates) {
    const id = recordedId(entryType, candidate);
    if (id !== undefined && entries.has(id)) return { id };
  }
  return { missing: `the ${entryType.definition.kind} ${first.metadata.name} has none in the hub yet` };
}

/** The id of the entry of this name. Names are compared as in the hub. */
export function idByName(entries: RegistryEntries, name: string): string | undefined {
  const normalized = registryName(name);
  for (const [id, entry] of entries) if (registryName(entry.name) === normalized) return id;
  return undefined;
}

/** The id of an entry whose field of the hub has this value. Undefined if there is none. */
export function idByField(entries: RegistryEntries, name: string, value: RegistryValue): string | undefined {
  for (const [id, entry] of entries) if (entry[name] === value) return id;
  return undefined;
}

/** The id of the entry with this identity. Undefined if there is none. */
export function idByIdentity(
  { identity }: EntryType,
  entries: RegistryEntries,
  searched: string,
): string | undefined {
  for (const [id, entry] of entries) if (identity.ofEntry(id, entry) === searched) return id;
  return undefined;
}

/** The ids for the fields that refer to other registries, by the names of the fields in the spec. */
export type References = Readonly<Record<string, string | readonly string[] | null>>;

/** Functions that look up the names that a resource refers to. */
export interface Lookup {
  entries(entryType: EntryType): Promise<RegistryEntries>;
  /** The resources of the same hub. */
  resources(entryType: EntryType): readonly EntryResource[];
  readonly client: HubClient;
}

/** Looks names up in the hub of a resource, and among the other resources of that hub. */
export const lookupOf = (
  { cache }: Pick<Services, 'cache'>,
  { metadata, spec }: EntryResource,
  client: HubClient,
): Lookup => ({
  client,
  entries: ({ type }) => client.registries[type].entries(),
  resources: ({ definition }) => [
    ...cache.ofHub<EntryResource>(definition.kind, metadata.namespace, spec.hubRef.name),
  ],
});

/** The outcome of a resource whose references are missing. */
export interface Unresolved {
  /** The outcome for the first missing reference. */
  readonly outcome: Waiting;
  /** A text for each missing reference. The list changes when one of the missing entries appears. */
  readonly missing: readonly string[];
}

/** The ids of all entries that a resource refers to, or the outcome if some are missing. */
export async function resolveReferences(
  { fields }: { readonly fields: Readonly<Record<string, ReferringField>> },
  { spec }: { readonly spec: Readonly<Record<string, unknown>> },
  lookup: Lookup,
): Promise<{ readonly ids: References } | Unresolved> {
  const ids: Record<string, string | readonly string[] | null> = {};
  const outcomes: Waiting[] = [];
  for (const [field, { refersTo, lookup: own, isSet, at = field }] of Object.entries(fields)) {
    const value = valueAt(spec, at) as string | readonly string[] | undefined;
    if (own && typeof value === 'string') {
      const found = await own.valueOf(lookup.client, value);
      const message = `Waiting for the ${own.noun} “${value}” in ${at}: the hub has none of this name.`;
      if (found === undefined) outcomes.push(waiting(own.reason, message, DEPENDENCY_REQUEUE));
      else ids[field] = found;
    }
    if (!refersTo || value === undefined) continue;
    const { entryType, reason } = refersTo;
    const entries = await lookup.entries(entryType);
    const resources = lookup.resources(entryType);
    const found: string[] = [];
    for (const name of typeof value === 'string' ? [value] : value) {
      const resolved = resolveName(entryType, name, resources, entries);
      if ('missing' in resolved) {
        const message = `Waiting for the ${entryType.type} “${name}” in ${at}: ${resolved.missing}.`;
        outcomes.push(waiting(reason, message, AREA_DEPENDENCY_REQUEUE));
      } else found.push(resolved.id);
    }
    ids[field] = isSet ? found : found[0]!;
  }
  const [outcome] = outcomes;
  return outcome ? { outcome, missing: outcomes.map(({ message }) => message) } : { ids };
}

/** The entry of a resource (rules.md, "Floors, labels and areas"). */
export type Located =
  /** The entry is recorded in status. */
  | { readonly type: 'Owned'; readonly id: string }
  /** The entry was created by this process, but is not recorded, since the write of status failed. */
  | { readonly type: 'Created'; readonly id: string }
  /**
   * The entry was made by a user, or by an operator that was killed before it recorded the id. The hub stores
   * no difference.
   */
  | { readonly type: 'Unmanaged'; readonly id: string }
  /** The entry belongs to another resource, whose identity is different. */
  | { readonly type: 'OfOther'; readonly id: string; readonly owner: EntryResource }
  /** No entry has the identity of the resource, but several entries without a resource have its name. */
  | { readonly type: 'Ambiguous'; readonly ids: readonly string[] }
  | { readonly type: 'Absent' };

/**
 * Finds the entry of a resource.
 *
 * @param others the other resources of the same kind and hub
 * @param known `created`: id of the entry, if this process created it; `desired`: the hub's fields of the
 * resource, needed to find an entry that it may adopt
 */
export function locate(
  entryType: EntryType,
  resource: EntryResource,
  entries: RegistryEntries,
  others: readonly EntryResource[],
  {
    created,
    desired = {},
  }: { readonly created?: string | undefined; readonly desired?: RegistryFields } = {},
): Located {
  const all = [resource, ...others];
  const recorded = recordedId(entryType, resource);
  if (recorded !== undefined && ownerOf(entryType, recorded, entries, all) === resource)
    return { type: 'Owned', id: recorded };
  if (created !== undefined && ownerOf(entryType, created, entries, all) === resource)
    return { type: 'Created', id: created };
  const { identity } = entryType;
  const id = idByIdentity(entryType, entries, identity.of(resource));
  if (id === undefined)
    return identity.isName || recorded !== undefined
      ? { type: 'Absent' }
      : (ofUniqueField(entryType, desired, entries, others) ??
          ofName(entryType, resource, desired, entries, others));
  const owner = ownerOf(entryType, id, entries, others);
  return owner ? { type: 'OfOther', id, owner } : { type: 'Unmanaged', id };
}

/**
 * Finds the entry that has the resource's value of a field which no two entries share. Without another
 * resource it is adopted; else the resource gets an entry of its own.
 *
 * @returns undefined when there is none
 */
function ofUniqueField(
  entryType: EntryType,
  desired: RegistryFields,
  entries: RegistryEntries,
  others: readonly EntryResource[],
): Located | undefined {
  for (const { name, isUnique } of Object.values(entryType.fields)) {
    const value = desired[name];
    if (!isUnique || value === undefined || value === null) continue;
    const id = idByField(entries, name, value);
    if (id === undefined) continue;
    return isTaken(entryType, others, id) ? { type: 'Absent' } : { type: 'Unmanaged', id };
  }
  return undefined;
}

/** Reports whether another resource has the entry with this id, or may be creating it at present. */
const isTaken = (entryType: EntryType, others: readonly EntryResource[], id: string): boolean =>
  others.some((other) => recordedId(entryType, other) === id || entryType.identity.of(other) === id);

/**
 * Finds the only entry without another resource that has the resource's name, under an id that the hub
 * derived from an earlier name. An entry with another value of a unique field is another object of this name.
 */
function ofName(
  entryType: EntryType,
  resource: EntryResource,
  desired: RegistryFields,
  entries: RegistryEntries,
  others: readonly EntryResource[],
): Located {
  const name = registryName(resource.spec.name);
  const unique = Object.values(entryType.fields).filter((field) => field.isUnique);
  const isOther = (entry: RegistryRecord) =>
    unique.some(({ name: field }) => {
      const values = [entry[field] ?? null, desired[field] ?? null];
      return !values.includes(null) && values[0] !== values[1];
    });
  const named = [...entries]
    .filter(([, entry]) => registryName(entry.name) === name && !isOther(entry))
    .map(([id]) => id);
  const [id, ...more] = named.filter((each) => !isTaken(entryType, others, each));
  if (id === undefined) return { type: 'Absent' };
  return more.length > 0 ? { type: 'Ambiguous', ids: [id, ...more] } : { type: 'Unmanaged', id };
}

/**
 * The resource that an entry belongs to. The hub may give the id of a removed entry to a new one, so two
 * resources may have recorded the same id. Then the resource with the entry's identity owns the entry.
 *
 * @returns undefined when none of these resources owns it
 */
export function ownerOf(
  entryType: EntryType,
  id: string,
  entries: RegistryEntries,
  resources: readonly EntryResource[],
): EntryResource | undefined {
  const entry = entries.get(id);
  if (!entry) return undefined;
  const { identity } = entryType;
  const own = identity.ofEntry(id, entry);
  const isCreating = (resource: EntryResource) => pendingName(resource) === own;
  const candidates = resources.filter((each) => recordedId(entryType, each) === id || isCreating(each));
  return (
    candidates.find((each) => identity.of(each) === own) ??
    candidates.find(isCreating) ??
    candidates.sort((a, b) => byAge(a.metadata, b.metadata))[0]
  );
}

/**
 * The entry with the name that status announces, if no resource has recorded it. It was created by an
 * operator that was killed, or by a user.
 */
export function announcedEntry(
  entryType: EntryType,
  resource: EntryResource,
  entries: RegistryEntries,
  others: readonly EntryResource[],
): { readonly id: string; readonly name: string } | undefined {
  const pending = pendingName(resource);
  const id = pending === undefined ? undefined : idByIdentity(entryType, entries, pending);
  const isFree = id !== undefined && ownerOf(entryType, id, entries, [resource, ...others]) === resource;
  return isFree ? { id, name: entries.get(id)!.name } : undefined;
}

/**
 * The identity under which the operator may have created an entry for the resource. Undefined after a
 * rejection: then nothing was created, so an entry with that identity is from a user.
 */
function pendingName(resource: EntryResource): string | undefined {
  const rejected = conditionOf(resource, 'Ready')?.reason === 'RejectedByHub';
  return rejected ? undefined : (resource.status?.['pendingName'] as string | undefined);
}
