import { Stopping } from '../errors';
import type { CustomResource } from '../kinds/resource';
import type { Services } from './services';

/**
 * For a write that comes some time after its reconcile began: a resource that was deleted or suspended meanwhile changes
 * nothing any more, since another one may have taken over.
 *
 * @throws Stopping
 */
export function assertStillDesired(
  { cache }: Pick<Services, 'cache'>,
  { kind, metadata: { namespace, name, uid } }: CustomResource,
): void {
  const latest = cache.get<CustomResource>(kind, namespace, name);
  const isGone = latest
    ? latest.metadata.uid !== uid || latest.metadata.deletionTimestamp !== undefined || latest.spec['suspend']
    : cache.watches(kind);
  if (isGone) throw new Stopping('the resource was deleted or suspended meanwhile');
}
