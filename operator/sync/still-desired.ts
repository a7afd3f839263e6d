import { Stopping } from '../base/errors';
import { userAnnotations } from '../kinds/annotations';
import type { CustomResource } from '../kinds/resource';
import type { Services } from './services';

/** Reports whether a resource is suspended or in dry-run: no write is sent for it. */
export const isHeld = ({ metadata, spec }: CustomResource): boolean =>
  spec['suspend'] === true || metadata.annotations?.[userAnnotations.dryRun] === 'true';

/**
 * The latest version of a resource.
 *
 * @returns undefined when it was deleted; a new resource of the same name does not count
 */
function latestOf<R extends CustomResource>(
  { cache }: Pick<Services, 'cache'>,
  { kind, metadata: { namespace, name, uid } }: R,
): R | undefined {
  const latest = cache.get<R>(kind, namespace, name);
  return latest?.metadata.uid === uid && latest.metadata.deletionTimestamp === undefined ? latest : undefined;
}

/**
 * {@link isHeld} of the latest version of a resource, for a step that follows a question to a hub: a hub that hangs is
 * waited for for 10 s, and a person may have suspended the resource meanwhile.
 */
export const isHeldNow = (services: Pick<Services, 'cache'>, resource: CustomResource): boolean =>
  isHeld(latestOf(services, resource) ?? resource);

/**
 * The latest version of a resource, for a request that is sent some time after its reconcile began.
 *
 * @returns undefined when the resource was deleted or suspended since then, or is in dry-run: nothing may be
 * changed for it
 */
export function stillDesired<R extends CustomResource>(
  services: Pick<Services, 'cache'>,
  resource: R,
): R | undefined {
  const latest = latestOf(services, resource);
  return latest && !isHeld(latest) ? latest : undefined;
}

/**
 * Checks before a write to the cluster that its resource still asks for it. A dry run needs no check here:
 * its applier sends no writes.
 *
 * @throws Stopping the resource was deleted or suspended since its reconcile began
 */
export function assertStillDesired(services: Pick<Services, 'cache'>, resource: CustomResource): void {
  const { kind, metadata } = resource;
  const isKnown = services.cache.watches(kind) || services.cache.get(kind, metadata.namespace, metadata.name);
  const latest = latestOf(services, resource);
  if (isKnown && (!latest || latest.spec['suspend'] === true))
    throw new Stopping('the resource was deleted or suspended meanwhile');
}
