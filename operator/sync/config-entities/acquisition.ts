import type { Clock } from '../../base/clock';
import type { Outcome } from '../../runtime/outcome';
import type { Child } from '../objects/child';
import { ownEntityRecord } from '../objects/own-entity';
import { adoptedEvent, forgottenStatus, recordedId } from '../objects/ownership';
import { volumeStatus } from '../hub-pod/hub-volume';
import { inProgress } from './conditions';
import type { ConfigEntitySpec, EntityType, EntityWork } from './entity-type';
import type { Observation } from './observation';
import { shouldDelete } from '../objects/removal';
import { formerIds } from './ownership';
import { isCreatedByOperator } from './ownership-label';
import type { CachedEntity } from './entity-cache';
import type { Place, PlacedWork } from './place';

/**
 * Acquires the object with the effective id. The id is recorded in status before anything is sent to the hub,
 * so that a crash in between leaves no object without a resource. An object that a user made is adopted. An
 * object that the operator made is taken over. An object under a former id is removed only once the new one
 * is in use, since the hub may reject the new one.
 */
export async function acquire<R extends Child, S extends ConfigEntitySpec>(
  entityType: EntityType<R, S>,
  work: PlacedWork<R, S>,
  observation: Observation,
  {
    clock,
    ownerOf,
    whereIs,
  }: {
    readonly clock: Clock;
    readonly ownerOf: (id: string) => R | undefined;
    readonly whereIs: (id: string) => Pick<Place, 'isShared'>;
  },
): Promise<Outcome> {
  const { resource, id, spec, cached } = work;
  const { idField, type } = entityType;
  const exists = observation.type !== 'Absent';
  const owner = exists ? ownerOf(id) : undefined;
  const { entity } = observation;
  // A failed removal has already taken the label away.
  const isFormer = formerIds(resource).includes(id);
  const isOperators = !whereIs(id).isShared;
  const isCreated = entity ? await isCreatedByOperator(work.client, entity, isOperators) : isOperators;
  const isOurs = isFormer || isCreated;
  const adopted = owner ? owner.status?.['adopted'] === true : exists && !isOurs;
  const events = adopted && !owner ? [adoptedEvent(`${type} ${id}`)] : [];
  const former = recordedId(entityType, resource);
  const leftovers = formerIds(resource).filter((each) => each !== id);
  cached.formerEntityId = undefined;
  if (former !== undefined && shouldDelete(resource)) {
    leftovers.push(former);
    cached.formerEntityId = resource.status?.['entityId'] as string | undefined;
  } else if (former !== undefined) {
    const message =
      `The ${type} ${former} stays in the hub beside ${id}, ` +
      `${spec.deletionPolicy ? 'as deletionPolicy is Orphan' : 'since it was adopted'}: remove it in the hub if it is not needed.`;
    events.push({ type: 'Warning', reason: 'CleanupSkipped', message });
  }
  forgetFormer(cached, clock.monotonic());
  return inProgress(entityType, work, 0, {
    status: {
      [idField]: id,
      formerIds: leftovers.length > 0 ? leftovers : null,
      adopted: adopted || null,
      appliedHash: null,
      entityId: null,
      // A new object exists in no other place.
      delivery: exists || entity ? null : work.place.delivery,
      ...volumeStatus(work.volume),
    },
    events,
  });
}

/**
 * Announces in status, before the hub's own file gets the object, that this file may have it. If definitions
 * are mounted again later, the object is then looked for in that file.
 *
 * @param destination place that the object is moved to
 * @returns undefined when status already says so, or need not
 */
export function untilAnnounced<R extends Child, S extends ConfigEntitySpec>(
  entityType: EntityType<R, S>,
  work: EntityWork<R, S>,
  destination: Pick<Place, 'delivery'>,
): Outcome | undefined {
  const isAnnounced = destination.delivery !== null || work.resource.status?.['delivery'] !== 'File';
  return isAnnounced ? undefined : inProgress(entityType, work, 0, { status: { delivery: null } });
}

/**
 * Forgets cached facts about an object under a former id or on another volume. They say nothing about the
 * object that is acquired.
 */
export function forgetFormer(cached: CachedEntity, now: number): void {
  cached.observed = { source: 'status', at: now };
  cached.removal = undefined;
  cached.rejection = undefined;
  cached.failure = undefined;
}

export function forgetObject<R extends Child, S extends ConfigEntitySpec>(
  entityType: EntityType<R, S>,
  work: EntityWork<R, S>,
): Outcome {
  const status = forgottenStatus(
    entityType,
    ['entityId', 'formerIds', 'enabled', 'delivery', ...ownEntityRecord],
    work.volume,
  );
  work.cached.operation = undefined;
  return inProgress(entityType, work, 0, { status });
}
