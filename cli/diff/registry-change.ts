import type { CustomResource } from '../../operator/kinds/resource';
import { ambiguous } from '../../operator/sync/registry/conditions';
import { desiredEntry, entryDiff, withoutRemoved } from '../../operator/sync/registry/desired';
import { missingEntities } from '../../operator/sync/registry/entity-state';
import type { RegistryType } from '../../operator/client/connection/registry-types';
import type { RegistryEntries } from '../../operator/client/registries/registry';
import {
  type EntryResource,
  type EntryType,
  isOfType,
  type ReferringField,
} from '../../operator/sync/registry/entry-types';
import { nameAvailability } from '../../operator/sync/registry/exchange';
import { hasAccepted, recordedId } from '../../operator/sync/objects/ownership';
import { idByName, locate, resolveReferences } from '../../operator/sync/registry/locate-entry';
import { isDriftLeft } from '../../operator/sync/objects/drift-policy';
import { DRIFT_IS_LEFT, type HubChange } from './hub-change';
import type { StoredObjects } from './stored-objects';

/**
 * The resources with the ids of the entries that they will adopt, so that references to them can be resolved.
 */
function withIds(
  entryType: EntryType,
  resources: readonly EntryResource[],
  entries: RegistryEntries,
): readonly EntryResource[] {
  return resources.map((resource) => {
    const id = recordedId(entryType, resource) ?? idByName(entries, resource.spec.name);
    return id === undefined
      ? resource
      : { ...resource, status: { ...resource.status, [entryType.idField]: id } };
  });
}

/**
 * The ids to which a resource refers, after the other resources have adopted their entries. @param others all
 * resources of the same hub
 */
export async function referencesOf(
  type: { readonly fields: Readonly<Record<string, ReferringField>> },
  resource: { readonly spec: Readonly<Record<string, unknown>> },
  others: readonly CustomResource[],
  stored: StoredObjects,
): ReturnType<typeof resolveReferences> {
  const adopting = new Map<RegistryType, readonly EntryResource[]>();
  for (const { refersTo } of Object.values(type.fields)) {
    if (!refersTo) continue;
    const { entryType } = refersTo;
    const given = ofKind(others, entryType.definition.kind);
    adopting.set(entryType.type, withIds(entryType, given, await stored.entries(entryType.type)));
  }
  return resolveReferences(type, resource, {
    client: stored.client,
    entries: ({ type: registry }) => stored.entries(registry),
    resources: (other) => adopting.get(other.type) ?? [],
  });
}

const ofKind = (resources: readonly CustomResource[], kind: string): readonly EntryResource[] =>
  resources.filter((each) => each.kind === kind) as unknown as readonly EntryResource[];

/**
 * The write that the operator would send for an entry of a registry or a collection.
 *
 * @param others all resources of the same hub
 * @param withSettings adds the change of the settings of the entity, by the id of the entry in the hub
 */
export async function registryChange(
  entryType: EntryType,
  resource: CustomResource,
  others: readonly CustomResource[],
  stored: StoredObjects,
  withSettings: (change: HubChange, id: string) => Promise<HubChange>,
): Promise<HubChange> {
  const entry = resource as EntryResource;
  const problem = entryType.validate?.(entry);
  if (problem !== undefined) return refused(problem);
  const { component } = entryType;
  if (component && !(await stored.client.components.isLoaded(component)))
    return waits(`The hub runs without its integration ${component}.`);
  const entries = await stored.entries(entryType.type);
  const references = await referencesOf(entryType, entry, others, stored);
  if ('outcome' in references) return waits(...references.missing);
  const { client } = stored;
  const desired = desiredEntry(entryType, entry, references.ids);
  const siblings = siblingsOf(entryType, resource, others);
  const located = locate(entryType, entry, entries, siblings, { desired: desired.fields });
  if (located.type === 'OfOther') return waitsFor(located.owner);
  if (located.type === 'Ambiguous') return refused(ambiguous(entryType, entry, located.ids).message);
  const isAccepted = hasAccepted(entry, desired.hash);
  const isLeft = isDriftLeft(entry, isAccepted);
  if (located.type === 'Absent') {
    const conflict = await entryType.conflict?.(client, entry, desired.fields);
    if (conflict) return refused(conflict.message);
    const wasThere = recordedId(entryType, entry) !== undefined;
    return wasThere && isLeft ? left : { action: 'create', fields: [], notes: [] };
  }
  const record = entries.get(located.id)!;
  const missing = isAccepted ? await missingEntities(entryType, entry, client) : [];
  const fields = entryDiff(entryType, record, withoutRemoved(entryType, record, desired, missing));
  if (fields.length === 0) return withSettings({ action: 'none', fields, notes: [] }, located.id);
  if (isLeft) return left;
  const name = nameAvailability({ entryType, resource: entry, id: located.id, entries, others: siblings });
  if (name.type === 'Held') return waitsFor(name.owner);
  return withSettings({ action: 'update', fields, notes: [] }, located.id);
}

/** The other resources whose entries are in the same registry or collection. */
export const siblingsOf = (
  entryType: EntryType,
  { kind, metadata: { name } }: CustomResource,
  others: readonly CustomResource[],
): readonly EntryResource[] =>
  ofKind(others, kind).filter((each) => each.metadata.name !== name && isOfType(entryType, each.spec));

const left: HubChange = { action: 'none', fields: [], notes: [DRIFT_IS_LEFT] };

const refused = (note: string): HubChange => ({ action: 'refused', fields: [], notes: [note] });

const waits = (...notes: readonly string[]): HubChange => ({ action: 'waits', fields: [], notes });

const waitsFor = ({ kind, metadata }: EntryResource): HubChange =>
  waits(`The entry of this name belongs to ${kind} ${metadata.name}, which must rename it or be deleted.`);
