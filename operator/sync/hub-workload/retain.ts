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
import { ensureOwnerReference } from './owner-reference';

type RetainServices = Pick<Services, 'applier' | 'cache' | 'cluster'>;

const REJECTED_RETRY_INTERVAL = 30_000;

/**
 * The cleanup of a deleted Hub: removes its owner references from the volume and the credentials that its last spec retains
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
  const { volumeClaim, admin } = objectNames(hub.metadata.name);
  // The other Hub needs the credentials as well, to log in to the hub on the volume.
  const isRetained = storage.retain || isNamedByAnother(services, hub);
  const keepsClaim = isRetained || storage.existingClaim === volumeClaim;
  try {
    if (keepsClaim) await release(services, hub, builtin.PersistentVolumeClaim, volumeClaim);
    if (isRetained) await release(services, hub, builtin.Secret, admin);
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

/** Whether the volume of a Hub outlives it: the objects in the hub come back with it. */
export function keepsVolume(services: Pick<Services, 'cache'>, hub: Hub): boolean {
  const { storage } = hub.spec;
  return storage?.retain === true || storage?.existingClaim !== undefined || isNamedByAnother(services, hub);
}

/** Whether `existingClaim` of another Hub names the claim that the operator has created for this one. */
function isNamedByAnother({ cache }: Pick<Services, 'cache'>, { metadata }: Hub): boolean {
  const { volumeClaim } = objectNames(metadata.name);
  return [...cache.list<Hub>('Hub', metadata.namespace)].some(
    (other) => other.metadata.uid !== metadata.uid && other.spec.storage?.existingClaim === volumeClaim,
  );
}

async function release(services: RetainServices, hub: Hub, type: ResourceType, name: string): Promise<void> {
  const object = await services.applier.find<ClusterObject>(type, hub.metadata.namespace, name);
  if (object) await ensureOwnerReference(services, hub, type, object, false);
}
