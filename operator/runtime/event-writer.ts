import { createHash } from 'node:crypto';
import { type Clock, timestamp } from '../base/clock';
import type { CustomResource } from '../kinds/resource';
import { sentence } from '../base/sentence';
import { truncate } from '../base/truncate';
import type { ApiClient } from './api-client';
import { ApiError, isNotFound } from './api-errors';
import type { EventSpec } from './event-spec';
import { pathOf } from './objects';
import { builtin } from './types';

/** Milliseconds within which a repeated event increments `count` of the first Event object. */
const AGGREGATION = 10 * 60_000;
const LONGEST_MESSAGE = 1_024;
/**
 * Longest part of the resource's name in the name of its Event object; both names are limited to 253
 * characters.
 */
const LONGEST_NAME = 200;

/** The parts of a resource that an event about it needs. */
export interface EventSubject extends Pick<CustomResource, 'apiVersion' | 'kind'> {
  readonly metadata: Pick<CustomResource['metadata'], 'name' | 'namespace' | 'uid' | 'resourceVersion'>;
}

interface Series {
  readonly name: string;
  readonly firstTimestamp: string;
  count: number;
  /** The time of the last event, by the monotonic clock. */
  lastAt: number;
}

/** Writes Event objects; repeated events increment the count of the existing object. */
export class EventWriter {
  /** By id of the series, in the order of last use, the oldest first. */
  private readonly series = new Map<string, Series>();

  constructor(
    private readonly cluster: ApiClient,
    private readonly clock: Clock,
    /** Name of the operator's pod. */
    private readonly instance: string,
  ) {}

  /**
   * Writes an event. The call can be repeated with equal arguments after an error: the name of the Event
   * object depends on `at`, so that an event which was stored without a response is not written twice.
   *
   * @param at time of the event in milliseconds since the epoch
   * @throws ApiError, ApiServerUnreachable
   */
  async write(resource: EventSubject, event: EventSpec, at: number): Promise<void> {
    const lastAt = this.clock.monotonic();
    this.forgetOld(lastAt);
    const id = seriesId(resource, event);
    const known = this.series.get(id);
    if (known && (await this.count(resource, event, known, at))) {
      known.lastAt = lastAt;
      this.series.delete(id);
      this.series.set(id, known);
      return;
    }
    const name = resource.metadata.name.slice(0, LONGEST_NAME).replace(/[^a-z0-9]+$/, '');
    const series = {
      name: `${name}.${id}${at.toString(16)}`,
      firstTimestamp: timestamp(at),
      count: 1,
      lastAt,
    };
    await this.create(resource, event, series);
    this.series.delete(id);
    this.series.set(id, series);
  }

  private async create(resource: EventSubject, event: EventSpec, series: Series): Promise<void> {
    try {
      await this.cluster.request({
        method: 'POST',
        path: pathOf(builtin.Event, resource.metadata.namespace),
        body: this.body(resource, event, series),
      });
    } catch (error) {
      // A previous try has stored the event. Other conflicts, such as a quota that is being updated, have
      // another reason.
      if (!(error instanceof ApiError && error.reason === 'AlreadyExists')) throw error;
    }
  }

  /**
   * Increments the count of an Event object. @returns false if the object no longer exists (the default TTL
   * is an hour)
   */
  private async count(
    resource: EventSubject,
    event: EventSpec,
    series: Series,
    at: number,
  ): Promise<boolean> {
    const count = series.count + 1;
    try {
      await this.cluster.request({
        method: 'PATCH',
        path: pathOf(builtin.Event, resource.metadata.namespace, series.name),
        contentType: 'application/merge-patch+json',
        body: {
          message: truncate(sentence(event.message), LONGEST_MESSAGE),
          count,
          lastTimestamp: timestamp(at),
        },
      });
      series.count = count;
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  }

  private body(resource: EventSubject, event: EventSpec, series: Series): object {
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
      type: event.type,
      reason: event.reason,
      message: truncate(sentence(event.message), LONGEST_MESSAGE),
      source: { component: 'hub-operator' },
      reportingComponent: 'hub-operator',
      reportingInstance: this.instance,
      firstTimestamp: series.firstTimestamp,
      lastTimestamp: series.firstTimestamp,
      count: series.count,
    };
  }

  private forgetOld(now: number): void {
    for (const [id, { lastAt }] of this.series) {
      if (now - lastAt <= AGGREGATION) break;
      this.series.delete(id);
    }
  }
}

function seriesId(
  { metadata }: EventSubject,
  { type, reason, message, series = message }: EventSpec,
): string {
  const parts = [metadata.uid, type, reason, series];
  return createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 16);
}
