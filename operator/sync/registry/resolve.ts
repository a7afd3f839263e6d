import type { RegistryEntries } from '../../client/registries/registry';
import { registryName } from '../../kinds/ids';
import { AREA_DEPENDENCY_REQUEUE } from '../../base/limits';
import { type Waiting, waiting } from '../../runtime/outcome';
import { recordedId } from '../objects/ownership';
import type { EntryResource, EntryType } from './entry-types';

/** The id that a name stands for, or why there is none yet, as the end of a sentence. */
export type Resolved = { readonly id: string } | { readonly missing: string };

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
export interface Lookup {
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

/** The ids of all entries that a resource refers to, or the outcome if some are missing. */
export async function resolveReferences(
  { fields }: EntryType,
  { spec }: EntryResource,
  lookup: Lookup,
): Promise<{ readonly ids: References } | Unresolved> {
  const ids: Record<string, string | readonly string[]> = {};
  const outcomes: Waiting[] = [];
  for (const [field, { refersTo, isSet }] of Object.entries(fields)) {
    const value = spec[field] as string | readonly string[] | undefined;
    if (!refersTo || value === undefined) continue;
    const { entryType, reason } = refersTo;
    const entries = await lookup.entries(entryType);
    const resources = lookup.resources(entryType);
    const found: string[] = [];
    for (const name of typeof value === 'string' ? [value] : value) {
      const resolved = resolveName(entryType, name, resources, entries);
      if ('missing' in resolved) {
        const message = `Waiting for the ${entryType.type} “${name}” in ${field}: ${resolved.missing}.`;
        outcomes.push(waiting(reason, message, AREA_DEPENDENCY_REQUEUE));
      } else found.push(resolved.id);
    }
    ids[field] = isSet ? found : found[0]!;
  }
  const [outcome] = outcomes;
  return outcome ? { outcome, missing: outcomes.map(({ message }) => message) } : { ids };
}
