import type { Hub } from '../../../kinds/index';
import { objectNames } from '../../../kinds/object-names';
import type { ClusterObject } from '../../../runtime/objects';
import { builtin } from '../../../runtime/types';
import type { Services } from '../../services';
import { scrubOf } from '../../hub-secrets';
import { latestWarning } from './warning-events';

interface TerminatedState {
  readonly exitCode: number;
  readonly reason?: string;
  readonly message?: string;
}

interface ContainerStatus {
  readonly name: string;
  readonly state?: {
    readonly waiting?: { readonly reason?: string; readonly message?: string };
    readonly terminated?: TerminatedState;
  };
  readonly lastState?: { readonly terminated?: TerminatedState };
}

/** As far as we look into it. */
export interface Pod extends ClusterObject {
  readonly status?: {
    readonly phase?: string;
    readonly reason?: string;
    readonly message?: string;
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly message?: string;
    }[];
    readonly initContainerStatuses?: readonly ContainerStatus[];
    readonly containerStatuses?: readonly ContainerStatus[];
  };
}

export type PodState = { readonly ready: true } | { readonly ready: false; readonly message: string };

/**
 * Whether the hub's pod is ready, and if not why, in the words of the cluster: the scheduler, the puller, a failed
 * container, a probe, a volume.
 */
export async function podState(services: Services, hub: Hub): Promise<PodState> {
  const pod = services.cache.get<Pod>(
    builtin.Pod.kind,
    hub.metadata.namespace,
    objectNames(hub.metadata.name).pod,
  );
  if (pod && isReadyPod(pod)) return { ready: true };
  const scrub = await scrubOf(services, hub);
  return {
    ready: false,
    message: scrub(pod ? await notReadyMessage(services, pod) : await missingPodMessage(services, hub)),
  };
}

async function notReadyMessage(services: Services, pod: Pod): Promise<string> {
  return podProblem(pod) ?? withLatestWarning(services, `Pod ${pod.metadata.name} is starting`, pod);
}

/** A quota, an admission policy or a Pod Security level that refuses the pod is told to the StatefulSet alone. */
async function missingPodMessage(
  services: Services,
  { metadata: { name, namespace } }: Hub,
): Promise<string> {
  const { workload, pod } = objectNames(name);
  const set = services.cache.get(builtin.StatefulSet.kind, namespace, workload);
  return set
    ? withLatestWarning(services, `Pod ${pod} is not there yet`, set)
    : `Pod ${pod} is not there yet.`;
}

async function withLatestWarning(services: Services, what: string, object: ClusterObject): Promise<string> {
  const words = await latestWarning(services, object);
  return words ? `${what}: ${words}` : `${what}.`;
}

function isReadyPod({ metadata, status }: Pod): boolean {
  if (metadata.deletionTimestamp) return false;
  return status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') ?? false;
}

/** What the pod's own status tells of why it is not ready. */
export function podProblem({ metadata: { name, deletionTimestamp }, status = {} }: Pod): string | undefined {
  const {
    phase,
    reason,
    message,
    conditions = [],
    initContainerStatuses = [],
    containerStatuses = [],
  } = status;
  const unseen = conditions.find(({ type, status: value }) => type === 'Ready' && value === 'Unknown');
  const lostNode = unseen && `Pod ${name} cannot be seen: ${unseen.message ?? 'its node does not answer'}`;
  // Only the node can end it, or somebody who knows that the node is gone.
  if (deletionTimestamp && lostNode)
    return `${lostNode} It is being replaced, which waits for its node: delete the node if it is gone for good.`;
  if (deletionTimestamp) return `Pod ${name} is being replaced.`;
  if (phase === 'Failed')
    return `Pod ${name} failed: ${[reason, message].filter(Boolean).join(': ') || 'no reason is given'}`;
  const unscheduled = conditions.find(
    ({ type, status: value }) => type === 'PodScheduled' && value === 'False',
  );
  if (unscheduled) return `Pod ${name} cannot be scheduled: ${unscheduled.message ?? ''}`;
  if (lostNode) return lostNode;
  return [...initContainerStatuses, ...containerStatuses]
    .map(containerProblem)
    .find((words) => words !== undefined);
}

function containerProblem({ name, state = {}, lastState }: ContainerStatus): string | undefined {
  const { waiting, terminated } = state;
  if (terminated?.exitCode === 0) return undefined;
  const { reason = '', message = '' } = waiting ?? {};
  const failed = terminated ?? lastState?.terminated;
  // A back-off says only that it failed; how it failed says more.
  if (
    failed &&
    failed.exitCode !== 0 &&
    (!reason || reason === 'CrashLoopBackOff' || STARTING_REASONS.has(reason))
  ) {
    const why = failed.message?.trim() || (failed.reason === 'Error' ? '' : failed.reason);
    return `Container ${name} ended with ${failed.exitCode}${why ? `: ${why}` : ''}`;
  }
  if (!reason || STARTING_REASONS.has(reason)) return undefined;
  return `Container ${name}: ${reason}${message ? `: ${message}` : ''}`;
}

/** A container that waits for these is on its way. */
const STARTING_REASONS = new Set(['PodInitializing', 'ContainerCreating']);
