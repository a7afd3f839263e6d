import type { Hub } from '../../../kinds';
import { objectNames } from '../../../kinds/object-names';
import {
  type ContainerStatus,
  isReadyPod,
  type Pod,
  podOf,
  statefulSetOf,
} from '../../hub-pod/owned-objects';
import { hubRedactor } from '../../hub-connection/hub-redactor';
import type { Services } from '../../services';
import { downgradeMessage } from '../workload/downgrade';
import { parsePrepareReport, prepareReport } from '../../hub-pod/termination-messages';
import { latestWarning } from '../warning-events';
import { POD_TERMINATION_REPORT } from '../../../base/limits';

/**
 * The cause why a pod is not ready. `replacement`: the pod is being replaced, for example after a change of
 * the Hub or a deletion of the pod, which is no fault of the hub. `node`: its node is lost. `fault`: any
 * other cause.
 */
export type NotReadyCause = 'replacement' | 'node' | 'fault';

interface NotReady {
  readonly message: string;
  readonly cause: NotReadyCause;
}

type PodState =
  | { readonly ready: true }
  | {
      readonly ready: false;
      readonly message: string;
      readonly cause: NotReadyCause;
      /** The image is older than the version that has run on the volume. */
      readonly isDowngrade: boolean;
    };

type PodServices = Pick<Services, 'clock' | 'cluster' | 'secrets' | 'cache'>;

/**
 * Reports whether the hub's pod is ready. If not, the message has the cause that scheduler, kubelet,
 * container or probe reports.
 */
export async function podState(services: PodServices, { metadata }: Hub): Promise<PodState> {
  const pod = podOf(services, { metadata });
  if (pod && isReadyPod(pod)) return { ready: true };
  const { message, cause } = pod ? await notReady(services, pod) : await missingPod(services, { metadata });
  const redact = await hubRedactor(services, { metadata });
  const isDowngrade = prepareReport(pod)?.result === 'downgrade';
  return { ready: false, message: redact(message), cause, isDowngrade };
}

async function notReady(services: PodServices, pod: Pod): Promise<NotReady> {
  if (isOnLostNode(pod)) return { message: lostNode(pod), cause: 'node' };
  const cause = isReplacementPod(pod) ? 'replacement' : 'fault';
  const stuck = stuckPod(pod, services.clock.now());
  if (stuck !== undefined) {
    const warning = await latestWarning(services, pod);
    return { message: warning === undefined ? stuck : `${stuck} ${warning}`, cause: 'fault' };
  }
  const problem = podProblem(pod);
  if (problem !== undefined) return { message: problem, cause };
  const message = withWarning(`Pod ${pod.metadata.name} is starting`, await latestWarning(services, pod));
  return { message, cause };
}

/**
 * The state of a hub that has no pod. A quota, an admission policy or a Pod Security level that rejects the
 * pod is reported only in events of the StatefulSet. Without such an event the StatefulSet controller is
 * about to create the pod: the former pod was deleted a moment ago.
 */
async function missingPod(services: PodServices, hub: Pick<Hub, 'metadata'>): Promise<NotReady> {
  const { pod } = objectNames(hub.metadata.name);
  const set = statefulSetOf(services, hub);
  const warning = set && (await latestWarning(services, set));
  const message = withWarning(`Pod ${pod} does not exist yet`, warning);
  return { message, cause: set !== undefined && warning === undefined ? 'replacement' : 'fault' };
}

function withWarning(message: string, warning: string | undefined): string {
  return warning ? `${message}: ${warning}` : `${message}.`;
}

/** Reports whether the pod is being deleted, or is a new pod that has not failed. */
const isReplacementPod = (pod: Pod): boolean =>
  Boolean(pod.metadata.deletionTimestamp) || (podProblem(pod) === undefined && !hasStarted(pod));

/**
 * Reports whether the node of the pod is lost. For pods on a node that is not ready, the node controller only
 * sets `Ready` to False. It sets no reason, in contrast to a kubelet, and leaves the containers ready.
 */
function isOnLostNode({ status: { conditions = [], containerStatuses = [] } = {} }: Pod): boolean {
  const ready = conditions.find(({ type }) => type === 'Ready');
  return ready?.status === 'False' && !ready.reason && containerStatuses.some((container) => container.ready);
}

function lostNode({ metadata, spec }: Pod): string {
  const { name, deletionTimestamp } = metadata;
  const node = `node ${spec?.nodeName ?? ''}`;
  const what = deletionTimestamp
    ? `Pod ${name} is to be replaced, and ${node} does not end it: the node`
    : `The ${node} of pod ${name}`;
  return `${what} is not ready or does not answer. Delete the node if it is gone for good.`;
}

const hasStarted = ({ status }: Pod): boolean =>
  status?.containerStatuses?.some(({ started, restartCount = 0 }) => started || restartCount > 0) ?? false;

/**
 * The cause why the pod is not ready, according to its own status.
 *
 * @returns undefined when the status names no cause
 */
export function podProblem({ metadata: { name, deletionTimestamp }, status = {} }: Pod): string | undefined {
  const {
    phase,
    reason,
    message,
    conditions = [],
    initContainerStatuses = [],
    containerStatuses = [],
  } = status;
  if (deletionTimestamp) return `Pod ${name} is being replaced.`;
  if (phase === 'Failed')
    return `Pod ${name} failed: ${[reason, message].filter(Boolean).join(': ') || 'unknown reason'}`;
  const unscheduled = conditions.find(
    ({ type, status: value }) => type === 'PodScheduled' && value === 'False',
  );
  if (unscheduled) return `Pod ${name} cannot be scheduled: ${unscheduled.message ?? ''}`;
  return [...initContainerStatuses, ...containerStatuses]
    .map(containerProblem)
    .find((problem) => problem !== undefined);
}

function containerProblem({ name, state = {}, lastState }: ContainerStatus): string | undefined {
  const { waiting, terminated } = state;
  if (terminated?.exitCode === 0) return undefined;
  const { reason = '', message = '' } = waiting ?? {};
  const failed = terminated ?? lastState?.terminated;
  // The last exit of the container says more than the back-off that follows it.
  if (
    failed &&
    failed.exitCode !== 0 &&
    (!reason || reason === 'CrashLoopBackOff' || STARTING_REASONS.has(reason))
  ) {
    if (failed.reason === 'OOMKilled')
      return `Container ${name} was killed because it needed more memory than its limit (OOMKilled): raise spec.resources.limits.memory.`;
    const why = endMessage(failed.message ?? '') || (failed.reason === 'Error' ? '' : failed.reason);
    return `Container ${name} ended with ${failed.exitCode}${why ? `: ${why}` : ''}`;
  }
  if (!reason || STARTING_REASONS.has(reason)) return undefined;
  return `Container ${name}: ${reason}${message ? `: ${message}` : ''}`;
}

/**
 * The termination message of a container. Reports of the operator's own init containers are replaced by
 * sentences for users.
 */
function endMessage(message: string): string {
  const report = parsePrepareReport(message);
  switch (report?.result) {
    case 'missing':
      return 'There is no configuration: create a HubConfiguration for this Hub.';
    case 'downgrade':
      // The image may differ from `spec.version`. The annotation allows either exactly `spec.version` or,
      // with `true`, any version, so the message proposes `true`.
      return downgradeMessage(report.ran ?? '', report.version, 'this volume', 'true');
    case 'refused':
      return `The hub would not load this configuration: ${report.problems.map(({ text }) => text).join('\n')}`;
    default:
      return message.trim();
  }
}

/** Reasons for which every container waits before it starts. */
const STARTING_REASONS = new Set(['PodInitializing', 'ContainerCreating']);

/**
 * The message about a pod that is still being deleted long after its grace period, with the cause.
 *
 * @param now milliseconds since the epoch
 * @returns undefined when the pod is not stuck
 */
export function stuckPod({ metadata, status }: Pod, now: number): string | undefined {
  const { name, deletionTimestamp, finalizers = [] } = metadata;
  // The deletion timestamp already includes the grace period.
  const isStuck = now - Date.parse(deletionTimestamp ?? '') >= POD_TERMINATION_REPORT;
  if (!isStuck) return undefined;
  const { initContainerStatuses = [], containerStatuses = [] } = status ?? {};
  const running = [...initContainerStatuses, ...containerStatuses].filter(({ state }) => state?.running);
  const holder =
    finalizers.length > 0
      ? `Its finalizers hold it: ${finalizers.join(', ')}. The controller that set them has to remove them.`
      : running.length > 0
        ? `Its node has not ended the container ${running.map((container) => container.name).join(', ')}. Delete the node if it is gone for good.`
        : 'Its containers have ended, so its node may be unable to release a volume.';
  return `Pod ${name} should have ended at ${deletionTimestamp}. ${holder} Read its events, and those of its node.`;
}
