import type { Clock } from '../../base/clock';
import type { ConfigEntityKind } from '../../client/connection/config-entity';
import type { ReloadResult } from '../../client/config-entities/reload-retry';
import type { Corrected } from '../objects/drift-policy';
import { PerResource } from '../objects/remembered';
import { Operation } from '../objects/operation';
import type { Removable } from '../objects/removal';
import type { Paced } from '../objects/write-pacing';
import type { SwitchOffs } from './switch-offs';

// Times are of the monotonic clock unless stated otherwise.

/** A write, a reload, or both, of one resource. */
export class EntityOperation extends Operation {
  /** When the hub accepted the write, in milliseconds since the epoch; undefined: it has not. */
  wroteAt?: number;
  reload?: ReloadResult | undefined;

  /**
   * @param epoch of the hub's presence in which it starts
   * @param hash of the payload that it writes or reloads; a write sends the latest payload and updates this
   * @param correction that it makes (`sync/objects/drift-policy.ts`)
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

/** The known content of the hub for a resource, by the source of the knowledge; `at`: the time of the observation. */
export type Observed =
  /**
   * Another client may have changed it since the last observation. With `before`: it is one of many, a change is
   * unlikely.
   */
  | { readonly source: 'none'; readonly at: number; readonly before?: Observed }
  /** Nothing was observed by this process: `status.appliedHash` is all that is known. */
  | { readonly source: 'status'; readonly at: number }
  /**
   * `write`: the hub accepted a write of it. `file`: it was read from the hub's file. `reload`: it is in the file, and
   * a reload did not bring it into use. `live`: it was seen in use.
   */
  | { readonly source: KnownSource; readonly hash: string; readonly at: number };

type KnownSource = 'write' | 'file' | 'reload' | 'live';

/** The cached data of one resource between reconciles. It is optional: it only saves requests. */
export interface CachedEntity extends Corrected, Paced, Removable {
  observed: Observed;
  /** Hash of the payload of a generation: it costs more than the rest of a reconcile without a change. */
  desired?: { readonly generation: number; readonly hash: string };
  /** The state of the entity when the observed payload was known to be in use. */
  revision?: string | undefined;
  /** When the file may be read to verify a payload that is probably unchanged. */
  verifyAt?: number | undefined;
  operation?: EntityOperation | undefined;
  /** Id of an object that is about to be delivered, until status has it (`claim.ts`). */
  claim?: string | undefined;
  /** Entity id of the object under the former id, for the object that replaces it. */
  formerEntityId?: string | undefined;
  /** How often in a row an automation was switched off again that is to be off, and when it last was. */
  switchOffs?: SwitchOffs;
  /** The hub could not expand the blueprint of the payload. */
  blueprintMissing?: boolean;
  /** The place that alone has the object since it was moved there; status does not say so yet. */
  movedTo?: object | undefined;
  /** The removal of a definition that was delivered, of a hub on another volume, has begun. */
  isRemovedFromFiles?: boolean;
  /** The delivered payload with this hash is not loaded in this start of the hub; `endedAt`: when the one before it was seen to have ended. */
  waitsSince?: { readonly hash: string; readonly startId: string; readonly endedAt?: number } | undefined;
  /** When the last reload for it failed; undefined: none failed, or a new attempt may succeed. */
  reloadFailedAt?: number | undefined;
}

/** A reconcile follows the end of an operation at once, unless the resource is suspended or gone. */
const RESULT_RETENTION = 5_000;

/** The cache of all resources of one hub. */
export class EntityCache extends PerResource<CachedEntity> {
  constructor(private readonly clock: Clock) {
    super(() => ({ observed: { source: 'status', at: clock.monotonic() } }));
  }

  /** A write or removal has just ended, and no reconcile has recorded its result. */
  hasUnrecordedResults(): boolean {
    const since = this.clock.monotonic() - RESULT_RETENTION;
    return [...this.values()].some(({ operation, removal }) => {
      const hasWritten = operation?.wroteAt !== undefined && (!operation.end || operation.end.at > since);
      return hasWritten || (removal?.end && removal.end.at > since);
    });
  }

  /** An object of any kind with this id is claimed, or was until status had it. */
  isClaimed(id: string): boolean {
    for (const { claim } of this.values()) if (claim === id) return true;
    return false;
  }

  /** An object with this id is being removed, or is on its way out of the delivered files, for whichever resource. */
  isBeingRemoved(kind: ConfigEntityKind, id: string): boolean {
    const kinds: readonly string[] = [kind, staying(kind)];
    // Asked for each new object: hundreds of them would copy the list hundreds of times.
    for (const { removal } of this.values())
      if (removal && !removal.end && kinds.includes(removal.kind) && removal.ids.includes(id)) return true;
    return false;
  }
}

/** Kind of the removal of an object from the delivered files that stays in the hub. */
export const staying = (kind: ConfigEntityKind): string => `${kind} that stays`;

/** Another client may have changed the object: earlier observations and failures are discarded. */
export function invalidate(cached: CachedEntity, now: number): void {
  cached.observed = { source: 'none', at: now };
  cached.revision = undefined;
  clearFailures(cached);
}

/**
 * Another client may have changed any object of the kind: earlier observations are verified later.
 *
 * @param reloaded the hub has loaded all of them again; false: the connection was lost for a while
 */
export function invalidateOneOfMany(cached: CachedEntity, now: number, reloaded: boolean): void {
  const { observed } = cached;
  if (observed.source !== 'none') cached.observed = { source: 'none', at: now, before: observed };
  if (reloaded) cached.revision = undefined;
  clearFailures(cached);
}

/** Whether the entity was not recreated since the invalidation: the hub then still runs the same definition. */
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
  if (source === 'live' || source === 'file') cached.correction = undefined; // it has lasted
  const isSame = 'hash' in observed && observed.hash === hash;
  const confirms = observed.source === source || (source === 'file' && observed.source !== 'live');
  if (isSame && source !== 'write' && confirms) return;
  cached.observed = { source, hash, at: now };
  if (source !== 'write') return;
  cached.revision = undefined;
  cached.waitsSince = undefined;
}
