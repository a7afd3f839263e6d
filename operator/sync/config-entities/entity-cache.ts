import type { Clock } from '../../clock';
import type { HubRejected } from '../../client/errors';
import type { ReloadResult } from '../../client/reloads';

// Moments are those of the monotonic clock, unless it says otherwise.

/** Work of one resource that outlives the pass which began it. */
export interface Operation {
  /** Of the definition that it writes or reloads: the latest at the moment when its turn came. */
  hash: string;
  /** The hub has accepted it. */
  wrote: boolean;
  /** When: milliseconds since the epoch. */
  wroteAt?: number;
  reload?: ReloadResult;
  error?: Error;
  ended: boolean;
  endedAt?: number;
}

export interface Removal {
  readonly id: string;
  readonly startedAt: number;
  error?: Error;
  ended: boolean;
  endedAt?: number;
}

/** What the hub has refused. The same again would be refused again. */
export interface Rejection {
  readonly hash: string;
  readonly error: HubRejected;
  readonly at: number;
}

/** What the hub has tried to write and failed to, so often in a row. */
export interface WriteFailure {
  readonly hash: string;
  readonly count: number;
  readonly message: string;
}

/** What is remembered of one resource and one hub between passes. Nothing of it is needed: it only saves work. */
export interface CachedEntity {
  operation?: Operation | undefined;
  removal?: Removal | undefined;
  rejection?: Rejection | undefined;
  failure?: WriteFailure | undefined;
  /** When the hub last accepted a write of it. */
  writtenAt?: number;
  /** When the last write was begun, whatever became of it. */
  triedAt?: number;
  /** When the last reload for it failed; undefined: it did not, or the hub may load it by now. */
  reloadFailedAt?: number | undefined;
  /** Hash of what the hub's file is known to hold. */
  stored?: string | undefined;
  /** Hash of what the hub was last seen to use. */
  loaded?: string | undefined;
  /** Hash of what the hub does not load although it was reloaded. */
  unloaded?: string | undefined;
  /** When it began. */
  readonly since: number;
  /** Somebody else was at work: what status says to have been accepted need not be there any more. */
  doubted: boolean;
}

/** A pass follows an end at once; a resource that has none by then is suspended, or stays for another reason. */
const RESULT_RETENTION = 5_000;

/** The memories of all resources of one hub, by uid. */
export class EntityCache {
  /** When the hub last carried out a write or a removal. */
  answeredAt = 0;
  readonly #entities = new Map<string, CachedEntity>();

  constructor(private readonly clock: Clock) {}

  get(uid: string): CachedEntity {
    let cached = this.#entities.get(uid);
    if (!cached) this.#entities.set(uid, (cached = { doubted: false, since: this.clock.monotonic() }));
    return cached;
  }

  /** Something has gone into the hub of late, and no pass has taken note of it. */
  hasUnrecordedResults(): boolean {
    const justNow = this.clock.monotonic() - RESULT_RETENTION;
    return [...this.#entities.values()].some(({ operation, removal }) => {
      const isNews = ({ endedAt = Infinity }: { endedAt?: number }) => endedAt > justNow;
      return (operation?.wrote && isNews(operation)) || (removal?.ended && isNews(removal));
    });
  }

  delete(uid: string): void {
    this.#entities.delete(uid);
  }
}

/** What is known of its content in the hub does not count any more. */
export function invalidate(cached: CachedEntity): void {
  cached.doubted = true;
  cached.stored = undefined;
  cached.unloaded = undefined;
  cached.reloadFailedAt = undefined;
  cached.failure = undefined;
}

/** The hub's file is seen to hold the definition with this hash. */
export function confirm(cached: CachedEntity, hash: string): void {
  cached.stored = hash;
  cached.doubted = false;
}
