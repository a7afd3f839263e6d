import type { PendingFlow } from '../../kinds/integration';
import { DEPENDENCY_REQUEUE } from '../../base/limits';
import type { EventSpec } from '../../runtime/event-spec';
import { type Outcome, type Stalled, stalled, type Waiting, waiting } from '../../runtime/outcome';
import {
  type Failure,
  type FlowClass,
  type IntegrationReconcile,
  type IntegrationResource,
  makesEntry,
  MOMENT,
  retryAfterEvent,
} from './integration-context';
import { FlowOperation, type OperationResult } from './operation';
import { type Circumstances, type FailureKind, isFinal, rejectionHash, RETRIES } from './retry';

/**
 * The outcome while failed answers are not sent again. Rejected credentials block all flows. Any other
 * failure blocks only flows of its type.
 *
 * @returns undefined when the answers may be sent
 */
export function stillFailed(reconcile: IntegrationReconcile, type: FlowOperation['type'] = 'create') {
  const { cached, clock, hashes, key, previous, status } = reconcile;
  const now = circumstances(reconcile, type);
  const failure = cached.failures.get(classOf(type));
  if (failure) {
    const { hash, kind, existing } = failure;
    const isSame = hash === rejectionHash(kind, hashes, now, key);
    if (isSame || hash === rejectionHash(kind, hashes, { ...now, existing }, key)) {
      const after = (isSame ? failure.retryAt : retryAfterEvent(failure)) - clock.monotonic();
      return after > 0 ? failed(failure, after) : undefined;
    }
  }
  const isRejected = (Object.keys(RETRIES) as FailureKind[])
    .filter(isFinal)
    .some((kind) => status.rejectedHash === rejectionHash(kind, hashes, now, key));
  if (!isRejected) return undefined;
  // The message is that of the former process, if status still has it.
  const reason = REASONS.find((each) => each === previous?.reason);
  const message =
    'These answers failed before and are not sent again: change them, or request a reconcile with the annotation reconcile-requested-at.';
  return reason ? stalled(reason, previous!.message) : stalled('ConfigFlowFailed', message);
}

const REASONS: readonly Failure['reason'][] = ['ConfigFlowFailed', 'AuthNeeded', 'RecreateRequired'];

const failed = ({ reason, message }: Failure, after: number): Stalled =>
  stalled(reason, message, after === Infinity ? {} : { after });

/** Records a failure. If only other answers or circumstances can help, it is recorded in status too. */
export function recordFailure(
  reconcile: IntegrationReconcile,
  operation: FlowOperation,
  kind: FailureKind,
  words: Pick<Failure, 'reason' | 'message'>,
): Readonly<Record<string, unknown>> {
  const { cached, clock } = reconcile;
  const { configHash, hashes, key } = operation.sent;
  const before = failureBefore(reconcile, operation);
  const count = (before?.count ?? 0) + 1;
  const unknown = (before?.unknown ?? 0) + (kind === 'unknown' ? 1 : 0);
  const now = circumstances(reconcile, operation.type);
  const hash = rejectionHash(kind, hashes, now, key);
  const failedAt = clock.monotonic();
  const retryAt = failedAt + RETRIES[kind].delay(count);
  const { existing } = now;
  const failure = { ...words, kind, hash, configHash, existing, failedAt, retryAt, count, unknown };
  cached.failures.set(classOf(operation.type), failure);
  return isFinal(kind) ? { rejectedHash: hash } : {};
}

/** The last failure of the same answers. */
export function failureBefore({ cached }: IntegrationReconcile, { sent, type }: FlowOperation) {
  const failure = cached.failures.get(classOf(type));
  return failure?.configHash === sent.configHash ? failure : undefined;
}

const classOf = (type: FlowOperation['type']): FlowClass => (type === 'reauth' ? 'reauth' : 'flow');

function circumstances(
  { discovered, entries, hub, resource, spec, version }: IntegrationReconcile,
  type: FlowOperation['type'],
): Circumstances {
  const { adopt, domain, reconfigure, title } = spec;
  const ofDomain = [...entries.values()].filter((entry) => entry.domain === domain);
  const existing = [
    ...ofDomain.map((entry) => `${entry.entry_id} ${entry.title} ${!hub.ownerOf(entry.entry_id, resource)}`),
    ...discovered.map(({ context }) => context.title_placeholders?.['name'] ?? context.source),
  ];
  return { spec: [title, adopt, reconfigure, classOf(type)], version, existing: existing.sort() };
}

/** Starts an operation whose end requeues the resource. */
export function startOperation(
  { clock, client, configHash, cached, hashes, hub, key, resource }: IntegrationReconcile,
  type: FlowOperation['type'],
  run: (operation: FlowOperation) => Promise<OperationResult>,
): FlowOperation {
  const onFlow = () => hub.requeue(resource);
  const isStillDesired = () => hub.isStillDesired(resource);
  const sent = { configHash, hashes, key };
  const operation = new FlowOperation(type, sent, clock, client, onFlow, isStillDesired);
  cached.operation = operation.start(run, () => {
    const { madeEntry } = operation;
    if (madeEntry) hub.recordOwner(resource, madeEntry.entry_id);
    // The domain is released even if the result cannot be recorded now, for example while the resource is
    // suspended, so that other resources of the domain can go on.
    hub.releaseDomain(resource.metadata.uid);
    hub.requeue(resource);
  });
  return operation;
}

/**
 * The outcome while an operation is in progress. Its message does not change, so that status is written only
 * once.
 */
export function inProgress(
  { cached, configHash, spec, status }: IntegrationReconcile,
  operation: FlowOperation | undefined,
  after = DEPENDENCY_REQUEUE,
  fields: Readonly<Record<string, unknown>> = {},
  events: readonly EventSpec[] = [],
): Outcome {
  const flow = operation && !operation.end ? operation.flow : undefined;
  const { pendingFlow } = status;
  const isNew = flow !== undefined && !isRecorded(flow, pendingFlow);
  // Fields that were recorded before the flow that creates the entry are kept.
  const isSame = flow && makesEntry(flow) && pendingFlow && makesEntry(pendingFlow);
  const pending = isSame ? { ...flow, ...pendingFlow, flowID: flow.flowID } : flow;
  const details = { status: { ...(isNew && { pendingFlow: pending }), ...fields }, events };
  const delay = isNew ? 0 : after;
  // During another attempt after a failure, status keeps the failure until the result differs.
  const failure = [...cached.failures.values()].find((each) => each.configHash === configHash);
  if (failure) return stalled(failure.reason, failure.message, { ...details, after: delay });
  const message = `The integration ${spec.domain} is being set up in the hub.`;
  return waiting('ConfigFlowInProgress', message, delay, details);
}

/** Lets an operation send its answers, once status has recorded its flow. */
export function admit({ status: { pendingFlow } }: IntegrationReconcile, operation: FlowOperation): void {
  if (operation.flow && isRecorded(operation.flow, pendingFlow)) operation.confirmRecord();
}

/**
 * Reports whether status has recorded the flow. A flow that is about to start has no id yet, and another flow
 * of the same operation may have started in the same second, so the subentries are compared.
 */
function isRecorded(flow: PendingFlow, recorded: PendingFlow | undefined): boolean {
  if (!recorded || recorded.flowID !== flow.flowID) return false;
  const { startedAt, subentry } = flow;
  const { type, title } = recorded.subentry ?? {};
  const isSameSubentry = type === subentry?.type && title === subentry?.title;
  return flow.flowID !== undefined || (recorded.startedAt === startedAt && isSameSubentry);
}

export function domainBusy({ metadata: { name }, spec: { domain } }: IntegrationResource): Waiting {
  const message = `Waiting for the config flow of ${name}: one of ${domain} runs at a time.`;
  return waiting('ConfigFlowInProgress', message, MOMENT);
}

/** Adds status fields to an outcome. Fields of the outcome take precedence. */
export function withStatus(outcome: Outcome, status: Readonly<Record<string, unknown>>): Outcome {
  return { ...outcome, status: { ...status, ...outcome.status } };
}
