import type { Clock } from '../../base/clock';
import type { EventSpec } from '../../runtime/event-spec';
import type { Outcome } from '../../runtime/outcome';
import type { Child } from '../objects/child';
import { ownEntityRecord } from '../objects/own-entity';
import { adoptedEvent, forgottenStatus, recordedId } from '../objects/ownership';
import { volumeStatus } from '../hub-pod/hub-volume';
import { inProgress } from './conditions';
import type { ConfigEntitySpec, EntityType, EntityWork } from './entity-type';
import type { Observation } from './observation';
import { shouldDelete } from '../objects/removal';
import type { Claims } from './claim';
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
    claims,
    present,
  }: {
    readonly clock: Clock;
    readonly claims: Pick<Claims<R>, 'ownerOf' | 'isFormer'>;
    /** The place that has the object. */
    readonly present: Pick<Place, 'isShared'>;
  },
): Promise<Outcome> {
  const { id, cached, client, resource } = work;
  const { idField, type } = entityType;
  const exists = observation.type !== 'Absent';
  const owner = exists ? claims.ownerOf(id, resource, client) : undefined;
  const { entity } = observation;
  const isOurs =
    exists && (claims.isFormer(id, resource) || (await isFromOperator(work, entity, !present.isShared)));
  const adopted = owner ? owner.status?.['adopted'] === true : exists && !isOurs;
  const former = formerObject(entityType, work);
  cached.formerEntityId = former.entityId;
  forgetFormer(cached, clock.monotonic());
  return inProgress(entityType, work, 0, {
    status: {
      [idField]: id,
      formerIds: former.leftovers.length > 0 ? former.leftovers : null,
      adopted: adopted || null,
      appliedHash: null,
      // With an entity, the object is not new: a user may have switched it off or disabled it.
      entityId: (exists && entity?.entity_id) || null,
      // A new object exists in no other place.
      delivery: exists || entity ? null : work.place.delivery,
      ...volumeStatus(work.volume),
    },
    events: [...(adopted && !owner ? [adoptedEvent(`${type} ${id}`)] : []), ...former.events],
  });
}

/**
 * Reports whether the operator made the object, according to the hub.
 *
 * @param isOperators only the operator writes to the place of the object
 */
async function isFromOperator<R extends Child, S extends ConfigEntitySpec>(
  { client }: EntityWork<R, S>,
  entity: Observation['entity'],
  isOperators: boolean,
): Promise<boolean> {
  return entity ? isCreatedByOperator(client, entity, isOperators) : isOperators;
}

/** The object that the resource had so far. It is removed later, or an event says that it stays. */
interface FormerObject {
  /** All former ids under which an object may have to be removed. */
  readonly leftovers: readonly string[];
  readonly entityId?: string | undefined;
  readonly events: readonly EventSpec[];
}

function formerObject<R extends Child, S extends ConfigEntitySpec>(
  entityType: EntityType<R, S>,
  { id, resource, spec }: EntityWork<R, S>,
): FormerObject {
  const leftovers = formerIds(resource).filter((each) => each !== id);
  const former = recordedId(entityType, resource);
  if (former === undefined) return { leftovers, events: [] };
  if (shouldDelete(resource)) {
    const entityId = resource.status?.['entityId'] as string | undefined;
    return { leftovers: [...leftovers, former], entityId, events: [] };
  }
  const message =
    `The ${entityType.type} ${former} stays in the hub beside ${id}, ` +
    `${spec.deletionPolicy ? 'as deletionPolicy is Orphan' : 'since it was adopted'}: remove it in the hub if it is not needed.`;
  return { leftovers, events: [{ type: 'Warning', reason: 'CleanupSkipped', message }] };
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
