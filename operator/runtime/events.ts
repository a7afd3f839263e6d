import { createHash } from 'node:crypto';
import { type Clock, timestamp } from '../clock';
import type { EventReason } from '../kinds/reasons';
import type { Logger } from '../log';
import { truncate } from '../truncate';
import { pathOf } from './objects';
import type { CustomResource } from '../kinds/resource';
import { type ApiClient, isNotFound } from './api-client';
import { builtin } from './types';

export interface EventSpec {
  readonly type: 'Normal' | 'Warning';
  readonly reason: EventReason;
  readonly message: string;
}

/** A repeated event within this time is counted on the first one instead of being written anew. */
const AGGREGATION = 10 * 60_000;
/** A resource may have this many events at once, and one more every REFILL: what is over is only logged. */
const BURST = 25;
const REFILL = 60_000;
const LONGEST_MESSAGE = 1_024;
/** Of the resource's name in the event's; both are limited to 253 characters. */
const LONGEST_NAME = 200;

interface Series {
  readonly name: string;
  readonly firstTimestamp: string;
  count: number;
  /** By the monotonic clock. */
  lastAt: number;
}

interface Bucket {
  tokens: number;
  /** By the monotonic clock. */
  refilledAt: number;
}

/**
 * Writes events onto resources. Equal ones are aggregated (`count`), a resource that has very many is rate limited,
 * and a failure to write one is logged and nothing else: an event is a courtesy.
 */
export class EventRecorder {
  /** Both in the order of their last use, so that what is old stands first. */
  private readonly series = new Map<string, Series>();
  private readonly buckets = new Map<string, Bucket>();

  constructor(
    private readonly cluster: ApiClient,
    private readonly clock: Clock,
    private readonly log: Logger,
    /** Name of the operator's pod. */
    private readonly instance: string,
  ) {}

  async record(resource: CustomResource, note: EventSpec): Promise<void> {
    const at = this.clock.monotonic();
    this.forgetOld(at);
    const { kind, metadata } = resource;
    this.log.info(
      { kind, namespace: metadata.namespace, name: metadata.name, ...note, event: note.type },
      'event',
    );
    if (!this.take(metadata.uid ?? '', at)) return;
    try {
      await this.write(resource, note, at);
    } catch (error) {
      this.log.warn(
        { kind, name: metadata.name, reason: note.reason, error: String(error) },
        'event not written',
      );
    }
  }

  private async write(resource: CustomResource, note: EventSpec, lastAt: number): Promise<void> {
    const now = this.clock.now();
    const id = seriesId(resource, note);
    const known = this.series.get(id);
    this.series.delete(id);
    if (known && (await this.count(resource, known, now))) {
      known.lastAt = lastAt;
      this.series.set(id, known);
      return;
    }
    const name = resource.metadata.name.slice(0, LONGEST_NAME).replace(/[^a-z0-9]+$/, '');
    const series = {
      name: `${name}.${id}${now.toString(16)}`,
      firstTimestamp: timestamp(now),
      count: 1,
      lastAt,
    };
    await this.cluster.request({
      method: 'POST',
      path: pathOf(builtin.Event, resource.metadata.namespace),
      body: this.body(resource, note, series),
    });
    this.series.set(id, series);
  }

  /** Counts a repetition on the event that is there; false when it is not there any more (the server keeps it an hour). */
  private async count(resource: CustomResource, series: Series, now: number): Promise<boolean> {
    series.count += 1;
    try {
      await this.cluster.request({
        method: 'PATCH',
        path: pathOf(builtin.Event, resource.metadata.namespace, series.name),
        contentType: 'application/merge-patch+json',
        body: { count: series.count, lastTimestamp: timestamp(now) },
      });
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  }

  private body(resource: CustomResource, note: EventSpec, series: Series): object {
    const { apiVersion, kind, metadata } = resource;
    return {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: series.name, namespace: metadata.namespace },
      involvedObject: {
        apiVersion,
        kind,
        name: metadata.name,
        namespace: metadata.namespace,
        uid: metadata.uid,
        resourceVersion: metadata.resourceVersion,
      },
      type: note.type,
      reason: note.reason,
      message: truncate(note.message, LONGEST_MESSAGE),
      source: { component: 'hub-operator' },
      reportingComponent: 'hub-operator',
      reportingInstance: this.instance,
      firstTimestamp: series.firstTimestamp,
      lastTimestamp: series.firstTimestamp,
      count: series.count,
    };
  }

  private take(uid: string, now: number): boolean {
    const bucket = this.buckets.get(uid) ?? { tokens: BURST, refilledAt: now };
    const refill = Math.floor((now - bucket.refilledAt) / REFILL);
    bucket.tokens = Math.min(BURST, bucket.tokens + refill);
    bucket.refilledAt += refill * REFILL;
    this.buckets.delete(uid);
    this.buckets.set(uid, bucket);
    if (bucket.tokens === 0) return false;
    bucket.tokens -= 1;
    return true;
  }

  private forgetOld(now: number): void {
    for (const [id, { lastAt }] of this.series) {
      if (now - lastAt <= AGGREGATION) break;
      this.series.delete(id);
    }
    for (const [uid, { refilledAt }] of this.buckets) {
      if (now - refilledAt <= BURST * REFILL) break; // after that it is full again
      this.buckets.delete(uid);
    }
  }
}

function seriesId({ metadata }: CustomResource, { type, reason, message }: EventSpec): string {
  const parts = [metadata.uid, type, reason, message];
  return createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 16);
}
