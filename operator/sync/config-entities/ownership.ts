import type { Child } from '../objects/child';
import { hasAccepted, recordedId } from '../objects/ownership';
import type { ConfigEntitySpec, EntityType, EntityWork } from './entity-type';

// Functions that read facts about the object in the hub from status.

/** Former ids under which the hub may still have an object of the resource, which has to be removed. */
export function formerIds({ status }: Child): readonly string[] {
  return (status?.['formerIds'] as readonly string[] | undefined) ?? [];
}

/** Hash of the payload that the hub accepted last. Undefined if it accepted none. */
export const appliedHash = ({ status }: Child): string | undefined =>
  status?.['appliedHash'] as string | undefined;

/** Reports whether the object with the effective id belongs to this resource. */
export function ownsId<R extends Child, S extends ConfigEntitySpec>(
  entityType: EntityType<R, S>,
  { id, resource }: EntityWork<R, S>,
): boolean {
  return recordedId(entityType, resource) === id;
}

/** Reports whether the hub had accepted the desired payload. */
export function isAccepted<R extends Child, S extends ConfigEntitySpec>(
  entityType: EntityType<R, S>,
  work: EntityWork<R, S>,
): boolean {
  return ownsId(entityType, work) && hasAccepted(work.resource, work.hash);
}

/**
 * Reports whether the hub had accepted any payload of this resource, so that its object is no longer the one
 * from before the adoption.
 */
export function wasAccepted<R extends Child, S extends ConfigEntitySpec>(
  entityType: EntityType<R, S>,
  work: EntityWork<R, S>,
): boolean {
  return ownsId(entityType, work) && appliedHash(work.resource) !== undefined;
}

/** Reports whether the operator created the object and has not seen it in use yet. */
export function isNew({ resource }: Pick<EntityWork, 'resource'>): boolean {
  return !resource.status?.['adopted'] && resource.status?.['entityId'] === undefined;
}
