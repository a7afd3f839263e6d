import type { RegistryRecord } from '../../client/connection/api-types';
import type { HubRejected } from '../../client/connection/errors';
import { AREA_DEPENDENCY_REQUEUE, DEPENDENCY_REQUEUE, MIN_WRITE_INTERVAL } from '../../base/limits';
import type { EventSpec } from '../../runtime/event-spec';
import { type Outcome, type Ready, ready, stalled, type Waiting, waiting } from '../../runtime/outcome';
import { type FieldDiff, formatDiff } from '../objects/field-diff';
import { hubErrorOutcome, rejectedMessage } from '../hub-connection/hub-errors';
import type { DesiredEntry } from './desired';
import type { EntryResource, EntryType } from './entry-types';

type Fields = Readonly<Record<string, unknown>>;

/** The outcome while an entry is being written. Its message stays the same until the hub has the entry. */
export function inProgress(
  { reason, type }: EntryType,
  { spec }: EntryResource,
  after: number,
  details: { readonly status?: Fields; readonly events?: readonly EventSpec[] } = {},
): Waiting {
  return waiting(reason, `The ${type} “${spec.name}” is being written to the hub.`, after, details);
}

/**
 * The outcome when the hub has the desired entry.
 *
 * @param status further status fields after a write
 */
export function readyOutcome(
  entryType: EntryType,
  { hash, declared }: DesiredEntry,
  record: RegistryRecord,
  status: Fields = {},
): Ready {
  const { type, idField, reason } = entryType;
  const id = idIn(entryType, record);
  return ready(reason, `The hub has it as ${type} ${id}.`, {
    status: {
      ...status,
      [idField]: id,
      pendingName: null,
      appliedHash: hash,
      appliedFields: declared.length > 0 ? declared : null,
    },
  });
}

/**
 * The outcome when the hub accepted a write but did not apply all of it, for example because a label was
 * removed at the same time.
 */
export function partlyWritten(
  entryType: EntryType,
  record: RegistryRecord,
  differences: string,
  status: Fields,
): Waiting {
  const message = `The hub did not take over all of it (${differences}).`;
  return waiting(entryType.reason, message, MIN_WRITE_INTERVAL, {
    status: { ...status, [entryType.idField]: idIn(entryType, record), pendingName: null },
  });
}

/**
 * The outcome of a rejected write. It is retried soon, since a rejected write costs the hub almost nothing,
 * and no event reports that an entity appears.
 */
export function rejected({ type }: EntryType, error: HubRejected): Outcome {
  const isInUse = / is already in use$/.test(error.message);
  const hint = isInUse ? `. Rename or delete the other ${type} in the hub, or change spec.name.` : '';
  const message = rejectedMessage(`${error.message}${hint}`);
  return hubErrorOutcome(error, 'object', { message, after: DEPENDENCY_REQUEUE });
}

/** Another resource still has the entry of this name. */
export function heldBy({ type }: EntryType, { kind, metadata }: EntryResource, { spec }: EntryResource) {
  const message =
    `The ${type} “${spec.name}” in the hub belongs to the ${kind} ${metadata.name}, whose spec.name is different. ` +
    `This resource waits until the ${kind} ${metadata.name} has renamed it or is deleted.`;
  return waiting('DuplicateId', message, AREA_DEPENDENCY_REQUEUE);
}

/** The annotation `dry-run` (rules.md, "Suspend and dry-run"). Without an existing entry, one would be created. */
export function dryRun(
  { type }: EntryType,
  { spec }: EntryResource,
  existing: { readonly id: string; readonly differences: readonly FieldDiff[] } | undefined,
  redact: (text: string) => string,
): Outcome {
  const remove = 'Remove the annotation to apply it.';
  if (!existing) return stalled('DryRun', `Would create the ${type} “${spec.name}”. ${remove}`);
  const { id, differences } = existing;
  return differences.length === 0
    ? ready('DryRun', `Nothing would be sent: the hub already has the ${type} ${id} as specified.`)
    : stalled('DryRun', `Would write the ${type} ${id} (${formatDiff(differences, redact)}). ${remove}`);
}

export function idIn({ type }: EntryType, record: RegistryRecord): string {
  return record[`${type}_id`] as string;
}
