import { API_GROUP } from '../operator/kinds/group';
import { objectNames } from '../operator/kinds/object-names';
import { listObjects } from './command';

/**
 * Kinds of the objects in `dist/` that undeploy deletes explicitly: the namespace, and objects that are not
 * deleted with it.
 */
export const INSTALLED_KINDS = [
  ...['Namespace', 'ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'],
  ...['ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyBinding', 'ValidatingWebhookConfiguration'],
];

/** The fields that undeploy reads of a resource, or of an object that belongs to a resource. */
export interface Resource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly ownerReferences?: readonly { readonly apiVersion: string; readonly uid: string }[];
    readonly finalizers?: readonly string[];
  };
  readonly spec?: {
    readonly hubRef?: { readonly name?: string };
    readonly external?: { readonly url?: string };
    readonly storage?: { readonly retain?: boolean; readonly existingClaim?: string };
  };
}

/** A PersistentVolumeClaim or a PersistentVolume. */
interface Storage {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly ownerReferences?: readonly { readonly uid: string }[];
  };
  readonly spec: { readonly volumeName?: string; readonly persistentVolumeReclaimPolicy?: string };
  readonly status?: { readonly capacity?: { readonly storage?: string } };
}

/** States whether the data of a Hub remains when the Hub is deleted. */
export interface HubData {
  readonly hub: Resource;
  /**
   * `gone`: the volume is deleted. `kept`: the volume stays. `elsewhere`: the hub is external and continues
   * to run.
   */
  readonly fate: 'gone' | 'kept' | 'elsewhere';
  /** Description of the fate for users. */
  readonly text: string;
}

/** Returns the names of the operator's CustomResourceDefinitions, such as `hubs.hub-operator.dev`. */
export function definitionNames(): readonly string[] {
  const all = listObjects<Resource>(['customresourcedefinitions']).map(({ metadata }) => metadata.name);
  return all.filter((name) => name.endsWith(`.${API_GROUP}`));
}

/** Returns all resources of the operator's kinds in all namespaces. */
export function listResources(): readonly Resource[] {
  const definitions = definitionNames();
  if (definitions.length === 0) return [];
  try {
    return listObjects<Resource>([definitions.join(','), '--all-namespaces']);
  } catch (error) {
    // The list fails if a kind that was being deleted has disappeared in the meantime.
    if (definitionNames().length === definitions.length) throw error;
    return listResources();
  }
}

export function hubData(resources: readonly Resource[]): readonly HubData[] {
  const hubs = resources.filter(({ kind }) => kind === 'Hub');
  const claims = listObjects<Storage>(['persistentvolumeclaims', '--all-namespaces']);
  const volumes = listObjects<Storage>(['persistentvolumes']);
  return hubs.map((hub) => dataOf(hub, claims, volumes));
}

/** Returns whether the data of a Hub remains, according to its latest spec (rules.md, "Storage"). */
export function dataOf(hub: Resource, claims: readonly Storage[], volumes: readonly Storage[]): HubData {
  const { external, storage } = hub.spec ?? {};
  const { namespace, name } = hub.metadata;
  if (external) return { hub, fate: 'elsewhere', text: 'runs outside of the cluster and goes on running' };
  const claimName = storage?.existingClaim ?? objectNames(name).volumeClaim;
  const claim = claims.find(
    ({ metadata }) => metadata.namespace === namespace && metadata.name === claimName,
  );
  const size = claim?.status?.capacity?.storage;
  const shown = `the claim ${claimName}${size === undefined ? '' : ` (${size})`}`;
  if (storage?.existingClaim) return { hub, fate: 'kept', text: `${shown} stays (storage.existingClaim)` };
  if (storage?.retain) return { hub, fate: 'kept', text: `${shown} stays (storage.retain)` };
  if (claim && !claim.metadata.ownerReferences?.some(({ uid }) => uid === hub.metadata.uid))
    return { hub, fate: 'kept', text: `${shown} stays (the Hub does not own it)` };
  const volume = volumes.find(({ metadata }) => metadata.name === claim?.spec.volumeName);
  const loss =
    volume?.spec.persistentVolumeReclaimPolicy === 'Retain'
      ? `; its volume ${volume.metadata.name} stays (reclaim policy Retain)`
      : ', with all data of the hub';
  return { hub, fate: 'gone', text: `${shown} is DELETED${loss}` };
}
