import { hub as definition, type Hub } from '../../kinds/index';
import { objectNames } from '../../kinds/object-names';
import { defaulted } from '../../kinds/schema';
import { ApiError, isForbidden, isTransient } from '../../runtime/api-errors';
import type { EventSpec } from '../../runtime/event-spec';
import type { ClusterObject, ResourceType } from '../../runtime/objects';
import { type Waiting, waiting } from '../../runtime/outcome';
import type { ReconcileContext } from '../../runtime/sync-module';
import { builtin } from '../../runtime/types';
import type { Services } from '../services';
import { DELIVERIES, deliveryMetadata } from './delivery';
import { ensureOwnerReference } from './owner-reference';

type RetainServices = Pick<Services, 'applier' | 'cache' | 'cluster'>;

const REJECTED_RETRY_INTERVAL = 30_000;

/**
 * The cleanup of a deleted Hub: removes its owner references from the volume, the credentials and the delivered files that its last spec retains
 * or another Hub names, or the garbage collector would delete them. `storage.retain` may have been set while the Hub was
 * suspended, or while no operator ran (rules.md, "Storage").
 */
export async function releaseRetained(
  services: RetainServices,
  hub: Hub,
  { log }: Pick<ReconcileContext, 'log'>,
): Promise<readonly EventSpec[] | Waiting> {
  const { storage, external } = defaulted(definition.spec, hub.spec);
  if (external) return [];
  const { volumeClaim } = objectNames(hub.metadata.name);
  const keepsClaim = keepsOwnClaim(services, hub) || storage.existingClaim === volumeClaim;
  try {
    if (keepsClaim) await releaseClaim(services, hub);
    if (keepsVolume(services, hub)) await releaseLoginAndDelivered(services, hub);
    return [];
  } catch (error) {
    if (!(error instanceof ApiError) || isTransient(error)) throw error;
    // The deletion waits: without it the data would be lost.
    log.warn({ error }, 'failed to release retained objects');
    const reason = isForbidden(error) ? 'Forbidden' : 'InternalError';
    const message = `The Hub waits, because its volume and credentials could not be released and would be deleted with it: ${error.message}`;
    return waiting(reason, message, REJECTED_RETRY_INTERVAL);
  }
}

/**
 * Releases the volume, the login and the delivered files of another Hub whose claim this one names. Before this one is told that the claim serves
 * that Hub: a deletion in the foreground, as by Argo CD, deletes what a Hub owns without asking its finalizer.
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

/** Whether the volume of a Hub outlives it: the objects in the hub come back with it, and the login must not be lost. */
export function keepsVolume(services: Pick<Services, 'cache'>, hub: Hub): boolean {
  return hub.spec.storage?.existingClaim !== undefined || keepsOwnClaim(services, hub);
}

/** Whether the claim that the operator creates for a Hub outlives it: by its spec, or as the volume of another Hub. */
export function keepsOwnClaim({ cache }: Pick<Services, 'cache'>, { spec, metadata }: Hub): boolean {
  if (spec.storage?.retain) return true;
  const { volumeClaim } = objectNames(metadata.name);
  return [...cache.list<Hub>('Hub', metadata.namespace)].some(
    (other) => other.metadata.uid !== metadata.uid && other.spec.storage?.existingClaim === volumeClaim,
  );
}

const releaseClaim = (services: RetainServices, hub: Hub): Promise<void> =>
  release(services, hub, builtin.PersistentVolumeClaim, objectNames(hub.metadata.name).volumeClaim);

/** Delivered definitions are kept as those on the volume are: some were made by people, and adopted. */
async function releaseLoginAndDelivered(services: RetainServices, hub: Hub): Promise<void> {
  const { namespace, name } = hub.metadata;
  await release(services, hub, builtin.Secret, objectNames(name).admin);
  for (const index of DELIVERIES)
    if (deliveryMetadata(services, { namespace, name }, index))
      await release(services, hub, builtin.ConfigMap, objectNames(name).delivery(index));
}

async function release(services: RetainServices, hub: Hub, type: ResourceType, name: string): Promise<void> {
  const object = await services.applier.find<ClusterObject>(type, hub.metadata.namespace, name);
  if (object) await ensureOwnerReference(services, hub, type, object, false);
}
