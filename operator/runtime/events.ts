import type { Clock } from '../clock';
import type { CustomResource } from '../kinds/resource';
import type { Logger } from '../log';
import type { EventSpec } from './event-spec';
import type { EventWriter } from './event-writer';

/** Token bucket per resource and type: this many events, refilled by one per REFILL. Further events are only logged. */
const BURST = 25;
const REFILL = 60_000;
/** Capacity of the queue of events to write. When it is full, further events are only logged. */
const QUEUE_LIMIT = 1_000;

interface Bucket {
  tokens: number;
  /** By the monotonic clock. */
  refilledAt: number;
}

interface Pending {
  readonly resource: CustomResource;
  readonly event: EventSpec;
}

/**
 * Records events on resources asynchronously: an event never delays or fails a reconcile (rules.md, "Status and
 * conditions"). Events are written one after another in the order in which they were recorded.
 */
export class EventRecorder {
  private readonly pending: Pending[] = [];
  /** The event that is being written. */
  private current: { readonly uid: string; readonly written: Promise<void> } | undefined;
  private running: Promise<void> | undefined;
  /** Token buckets by type and uid, so that Normal events do not use up that of Warnings; least recently used first. */
  private readonly buckets = new Map<string, Bucket>();

  constructor(
    private readonly writer: EventWriter,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {}

  /** Logs the event and queues it for writing. */
  record(resource: CustomResource, event: EventSpec): void {
    const fields = fieldsOf({ resource, event });
    this.log.info({ ...fields, message: event.message }, 'recorded event');
    if (!this.takeToken(`${event.type} ${resource.metadata.uid}`)) return;
    if (this.pending.length >= QUEUE_LIMIT) {
      this.log.warn(fields, 'dropped event, queue of events is full');
      return;
    }
    this.pending.push({ resource, event });
    this.running ??= this.writePending();
  }

  /** Resolves when all events of the resource have been written; called before its finalizer is released. */
  async flush({ metadata: { uid } }: CustomResource): Promise<void> {
    const mine = this.pending.filter(({ resource }) => resource.metadata.uid === uid);
    const others = this.pending.filter(({ resource }) => resource.metadata.uid !== uid);
    this.pending.splice(0, this.pending.length, ...others);
    if (this.current?.uid === uid) await this.current.written;
    for (const each of mine) await this.write(each);
  }

  /** Resolves when all events have been written. */
  async drain(): Promise<void> {
    await this.running;
  }

  private async writePending(): Promise<void> {
    for (let next = this.pending.shift(); next; next = this.pending.shift()) {
      this.current = { uid: next.resource.metadata.uid, written: this.write(next) };
      await this.current.written;
    }
    this.current = undefined;
    this.running = undefined;
  }

  /** Never rejects. */
  private async write(pending: Pending): Promise<void> {
    try {
      await this.writer.write(pending.resource, pending.event);
    } catch (error) {
      this.log.warn({ ...fieldsOf(pending), error }, 'failed to write event');
    }
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

function fieldsOf({ resource: { kind, metadata }, event: { type, reason } }: Pending): object {
  return { kind, namespace: metadata.namespace, name: metadata.name, type, reason };
}
