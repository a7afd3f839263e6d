import type { EntityPayload } from '../../client/config-entities';
import type { RegistryEntity } from '../../client/entity-registry';
import type { Clock } from '../../clock';
import { RESYNC } from '../../limits';
import type { Child } from '../child';
import { type Difference, diff } from './diff';
import type { ConfigEntitySpec, EntityType, EntityWork } from './entity-type';
import { confirm, type CachedEntity } from './entity-cache';

/** What the hub has under the id of a resource. */
export interface Observation {
  /** Its entity, loaded or not. */
  readonly entity: RegistryEntity | undefined;
  /** Something is there. */
  readonly exists: boolean;
  /** Where it is not as wanted. */
  readonly differences: readonly Difference[];
  /** What is wanted is in use; false with no difference: it is in the file, and the hub has not loaded it. */
  readonly loaded: boolean;
}

/** The hub loads what it was sent within seconds; only then is it worth reading the file to see why it does not. */
const LOADED_WITHIN = 30_000;

/**
 * Compares the wish with what the hub has, at the least cost for the hub: its memory first. Its file, which it parses
 * as a whole for each answer, only where memory does not tell what changed or does not show all, and what we were told
 * before does not count any more.
 */
export async function observe<R extends Child, S extends ConfigEntitySpec>(
  entityType: EntityType<R, S>,
  work: EntityWork<R, S>,
  clock: Clock,
): Promise<Observation> {
  const { client, id, payload, hash, cached, context } = work;
  const registry = client.entityRegistry;
  // What just ended, ended over another connection than the one that tells of entities.
  const entity = await (cached.operation?.ended
    ? registry.findNow(entityType.type, id)
    : registry.find(entityType.type, id));
  const live = entity && (await entityType.readLive(work, entity));
  const accepted = cached.stored === hash || isAccepted(entityType, work);
  if (typeof live === 'object') {
    const differences = diff(live.actual, live.desired);
    if (differences.length === 0) {
      confirm(cached, hash);
      cached.loaded = hash;
      return { entity, exists: true, differences, loaded: true };
    }
    if (!accepted) return { entity, exists: true, differences: diff(live.actual, payload), loaded: false };
  }
  const trusted = accepted && !cached.doubted && !isOverdue(cached, clock);
  if (live === 'hidden' && trusted) return { entity, exists: true, differences: [], loaded: true };
  if (!entity && !accepted) return absent(payload);
  const justWritten =
    cached.stored === hash && clock.monotonic() - (cached.writtenAt ?? -Infinity) < LOADED_WITHIN;
  if (trusted && justWritten && cached.loaded !== hash)
    return { entity, exists: true, differences: [], loaded: false };
  if (isOutdated(entityType, work) && !context.dryRun) {
    return { entity, exists: true, differences: diff({}, payload), loaded: false };
  }
  const stored = await client.entities.read(entityType.type, id);
  if (!stored) return { ...absent(payload), entity };
  const differences = diff(entityType.normalize?.(stored) ?? stored, payload);
  if (differences.length === 0) confirm(cached, hash);
  return { entity, exists: true, differences, loaded: differences.length === 0 && live === 'hidden' };
}

/** After a while what status alone says does not count any more: while no operator ran, anybody may have been at work. */
function isOverdue({ stored, since }: CachedEntity, clock: Clock): boolean {
  return stored === undefined && clock.monotonic() - since > RESYNC / 2;
}

/** The hub had accepted just this, as far as status tells. */
export function isAccepted<R extends Child, S extends ConfigEntitySpec>(
  entityType: EntityType<R, S>,
  work: EntityWork<R, S>,
): boolean {
  return ownsId(entityType, work) && work.resource.status?.['appliedHash'] === work.hash;
}

/** The hub had accepted something of ours, as far as status tells: what it has is no longer what was there before us. */
export function wasAccepted<R extends Child, S extends ConfigEntitySpec>(
  entityType: EntityType<R, S>,
  work: EntityWork<R, S>,
): boolean {
  return ownsId(entityType, work) && work.resource.status?.['appliedHash'] !== undefined;
}

/** What the hub last accepted was something else, and nobody else was at work: the file need not be read to know. */
function isOutdated<R extends Child, S extends ConfigEntitySpec>(
  entityType: EntityType<R, S>,
  work: EntityWork<R, S>,
): boolean {
  return wasAccepted(entityType, work) && !isAccepted(entityType, work) && !work.cached.doubted;
}

/** Status says that this object in the hub belongs to this resource. */
export function ownsId<R extends Child, S extends ConfigEntitySpec>(
  { idField }: EntityType<R, S>,
  { id, resource }: EntityWork<R, S>,
): boolean {
  return resource.status?.[idField] === id;
}

/** We made it, and have not yet seen it in use. */
export function isNew({ resource }: Pick<EntityWork, 'resource'>): boolean {
  return !resource.status?.['adopted'] && resource.status?.['entityId'] === undefined;
}

function absent(payload: EntityPayload): Observation {
  return { entity: undefined, exists: false, differences: diff({}, payload), loaded: false };
}
