import { CONFIG_ENTITY_KINDS, type ConfigEntityKind, OWN_FILES } from '../../client/connection/config-entity';
import type { Hub } from '../../kinds';
import { MOST_DELIVERIES, objectNames } from '../../kinds/object-names';
import type { ClusterObject } from '../../runtime/objects';
import { builtin } from '../../runtime/types';
import type { Services } from '../services';
import { isForOtherVolume } from './hub-volume';

/** The numbers of the ConfigMaps, from 0. */
export const DELIVERIES: readonly number[] = Array.from({ length: MOST_DELIVERIES }, (_, index) => index);

/** Key of a ConfigMap, and name of the file that it becomes: that of the hub's own file of the kind. */
export const deliveredFile = (kind: ConfigEntityKind): string => OWN_FILES[kind];

/** Directory of the files of a kind in the mounted volume. */
export const deliveredDirectory = (kind: ConfigEntityKind): string => `${kind}s`;

/** The file in the hub's directory that includes the directory of a kind; `prepare-config` writes it. */
export const deliveryInclude = (kind: ConfigEntityKind): string => `hub-operator/${deliveredFile(kind)}`;

/** The volume of a pod: a directory for each kind, with a directory for each ConfigMap in it. */
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

/** The metadata of a ConfigMap; undefined: there is none. */
export const deliveryMetadata = (
  { cache }: Pick<Services, 'cache'>,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  index: number,
): ClusterObject | undefined =>
  cache.get<ClusterObject>(builtin.ConfigMap.kind, namespace, objectNames(name).delivery(index));

/** Whether the hub has to read delivered files: `spec.delivery` says so, or some are left from before. */
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
