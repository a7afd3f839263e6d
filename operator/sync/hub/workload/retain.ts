import { hub as definition, type Hub } from '../../../kinds/index';
import { objectNames } from '../../../kinds/object-names';
import { defaulted } from '../../../kinds/schema';
import { ApiError, isForbidden, isTransient } from '../../../runtime/api-errors';
import type { EventSpec } from '../../../runtime/event-spec';
import type { ClusterObject, ResourceType } from '../../../runtime/objects';
import { type Waiting, waiting } from '../../../runtime/outcome';
import type { ReconcileContext } from '../../../runtime/sync-module';
import { builtin } from '../../../runtime/types';
import type { Services } from '../../services';
import { ensureOwnerReference } from '../owner-reference';

type RetainServices = Pick<Services, 'applier' | 'cluster'>;

const REJECTED_RETRY_INTERVAL = 30_000;

/**
 * The cleanup of a deleted Hub: removes its owner references from what its last spec retains, or the garbage collector
 * would delete it. `storage.retain` may have been set while the Hub was suspended, or while no operator ran (rules.md,
 * "Storage").
 */
export async function releaseRetained(
  services: RetainServices,
  hub: Hub,
  { log }: Pick<ReconcileContext, 'log'>,
): Promise<readonly EventSpec[] | Waiting> {
  const { storage, external } = defaulted(definition.spec, hub.spec);
  if (external) return [];
  const { volumeClaim, admin } = objectNames(hub.metadata.name);
  const keepsClaim = storage.retain || storage.existingClaim === volumeClaim;
  try {
    if (keepsClaim) await release(services, hub, builtin.PersistentVolumeClaim, volumeClaim);
    if (storage.retain) await release(services, hub, builtin.Secret, admin);
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

/** Whether the volume of a Hub outlives it: what is in the hub comes back with it. */
export const keepsVolume = ({ spec: { storage } }: Hub): boolean =>
  storage?.retain === true || storage?.existingClaim !== undefined;

async function release(services: RetainServices, hub: Hub, type: ResourceType, name: string): Promise<void> {
  const object = await services.applier.find<ClusterObject>(type, hub.metadata.namespace, name);
  if (object) await ensureOwnerReference(services, hub, type, object, false);
}
