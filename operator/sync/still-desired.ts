import { Stopping } from '../base/errors';
import { userAnnotations } from '../kinds/annotations';
import type { CustomResource } from '../kinds/resource';
import type { Services } from './services';

/** Suspended or in dry-run: nothing is sent for it. */
export const isHeld = ({ metadata, spec }: CustomResource): boolean =>
  spec['suspend'] === true || metadata.annotations?.[userAnnotations.dryRun] === 'true';

/** The present version of a resource. Undefined: it was deleted, and another resource may have taken over. */
function latestOf<R extends CustomResource>(
  { cache }: Pick<Services, 'cache'>,
  { kind, metadata: { namespace, name, uid } }: R,
): R | undefined {
  const latest = cache.get<R>(kind, namespace, name);
  return latest?.metadata.uid === uid && latest.metadata.deletionTimestamp === undefined ? latest : undefined;
}

/**
 * The present version of a resource, for a request that comes some time after its reconcile began. Undefined: it was
 * deleted or is held meanwhile, so it changes nothing any more.
 */
export function stillDesired<R extends CustomResource>(
  services: Pick<Services, 'cache'>,
  resource: R,
): R | undefined {
  const latest = latestOf(services, resource);
  return latest && !isHeld(latest) ? latest : undefined;
}

/**
 * For writes to the cluster, which a dry-run does not send by itself.
 *
 * @throws Stopping the resource was deleted or suspended meanwhile
 */
export function assertStillDesired(services: Pick<Services, 'cache'>, resource: CustomResource): void {
  const { kind, metadata } = resource;
  const isKnown = services.cache.watches(kind) || services.cache.get(kind, metadata.namespace, metadata.name);
  const latest = latestOf(services, resource);
  if (isKnown && (!latest || latest.spec['suspend'] === true))
    throw new Stopping('the resource was deleted or suspended meanwhile');
}
