import type { Clock } from '../../clock';
import type { PendingFlow } from '../../kinds/integration';
import { DEPENDENCY_REQUEUE } from '../../limits';
import type { EventSpec } from '../../runtime/event-spec';
import { type Outcome, stalled, waiting } from '../../runtime/outcome';
import type { FlowContext } from './flow-context';
import { Operation, type OperationResult } from './operation';
import type { IntegrationReconcile } from './integration-reconcile';

/** The outcome while the answers that failed are not sent again; undefined: they may be sent. */
export function stillFailed(
  { cached: { failure }, configHash }: IntegrationReconcile,
  clock: Clock,
): Outcome | undefined {
  if (failure?.configHash !== configHash) return undefined;
  const after = failure.retryAt - clock.monotonic();
  if (after <= 0) return undefined;
  return stalled('ConfigFlowFailed', failure.message, after === Infinity ? {} : { after });
}

/** Starts flows whose end queues the resource again. */
export function startOperation(
  { cached, configHash, hashes, hub, key, resource }: IntegrationReconcile,
  clock: Clock,
  type: Operation['type'],
  run: (operation: Operation) => Promise<OperationResult>,
): Operation {
  const onNews = () => {
    const { end, madeEntry } = operation;
    if (madeEntry) hub.recordOwner(resource, madeEntry.entry_id);
    // Also if the result cannot be recorded now, as while the resource is suspended: others of the domain go on.
    if (end) hub.releaseDomain(resource.metadata.uid);
    hub.requeue(resource);
  };
  const operation: Operation = new Operation(type, { configHash, hashes, key }, clock, onNews, run);
  cached.operation = operation;
  return operation;
}

/** The message is the same from the first reconcile to the last, so that status is written once meanwhile. */
export function inProgress(
  { cached, configHash, spec, status }: IntegrationReconcile,
  operation: Operation | undefined,
  after = DEPENDENCY_REQUEUE,
  fields: Readonly<Record<string, unknown>> = {},
  events: readonly EventSpec[] = [],
): Outcome {
  const flow = operation && !operation.end ? operation.flow : undefined;
  const { pendingFlow } = status;
  const isNew = flow !== undefined && !isRecorded(flow, pendingFlow);
  if (flow && !isNew) operation!.recorded();
  // What was recorded before the flow that makes the entry stays.
  const pending = flow && (flow.kind === undefined ? { ...flow, ...pendingFlow, flowID: flow.flowID } : flow);
  const details = { status: { ...(isNew && { pendingFlow: pending }), ...fields }, events };
  const delay = isNew ? 0 : after;
  // Another attempt at what has failed: the status stays until it comes to something else.
  if (cached.failure?.configHash === configHash)
    return stalled('ConfigFlowFailed', cached.failure.message, { ...details, after: delay });
  return waiting(
    'ConfigFlowInProgress',
    `The integration ${spec.domain} is being set up in the hub.`,
    delay,
    details,
  );
}

/** A flow that is about to start has no id yet; another one of the same operation may have started in the same second. */
function isRecorded(flow: PendingFlow, recorded: PendingFlow | undefined): boolean {
  if (!recorded || recorded.flowID !== flow.flowID) return false;
  const { startedAt, subentry } = flow;
  const isSameSubentry =
    recorded.subentry?.type === subentry?.type && recorded.subentry?.title === subentry?.title;
  return flow.flowID !== undefined || (recorded.startedAt === startedAt && isSameSubentry);
}

export function flowContext(reconcile: IntegrationReconcile, clock: Clock): FlowContext {
  const { client, spec, status, answers, hashes, hub, resource } = reconcile;
  const acquireDomain = () => hub.acquireDomain(resource) === undefined;
  return { client, clock, spec, status, answers, hashes, acquireDomain };
}

/** Adds status fields that the outcome does not have itself. */
export function withStatus(outcome: Outcome, status: Readonly<Record<string, unknown>>): Outcome {
  return { ...outcome, status: { ...status, ...outcome.status } };
}
