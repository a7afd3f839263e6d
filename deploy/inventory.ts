import { API_GROUP } from '../operator/kinds/group';
import { OPERATOR } from '../manifests/names';
import { objectNames } from '../operator/kinds/object-names';
import type { Kubectl } from './kubectl';

/** The kinds of objects that the operator creates in every cluster. */
const OWNED_KINDS =
  'statefulsets,persistentvolumeclaims,services,ingresses,networkpolicies,pods,configmaps,secrets';

/** The parts of a custom resource that its removal reads. */
export interface Resource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly finalizers?: readonly string[];
  };
  readonly spec?: {
    readonly hubRef?: { readonly name?: string };
    readonly external?: { readonly url?: string };
    readonly storage?: { readonly retain?: boolean; readonly existingClaim?: string };
  };
}

interface Definition {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly group: string; readonly names: { readonly plural: string } };
}

/** An object that the operator has created. */
export interface OwnedObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly deletionTimestamp?: string;
    readonly ownerReferences?: readonly { readonly apiVersion: string }[];
  };
}

interface Claim {
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly spec: { readonly volumeName?: string };
  readonly status?: { readonly capacity?: { readonly storage?: string } };
}

interface Volume {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly persistentVolumeReclaimPolicy?: string };
}

/** Whether the data of a deleted Hub is kept. */
export interface HubData {
  readonly hub: Resource;
  /** `gone`: the volume is deleted. `kept`: it stays. `elsewhere`: an external hub, which goes on running. */
  readonly fate: 'gone' | 'kept' | 'elsewhere';
  /** For people. */
  readonly text: string;
}

/** Everything of the operator's kinds in a cluster. */
export interface Inventory {
  /** Names of the CustomResourceDefinitions: `hubs.hub-operator.dev`. */
  readonly definitions: readonly string[];
  readonly resources: readonly Resource[];
  readonly hubs: readonly HubData[];
}

export async function readInventory(kubectl: Kubectl): Promise<Inventory> {
  const definitions = await definitionNames(kubectl);
  const resources = await listResources(kubectl, definitions);
  const hubs = resources.filter(({ kind }) => kind === 'Hub');
  const [claims, volumes] =
    hubs.length === 0
      ? [[], []]
      : await Promise.all([
          kubectl.list<Claim>(['persistentvolumeclaims', '--all-namespaces']),
          kubectl.list<Volume>(['persistentvolumes']),
        ]);
  return { definitions, resources, hubs: hubs.map((hub) => dataOf(hub, claims, volumes)) };
}

export async function definitionNames(kubectl: Kubectl): Promise<readonly string[]> {
  const all = await kubectl.list<Definition>(['customresourcedefinitions']);
  return all.filter(({ spec }) => spec.group === API_GROUP).map(({ metadata }) => metadata.name);
}

/** All resources of these kinds in all namespaces. Empty when the kinds have gone meanwhile. */
export async function listResources(
  kubectl: Kubectl,
  definitions: readonly string[],
): Promise<readonly Resource[]> {
  if (definitions.length === 0) return [];
  try {
    return await kubectl.list<Resource>([definitions.join(','), '--all-namespaces']);
  } catch (error) {
    const left = await definitionNames(kubectl);
    if (left.length === definitions.length) throw error;
    return listResources(kubectl, left);
  }
}

/** Objects whose owners are all of our kinds, which are gone. A claim that is retained has no owner. */
export async function listOwnedObjects(kubectl: Pick<Kubectl, 'list'>): Promise<readonly OwnedObject[]> {
  const selector = `--selector=app.kubernetes.io/managed-by=${OPERATOR}`;
  const found = await kubectl.list<OwnedObject>([OWNED_KINDS, '--all-namespaces', selector]);
  return found.filter(({ metadata: { deletionTimestamp, ownerReferences = [] } }) => {
    const owners = ownerReferences.map(({ apiVersion }) => apiVersion.split('/')[0]);
    return !deletionTimestamp && owners.length > 0 && owners.every((group) => group === API_GROUP);
  });
}

/** Whether the last spec of a Hub keeps its data (rules.md, "Storage"). */
export function dataOf(
  hub: Resource,
  claims: readonly Claim[] = [],
  volumes: readonly Volume[] = [],
): HubData {
  const { external, storage } = hub.spec ?? {};
  const { namespace, name } = hub.metadata;
  if (external) return { hub, fate: 'elsewhere', text: 'runs outside of the cluster and goes on running' };
  const own = objectNames(name).volumeClaim;
  const claimName = storage?.existingClaim ?? own;
  const claim = claims.find(
    ({ metadata }) => metadata.namespace === namespace && metadata.name === claimName,
  );
  const size = claim?.status?.capacity?.storage;
  const shown = `the claim ${claimName}${size === undefined ? '' : ` (${size})`}`;
  if (storage?.existingClaim) return { hub, fate: 'kept', text: `${shown} stays (storage.existingClaim)` };
  if (storage?.retain) return { hub, fate: 'kept', text: `${shown} stays (storage.retain)` };
  const volume = volumes.find(({ metadata }) => metadata.name === claim?.spec.volumeName);
  const text = `${shown} is DELETED, with all data of the hub`;
  return volume?.spec.persistentVolumeReclaimPolicy === 'Retain'
    ? {
        hub,
        fate: 'gone',
        text: `${shown} is DELETED; its volume ${volume.metadata.name} stays (reclaim policy Retain)`,
      }
    : { hub, fate: 'gone', text };
}

/** The children of these Hubs; a Hub itself is not among them. */
export function childrenOf(resources: readonly Resource[], hubs: readonly HubData[]): readonly Resource[] {
  return resources.filter(
    ({ kind, metadata, spec }) =>
      kind !== 'Hub' &&
      hubs.some(
        ({ hub }) =>
          hub.metadata.namespace === metadata.namespace && hub.metadata.name === spec?.hubRef?.name,
      ),
  );
}
