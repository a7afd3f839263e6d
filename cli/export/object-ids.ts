import type { CustomResource } from '../../operator/kinds/resource';
import { type HubIntegration, integration } from '../../operator/kinds';
import { formerIds } from '../../operator/sync/config-entities/ownership';
import type { Child } from '../../operator/sync/objects/child';
import { recordedId } from '../../operator/sync/objects/ownership';
import type { Borrower } from '../../operator/sync/registry/borrowed/borrowed-type';
import { type EntryResource, type EntryType, entryTypeOf } from '../../operator/sync/registry/entry-types';
import { locate } from '../../operator/sync/registry/locate-entry';
import { entityTypeOf } from '../diff/config-entity-change';
import { entryOf } from '../diff/integration-change';
import { siblingsOf } from '../diff/registry-change';
import type { StoredObjects } from '../diff/stored-objects';
import { borrowedTypeOf, findEntry } from '../settings/borrowed';
import { entriesOf } from './read-hub';

/**
 * The ids of the objects in the hub that a resource has, and of the one that the operator would adopt for it, such as
 * for a suspended resource, which has none in status.
 *
 * @param siblings all resources of the same hub
 * @throws HubError
 */
export async function objectIds(
  resource: CustomResource,
  siblings: readonly CustomResource[],
  stored: StoredObjects,
): Promise<readonly string[]> {
  const child = resource as Child;
  const adopts = child.metadata.deletionTimestamp === undefined;
  const entityType = entityTypeOf(resource.kind);
  if (entityType)
    return given(recordedId(entityType, child), ...formerIds(child), adopts && entityType.id(child));
  const entryType = entryTypeOf(resource);
  if (entryType)
    return given(
      recordedId(entryType, child),
      adopts && (await idOfEntry(entryType, child, siblings, stored)),
    );
  const borrowedType = borrowedTypeOf(resource.kind);
  if (borrowedType) {
    const recorded = recordedId(borrowedType, child);
    const borrower = resource as unknown as Borrower;
    const found = adopts && (await findEntry(borrowedType, borrower, siblings, stored));
    return given(recorded, found && 'record' in found && found.record.id);
  }
  if (resource.kind !== integration.kind) return [];
  const entry = adopts && (await entryOf(resource as HubIntegration, siblings, stored));
  return given(recordedId({ idField: 'entryID' }, child), entry && entry.entry_id);
}

const given = (...ids: readonly (string | false | undefined)[]): readonly string[] =>
  ids.filter((id) => typeof id === 'string');

async function idOfEntry(
  entryType: EntryType,
  resource: Child,
  siblings: readonly CustomResource[],
  { client }: StoredObjects,
): Promise<string | undefined> {
  const entries = await entriesOf(client, entryType.type);
  const located = locate(
    entryType,
    resource as EntryResource,
    entries,
    siblingsOf(entryType, resource, siblings),
  );
  return located.type === 'OfOther' || !('id' in located) ? undefined : located.id;
}
