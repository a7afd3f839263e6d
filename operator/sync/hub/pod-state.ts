import type { Hub } from '../../kinds';
import { objectNames } from '../../kinds/object-names';
import type { ClusterObject } from '../../runtime/objects';
import { builtin } from '../../runtime/types';
import type { Services } from '../services';

interface ContainerStatus {
  readonly name: string;
  readonly ready?: boolean;
  readonly restartCount?: number;
  readonly state?: {
    readonly waiting?: { readonly reason?: string; readonly message?: string };
    readonly terminated?: { readonly exitCode: number; readonly reason?: string; readonly message?: string };
  };
  readonly lastState?: { readonly terminated?: { readonly exitCode: number; readonly message?: string } };
}

interface Pod extends ClusterObject {
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[];
    readonly initContainerStatuses?: readonly ContainerStatus[];
    readonly containerStatuses?: readonly ContainerStatus[];
  };
}

export type PodState = { readonly ready: true } | { readonly ready: false; readonly words: string };

/** Whether the hub's pod is ready, and if not why, in the words of the scheduler, the kubelet or a failed container. */
export function podState({ view }: Services, hub: Hub): PodState {
  const { pod: podName } = objectNames(hub.metadata.name);
  const pod = view.get<Pod>(builtin.Pod.kind, hub.metadata.namespace, podName);
  if (!pod) return { ready: false, words: `Pod ${podName} is not there yet.` };
  if (pod.metadata.deletionTimestamp) return { ready: false, words: `Pod ${podName} is being replaced.` };
  const conditions = pod.status?.conditions ?? [];
  if (conditions.some(({ type, status }) => type === 'Ready' && status === 'True')) return { ready: true };
  const unscheduled = conditions.find(({ type, status }) => type === 'PodScheduled' && status === 'False');
  if (unscheduled) return { ready: false, words: `Pod ${podName} cannot be scheduled: ${unscheduled.message ?? ''}` };
  const containers = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
  const complaint = containers.map(complaintOf).find((words) => words !== undefined);
  return { ready: false, words: complaint ?? `Pod ${podName} is starting.` };
}

function complaintOf({ name, state, lastState }: ContainerStatus): string | undefined {
  const failed = [state?.terminated, lastState?.terminated].find((end) => end && end.exitCode !== 0);
  if (failed) return `Container ${name} ended with ${failed.exitCode}${failed.message ? `: ${failed.message.trim()}` : ''}`;
  const { reason = '', message = '' } = state?.waiting ?? {};
  if (!reason || reason === 'PodInitializing' || reason === 'ContainerCreating') return undefined;
  return `Container ${name}: ${reason}${message ? `: ${message}` : ''}`;
}
