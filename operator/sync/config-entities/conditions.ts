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
import type { Observation } from './observe';
import { wasAccepted } from './ownership';

/**
 * The message is the same from the first reconcile to the last, so that status is written once meanwhile. The end of an
 * operation queues the resource; `after` milliseconds are the fallback.
 */
export function inProgress<R extends Child, S extends ConfigEntitySpec>(
  { reason, type }: EntityType<R, S>,
  { id, hash, cached: { failure } }: EntityWork<R, S>,
  after = DEPENDENCY_REQUEUE,
  details: Pick<Waiting, 'status' | 'events'> = {},
): Waiting {
  const problem = failure?.hash === hash ? ` The hub failed to write it: ${failure.message}` : '';
  return waiting(reason, `The ${type} ${id} is being sent to the hub.${problem}`, after, details);
}

/** The hub has the payload in its file and does not use it. `after`: milliseconds until the next check. */
export function notLoaded<R extends Child, S extends ConfigEntitySpec>(
  { reason, type }: EntityType<R, S>,
  { id }: EntityWork<R, S>,
  after: number,
): Waiting {
  return waiting(reason, `The ${type} ${id} is in the hub’s file, and the hub has not loaded it.`, after);
}

/** The hub has the desired payload, and uses it unless the observation is `NotLoaded`. */
export function readyOutcome<R extends Child, S extends ConfigEntitySpec>(
  entityType: EntityType<R, S>,
  work: EntityWork<R, S>,
  observation: Observation,
  events: readonly EventSpec[],
): Ready {
  const { cached, id, hash, spec, resource } = work;
  const { operation } = cached;
  const reload = reloadReady(entityType, work, operation?.reload);
  const reloaded = operation?.reload?.ok && reload;
  return ready(entityType.reason, readyMessage(entityType.type, id, observation), {
    status: {
      ...entityType.status?.(spec),
      [entityType.idField]: id,
      entityId: observation.entity?.entity_id ?? null,
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

/** The annotation `dry-run` (rules.md, "Suspend and dry-run"). */
export function dryRun<R extends Child, S extends ConfigEntitySpec>(
  entityType: EntityType<R, S>,
  work: EntityWork<R, S>,
  observation: Observation,
): Outcome {
  const { id, client } = work;
  if (!('differences' in observation))
    return ready('DryRun', `Nothing would be sent: the hub already has ${id} as specified.`);
  const { differences } = observation;
  const fields = differences.map(({ field }) => field).join(', ');
  // A value that a person wrote there may come from a `!secret`: the hub shows it in clear, and it is not masked.
  const change = wasAccepted(entityType, work) ? ` (${formatDiff(differences)})` : '';
  const message = `Would write ${id}, which differs in ${fields}${change}. Remove the annotation to have it written.`;
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
      message: 'autoReload is false: the hub loads it without a reload by the operator.',
    };
  }
  return result ? conditionAfter(result) : conditionOf(resource, 'ReloadReady');
}

function conditionAfter(result: ReloadResult): ConditionValue {
  const { reloadId } = result;
  if (result.ok)
    return { status: 'True', reason: 'ReloadSuccessful', message: `Reloaded (ReloadID ${reloadId}).` };
  const message = `${result.message} (ReloadID ${reloadId}). The hub loads the change at its next start.`;
  return { status: 'False', reason: result.reason, message };
}

function readyMessage(type: string, id: string, { type: observed, entity }: Observation): string {
  if (observed !== 'InUse' || !entity) {
    return `The ${type} ${id} is in the hub’s file, and the hub loads it at its next start.`;
  }
  const disabled = entity.disabled_by === null ? '' : `, disabled there (by: ${entity.disabled_by})`;
  return `The hub uses it as ${entity.entity_id}${disabled}.`;
}
