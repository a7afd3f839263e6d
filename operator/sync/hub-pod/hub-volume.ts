import type { Hub } from '../../kinds';
import { operatorAnnotations } from '../../kinds/annotations';
import type { CustomResource } from '../../kinds/resource';
import type { EventSpec } from '../../runtime/event-spec';
import type { ClusterObject } from '../../runtime/objects';
import type { Services } from '../services';

/**
 * The volume of a resource's hub, as recorded by the Hub.
 *
 * @returns undefined when it is not known
 */
export function hubVolume(
  { cache }: Pick<Services, 'cache'>,
  namespace: string,
  hubName: string,
): string | undefined {
  return cache.get<Hub>('Hub', namespace, hubName)?.status?.volumeID;
}

/**
 * Reports whether the object in status is on another volume: the present hub may never have had it (rules.md,
 * "Another volume").
 */
export const isOnOtherVolume = ({ status }: CustomResource, volume: string | undefined): boolean =>
  isOther(status?.['volumeID'], volume);

/**
 * The volume that the delivered definitions in a ConfigMap belong to.
 *
 * @returns undefined for a ConfigMap of an earlier version of the operator, which belongs to the present
 * volume
 */
export const volumeOf = ({ metadata: { annotations } }: ClusterObject): string | undefined =>
  annotations?.[operatorAnnotations.volume];

export const isForOtherVolume = (object: ClusterObject, volume: string | undefined): boolean =>
  isOther(volumeOf(object), volume);

/** Reports whether both volumes are known and differ. */
const isOther = (recorded: unknown, volume: string | undefined): boolean =>
  recorded !== undefined && volume !== undefined && recorded !== volume;

/** The status field that records the volume. An unknown volume does not replace the recorded one. */
export const volumeStatus = (volume: string | undefined) =>
  volume === undefined ? {} : { volumeID: volume };

/** @param object type and id in the hub, such as `automation porch` */
export function leftOnOtherVolume(object: string): EventSpec {
  const message =
    `The ${object} was on another volume of the hub. What the hub has under this id now stays there: ` +
    'remove it in the hub if it is not needed.';
  return { type: 'Warning', reason: 'CleanupSkipped', message };
}
