import type { RegistryRecord } from '../../client/connection/api-types';
import type { HubRejected } from '../../client/connection/errors';
import type { HubClient } from '../../client/hub-client';
import { fewNames } from '../../base/few-names';
import {
  AREA_DEPENDENCY_REQUEUE,
  DEPENDENCY_REQUEUE,
  MIN_WRITE_INTERVAL,
  POD_NOT_READY_REQUEUE,
} from '../../base/limits';
import type { EventSpec } from '../../runtime/event-spec';
import {
  type Outcome,
  type Ready,
  ready,
  type Stalled,
  stalled,
  type Waiting,
  waiting,
} from '../../runtime/outcome';
import { type FieldDiff, formatDiff } from '../objects/field-diff';
import { isComplete } from '../objects/object-sync';
import { isHeld } from '../still-desired';
import { hubErrorOutcome, rejectedMessage } from '../hub-connection/hub-errors';
import type { DesiredEntry } from './desired';
import type { EntryResource, EntryType } from './entry-type';

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
 * @param missing the entities in the spec that the hub does not have
 * @param status further status fields after a write
 */
export function readyOutcome(
  entryType: EntryType,
  { hash, declared }: DesiredEntry,
  record: RegistryRecord,
  missing: readonly string[],
  status: Fields = {},
): Ready {
  const { type, idField, reason } = entryType;
  const id = idIn(entryType, record);
  const names = fewNames(missing.toSorted(), MOST_IDS);
  const warning =
    missing.length > 0 ? ` There is no entity ${names} yet: if it is a typo, correct the spec.` : '';
  return ready(reason, `The hub has it as ${type} ${id}.${warning}`, {
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
 *
 * @param present the entry in the hub; undefined if there is none
 */
export function rejected(
  { type, fields }: EntryType,
  { fields: desired }: DesiredEntry,
  error: HubRejected,
  present: RegistryRecord | undefined,
): Outcome {
  const isInUse = / is already in use$/.test(error.message);
  const hint = isInUse ? `. Rename or delete the other ${type} in the hub, or change spec.name.` : '';
  const isLacking = (name: string) => present && !present[name] && desired[name];
  const lacking = Object.values(fields).find(({ isUnique, name }) => isUnique && isLacking(name));
  const state = lacking ? `. Until it accepts it, the ${type} has no ${lacking.lookup!.noun}.` : '';
  const message = rejectedMessage(`${error.message}${hint}${state}`);
  return hubErrorOutcome(error, 'object', { message, after: DEPENDENCY_REQUEUE });
}

/**
 * The outcome while the entry with this name or id still belongs to another resource.
 *
 * @param present the entry that the resource has meanwhile. In an exchange it has a name in between.
 */
export function heldBy(
  { type, identity }: EntryType,
  owner: EntryResource,
  resource: EntryResource,
  present?: RegistryRecord,
) {
  const other = `the ${owner.kind} ${owner.metadata.name}`;
  const named = present ? `, and its ${type} has the name “${present.name}” until then` : '';
  const held = isHeld(owner) ? ' That one is suspended or in dry-run.' : '';
  const message = identity.isName
    ? `The ${type} “${resource.spec.name}” in the hub belongs to ${other}, whose spec.name is different. ` +
      `This resource waits until ${other} has renamed it or is deleted${named}.${held}`
    : `The ${type} ${identity.of(resource)} in the hub belongs to ${other}, which has another id. ` +
      `This resource waits until ${other} is deleted: create it with another spec.id if both shall stay.`;
  return waiting('DuplicateId', message, AREA_DEPENDENCY_REQUEUE);
}

/** The outcome if several entries of users have the resource's name. */
export function ambiguous(
  { type, identity }: EntryType,
  resource: EntryResource,
  ids: readonly string[],
): Outcome {
  const message =
    `The hub has several ${type} of the name “${resource.spec.name}” (${fewNames(ids.toSorted(), MOST_IDS)}) and none with the id ` +
    `${identity.of(resource)}: create this resource with the spec.id of one of them, or rename the others in the hub.`;
  return stalled('NameConflict', message);
}

const MOST_IDS = 5;

/**
 * The outcome while the hub has not set up the component of the entries.
 *
 * @param isOwn true if the component belongs to the kind, so that the hub's configuration may lack it
 */
export async function notLoaded(client: HubClient, component: string, isOwn: boolean): Promise<Waiting> {
  if (!isOwn || !(await isComplete(client)))
    return waiting(
      'HubNotReady',
      `The hub has not loaded its ${component} component yet.`,
      POD_NOT_READY_REQUEUE,
    );
  const message =
    `The hub runs without its integration ${component}: add ${component}: or default_config: to its configuration. If it is there, one wrong ` +
    'object of it may keep all from being set up: read the log of the hub.';
  return waiting('ComponentNotLoaded', message, DEPENDENCY_REQUEUE);
}

/**
 * The outcome with the annotation `dry-run` (rules.md, "Suspend and dry-run").
 *
 * @param existing the entry and its differences; undefined if it would be created
 */
export function dryRun(
  { type }: EntryType,
  { spec }: EntryResource,
  existing: { readonly id: string; readonly differences: readonly FieldDiff[] } | undefined,
  redact: (text: string) => string,
): Ready | Stalled {
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

/** The outcome with an event before its own ones. */
export const withEvent = (outcome: Outcome, event: EventSpec): Outcome => ({
  ...outcome,
  events: [event, ...(outcome.events ?? [])],
});
