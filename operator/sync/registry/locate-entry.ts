import type { RegistryEntries } from '../../client/registries/registry';
import { registryName } from '../../kinds/ids';
import { byAge } from '../../runtime/age';
import { conditionOf } from '../../runtime/conditions';
import { recordedId } from '../objects/ownership';
import type { EntryResource, EntryType } from './entry-types';
import { idByName } from './resolve';

/** The entry that a resource stands for (rules.md, "Floors, labels and areas"). */
export type Located =
  /** Recorded in status. */
  | { readonly type: 'Owned'; readonly id: string }
  /** Created by an operator that stopped before it recorded the id. */
  | { readonly type: 'Created'; readonly id: string }
  /** Made by a person. */
  | { readonly type: 'Unmanaged'; readonly id: string }
  /** The entry of another resource, whose `spec.name` is different. */
  | { readonly type: 'OfOther'; readonly id: string; readonly owner: EntryResource }
  | { readonly type: 'Absent' };

/** @param others the other resources of the same kind and hub */
export function locate(
  entryType: EntryType,
  resource: EntryResource,
  entries: RegistryEntries,
  others: readonly EntryResource[],
): Located {
  const all = [resource, ...others];
  const recorded = recordedId(entryType, resource);
  if (recorded !== undefined && ownerOf(entryType, recorded, entries, all) === resource)
    return { type: 'Owned', id: recorded };
  const pending = pendingName(resource);
  const created = pending === undefined ? undefined : idByName(entries, pending);
  if (created !== undefined && ownerOf(entryType, created, entries, all) === resource)
    return { type: 'Created', id: created };
  const id = idByName(entries, resource.spec.name);
  if (id === undefined) return { type: 'Absent' };
  const owner = ownerOf(entryType, id, entries, others);
  return owner ? { type: 'OfOther', id, owner } : { type: 'Unmanaged', id };
}

/** Whether an entry can get its new name. */
export type NameConflict =
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
    candidates.reduce<EntryResource | undefined>(older, undefined)
  );
}

/**
 * The name under which the operator may have created an entry for the resource. A rejected entry was not created: a
 * user has made an entry of that name since.
 */
export function pendingName(resource: EntryResource): string | undefined {
  const rejected = conditionOf(resource, 'Ready')?.reason === 'RejectedByHub';
  return rejected ? undefined : (resource.status?.['pendingName'] as string | undefined);
}

function older(a: EntryResource | undefined, b: EntryResource): EntryResource {
  return a && byAge(a.metadata, b.metadata) < 0 ? a : b;
}
