import type { ClusterObject } from '../../runtime/objects';
import { HUB_CONTAINER } from './owned-objects';

interface TerminatedState {
  readonly exitCode: number;
  readonly reason?: string;
  readonly message?: string;
}

export interface ContainerStatus {
  readonly name: string;
  readonly started?: boolean;
  readonly restartCount?: number;
  readonly state?: {
    readonly waiting?: { readonly reason?: string; readonly message?: string };
    readonly running?: { readonly startedAt?: string };
    readonly terminated?: TerminatedState;
  };
  readonly lastState?: { readonly terminated?: TerminatedState };
}

/** The fields of a pod that are used here. */
export interface Pod extends ClusterObject {
  readonly spec?: { readonly hostNetwork?: boolean };
  readonly status?: {
    readonly hostIP?: string;
    readonly hostIPs?: readonly { readonly ip: string }[];
    readonly podIP?: string;
    readonly phase?: string;
    readonly reason?: string;
    readonly message?: string;
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly lastTransitionTime?: string;
      readonly message?: string;
    }[];
    readonly initContainerStatuses?: readonly ContainerStatus[];
    readonly containerStatuses?: readonly ContainerStatus[];
  };
}

/** Undefined: the container has not been created. */
export const hubContainer = (pod: Pod | undefined): ContainerStatus | undefined =>
  pod?.status?.containerStatuses?.find(({ name }) => name === HUB_CONTAINER);

export function isReadyPod({ metadata, status }: Pod): boolean {
  if (metadata.deletionTimestamp) return false;
  return status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') ?? false;
}
