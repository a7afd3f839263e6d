import { isDeepStrictEqual } from 'node:util';
import { type HubIntegration, integration as definition } from '../../operator/kinds';
import { defaulted } from '../../operator/kinds/schema';
import { entriesOf, desiredTitle } from '../../operator/sync/integration/entry/adoption';
import type { FieldDiff } from '../../operator/sync/objects/field-diff';
import type { HubChange } from './hub-change';
import type { StoredObjects } from './stored-objects';

const ANSWERS = ['configuration', 'steps', 'options', 'subentries'] as const;

/**
 * The change of an integration. The hub shows no answers, so these are compared with those of the resource in the cluster.
 *
 * @param before the resource in the cluster
 */
export async function integrationChange(
  resource: HubIntegration,
  before: HubIntegration | undefined,
  stored: StoredObjects,
): Promise<HubChange> {
  const spec = defaulted(definition.spec, resource.spec);
  const entries = entriesOf(await stored.integrations(), spec.domain);
  const title = desiredTitle(spec);
  const entry =
    entries.find(({ entry_id: id }) => id === resource.status?.entryID) ??
    (title === undefined
      ? entries.length === 1
        ? entries[0]
        : undefined
      : entries.find((each) => each.title === title));
  if (!entry)
    return { action: 'create', fields: [], notes: [`The hub’s forms of ${spec.domain} are answered.`] };
  const fields: FieldDiff[] = [
    ...(spec.title !== undefined && spec.title !== entry.title
      ? [{ field: 'title', actual: entry.title, desired: spec.title }]
      : []),
    ...((entry.disabled_by === null) !== spec.enabled
      ? [{ field: 'enabled', actual: entry.disabled_by === null, desired: spec.enabled }]
      : []),
  ];
  const changed = before
    ? ANSWERS.filter((name) => !isDeepStrictEqual(before.spec[name], resource.spec[name]))
    : [];
  const notes = changed.map((name) => `The answers in ${name} change: the hub’s forms are answered again.`);
  return { action: fields.length + notes.length > 0 ? 'update' : 'none', fields, notes };
}
