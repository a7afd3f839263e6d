import type { RegistryEntries } from '../../client/registries/registry';
import { registryName } from '../../kinds/ids';
import { AREA_DEPENDENCY_REQUEUE } from '../../base/limits';
import { type Waiting, waiting } from '../../runtime/outcome';
import { recordedId } from '../objects/ownership';
import type { EntryResource, EntryType, ReferringField } from './entry-types';
import { byAge } from '../../runtime/age';
import { conditionOf } from '../../runtime/conditions';

/** The id that a name stands for, or why there is none yet, as the end of a sentence. */
type Resolved = { readonly id: string } | { readonly missing: string };

/**
 * The entry of another registry that a resource refers to by name: that of the resource with this `spec.name`, else of
 * the one with this `metadata.name`, else the entry of this name that a person made in the hub.
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
  // One of several candidates owns the entry. The hub would accept the id of a floor that it does not have.
  for (const candidate of candidates) {
    const id = recordedId(entryType, candidate);
    if (id !== undefined && entries.has(id)) return { id };
  }
  return { missing: `the ${entryType.definition.kind} ${first.metadata.name} has none in the hub yet` };
}

/** The id of the entry of this name, as the hub compares names. */
export function idByName(entries: RegistryEntries, name: string): string | undefined {
  const normalized = registryName(name);
  for (const [id, entry] of entries) if (registryName(entry.name) === normalized) return id;
  return undefined;
}

/** The ids for the fields that refer to other registries, by the names of the fields in the spec. */
export type References = Readonly<Record<string, string | readonly string[]>>;

/** Where the names that a resource refers to are looked up. */
interface Lookup {
  entries(entryType: EntryType): Promise<RegistryEntries>;
  /** The resources of the same hub. */
  resources(entryType: EntryType): readonly EntryResource[];
}

/** The outcome of a resource whose references are missing. */
export interface Unresolved {
  /** For the first that is missing. */
  readonly outcome: Waiting;
  /** One text for each that is missing: they change when one of them appears. */
  readonly missing: readonly string[];
}

/** The value of a field of a spec. */
export function valueAt(spec: Readonly<Record<string, unknown>>, at: string): unknown {
  return at
    .split('.')
    .reduce<unknown>((value, key) => (value as Readonly<Record<string, unknown>> | undefined)?.[key], spec);
}

/** The ids of all entries that a resource refers to, or the outcome if some are missing. */
export async function resolveReferences(
  { fields }: { readonly fields: Readonly<Record<string, ReferringField>> },
  { spec }: { readonly spec: Readonly<Record<string, unknown>> },
  lookup: Lookup,
): Promise<{ readonly ids: References } | Unresolved> {
  const ids: Record<string, string | readonly string[]> = {};
  const outcomes: Waiting[] = [];
  for (const [field, { refersTo, isSet, at = field }] of Object.entries(fields)) {
    const value = valueAt(spec, at) as string | readonly string[] | undefined;
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

/** The entry that a resource stands for (rules.md, "Floors, labels and areas"). */
export type Located =
  /** Recorded in status. */
  | { readonly type: 'Owned'; readonly id: string }
  /** Created by this process, and not recorded yet: the write of status failed. */
  | { readonly type: 'Created'; readonly id: string }
  /** Made by a person, or by an operator that was killed before it recorded the id. The hub keeps no mark of that. */
  | { readonly type: 'Unmanaged'; readonly id: string }
  /** The entry of another resource, whose `spec.name` is different. */
  | { readonly type: 'OfOther'; readonly id: string; readonly owner: EntryResource }
  | { readonly type: 'Absent' };

/**
 * @param others the other resources of the same kind and hub
 * @param created id that the hub has given to the entry when this process created it
 */
export function locate(
  entryType: EntryType,
  resource: EntryResource,
  entries: RegistryEntries,
  others: readonly EntryResource[],
  created?: string,
): Located {
  const all = [resource, ...others];
  const recorded = recordedId(entryType, resource);
  if (recorded !== undefined && ownerOf(entryType, recorded, entries, all) === resource)
    return { type: 'Owned', id: recorded };
  if (created !== undefined && ownerOf(entryType, created, entries, all) === resource)
    return { type: 'Created', id: created };
  const id = idByName(entries, resource.spec.name);
  if (id === undefined) return { type: 'Absent' };
  const owner = ownerOf(entryType, id, entries, others);
  return owner ? { type: 'OfOther', id, owner } : { type: 'Unmanaged', id };
}

/** Whether an entry can get its new name. */
type NameConflict =
  | { readonly type: 'None' }
  /** The entry of another resource has the name until that renames it. */
  | { readonly type: 'Held'; readonly owner: EntryResource }
  /** Resources that exchange their names: each waits for the next one. */
  | { readonly type: 'Cycle' };

/** @param id of the entry of the resource, which is to be renamed */
export function nameConflict(
  entryType: EntryType,
  resource: EntryResource,
  id: string,
  entries: RegistryEntries,
  others: readonly EntryResource[],
): NameConflict {
  let first: EntryResource | undefined;
  let next: EntryResource = resource;
  const seen = new Set<string>();
  for (;;) {
    const holder = idByName(entries, next.spec.name);
    if (first && holder === id) return { type: 'Cycle' };
    const owner =
      holder === undefined || holder === id ? undefined : ownerOf(entryType, holder, entries, others);
    if (!owner || seen.has(owner.metadata.uid)) break;
    first ??= owner;
    if (owner.spec.suspend || registryName(owner.spec.name) === registryName(next.spec.name)) break;
    seen.add(owner.metadata.uid);
    next = owner;
  }
  return first ? { type: 'Held', owner: first } : { type: 'None' };
}

/**
 * The resource that an entry belongs to; undefined: none of these. The hub gives the id of an entry that has gone to a
 * new one, so two resources may have recorded the same id: the one whose `spec.name` is the name of the entry owns it.
 */
function ownerOf(
  entryType: EntryType,
  id: string,
  entries: RegistryEntries,
  resources: readonly EntryResource[],
): EntryResource | undefined {
  const entry = entries.get(id);
  if (!entry) return undefined;
  const name = registryName(entry.name);
  const isCreating = (resource: EntryResource) => pendingName(resource) === name;
  const candidates = resources.filter((each) => recordedId(entryType, each) === id || isCreating(each));
  return (
    candidates.find(({ spec }) => registryName(spec.name) === name) ??
    candidates.find(isCreating) ??
    candidates.sort((a, b) => byAge(a.metadata, b.metadata))[0]
  );
}

/**
 * The entry under the name that status announces, and that no resource has recorded: an operator that was killed or a person
 * has created it.
 */
export function announcedEntry(
  entryType: EntryType,
  resource: EntryResource,
  entries: RegistryEntries,
  others: readonly EntryResource[],
): { readonly id: string; readonly name: string } | undefined {
  const pending = pendingName(resource);
  const id = pending === undefined ? undefined : idByName(entries, pending);
  const isFree = id !== undefined && ownerOf(entryType, id, entries, [resource, ...others]) === resource;
  return isFree ? { id, name: entries.get(id)!.name } : undefined;
}

/**
 * The name under which the operator may have created an entry for the resource. A rejected entry was not created: a
 * user has made an entry of that name since.
 */
function pendingName(resource: EntryResource): string | undefined {
  const rejected = conditionOf(resource, 'Ready')?.reason === 'RejectedByHub';
  return rejected ? undefined : (resource.status?.['pendingName'] as string | undefined);
}
