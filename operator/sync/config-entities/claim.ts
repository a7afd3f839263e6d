import type { Outcome } from '../../runtime/outcome';
import { volumeStatus } from '../hub-workload/hub-volume';
import type { Child } from '../objects/child';
import { recordedId } from '../objects/ownership';
import type { CachedEntity } from './entity-cache';
import type { ConfigEntitySpec, EntityType, EntityWork } from './entity-type';
import { formerIds } from './ownership';

/**
 * The record of a new object that is delivered as a file, before status has it. The ConfigMap has the claim beside the definition, written
 * in one request, so a burst of new resources costs no status of its own (rules.md, "Delivery").
 */
export type Claim = Readonly<Record<string, unknown>>;

export function claimOf(
  { idField }: Pick<EntityType<Child, ConfigEntitySpec>, 'idField'>,
  id: string,
  volume: string | undefined,
): Claim {
  return { [idField]: id, delivery: 'File', ...volumeStatus(volume) };
}

/** Status tells of no object, present or former: a claim is all that there is to record. */
export function canClaim<R extends Child, S extends ConfigEntitySpec>(
  entityType: EntityType<R, S>,
  { resource, isByFile }: EntityWork<R, S>,
): boolean {
  const { status } = resource;
  const isKnown = [entityType.idField, 'adopted', 'appliedHash', 'entityId'].some(
    (field) => (status?.[field] ?? undefined) !== undefined,
  );
  return isByFile && !isKnown && formerIds(resource).length === 0;
}

/** The resource as if status had the claim. A claim that status has is over. */
export function withClaim<R extends Child>(
  entityType: Pick<EntityType<Child, ConfigEntitySpec>, 'idField'>,
  resource: R,
  cached: CachedEntity,
): R {
  if (recordedId(entityType, resource) !== undefined) cached.claim = undefined;
  return cached.claim ? { ...resource, status: { ...resource.status, ...cached.claim } } : resource;
}

/** Whatever is written to status also records the claim. */
export function recordingClaim(outcome: Outcome, { claim }: CachedEntity): Outcome {
  return claim ? { ...outcome, status: { ...claim, ...outcome.status } } : outcome;
}
