import type { CustomResource } from '../../operator/kinds/resource';
import { isDriftLeft } from '../../operator/sync/objects/drift-policy';
import { hasAccepted, recordedId } from '../../operator/sync/objects/ownership';
import { payloadHash } from '../../operator/sync/objects/payload-hash';
import type { Borrower, BorrowedType } from '../../operator/sync/registry/borrowed/borrowed-type';
import { changesOf, declaredSettings } from '../../operator/sync/registry/borrowed/declared';
import { type Previous, settingsDiff } from '../../operator/sync/registry/borrowed/previous';
import { findEntry } from '../settings/borrowed';
import { DRIFT_IS_LEFT, type HubChange } from './hub-change';
import { referencesOf } from './registry-change';
import type { StoredObjects } from './stored-objects';

/**
 * The settings of an entity or a device that the operator would write. @param others all resources of the
 * same hub
 */
export async function settingsChange(
  type: BorrowedType,
  given: CustomResource,
  others: readonly CustomResource[],
  stored: StoredObjects,
): Promise<HubChange> {
  const resource = given as unknown as Borrower;
  const references = await referencesOf(type, resource, others, stored);
  if ('outcome' in references) return without('waits', references.missing);
  const found = await findEntry(type, resource, others, stored);
  if ('why' in found) return without(found.isFinal ? 'refused' : 'waits', [found.why]);
  const { record, all, lookup, owner } = found;
  if (owner)
    return without('waits', [
      `${owner.kind} ${owner.metadata.name} has the settings of ${type.nameOf(record)}: it must be deleted first.`,
    ]);
  const declared = declaredSettings(type, resource.spec, references.ids);
  const previous = recordedId(type, resource) === record.id ? resource.status?.['previous'] : undefined;
  const fields = settingsDiff(record.settings, declared, (previous ?? {}) as Previous);
  if (fields.length === 0) return without('none', []);
  if (isDriftLeft(resource, hasAccepted(resource, payloadHash(declared))))
    return without('none', [DRIFT_IS_LEFT]);
  const refusal = type.refusal(record, changesOf(fields), all.all, lookup);
  return refusal ? without('refused', [refusal.message]) : { action: 'update', fields, notes: [] };
}

const without = (action: HubChange['action'], notes: readonly string[]): HubChange => ({
  action,
  fields: [],
  notes,
});
