import type { ReloadResult } from '../../client/reloads';
import { timestamp } from '../../clock';
import type { Condition } from '../../kinds';
import { DEPENDENCY_REQUEUE } from '../../limits';
import type { EventSpec } from '../../runtime/events';
import {
  type ConditionValue,
  type Outcome,
  type Ready,
  ready,
  stalled,
  type Waiting,
  waiting,
} from '../../runtime/outcome';
import { conditionOf } from '../../runtime/conditions';
import type { Child } from '../child';
import { formatDiff } from './diff';
import type { ConfigEntitySpec, EntityType, EntityWork } from './entity-type';
import { type Observation, wasAccepted } from './observe';

// What a pass comes to, in the words of the API.

/**
 * The same words from the claim to the end, so that status is written once meanwhile. What is under way works the
 * resource again when it has ended; `after` milliseconds are for the case that it does not.
 */
export function inProgress<R extends Child, S extends ConfigEntitySpec>(
  { reason, type }: EntityType<R, S>,
  { id, hash, cached: { failure } }: EntityWork<R, S>,
  after = DEPENDENCY_REQUEUE,
  details: Pick<Waiting, 'status' | 'events'> = {},
): Waiting {
  const trouble = failure?.hash === hash ? ` It has failed to write it so far: ${failure.message}` : '';
  return waiting(reason, `The ${type} ${id} is on its way into the hub.${trouble}`, after, details);
}

/** The hub has what is wanted, and uses it unless `found` says otherwise. */
export function readyOutcome<R extends Child, S extends ConfigEntitySpec>(
  entityType: EntityType<R, S>,
  work: EntityWork<R, S>,
  found: Observation,
  events: readonly EventSpec[],
): Ready {
  const { cached, id, hash, spec, resource } = work;
  const { operation } = cached;
  const reload = reloadReady(entityType, work, operation?.reload);
  const reloaded = operation?.reload?.ok && reload;
  return ready(entityType.reason, readyMessage(entityType.type, id, found), {
    status: {
      ...entityType.status?.(spec),
      [entityType.idField]: id,
      entityId: found.entity?.entity_id ?? null,
      appliedHash: hash,
      lastAppliedTime: operation?.wroteAt
        ? timestamp(operation.wroteAt)
        : resource.status?.['lastAppliedTime'],
    },
    conditions: { ReloadReady: reload ?? null },
    events: [
      ...(reloaded
        ? [{ type: 'Normal', reason: 'ReloadSuccessful', message: reloaded.message } as const]
        : []),
      ...events,
    ],
  });
}

/** The annotation `dry-run`. */
export function dryRun<R extends Child, S extends ConfigEntitySpec>(
  entityType: EntityType<R, S>,
  work: EntityWork<R, S>,
  { differences }: Observation,
): Outcome {
  const { id, client } = work;
  if (differences.length === 0)
    return ready('DryRun', `Nothing would be sent: the hub has ${id} as it is here.`);
  const fields = differences.map(({ field }) => field).join(', ');
  // What a person wrote there may be a `!secret`, which the hub shows in clear, and which nobody told us to mask.
  const change = wasAccepted(entityType, work) ? ` (${formatDiff(differences)})` : '';
  const message = `Would write ${id} for its ${fields}${change}. Remove the annotation to have it done.`;
  return stalled('DryRun', client.rest.redact(message));
}

function reloadReady<R extends Child, S extends ConfigEntitySpec>(
  { reloads }: EntityType<R, S>,
  { resource, spec }: EntityWork<R, S>,
  result: ReloadResult | undefined,
): ConditionValue | Condition | undefined {
  if (!reloads) return undefined;
  if (!spec.autoReload) {
    return {
      status: 'False',
      reason: 'ReloadDisabled',
      message: 'autoReload is false: the hub loads it by itself.',
    };
  }
  return result ? conditionAfter(result) : conditionOf(resource, 'ReloadReady');
}

function conditionAfter(result: ReloadResult): ConditionValue {
  const { reloadId } = result;
  if (result.ok)
    return { status: 'True', reason: 'ReloadSuccessful', message: `Reloaded (ReloadID ${reloadId}).` };
  const message = `${result.message} (ReloadID ${reloadId}). The hub picks the change up when it next starts.`;
  return { status: 'False', reason: result.reason, message };
}

function readyMessage(type: string, id: string, { entity, loaded }: Observation): string {
  if (!loaded || !entity) {
    return `The ${type} ${id} is in the hub’s file, which the hub has not loaded: it does when it next starts.`;
  }
  const disabled = entity.disabled_by === null ? '' : `, disabled there (by: ${entity.disabled_by})`;
  return `The hub has it as ${entity.entity_id}${disabled}.`;
}
