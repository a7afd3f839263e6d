import { hub as definition, type Hub, kinds } from '../../kinds';
import { finalizerOf } from '../../kinds/annotations';
import type { CustomResource } from '../../kinds/resource';
import { HUB_DELETION_GRACE, HUB_DELETION_POLL } from '../../base/limits';
import { type Waiting, waiting } from '../../runtime/outcome';
import type { Services } from '../services';
import { PerHub } from '../hub-access/per-hub';

/**
 * A deleted Hub waits for its children that are deleted as well, since they find their hub only through it: `kubectl delete`
 * of a directory deletes the Hub a moment before them. Undefined: there is nothing to wait for.
 */
export function awaitChildren({
  cache,
  clock,
}: Pick<Services, 'cache' | 'clock'>): (hub: Hub) => Waiting | undefined {
  // By the monotonic clock: `deletionTimestamp` is of the API server's clock, which may differ from that of the operator.
  const firstSeen = new PerHub<number>(cache);

  const isFresh = (hub: Hub): boolean => {
    const now = clock.monotonic();
    const since = firstSeen.get(hub) ?? now;
    firstSeen.set(hub, since);
    return now - since < HUB_DELETION_GRACE;
  };

  return (hub) => {
    const { namespace, name } = hub.metadata;
    const children = kinds
      .filter(({ kind }) => kind !== definition.kind)
      .flatMap(({ kind }) => [...cache.ofHub<CustomResource>(kind, namespace, name)])
      .filter(({ kind, metadata }) => metadata.finalizers?.includes(finalizerOf(kind)));
    if (children.length === 0) return undefined;
    const isGoing = children.some(({ metadata }) => metadata.deletionTimestamp !== undefined);
    // The time runs also while children are being removed.
    if (!isFresh(hub) && !isGoing) return undefined;
    const message = 'The children that are deleted with the Hub are removed first.';
    return waiting('Removing', message, HUB_DELETION_POLL);
  };
}
