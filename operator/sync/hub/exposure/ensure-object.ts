import type { Hub } from '../../../kinds/index';
import { objectNames } from '../../../kinds/object-names';
import type { Manifest } from '../../../runtime/apply';
import type { Discovery } from '../../../runtime/discovery';
import type { ClusterObject, ResourceType } from '../../../runtime/objects';
import { isNotFound } from '../../../runtime/api-errors';
import type { Services } from '../../services';

/** Applies the object of a watched kind and resolves with it, or deletes ours when none is desired. */
export async function ensureObject<T extends ClusterObject>(
  { applier, cache }: Pick<Services, 'applier' | 'cache'>,
  hub: Hub,
  type: ResourceType,
  desired: Manifest | undefined,
): Promise<T | undefined> {
  const { name, namespace } = hub.metadata;
  const { workload } = objectNames(name);
  if (desired) return applier.apply<T>(type, desired, { owner: hub });
  // The cache has every object of ours: a hub without one costs no request.
  if (cache.get(type.kind, namespace, workload)) await applier.remove(type, hub, workload);
  return undefined;
}

/** Ensures an object of a kind that the cluster need not serve. Resolves with the object, if one is desired. */
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
    // Each time, with a request: the kind is not watched, and status does not say for certain that there is none. A process
    // may have ended after the write of the object and before that of the status.
    await applier.remove(type, hub, objectNames(hub.metadata.name).workload);
    return { isServed: true };
  } catch (error) {
    // The definition of the kind was deleted after the discovery.
    if (isNotFound(error)) return { isServed: false };
    throw error;
  }
}
