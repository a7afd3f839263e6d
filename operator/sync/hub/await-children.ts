import { hub as definition, type Hub, kinds } from '../../kinds';
import { finalizerOf } from '../../kinds/annotations';
import type { CustomResource } from '../../kinds/resource';
import { HUB_DELETION_GRACE, HUB_DELETION_POLL } from '../../base/limits';
import { type Waiting, waiting } from '../../runtime/outcome';
import type { Services } from '../services';
import { DeletionAge } from '../deletion-age';

/**
 * Delays the removal of a deleted Hub until its deleted children are removed, since they reach their hub only
 * through it. `kubectl delete` of a directory may delete the Hub a moment before its children.
 *
 * @returns undefined when there is nothing to wait for
 */
export function awaitChildren(
  services: Pick<Services, 'cache' | 'clock'>,
): (hub: Hub) => Waiting | undefined {
  const { cache } = services;
  const age = new DeletionAge(services);

  return (hub) => {
    const { namespace, name } = hub.metadata;
    const children = kinds
      .filter(({ kind }) => kind !== definition.kind)
      .flatMap(({ kind }) => [...cache.ofHub<CustomResource>(kind, namespace, name)])
      .filter(({ kind, metadata }) => metadata.finalizers?.includes(finalizerOf(kind)));
    if (children.length === 0) return undefined;
    const isGoing = children.some(({ metadata }) => metadata.deletionTimestamp !== undefined);
    // The grace period does not start again while children are being removed.
    const isFresh = age.of(hub) < HUB_DELETION_GRACE;
    if (!isFresh && !isGoing) return undefined;
    const message = 'The children that are deleted with the Hub are removed first.';
    return waiting('Removing', message, HUB_DELETION_POLL);
  };
}
