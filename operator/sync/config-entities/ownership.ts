import type { Child } from '../objects/child';
import { hasAccepted, recordedId } from '../objects/ownership';
import type { ConfigEntitySpec, EntityType, EntityWork } from './entity-type';

// Reads the data about the object in the hub from status.

/** Earlier ids under which the hub may still have an object of the resource that is to be removed. */
export function formerIds({ status }: Child): readonly string[] {
  return (status?.['formerIds'] as readonly string[] | undefined) ?? [];
}

/** Hash of the payload that the hub had accepted last; undefined: none. */
export const appliedHash = ({ status }: Child): string | undefined =>
  status?.['appliedHash'] as string | undefined;

/** The object with the effective id belongs to this resource. */
export function ownsId<R extends Child, S extends ConfigEntitySpec>(
  entityType: EntityType<R, S>,
  { id, resource }: EntityWork<R, S>,
): boolean {
  return recordedId(entityType, resource) === id;
}

/** The hub had accepted the desired payload. */
export function isAccepted<R extends Child, S extends ConfigEntitySpec>(
  entityType: EntityType<R, S>,
  work: EntityWork<R, S>,
): boolean {
  return ownsId(entityType, work) && hasAccepted(work.resource, work.hash);
}

/** The hub had accepted some payload of this resource: the object there is no longer the one of before the adoption. */
export function wasAccepted<R extends Child, S extends ConfigEntitySpec>(
  entityType: EntityType<R, S>,
  work: EntityWork<R, S>,
): boolean {
  return ownsId(entityType, work) && appliedHash(work.resource) !== undefined;
}

/** The operator created it, and has not seen it in use yet. */
export function isNew({ resource }: Pick<EntityWork, 'resource'>): boolean {
  return !resource.status?.['adopted'] && resource.status?.['entityId'] === undefined;
}
