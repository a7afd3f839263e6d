import type { Hub } from '../../../kinds/index';
import { objectNames } from '../../../kinds/object-names';
import type { Manifest } from '../../../runtime/apply';
import type { Discovery } from '../../../runtime/discovery';
import type { ClusterObject, ResourceType } from '../../../runtime/objects';
import { isNotFound } from '../../../runtime/api-errors';
import type { Services } from '../../services';

/**
 * Applies an object of a watched kind. If none is desired, the operator's own object is deleted.
 *
 * @returns the applied object
 */
export async function ensureObject<T extends ClusterObject>(
  { applier, cache }: Pick<Services, 'applier' | 'cache'>,
  hub: Hub,
  type: ResourceType,
  desired: Manifest | undefined,
): Promise<T | undefined> {
  const { name, namespace } = hub.metadata;
  const { workload } = objectNames(name);
  if (desired) return applier.apply<T>(type, desired, { owner: hub });
  // The cache has every object that the operator created: a hub without one costs no request.
  if (cache.get(type.kind, namespace, workload)) await applier.remove(type, hub, workload);
  return undefined;
}

/**
 * Ensures an object of a kind that the cluster does not have to serve.
 *
 * @returns the object, if one is desired
 */
export async function ensureOptionalObject<T extends ClusterObject>(
  { applier }: Pick<Services, 'applier'>,
  discovery: Discovery,
  hub: Hub,
  type: ResourceType,
  desired: Manifest | undefined,
): Promise<{ readonly isServed: boolean; readonly object?: T }> {
  if (!(await discovery.serves(type))) return { isServed: false };
  try {
    if (desired) return { isServed: true, object: await applier.apply<T>(type, desired, { owner: hub }) };
    // The removal is requested in every reconcile. The kind is not watched, and status is no proof that no
    // object exists: a process may have ended after the write of the object and before that of the status.
    await applier.remove(type, hub, objectNames(hub.metadata.name).workload);
    return { isServed: true };
  } catch (error) {
    // The definition of the kind was deleted after the discovery.
    if (isNotFound(error)) return { isServed: false };
    throw error;
  }
}
