import type { Clock } from '../../base/clock';
import type { ConfigEntityKind } from '../../client/connection/config-entity';
import type { ReloadResult } from '../../client/config-entities/reload-retry';
import type { Corrected } from '../objects/drift-policy';
import { PerResource } from '../objects/remembered';
import { Operation } from '../objects/operation';
import type { Removable } from '../objects/removal';
import type { Paced } from '../objects/write-pacing';
import type { SwitchOffs } from './switch-offs';

// Times in this file are of the monotonic clock unless stated otherwise.

/** A write or a reload, or both, for one resource. */
export class EntityOperation extends Operation {
  /** The time at which the hub accepted the write, in milliseconds since the epoch. Undefined before that. */
  wroteAt?: number;
  reload?: ReloadResult | undefined;

  /**
   * @param epoch the epoch of the hub's presence in which the operation starts
   * @param hash hash of the payload that is written or reloaded; a write sends the latest payload and updates
   * the hash
   * @param correction key of the correction that the operation makes (`sync/objects/drift-policy.ts`)
   */
  constructor(
    clock: Clock,
    readonly epoch: number,
    public hash: string,
    readonly correction?: string,
  ) {
    super(clock);
  }
}

/**
 * The known content of the hub for a resource, by the source of the knowledge. `at` is the time of the
 * observation.
 */
export type Observed =
  /**
   * Another client may have changed the object since the last observation. If `before` is set, the object is
   * one of many, so a change is unlikely.
   */
  | { readonly source: 'none'; readonly at: number; readonly before?: Observed }
  /** This process has not observed the object yet: only `status.appliedHash` is known. */
  | { readonly source: 'status'; readonly at: number }
  /**
   * The content is known from one of these sources. `write`: the hub accepted a write. `file`: the content
   * was read from the hub's file. `reload`: the content is in the file, but was not in use after a reload.
   * `live`: the content was in use.
   */
  | { readonly source: KnownSource; readonly hash: string; readonly at: number };

type KnownSource = 'write' | 'file' | 'reload' | 'live';

/** The cached data of one resource between reconciles. The cache is optional and only saves requests. */
export interface CachedEntity extends Corrected, Paced, Removable {
  observed: Observed;
  /**
   * Hash of the payload of a generation. It is cached because computing it costs more than the rest of a
   * reconcile without a change.
   */
  desired?: { readonly generation: number; readonly hash: string };
  /** The state of the entity when the observed payload was known to be in use. */
  revision?: string | undefined;
  /** The time at which the file may be read to verify a payload that is probably unchanged. */
  verifyAt?: number | undefined;
  operation?: EntityOperation | undefined;
  /** Id of an object that is about to be delivered, until status has recorded it (`claim.ts`). */
  claim?: string | undefined;
  /** Entity id of the object under the former id, for the object that replaces it. */
  formerEntityId?: string | undefined;
  /** Number and time of successive corrections that switched the automation off again. */
  switchOffs?: SwitchOffs;
  /** True if the hub could not expand the blueprint of the payload. */
  blueprintMissing?: boolean;
  /** The place to which the object was moved, which status does not show yet. */
  movedTo?: object | undefined;
  /** True if the removal of a delivered definition has begun for a hub on another volume. */
  isRemovedFromFiles?: boolean;
  /**
   * The delivered payload with this hash is not loaded in this start of the hub. `endedAt`: the time at which
   * the start before was seen to have ended.
   */
  waitsSince?: { readonly hash: string; readonly startId: string; readonly endedAt?: number } | undefined;
  /**
   * The time at which the last reload for the object failed. Undefined if none failed, or if a new attempt
   * may succeed.
   */
  reloadFailedAt?: number | undefined;
}

/**
 * Milliseconds for which the result of an operation counts as unrecorded. A reconcile normally follows at
 * once, unless the resource is suspended or deleted.
 */
const RESULT_RETENTION = 5_000;

/** The cache of all resources of one hub. */
export class EntityCache extends PerResource<CachedEntity> {
  constructor(private readonly clock: Clock) {
    super(() => ({ observed: { source: 'status', at: clock.monotonic() } }));
  }

  /** Reports whether a write or removal runs or has just ended, and no reconcile has recorded its result. */
  hasUnrecordedResults(): boolean {
    const since = this.clock.monotonic() - RESULT_RETENTION;
    return [...this.values()].some(({ operation, removal }) => {
      const hasWritten = operation?.wroteAt !== undefined && (!operation.end || operation.end.at > since);
      return hasWritten || (removal?.end && removal.end.at > since);
    });
  }

  /**
   * Reports whether an object of any kind with this id is claimed. A claim may still exist after status has
   * recorded the id.
   */
  isClaimed(id: string): boolean {
    for (const { claim } of this.values()) if (claim === id) return true;
    return false;
  }

  /**
   * Reports whether an object with this id is being removed from the hub, or from the delivered files, for
   * any resource.
   */
  isBeingRemoved(kind: ConfigEntityKind, id: string): boolean {
    const kinds: readonly string[] = [kind, staying(kind)];
    // The values are iterated without a copy, since this is called for each of hundreds of new objects.
    for (const { removal } of this.values())
      if (removal && !removal.end && kinds.includes(removal.kind) && removal.ids.includes(id)) return true;
    return false;
  }
}

/** Kind of a removal that takes an object out of the delivered files, while it stays in the hub. */
export const staying = (kind: ConfigEntityKind): string => `${kind} that stays`;

/** Discards earlier observations and failures, since another client may have changed the object. */
export function invalidate(cached: CachedEntity, now: number): void {
  cached.observed = { source: 'none', at: now };
  cached.revision = undefined;
  clearFailures(cached);
}

/**
 * Marks earlier observations for later verification, since another client may have changed any object of the
 * kind.
 *
 * @param reloaded true if the hub has loaded all objects again, false if the connection was lost for a while
 */
export function invalidateOneOfMany(cached: CachedEntity, now: number, reloaded: boolean): void {
  const { observed } = cached;
  if (observed.source !== 'none') cached.observed = { source: 'none', at: now, before: observed };
  if (reloaded) cached.revision = undefined;
  clearFailures(cached);
}

/**
 * Restores the observation from before the invalidation, if the entity was not recreated since: the hub then
 * still runs the same definition.
 */
export function restoreObserved(cached: CachedEntity, revision: string | undefined): void {
  const { observed } = cached;
  if (observed.source !== 'none' || !observed.before) return;
  if (revision !== undefined && revision === cached.revision) cached.observed = observed.before;
}

function clearFailures(cached: CachedEntity): void {
  cached.verifyAt = undefined;
  cached.reloadFailedAt = undefined;
  cached.failure = undefined;
}

/**
 * Records that the hub has the payload with this hash. A read that only confirms the known content of the file keeps
 * the earlier source and time.
 */
export function recordObserved(cached: CachedEntity, source: KnownSource, hash: string, now: number): void {
  const { observed } = cached;
  if (source === 'live' || source === 'file') cached.correction = undefined; // the correction has lasted
  const isSame = 'hash' in observed && observed.hash === hash;
  const confirms = observed.source === source || (source === 'file' && observed.source !== 'live');
  if (isSame && source !== 'write' && confirms) return;
  cached.observed = { source, hash, at: now };
  if (source !== 'write') return;
  cached.revision = undefined;
  cached.waitsSince = undefined;
}
