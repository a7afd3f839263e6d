import type { Hub } from '../../../kinds/index';
import { objectNames } from '../../../kinds/object-names';
import type { Manifest } from '../../../runtime/apply';
import type { Discovery } from '../../../runtime/discovery';
import type { ResourceType } from '../../../runtime/objects';
import { isNotFound } from '../../../runtime/api-client';
import type { Services } from '../../services';

/** Applies the object of a watched kind, or deletes ours when none is desired. */
export async function ensureObject(
  { applier, cache }: Pick<Services, 'applier' | 'cache'>,
  hub: Hub,
  type: ResourceType,
  desired: Manifest | undefined,
): Promise<void> {
  const { name, namespace } = hub.metadata;
  const { workload } = objectNames(name);
  if (desired) await applier.apply(type, desired, { owner: hub });
  // The cache has every object of ours: a hub without one costs no request.
  else if (cache.get(type.kind, namespace, workload)) await applier.remove(type, hub, workload);
}

/** The same for a kind that the cluster need not serve. False: it does not. */
export async function ensureOptionalObject(
  { applier }: Pick<Services, 'applier'>,
  discovery: Discovery,
  hub: Hub,
  type: ResourceType,
  desired: Manifest | undefined,
): Promise<boolean> {
  if (!(await discovery.serves(type))) return false;
  try {
    if (desired) await applier.apply(type, desired, { owner: hub });
    else await applier.remove(type, hub, objectNames(hub.metadata.name).workload);
    return true;
  } catch (error) {
    // Its definition was deleted after the discovery.
    if (isNotFound(error)) return false;
    throw error;
  }
}
