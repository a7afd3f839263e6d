import { listPages } from '../../runtime/list-pages';
import type { ClusterObject } from '../../runtime/objects';
import { builtin } from '../../runtime/types';
import type { Services } from '../services';

/** The fields of an event that are used here. */
export interface Event {
  readonly metadata: { readonly creationTimestamp: string };
  readonly lastTimestamp?: string | null;
  readonly eventTime?: string | null;
  readonly series?: { readonly lastObservedTime?: string };
  /** Either `Warning` or `Normal`. */
  readonly type: string;
  readonly reason?: string;
  readonly message?: string;
}

const PAGE_SIZE = 500;
const MAX_EVENTS = 5_000;

/** Reasons of events that report a completed step: warnings before it are outdated. */
const COMPLETED_REASONS = new Set([
  'Scheduled',
  'SuccessfulAttachVolume',
  'Pulled',
  'Created',
  'Started',
  'SuccessfulCreate',
]);
/**
 * Reasons of events of the type Normal that say what an object waits for: a claim for its volume, a pod for
 * its image.
 */
const WAITING_REASONS = new Set(['FailedBinding', 'WaitForFirstConsumer', 'ExternalProvisioning', 'BackOff']);

/**
 * The latest warning about an object, or the cause of its wait. Some faults are reported only in events: a
 * volume that cannot be mounted, a probe that fails, a pod that may not be created.
 *
 * @returns undefined when there is no such event
 */
export async function latestWarning(
  { cluster }: Pick<Services, 'cluster'>,
  { metadata }: ClusterObject,
): Promise<string | undefined> {
  const events: Event[] = [];
  const query = { fieldSelector: `involvedObject.uid=${metadata.uid}` };
  // The API server lists the oldest event first.
  const all = listPages<Event>(cluster, builtin.Event, metadata.namespace, { pageSize: PAGE_SIZE, query });
  for await (const event of all) if (events.push(event) === MAX_EVENTS) break;
  return newestWarning(events);
}

/** The newest event that reports a problem, unless a step was completed after it. */
export function newestWarning(events: readonly Event[]): string | undefined {
  const completed = events.filter(({ reason = '' }) => COMPLETED_REASONS.has(reason)).map(timeOf);
  const since = Math.max(-Infinity, ...completed);
  const [newest] = events
    .filter(({ type, reason = '' }) => type === 'Warning' || WAITING_REASONS.has(reason))
    .filter((event) => timeOf(event) >= since)
    .sort((a, b) => timeOf(b) - timeOf(a));
  return newest && `${newest.reason}: ${(newest.message ?? '').trim()}`;
}

function timeOf({ series, lastTimestamp, eventTime, metadata }: Event): number {
  return Date.parse(series?.lastObservedTime ?? lastTimestamp ?? eventTime ?? metadata.creationTimestamp);
}
