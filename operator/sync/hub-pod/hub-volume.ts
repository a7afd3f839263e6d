import type { Hub } from '../../kinds';
import { operatorAnnotations } from '../../kinds/annotations';
import type { CustomResource } from '../../kinds/resource';
import type { EventSpec } from '../../runtime/event-spec';
import type { ClusterObject } from '../../runtime/objects';
import type { Services } from '../services';

/** The volume of the hub of a resource, as its Hub has recorded it; undefined: not known. */
export function hubVolume(
  { cache }: Pick<Services, 'cache'>,
  namespace: string,
  hubName: string,
): string | undefined {
  return cache.get<Hub>('Hub', namespace, hubName)?.status?.volumeID;
}

/** Status tells of an object on another volume: this hub may never have had it (rules.md, "Another volume"). */
export const isOnOtherVolume = ({ status }: CustomResource, volume: string | undefined): boolean =>
  isOther(status?.['volumeID'], volume);

/** The volume that a ConfigMap with delivered definitions is for; undefined: that of the hub now, by an earlier version of the operator. */
export const volumeOf = ({ metadata: { annotations } }: ClusterObject): string | undefined =>
  annotations?.[operatorAnnotations.volume];

export const isForOtherVolume = (object: ClusterObject, volume: string | undefined): boolean =>
  isOther(volumeOf(object), volume);

/** Undefined: not known. */
const isOther = (recorded: unknown, volume: string | undefined): boolean =>
  recorded !== undefined && volume !== undefined && recorded !== volume;

/** The status field that records it. An unknown volume does not replace the one that status has. */
export const volumeStatus = (volume: string | undefined) =>
  volume === undefined ? {} : { volumeID: volume };

/** @param object such as `automation porch` */
export function leftOnOtherVolume(object: string): EventSpec {
  const message =
    `The ${object} was on another volume of the hub. What the hub has under this id now stays there: ` +
    'remove it in the hub if it is not needed.';
  return { type: 'Warning', reason: 'CleanupSkipped', message };
}
