import type {
  V1ContainerStatus,
  V1PersistentVolumeClaimSpec,
  V1PersistentVolumeClaimStatus,
  V1PodSpec,
  V1PodStatus,
  V1PodTemplateSpec,
  V1ServiceSpec,
  V1StatefulSetStatus,
} from '@kubernetes/client-node';
import type { Hub } from '../../kinds';
import { objectNames, selectorOf } from '../../kinds/object-names';
import type { Manifest } from '../../runtime/apply';
import { builtin } from '../../runtime/types';
import type { Services } from '../services';
import {
  apiVersionOf,
  type ClusterObject,
  pathOf,
  type ResourceType,
  type Sent,
} from '../../runtime/objects';
import { isConflict, isNotFound } from '../../runtime/api-errors';

/**
 * The objects of a Hub in the cluster, with the fields that the operator reads, and the names by which they
 * refer to each other.
 */

/** Port of the hub in its pod. The Service may have another port. */
export const HUB_PORT = 8123;
/** Name of the Service's port. */
export const SERVICE_PORT = 'http';
/** Name of the volume with `/config`. */
export const CONFIG_VOLUME = 'config';
/** The hub's container, to be named in `spec.podTemplate`. */
export const HUB_CONTAINER = 'hub';

/** The manifest of an object with the name of the hub's workload. */
export function workloadManifest(
  type: ResourceType,
  hub: Hub,
  spec: object,
  annotations?: Readonly<Record<string, string>>,
): Manifest {
  const { name, namespace } = hub.metadata;
  const metadata = { name: objectNames(name).workload, namespace, labels: selectorOf(hub) };
  return {
    apiVersion: apiVersionOf(type),
    kind: type.kind,
    metadata: annotations ? { ...metadata, annotations } : metadata,
    spec,
  };
}

/** The claim of a Hub: its own, or the claim in `existingClaim`. */
export function claimName({ metadata, spec }: Hub): string {
  return spec.storage?.existingClaim ?? objectNames(metadata.name).volumeClaim;
}

export interface Claim extends ClusterObject {
  readonly spec: Sent<V1PersistentVolumeClaimSpec>;
  readonly status?: Sent<V1PersistentVolumeClaimStatus>;
}

export interface StatefulSet extends ClusterObject {
  readonly spec: { readonly template: Sent<V1PodTemplateSpec> };
  readonly status?: Sent<V1StatefulSetStatus>;
}

export interface Service extends ClusterObject {
  readonly spec?: Sent<V1ServiceSpec>;
}

export interface Pod extends ClusterObject {
  readonly spec?: PodSpec;
  readonly status?: Sent<V1PodStatus>;
}

type PodSpec = Sent<V1PodSpec>;
export type ContainerStatus = Sent<V1ContainerStatus>;

export const statefulSetOf = (
  { cache }: Pick<Services, 'cache'>,
  { metadata: { namespace, name } }: Pick<Hub, 'metadata'>,
): StatefulSet | undefined =>
  cache.get<StatefulSet>(builtin.StatefulSet.kind, namespace, objectNames(name).workload);

/** Reports whether any volume of the pod is this claim. */
export function mountsClaim(spec: PodSpec | undefined, claim: string): boolean {
  return spec?.volumes?.some((volume) => volume.persistentVolumeClaim?.claimName === claim) ?? false;
}

/** The claim with `/config` of a pod or pod template. The pod may mount other claims besides. */
export const configClaimOf = (spec: PodSpec | undefined): string | undefined =>
  spec?.volumes?.find(({ name }) => name === CONFIG_VOLUME)?.persistentVolumeClaim?.claimName;

/** The image of the hub's container in a pod or pod template. */
export const hubImageOf = (spec: PodSpec | undefined): string | undefined =>
  spec?.containers?.find(({ name }) => name === HUB_CONTAINER)?.image;

export const podOf = (
  { cache }: { readonly cache: Pick<Services['cache'], 'get'> },
  { metadata: { namespace, name } }: Pick<Hub, 'metadata'>,
): Pod | undefined => cache.get<Pod>(builtin.Pod.kind, namespace, objectNames(name).pod);

/**
 * Deletes the pod of a hub.
 *
 * @returns false when the pod is already gone or has been replaced
 */
export async function deletePod(
  { cluster }: Pick<Services, 'cluster'>,
  hub: Hub,
  { metadata: { name, uid } }: Pod,
): Promise<boolean> {
  try {
    await cluster.request({
      method: 'DELETE',
      path: pathOf(builtin.Pod, hub.metadata.namespace, name),
      body: { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid } },
    });
    return true;
  } catch (error) {
    if (isNotFound(error) || isConflict(error)) return false;
    throw error;
  }
}

/**
 * The status of the hub's container.
 *
 * @returns undefined when the container has not been created
 */
export const hubContainer = (pod: Pod | undefined): ContainerStatus | undefined =>
  pod?.status?.containerStatuses?.find(({ name }) => name === HUB_CONTAINER);

export function isReadyPod({ metadata, status }: Pod): boolean {
  if (metadata.deletionTimestamp) return false;
  return status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') ?? false;
}

/** Reports whether the pod is about to be replaced, because the template of the StatefulSet has changed. */
export function isOutdatedPod(pod: Pod, set: StatefulSet | undefined): boolean {
  const { generation } = set?.metadata ?? {};
  const { observedGeneration, updateRevision } = set?.status ?? {};
  if (generation === undefined || observedGeneration === undefined) return false;
  const revision = pod.metadata.labels?.['controller-revision-hash'];
  return observedGeneration < generation || (revision !== undefined && revision !== updateRevision);
}
