import type { Condition } from './conditions';
import type { ClusterObject } from './objects';

/** A custom resource of ours, as far as the runtime looks into it. */
export interface CustomResource extends ClusterObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly spec: { readonly suspend?: boolean };
  readonly status?: ResourceStatus;
}

export interface ResourceStatus {
  readonly observedGeneration?: number;
  readonly conditions?: readonly Condition[];
  readonly lastHandledReconcileAt?: string;
  readonly [field: string]: unknown;
}

export function conditionOf(resource: CustomResource, type: string): Condition | undefined {
  return resource.status?.conditions?.find((condition) => condition.type === type);
}

/** What `status` of another resource says of it, for those that depend on it. */
export const isReady = (resource: CustomResource): boolean =>
  conditionOf(resource, 'Ready')?.status === 'True';
