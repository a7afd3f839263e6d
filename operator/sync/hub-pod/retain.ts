import { hub as definition, type Hub } from '../../kinds/index';
import { objectNames } from '../../kinds/object-names';
import { defaulted } from '../../kinds/schema';
import type { EventSpec } from '../../runtime/event-spec';
import type { ClusterObject, ResourceType } from '../../runtime/objects';
import { builtin } from '../../runtime/types';
import type { Services } from '../services';
import { DELIVERIES, deliveryMetadata } from './delivery';
import { removeOwnerReference } from './owner-reference';

type RetainServices = Pick<Services, 'applier' | 'cache' | 'cluster'>;

/**
 * The cleanup of a deleted Hub. Removes its owner references from the volume, the credentials and the
 * delivered files that its last spec retains or another Hub names: otherwise the garbage collector would
 * delete them. `storage.retain` may have been set while the Hub was suspended, or while no operator ran
 * (rules.md, "Storage"). An event names the objects that stay although the spec does not retain them.
 */
export async function releaseRetained(services: RetainServices, hub: Hub): Promise<readonly EventSpec[]> {
  const { storage, external } = defaulted(definition.spec, hub.spec);
  if (external) return [];
  const { volumeClaim } = objectNames(hub.metadata.name);
  const isRetained = retainsOwnClaim(services, hub) || storage.existingClaim === volumeClaim;
  if (isRetained) await releaseClaim(services, hub);
  const isLeft = !isRetained && (await hasLeftClaim(services, hub));
  if (!isLeft && !keepsVolume(services, hub)) return [];
  const released = await releaseLoginAndDelivered(services, hub);
  return isLeft ? [claimKept(hub, [`persistentvolumeclaim/${volumeClaim}`, ...released])] : [];
}

function claimKept({ metadata: { namespace } }: Hub, objects: readonly string[]): EventSpec {
  const message =
    'The volume stays although storage.retain is false, because it was retained before: no claim gets an owner again. ' +
    `To delete it with all data of the hub: kubectl -n ${namespace} delete ${objects.join(' ')}`;
  return { type: 'Warning', reason: 'ClaimKept', message };
}

/**
 * Releases the volume, the login and the delivered files of another Hub whose claim this Hub names. This is
 * done before this Hub reports the conflict about the claim, since a user may then delete the other Hub. A
 * foreground deletion, as by Argo CD, deletes the objects that a Hub owns without waiting for its finalizer.
 */
export async function releaseNamedClaim(services: RetainServices, hub: Hub): Promise<void> {
  const claim = hub.spec.storage?.existingClaim;
  for (const other of services.cache.list<Hub>('Hub', hub.metadata.namespace)) {
    const { uid, name } = other.metadata;
    if (uid === hub.metadata.uid || objectNames(name).volumeClaim !== claim) continue;
    await releaseClaim(services, other);
    await releaseLoginAndDelivered(services, other);
  }
}

/**
 * Reports whether the volume of a Hub outlives it. If so, objects in the hub come back with the volume, and
 * the login must not be lost.
 */
export function keepsVolume(services: Pick<Services, 'cache'>, hub: Hub): boolean {
  if (hub.spec.storage?.existingClaim !== undefined || retainsOwnClaim(services, hub)) return true;
  const { namespace, name } = hub.metadata;
  const { kind } = builtin.PersistentVolumeClaim;
  // The cache has only claims of the operator.
  const claim = services.cache.get<ClusterObject>(kind, namespace, objectNames(name).volumeClaim);
  return claim !== undefined && isLeft(claim);
}

/**
 * Reports whether the claim that the operator creates for a Hub has to outlive the Hub, because its spec says
 * so or because another Hub names the claim.
 */
export function retainsOwnClaim({ cache }: Pick<Services, 'cache'>, { spec, metadata }: Hub): boolean {
  if (spec.storage?.retain) return true;
  const { volumeClaim } = objectNames(metadata.name);
  return [...cache.list<Hub>('Hub', metadata.namespace)].some(
    (other) => other.metadata.uid !== metadata.uid && other.spec.storage?.existingClaim === volumeClaim,
  );
}

/** Reports whether the Hub has a claim that was retained before, see {@link isLeft}. */
async function hasLeftClaim({ applier }: RetainServices, hub: Hub): Promise<boolean> {
  const { namespace, name } = hub.metadata;
  const { volumeClaim } = objectNames(name);
  const claim = await applier.find<ClusterObject>(builtin.PersistentVolumeClaim, namespace, volumeClaim);
  return claim !== undefined && isLeft(claim) && applier.isOurs(claim, hub);
}

/**
 * Reports whether a claim was retained before, by this Hub or by a former Hub of its name. Such a claim has
 * no owner reference and gets none again.
 */
const isLeft = ({ metadata: { deletionTimestamp, ownerReferences = [] } }: ClusterObject): boolean =>
  !deletionTimestamp && ownerReferences.length === 0;

const releaseClaim = (services: RetainServices, hub: Hub): Promise<unknown> =>
  release(services, hub, builtin.PersistentVolumeClaim, objectNames(hub.metadata.name).volumeClaim);

/**
 * Releases the login and the delivered definitions. Like definitions on the volume, delivered ones are kept,
 * since some were made by users and adopted.
 *
 * @returns the operator's objects that stay, as kubectl names them
 */
async function releaseLoginAndDelivered(services: RetainServices, hub: Hub): Promise<readonly string[]> {
  const { namespace, name } = hub.metadata;
  const names = objectNames(name);
  const delivered = DELIVERIES.filter((index) => deliveryMetadata(services, { namespace, name }, index));
  const objects = [
    [builtin.Secret, names.admin] as const,
    ...delivered.map((index) => [builtin.ConfigMap, names.delivery(index)] as const),
  ];
  const released: string[] = [];
  for (const [type, object] of objects)
    if (await release(services, hub, type, object)) released.push(`${type.kind.toLowerCase()}/${object}`);
  return released;
}

/**
 * Releases an object from its Hub.
 *
 * @returns false when there is no such object of the operator
 */
async function release(
  services: RetainServices,
  hub: Hub,
  type: ResourceType,
  name: string,
): Promise<boolean> {
  const object = await services.applier.find<ClusterObject>(type, hub.metadata.namespace, name);
  if (!object) return false;
  await removeOwnerReference(services, hub, type, object);
  return services.applier.isOurs(object, hub);
}
