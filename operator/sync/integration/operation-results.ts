import {
  HubError,
  HubFailed,
  HubNotRunning,
  HubRejected,
  HubUnreachable,
} from '../../client/connection/errors';
import type { HubClient } from '../../client/hub-client';
import { DeadlineExceeded } from '../../base/deadline';
import { Stopping } from '../../base/errors';
import { timestamp } from '../../base/clock';
import { UNKNOWN_ERROR_ATTEMPTS } from '../../base/limits';
import { nearestName } from '../../base/nearest-name';
import { undefinedIf } from '../../base/undefined-if';
import type { EventSpec } from '../../runtime/event-spec';
import type { Outcome } from '../../runtime/outcome';
import { hubErrorOutcome } from '../hub-connection/hub-errors';
import type { OperationEnd } from '../objects/operation';
import { adopt, namedEntry, takeOwnership, replace } from './entry/acquisition';
import { entriesOf } from './entry/adoption';
import { reauthFailed } from './entry/reauthentication';
import { appliedStatus, entryHash, entryHashes, NO_ENTRY } from './entry/status';
import { type FlowProblem, isUnsure, mayBeOfRestart } from './flow/navigator';
import { buttonHint, discoveredHint, existsHint, problemText, rejectedHint } from './flow/problem-text';
import type { Failure, IntegrationReconcile } from './integration-context';
import {
  type Applied,
  configurationFailed,
  type Failed,
  type FlowOperation,
  type OperationResult,
} from './operation';
import { failureBefore, inProgress, recordFailure, stillFailed, withStatus } from './progress';
import { type FailureKind, failureKind } from './retry';

/**
 * The number of successive flows that may end because the hub stops, for example in a restart by its owner,
 * before this counts as a failure of the flow.
 */
const MOST_CUTS = UNKNOWN_ERROR_ATTEMPTS;

/**
 * Converts the result of an operation to the status of its resource. If the hub fails during this, the next
 * reconcile repeats it.
 */
export async function recordResult(
  reconcile: IntegrationReconcile,
  operation: FlowOperation,
  end: OperationEnd<OperationResult>,
): Promise<Outcome> {
  const { cached, client, hub, resource } = reconcile;
  hub.releaseDomain(resource.metadata.uid);
  try {
    // The entries are read again, so that those that the flow created are included.
    const entries = await client.configEntries.refreshed();
    const outcome = await outcomeOf({ ...reconcile, entries }, operation, end);
    cached.operation = undefined;
    return outcome;
  } catch (error) {
    if (end.type === 'failed' && error === end.error) cached.operation = undefined;
    throw error;
  }
}

async function outcomeOf(
  reconcile: IntegrationReconcile,
  operation: FlowOperation,
  end: OperationEnd<OperationResult>,
): Promise<Outcome> {
  const { cached, context } = reconcile;
  if (end.type === 'failed') {
    const { error } = end;
    // The operation has already ended its flow in the hub.
    if (error instanceof Stopping || error instanceof DeadlineExceeded)
      return inProgress(reconcile, undefined, 0, { pendingFlow: null });
    if (error instanceof HubRejected)
      return failed(reconcile, operation, await rejection(reconcile, operation, error));
    if (error instanceof HubUnreachable || error instanceof HubFailed)
      return failed(reconcile, operation, lost(reconcile, error));
    // Whether the hub carried out the operation is unknown. The pending flow stays in status, and the next
    // reconcile searches for its entry.
    throw error;
  }
  const { result } = end;
  if (result.type !== 'failed') cached.cuts = undefined;
  const summary = { kind: operation.type, result: result.type, flowID: operation.flow?.flowID };
  context.log.info(summary, 'ended config flow');
  switch (result.type) {
    case 'created':
      return created(reconcile, operation, result);
    case 'applied':
      return applied(reconcile, operation, result.applied);
    case 'recreate':
      return recreated(reconcile, operation, result.changed);
    case 'failed': {
      const named = operation.type === 'create' ? namedEntry(reconcile, result) : undefined;
      return named ? adopt(reconcile, named) : failed(reconcile, operation, result);
    }
  }
}

/**
 * Records a created entry. Answers that no form asked for are not recorded as applied, so that the next
 * update reports them.
 */
function created(
  reconcile: IntegrationReconcile,
  { sent, type }: FlowOperation,
  { entry, unused, unshown }: Extract<OperationResult, { readonly type: 'created' }>,
): Outcome {
  const used = Object.entries(entryHashes(sent.hashes)).filter(([id]) => !unused.includes(id));
  const acquired = { hashes: Object.fromEntries(used), key: sent.key };
  const fields = { unshownSteps: unshown.length > 0 ? unshown : null };
  const former = reconcile.status.entryID;
  return type === 'update' && former !== undefined
    ? replace(reconcile, entry, former, acquired, fields)
    : takeOwnership(reconcile, entry, acquired, fields);
}

function applied(reconcile: IntegrationReconcile, operation: FlowOperation, done: Applied): Outcome {
  reconcile.cached.failures.clear();
  const status = appliedStatus(reconcile, operation, done);
  return inProgress(reconcile, undefined, 0, { ...status, rejectedHash: null }, adoptionEvents(done));
}

/** Records that the entry is removed before the flow runs again (entry/removal.ts). */
function recreated(reconcile: IntegrationReconcile, { sent }: FlowOperation, changed: readonly string[]) {
  const { clock, status } = reconcile;
  const pendingFlow = {
    startedAt: timestamp(clock.now()),
    replaces: status.entryID,
    configHash: entryHash(sent.hashes, sent.key),
  };
  const message = `The entry is removed and created again: its integration accepts the new ${changed.join(', ')}, and no form of the entry takes it.`;
  const event: EventSpec = { type: 'Warning', reason: 'EntryRecreated', message };
  return inProgress(reconcile, undefined, 0, { pendingFlow }, [event]);
}

async function failed(
  reconcile: IntegrationReconcile,
  operation: FlowOperation,
  result: Failed,
): Promise<Outcome> {
  const { client, cached } = reconcile;
  if (!mayBeOfRestart(result.problem) || (await client.presence.hasRunSince(operation.epoch))) {
    cached.cuts = undefined;
    return failedByItself(reconcile, operation, result);
  }
  const { configHash } = operation.sent;
  const count = (cached.cuts?.configHash === configHash ? cached.cuts.count : 0) + 1;
  cached.cuts = { configHash, count };
  if (count < MOST_CUTS) {
    const status = statusAfter(reconcile, operation, result);
    return hubErrorOutcome(new HubNotRunning(), 'object', { status });
  }
  cached.cuts = undefined;
  const text = `the hub stopped or lost its connections each of the ${MOST_CUTS} times that the flow ran: its log may say why`;
  return failedByItself(reconcile, operation, {
    ...result,
    problem: { ...result.problem, kind: 'cut', text },
  });
}

/**
 * The outcome of a failure that is not caused by a stop of the hub. Either the hub ran during the whole flow,
 * or the flow itself may make the hub stop.
 */
async function failedByItself(
  reconcile: IntegrationReconcile,
  operation: FlowOperation,
  result: Failed,
): Promise<Outcome> {
  const { client, discovered, entries, status } = reconcile;
  const { flow, problem, applied: done, reason = 'ConfigFlowFailed' } = result;
  const isReauth = operation.type === 'reauth';
  // A user has to answer this flow (entry/reauthentication.ts).
  if (isReauth && problem.kind === 'unasked') return inProgress(reconcile, undefined, 0);
  const unknownBefore = failureBefore(reconcile, operation)?.unknown ?? 0;
  const kind = failureKind(problem, unknownBefore + 1, discovered.length > 0);
  const words = [await problemText(client, flow, problem), ...hints(reconcile, problem, kind)].join(' ');
  const entry = entries.get(status.entryID ?? '');
  const failure: Pick<Failure, 'reason' | 'message'> =
    isReauth && entry
      ? { reason: 'AuthNeeded', message: reauthFailed(entry, words) }
      : { reason, message: words };
  const fields = {
    ...statusAfter(reconcile, operation, result),
    ...recordFailure(reconcile, operation, kind, failure),
  };
  const events = adoptionEvents(done);
  // The failure is compared with the present answers, which may have changed during the operation.
  const still = isUnsure(problem) ? undefined : stillFailed(reconcile, operation.type);
  // The hub may have asked for credentials while the operation ran, and the event of that was handled then.
  // So the next reconcile follows immediately.
  return still
    ? { ...withStatus(still, fields), events, after: 0 }
    : inProgress(reconcile, undefined, 0, fields, events);
}

/**
 * Status fields after a failed operation. If the hub never responded, the flow stays in status: the next
 * reconcile ends it, and searches for an entry or subentry that it may have created.
 */
function statusAfter(
  reconcile: IntegrationReconcile,
  operation: FlowOperation,
  { problem, applied: done }: Failed,
): Readonly<Record<string, unknown>> {
  const status = operation.type === 'create' ? NO_ENTRY : appliedStatus(reconcile, operation, done);
  if (!isUnsure(problem)) return status;
  const { pendingFlow = null } = reconcile.status;
  return operation.type === 'create' ? {} : { ...status, pendingFlow };
}

/** Further sentences that help a user to solve the failure. */
function hints(reconcile: IntegrationReconcile, problem: FlowProblem, kind: FailureKind): readonly string[] {
  const { answers, discovered, entries, hub, resource, spec } = reconcile;
  if (kind === 'exists' && problem.key === 'already_in_progress')
    return [discoveredHint(spec.domain, discovered)];
  if (kind === 'exists') {
    const titles = entriesOf(entries.values(), spec.domain).map((entry) => {
      const owner = hub.ownerOf(entry.entry_id, resource);
      return `“${entry.title}”${owner ? ` (of ${owner.metadata.name})` : ''}`;
    });
    return existsHint(spec, titles);
  }
  return [...buttonHint(problem), ...(kind === 'rejected' ? rejectedHint(answers) : [])];
}

/**
 * The failure of a flow whose start the hub did not answer, or failed at. It is unknown whether the hub
 * started it.
 */
const lost = (reconcile: IntegrationReconcile, { message }: Error): Failed =>
  configurationFailed(reconcile, { kind: 'lost', text: `the hub did not respond: ${message}` });

/** The failure when the hub does not have the integration, or the integration cannot be reconfigured. */
async function rejection(
  reconcile: IntegrationReconcile,
  { type }: FlowOperation,
  error: HubRejected,
): Promise<Failed> {
  const { client, spec } = reconcile;
  const text =
    error.code === '404' && type === 'create'
      ? await withoutFlow(client, spec.domain)
      : `The hub rejected the flow of ${spec.domain}: ${error.message}`;
  return configurationFailed(reconcile, { kind: 'unavailable', text });
}

/**
 * The message about an integration that the hub does not have. A similar name is suggested if the hub can
 * list its integrations.
 */
async function withoutFlow({ flows }: Pick<HubClient, 'flows'>, domain: string): Promise<string> {
  const domains = await undefinedIf((error) => error instanceof HubError, flows.domains());
  const meant = domains?.includes(domain) ? undefined : nearestName(domain, domains ?? []);
  return meant === undefined
    ? `The hub has no integration ${domain} that can be set up, or cannot load it: check spec.domain and the hub’s log`
    : `The hub has no integration ${domain}: did you mean ${meant}? Correct spec.domain.`;
}

function adoptionEvents({ adopted }: Applied): readonly EventSpec[] {
  return [...adopted].map((id) => {
    const message = `The entry already had ${id}: it now belongs to this resource, and keeps its data until its answers change.`;
    return { type: 'Warning', reason: 'Adopted', message };
  });
}
