import { CONFIG_ENTITY_KINDS, type ConfigEntityKind, OWN_FILES } from '../../client/connection/config-entity';
import type { Hub } from '../../kinds';
import { MOST_DELIVERIES, objectNames } from '../../kinds/object-names';
import type { ClusterObject } from '../../runtime/objects';
import { builtin } from '../../runtime/types';
import type { Services } from '../services';
import { isForOtherVolume } from './hub-volume';

/** The indices of the delivery ConfigMaps, from 0. */
export const DELIVERIES: readonly number[] = Array.from({ length: MOST_DELIVERIES }, (_, index) => index);

/**
 * Key in a delivery ConfigMap, and name of the file that it becomes: the name of the hub's own file of the
 * kind.
 */
export const deliveredFile = (kind: ConfigEntityKind): string => OWN_FILES[kind];

/** Directory of the files of a kind in the mounted volume. */
export const deliveredDirectory = (kind: ConfigEntityKind): string => `${kind}s`;

/**
 * The file in the hub's configuration directory that includes the directory of a kind. The script
 * `prepare-config` writes it.
 */
export const deliveryInclude = (kind: ConfigEntityKind): string => `hub-operator/${deliveredFile(kind)}`;

/**
 * The volume of the pod with the delivered files: a directory for each kind, which has a directory for each
 * ConfigMap.
 */
export function deliveryVolume(hub: string) {
  const names = objectNames(hub);
  const sources = DELIVERIES.map((index) => ({
    configMap: {
      name: names.delivery(index),
      optional: true,
      items: CONFIG_ENTITY_KINDS.map((kind) => ({
        key: deliveredFile(kind),
        path: `${deliveredDirectory(kind)}/${index}/${deliveredFile(kind)}`,
      })),
    },
  }));
  return { name: 'delivery', projected: { sources } };
}

/**
 * The metadata of a delivery ConfigMap.
 *
 * @returns undefined when it does not exist
 */
export const deliveryMetadata = (
  { cache }: Pick<Services, 'cache'>,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  index: number,
): ClusterObject | undefined =>
  cache.get<ClusterObject>(builtin.ConfigMap.kind, namespace, objectNames(name).delivery(index));

/**
 * Reports whether the hub has to read delivered files, because `spec.delivery` says so or because delivered
 * files are left from before.
 */
export function readsDelivery(
  services: Pick<Services, 'applier' | 'cache'>,
  namespace: string,
  name: string,
): boolean {
  const hub = services.cache.get<Hub>('Hub', namespace, name);
  if (!hub || hub.spec.external) return false;
  const isLeft = (index: number): boolean => {
    const metadata = deliveryMetadata(services, { namespace, name }, index);
    return (
      metadata !== undefined &&
      services.applier.isOurs(metadata, hub) &&
      !isForOtherVolume(metadata, hub.status?.volumeID)
    );
  };
  return hub.spec.delivery === 'File' || DELIVERIES.some(isLeft);
}
