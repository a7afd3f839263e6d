import { hub as definition, type Hub, kinds } from '../../kinds';
import { finalizerOf } from '../../kinds/annotations';
import type { CustomResource } from '../../kinds/resource';
import { HUB_DELETION_GRACE, HUB_DELETION_POLL } from '../../limits';
import { type Waiting, waiting } from '../../runtime/outcome';
import type { Services } from '../services';

/**
 * A deleted Hub waits for its children that are deleted as well, since they find their hub only through it: `kubectl delete`
 * of a directory deletes the Hub a moment before them. Undefined: there is nothing to wait for.
 */
export function awaitChildren(
  { cache, clock }: Pick<Services, 'cache' | 'clock'>,
  hub: Hub,
): Waiting | undefined {
  const { namespace, name, deletionTimestamp = '' } = hub.metadata;
  const children = kinds
    .filter(({ kind }) => kind !== definition.kind)
    .flatMap(({ kind }) => [...cache.ofHub<CustomResource>(kind, namespace, name)])
    .filter(({ kind, metadata }) => metadata.finalizers?.includes(finalizerOf(kind)));
  const isGoing = children.some(({ metadata }) => metadata.deletionTimestamp !== undefined);
  const isFresh = clock.now() - Date.parse(deletionTimestamp) < HUB_DELETION_GRACE;
  if (children.length === 0 || !(isGoing || isFresh)) return undefined;
  return waiting(
    'Removing',
    'The children that are deleted with the Hub are removed first.',
    HUB_DELETION_POLL,
  );
}
