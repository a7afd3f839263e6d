import type { EntityBody } from '../../client/config-entities';
import type { RegistryEntity } from '../../client/entity-registry';
import type { Clock } from '../../clock';
import { RESYNC } from '../../limits';
import type { Child } from '../child';
import { type Difference, differences } from './diff';
import type { ConfigSpec, Family, Work } from './entity-type';
import { confirm, type EntityMemory } from './entity-cache';

/** What the hub has under the id of a resource. */
export interface Look {
  /** Its entity, loaded or not. */
  readonly entity: RegistryEntity | undefined;
  /** Something is there. */
  readonly there: boolean;
  /** Where it is not as wanted. */
  readonly differs: readonly Difference[];
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
export async function look<R extends Child, S extends ConfigSpec>(
  family: Family<R, S>,
  work: Work<R, S>,
  clock: Clock,
): Promise<Look> {
  const { client, id, body, hash, memory, context } = work;
  const registry = client.entityRegistry;
  // What just ended, ended over another connection than the one that tells of entities.
  const entity = await (memory.job?.ended
    ? registry.findNow(family.type, id)
    : registry.find(family.type, id));
  const shown = entity && (await family.shown(work, entity));
  const accepted = memory.stored === hash || isAccepted(family, work);
  if (typeof shown === 'object') {
    const differs = differences(shown.present, shown.wanted);
    if (differs.length === 0) {
      confirm(memory, hash);
      memory.loaded = hash;
      return { entity, there: true, differs, loaded: true };
    }
    if (!accepted) return { entity, there: true, differs: differences(shown.present, body), loaded: false };
  }
  const trusted = accepted && !memory.doubted && !isOverdue(memory, clock);
  if (shown === 'hidden' && trusted) return { entity, there: true, differs: [], loaded: true };
  if (!entity && !accepted) return absent(body);
  const justWritten =
    memory.stored === hash && clock.monotonic() - (memory.writtenAt ?? -Infinity) < LOADED_WITHIN;
  if (trusted && justWritten && memory.loaded !== hash)
    return { entity, there: true, differs: [], loaded: false };
  if (isOutdated(family, work) && !context.dryRun) {
    return { entity, there: true, differs: differences({}, body), loaded: false };
  }
  const stored = await client.entities.read(family.type, id);
  if (!stored) return { ...absent(body), entity };
  const differs = differences(family.normalised?.(stored) ?? stored, body);
  if (differs.length === 0) confirm(memory, hash);
  return { entity, there: true, differs, loaded: differs.length === 0 && shown === 'hidden' };
}

/** After a while what status alone says does not count any more: while no operator ran, anybody may have been at work. */
function isOverdue({ stored, since }: EntityMemory, clock: Clock): boolean {
  return stored === undefined && clock.monotonic() - since > RESYNC / 2;
}

/** The hub had accepted just this, as far as status tells. */
export function isAccepted<R extends Child, S extends ConfigSpec>(
  family: Family<R, S>,
  work: Work<R, S>,
): boolean {
  return isClaimed(family, work) && work.resource.status?.['appliedHash'] === work.hash;
}

/** The hub had accepted something of ours, as far as status tells: what it has is no longer what was there before us. */
export function wasAccepted<R extends Child, S extends ConfigSpec>(
  family: Family<R, S>,
  work: Work<R, S>,
): boolean {
  return isClaimed(family, work) && work.resource.status?.['appliedHash'] !== undefined;
}

/** What the hub last accepted was something else, and nobody else was at work: the file need not be read to know. */
function isOutdated<R extends Child, S extends ConfigSpec>(family: Family<R, S>, work: Work<R, S>): boolean {
  return wasAccepted(family, work) && !isAccepted(family, work) && !work.memory.doubted;
}

/** Status says that this object in the hub belongs to this resource. */
export function isClaimed<R extends Child, S extends ConfigSpec>(
  { idField }: Family<R, S>,
  { id, resource }: Work<R, S>,
): boolean {
  return resource.status?.[idField] === id;
}

/** We made it, and have not yet seen it in use. */
export function isNew({ resource }: Pick<Work, 'resource'>): boolean {
  return !resource.status?.['adopted'] && resource.status?.['entityId'] === undefined;
}

function absent(body: EntityBody): Look {
  return { entity: undefined, there: false, differs: differences({}, body), loaded: false };
}
