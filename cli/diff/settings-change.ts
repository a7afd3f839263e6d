import type { Configurable, SettingsEntries } from '../../operator/client/registries/settings';
import type { CustomResource } from '../../operator/kinds/resource';
import { isDriftLeft } from '../../operator/sync/objects/drift-policy';
import { hasAccepted, recordedId } from '../../operator/sync/objects/ownership';
import { payloadHash } from '../../operator/sync/objects/payload-hash';
import type {
  Borrower,
  BorrowedType,
  Lookup,
  SettingsKind,
  SettingsResource,
} from '../../operator/sync/registry/borrowed/borrowed-type';
import { resolveCategories } from '../../operator/sync/registry/borrowed/categories';
import { changesOf, declaredSettings } from '../../operator/sync/registry/borrowed/declared';
import { type Previous, settingsDiff } from '../../operator/sync/registry/borrowed/previous';
import type { References } from '../../operator/sync/registry/locate-entry';
import { findEntry, lookupOf } from '../settings/borrowed';
import { findOwnEntity, ownTypeOf } from '../settings/own-entity';
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
  if (found.owner)
    return without('waits', [
      `${found.owner.kind} ${found.owner.metadata.name} has the settings of ${type.nameOf(found.record)}: it must be deleted first.`,
    ]);
  return compared(type, resource, found, references.ids, stored);
}

/**
 * The change of an object, with that of the settings of its entity. `others`: all resources of the same hub.
 *
 * @param id of the object in the hub
 */
export async function withOwnEntity(
  change: HubChange,
  given: CustomResource,
  id: string,
  others: readonly CustomResource[],
  stored: StoredObjects,
): Promise<HubChange> {
  const own = ownTypeOf(given.kind);
  const resource = given as SettingsResource;
  if (!own || !['none', 'update'].includes(change.action)) return change;
  const { type } = own;
  if (resource.spec['entity'] === undefined && recordedId(type, resource) === undefined) return change;
  const references = await referencesOf(type, resource, others, stored);
  if ('outcome' in references) return joined(change, without('waits', references.missing));
  const found = await findOwnEntity(own, given, id, stored.client);
  if (!found) return change;
  const lookup = await lookupOf(type, resource, others, stored);
  return joined(change, await compared(type, resource, { ...found, lookup }, references.ids, stored));
}

function joined(change: HubChange, settings: HubChange): HubChange {
  return {
    action: change.action === 'none' ? settings.action : change.action,
    fields: [...change.fields, ...settings.fields],
    notes: [...change.notes, ...settings.notes],
  };
}

interface Entry<R extends Configurable> {
  readonly record: R;
  readonly all: SettingsEntries<R>;
  readonly lookup: Lookup;
}

async function compared<R extends Configurable>(
  type: SettingsKind<R>,
  resource: SettingsResource,
  { record, all, lookup }: Entry<R>,
  ids: References,
  stored: StoredObjects,
): Promise<HubChange> {
  const categories = await resolveCategories(type, resource.spec, (scope) => stored.categories(scope));
  const declared = declaredSettings(type, resource.spec, { ...ids, ...categories.ids });
  const previous = recordedId(type, resource) === record.id ? resource.status?.['previous'] : undefined;
  const differences = settingsDiff(record.settings, declared, (previous ?? {}) as Previous);
  if (differences.length === 0) return without('none', []);
  const hash = payloadHash(declaredSettings(type, resource.spec, ids));
  if (isDriftLeft(resource, hasAccepted(resource, hash, type.hashField)))
    return without('none', [DRIFT_IS_LEFT]);
  const refusal = type.refusal(record, changesOf(differences), all.all, lookup);
  if (refusal) return without('refused', [refusal.message]);
  const fields = differences.map((each) => ({ ...each, field: type.fields[each.field]?.at ?? each.field }));
  return { action: 'update', fields, notes: [] };
}

const without = (action: HubChange['action'], notes: readonly string[]): HubChange => ({
  action,
  fields: [],
  notes,
});
