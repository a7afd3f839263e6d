import type { Clock } from '../base/clock';
import { BUSY_DEFERRAL } from '../base/limits';
import type { CustomResource } from '../kinds/resource';
import type { Logger } from '../base/log';
import { Timer } from '../base/timer';
import { ApiError, isServerUnavailable } from './api-errors';
import type { EventSpec } from './event-spec';
import type { EventSubject, EventWriter } from './event-writer';

/** Token bucket per resource and type: this many events, refilled by one per REFILL. Further events are only logged. */
const BURST = 25;
const REFILL = 60_000;
/** Capacity of the queue of events to write. When it is full, further events are only logged. */
const QUEUE_LIMIT = 5_000;
/** Milliseconds between two checks whether the operator is still busy. */
const BUSY_POLL = 100;
/**
 * Number of tries for an event while the API server is unavailable, and the pause between them in
 * milliseconds.
 */
const TRIES = 12;
const RETRY = 10_000;

interface Bucket {
  tokens: number;
  /** The time of the last refill, by the monotonic clock. */
  refilledAt: number;
}

interface Pending {
  readonly subject: EventSubject;
  readonly event: EventSpec;
  /** Time of the event in milliseconds since the epoch, and by the monotonic clock. */
  readonly at: number;
  readonly since: number;
  triesLeft: number;
}

/**
 * Records events on resources asynchronously: an event never delays or fails a reconcile (rules.md, "Status
 * and conditions"). Events are written one after another in the order in which they were recorded. While the
 * operator is busy, events wait so that status is written first.
 */
export class EventRecorder {
  private readonly pending: Pending[] = [];
  /** The event that is being written. */
  private current: { readonly uid: string; readonly tried: Promise<unknown> } | undefined;
  private running: Promise<void> | undefined;
  /** Runs while the first event of the queue waits for its next try. The other events wait behind it. */
  private readonly retry: Timer;
  private draining = false;
  /**
   * Token buckets by type and uid, the least recently used first. The type is part of the key so that Normal
   * events do not use up the tokens of Warnings.
   */
  private readonly buckets = new Map<string, Bucket>();

  constructor(
    private readonly writer: EventWriter,
    private readonly clock: Clock,
    private readonly log: Logger,
    /** Whether changed resources wait for a worker. */
    private readonly isBusy: () => boolean = () => false,
  ) {
    this.retry = new Timer(clock);
  }

  /** Logs the event and queues it for writing. */
  record(resource: CustomResource, event: EventSpec): void {
    const fields = fieldsOf(resource, event);
    this.log.info({ ...fields, message: event.message }, 'recorded event');
    if (!this.takeToken(`${event.type} ${resource.metadata.uid}`)) return;
    if (this.pending.length >= QUEUE_LIMIT) {
      this.log.warn(fields, 'dropped event, queue of events is full');
      return;
    }
    const [at, since] = [this.clock.now(), this.clock.monotonic()];
    this.pending.push({ subject: subjectOf(resource), event, at, since, triesLeft: TRIES });
    if (!this.retry.pending) this.resume();
  }

  /**
   * Resolves when each event of the resource was tried, or when one try failed. Called before the finalizer
   * of the resource is released.
   */
  async flush({ metadata: { uid } }: CustomResource): Promise<void> {
    const mine = this.takeOf(uid);
    if (this.current?.uid === uid) {
      await this.current.tried;
      mine.unshift(...this.takeOf(uid)); // the current event may have been put back for another try
    }
    for (let next = mine.shift(); next; next = mine.shift()) {
      if ((await this.write(next)) === 'done') continue;
      // The rest is written later: the API server accepts events about a deleted object.
      this.pending.unshift(next, ...mine);
      if (!this.running) this.retryLater();
      return;
    }
  }

  /**
   * Resolves when each event was tried, or when one try failed. The process is stopping, so events that fail
   * are dropped.
   */
  async drain(): Promise<void> {
    this.draining = true;
    this.retry.clear();
    this.resume();
    await this.running;
    this.draining = false;
  }

  private takeOf(uid: string): Pending[] {
    const mine = this.pending.filter(({ subject }) => subject.metadata.uid === uid);
    const others = this.pending.filter(({ subject }) => subject.metadata.uid !== uid);
    this.pending.splice(0, this.pending.length, ...others);
    return mine;
  }

  private resume(): void {
    if (this.pending.length > 0) this.running ??= this.writePending();
  }

  private retryLater(): void {
    this.retry.set(RETRY, () => this.resume());
  }

  private async writePending(): Promise<void> {
    for (;;) {
      while (this.mustWait) await this.clock.sleep(BUSY_POLL);
      const next = this.pending.shift();
      if (!next) break;
      const tried = this.write(next);
      this.current = { uid: next.subject.metadata.uid, tried };
      if ((await tried) === 'done') continue;
      this.pending.unshift(next);
      if (this.draining) {
        const dropped = this.pending.splice(0).length;
        this.log.warn({ events: dropped }, 'dropped events, API server is unavailable');
      } else this.retryLater();
      break;
    }
    this.current = undefined;
    this.running = undefined;
  }

  /** Whether the next event must wait: the operator is busy, and the oldest event has not waited for long. */
  private get mustWait(): boolean {
    const [oldest] = this.pending;
    const isNew = oldest !== undefined && this.clock.monotonic() - oldest.since < BUSY_DEFERRAL;
    return isNew && !this.draining && this.isBusy();
  }

  /** Writes an event; never rejects. The result `again` means that the API server was unavailable. */
  private async write(pending: Pending): Promise<'done' | 'again'> {
    const { subject, event, at } = pending;
    pending.triesLeft -= 1;
    try {
      await this.writer.write(subject, event, at);
    } catch (error) {
      const fields = { ...fieldsOf(subject, event), error };
      if (isRepeated(error) && pending.triesLeft > 0) {
        this.log.debug(fields, 'failed to write event, retrying');
        return 'again';
      }
      this.log.warn(fields, 'failed to write event');
    }
    return 'done';
  }

  private takeToken(key: string): boolean {
    const now = this.clock.monotonic();
    this.forgetFull(now);
    const bucket = this.buckets.get(key) ?? { tokens: BURST, refilledAt: now };
    const refill = Math.floor((now - bucket.refilledAt) / REFILL);
    bucket.tokens = Math.min(BURST, bucket.tokens + refill);
    bucket.refilledAt += refill * REFILL;
    this.buckets.delete(key);
    this.buckets.set(key, bucket);
    if (bucket.tokens === 0) return false;
    bucket.tokens -= 1;
    return true;
  }

  private forgetFull(now: number): void {
    for (const [key, { refilledAt }] of this.buckets) {
      if (now - refilledAt <= BURST * REFILL) break;
      this.buckets.delete(key);
    }
  }
}

/**
 * Copies only the parts that an event needs, so that the resource does not stay in memory until the event is
 * written.
 */
function subjectOf({ apiVersion, kind, metadata }: CustomResource): EventSubject {
  const { name, namespace, uid, resourceVersion } = metadata;
  return { apiVersion, kind, metadata: { name, namespace, uid, resourceVersion } };
}

/**
 * Whether the same event is tried again. An overloaded API server answers 429 to all clients and says when to
 * try again. Without that, the limit concerns only one object or namespace (admission plugin EventRateLimit), so
 * that its event is dropped and the others do not wait.
 */
const isRepeated = (error: unknown): boolean =>
  isServerUnavailable(error) &&
  !(error instanceof ApiError && error.status === 429 && error.retryAfter === undefined);

function fieldsOf({ kind, metadata }: EventSubject, { type, reason }: EventSpec): object {
  return { kind, namespace: metadata.namespace, name: metadata.name, type, reason };
}
