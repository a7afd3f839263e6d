import type { RegistryEntity } from '../../client/connection/api-types';
import type { ReloadResult } from '../../client/config-entities/reload-retry';
import { timestamp } from '../../base/clock';
import type { Condition } from '../../kinds';
import { userAnnotations } from '../../kinds/annotations';
import { disabledEntityText } from '../../kinds/case-texts';
import { DEPENDENCY_REQUEUE } from '../../base/limits';
import type { EventSpec } from '../../runtime/event-spec';
import {
  type ConditionValue,
  type Outcome,
  type Ready,
  ready,
  type Stalled,
  stalled,
  type Waiting,
  waiting,
} from '../../runtime/outcome';
import { FilesNotRead, type HubFailed } from '../../client/connection/errors';
import { OWN_FILES } from '../../client/connection/config-entity';
import { conditionOf } from '../../runtime/conditions';
import { truncate } from '../../base/truncate';
import type { Child } from '../objects/child';
import { formatDiff } from '../objects/field-diff';
import { volumeStatus } from '../hub-pod/hub-volume';
import { isInConfiguration } from '../hub-pod/own-definitions';
import type { Services } from '../services';
import type { ConfigEntitySpec, EntityType, EntityWork } from './entity-type';
import { takenEntityId } from './expected-entity-id';
import type { Observation } from './observation';
import { wasAccepted } from './ownership';
import type { PlacedWork } from './place';

export type InProgressDetails = Pick<Waiting, 'status' | 'events'>;

/**
 * The outcome while an operation is in progress. Its message does not change, so that status is written only
 * once. The end of the operation requeues the resource, and `after` milliseconds are a fallback.
 */
export function inProgress<R extends Child, S extends ConfigEntitySpec>(
  { reason, type }: EntityType<R, S>,
  { id, hash, cached: { failure, operation } }: EntityWork<R, S>,
  after = DEPENDENCY_REQUEUE,
  details: InProgressDetails = {},
): Waiting {
  const problem = failure?.hash === hash ? ` ${failureWords(failure.error)}` : '';
  const isRunning = operation !== undefined && !operation.end;
  const brief = isRunning && problem === '' && !details.status && !details.events;
  const message = `The ${type} ${id} is being sent to the hub.${problem}`;
  return waiting(reason, message, after, { ...details, brief });
}

const failureWords = (error: HubFailed): string =>
  error instanceof FilesNotRead ? error.message : `The hub failed to write it: ${error.message}`;

/**
 * The facts that status records once the hub has accepted the payload. `carriedOut` are fields about further
 * changes.
 */
export interface Accepted {
  readonly observation: Observation;
  readonly carriedOut?: Readonly<Record<string, unknown>> | undefined;
  readonly events?: readonly EventSpec[];
}

/**
 * The outcome when the hub uses the payload, or has it in its file and could not be reloaded (rules.md,
 * "Reload").
 */
export function readyOutcome<R extends Child, S extends ConfigEntitySpec>(
  entityType: EntityType<R, S>,
  work: PlacedWork<R, S>,
  accepted: Accepted,
): Ready {
  const { observation } = accepted;
  const after = observation.type === 'InUse' ? observation.verifyAfter : undefined;
  const message = readyMessage(entityType, work, observation);
  const details = detailsOf(entityType, work, accepted);
  return ready(entityType.reason, message, { ...details, ...(after !== undefined && { after }) });
}

/**
 * The outcome when the hub has loaded its files without the payload. `after`: milliseconds until the next
 * check.
 */
export function notLoaded<R extends Child, S extends ConfigEntitySpec>(
  entityType: EntityType<R, S>,
  work: PlacedWork<R, S>,
  accepted: Accepted,
  after: number | undefined,
): Stalled {
  const { type } = entityType;
  const file = OWN_FILES[type];
  const inclusion = work.place.isShared
    ? `Check that configuration.yaml includes the file (${type}: !include ${file}, ` +
      `or ${type} hub_operator: !include ${file} beside a section of your own), and restart the hub.`
    : `Look for the reason in the log of the hub, correct it, and have it tried again by the annotation ${userAnnotations.reconcileAt}.`;
  const message = `The ${type} ${work.id} is in ${work.place.isShared ? file : `a mounted ${file}`}, and the hub does not load it. ${inclusion}`;
  const details = detailsOf(entityType, work, accepted);
  return stalled('NotLoaded', message, { ...details, ...(after !== undefined && { after }) });
}

/**
 * The outcome when the hub has loaded the payload and disabled it as invalid, for example after an upgrade or
 * because its blueprint is missing.
 */
export function disabledAsInvalid<R extends Child, S extends ConfigEntitySpec>(
  entityType: EntityType<R, S>,
  work: PlacedWork<R, S>,
  error: string,
  accepted: Accepted,
): Stalled {
  // The error may quote the whole definition, so it is truncated.
  const reason = truncate(work.client.rest.redact(error), LONGEST_ERROR);
  const message = `The hub has disabled the ${entityType.type} ${work.id} as invalid: ${reason}`;
  return stalled('RejectedByHub', message, detailsOf(entityType, work, accepted));
}

/** The message about an entity that a user disabled: the hub has the payload but does not run it. */
export const disabledMessage = (
  { type }: Pick<EntityType<Child, ConfigEntitySpec>, 'type'>,
  { entity_id: entityId, disabled_by: by }: RegistryEntity,
): string => disabledEntityText(type, entityId, by);

const LONGEST_ERROR = 500;

/** The parts of an outcome that record that the hub has accepted the payload. */
export function detailsOf<R extends Child, S extends ConfigEntitySpec>(
  entityType: EntityType<R, S>,
  work: PlacedWork<R, S>,
  { observation, carriedOut, events = [] }: Accepted,
) {
  const { cached, id, hash, spec, resource } = work;
  const { operation } = cached;
  const reload = reloadReady(entityType, work, operation?.reload);
  const { entity, type } = observation;
  return {
    status: {
      ...entityType.status?.(spec),
      ...carriedOut,
      [entityType.idField]: id,
      // Until the payload is in use, the entity may be a deleted one that the hub has restored.
      entityId: (type === 'NotLoaded' ? resource.status?.['entityId'] : entity?.entity_id) ?? null,
      appliedHash: hash,
      delivery: work.place.delivery,
      ...volumeStatus(work.volume),
      lastAppliedTime: operation?.wroteAt
        ? timestamp(operation.wroteAt)
        : resource.status?.['lastAppliedTime'],
    },
    conditions: { ReloadReady: reload ?? null },
    events: [...(reload && operation?.reload ? [reloadEvent(operation.reload, reload)] : []), ...events],
  };
}

function reloadEvent({ ok }: ReloadResult, { message }: { readonly message: string }): EventSpec {
  return ok
    ? { type: 'Normal', reason: 'ReloadSuccessful', message, series: 'ReloadSuccessful' }
    : { type: 'Warning', reason: 'ReloadFailed', message, series: 'ReloadFailed' };
}

/** The annotation `dry-run` (rules.md, "Suspend and dry-run"). */
export function dryRun<R extends Child, S extends ConfigEntitySpec>(
  entityType: EntityType<R, S>,
  work: EntityWork<R, S>,
  observation: Observation,
): Outcome {
  const { id, client } = work;
  if (observation.type === 'Elsewhere')
    return stalled('DryRun', `Would move ${id} into the hub’s own file. Remove the annotation to apply it.`);
  if (!('differences' in observation))
    return ready('DryRun', `Nothing would be sent: the hub already has ${id} as specified.`);
  const { differences } = observation;
  if ('elsewhere' in observation && differences.length === 0)
    return stalled(
      'DryRun',
      `Would move ${id} out of the hub’s own file. Remove the annotation to apply it.`,
    );
  const fields = differences.map(({ field }) => field).join(', ');
  // Values of an object that was never written by the operator are not shown: they may come from a user's
  // `!secret`, which the hub returns in plain text, unknown to the redactor.
  const change = wasAccepted(entityType, work) ? ` (${formatDiff(differences, client.rest.redact)})` : '';
  const message = `Would write ${id}, which differs in ${fields}${change}. Remove the annotation to apply it.`;
  return stalled('DryRun', message);
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
  if (result) return conditionAfter(result);
  const before = conditionOf(resource, 'ReloadReady');
  // A reload that was omitted because of `autoReload` becomes due when that field changes.
  return before && before.reason !== 'ReloadDisabled' ? before : notNeeded;
}

const notNeeded: ConditionValue = {
  status: 'True',
  reason: 'ReloadNotNeeded',
  message: 'The hub had it already: nothing was written or reloaded.',
};

function conditionAfter(result: ReloadResult): ConditionValue {
  const { reloadId } = result;
  if (result.ok)
    return { status: 'True', reason: 'ReloadSuccessful', message: `Reloaded (ReloadID ${reloadId}).` };
  const message = `${result.message} (ReloadID ${reloadId}). The hub loads the change at its next start.`;
  return { status: 'False', reason: result.reason, message };
}

function readyMessage<R extends Child, S extends ConfigEntitySpec>(
  entityType: EntityType<R, S>,
  { id, spec }: EntityWork<R, S>,
  { type: observed, entity }: Observation,
): string {
  const { type } = entityType;
  if (observed !== 'InUse' || !entity) {
    return `The ${type} ${id} is in the hub’s file, and the hub loads it at its next start.`;
  }
  const taken = takenEntityId(type, entityType.nameOf(spec, id), entity.entity_id);
  const remark = taken === undefined ? '' : ` Another entity had ${taken} when this one was new.`;
  return `The hub uses it as ${entity.entity_id}.${remark}`;
}

/**
 * The outcome when the hub's configuration defines an object with the same id. The hub runs only one of the
 * two, and its API cannot write the one in the configuration.
 */
export function conflictInConfiguration<R extends Child, S extends ConfigEntitySpec>(
  entityType: EntityType<R, S>,
  resource: R,
  services: Pick<Services, 'cache'>,
): Outcome | undefined {
  const { type } = entityType;
  const id = entityType.id(resource);
  const { name: hub } = resource.spec.hubRef;
  const { namespace } = resource.metadata;
  if (!isInConfiguration(services, { namespace, hub }, type, id)) return undefined;
  const message = `The configuration of the hub has the ${type} ${id} itself, in a package or a section of its own: remove it from the HubConfiguration, or give this resource another id.`;
  return stalled('NameConflict', message, { after: DEPENDENCY_REQUEUE });
}
