import { type ClusterObject, pathOf } from '../../../runtime/objects';
import { builtin } from '../../../runtime/types';
import type { Services } from '../../services';

/** As far as we look into it. */
export interface Event {
  readonly metadata: { readonly creationTimestamp: string };
  readonly lastTimestamp?: string | null;
  readonly eventTime?: string | null;
  readonly series?: { readonly lastObservedTime?: string };
  readonly reason?: string;
  readonly message?: string;
}

/** The reasons of events that tell that something has been done: what was complained of before is over. */
const COMPLETED_REASONS = new Set(['Scheduled', 'Pulled', 'Created', 'Started', 'SuccessfulCreate']);
/** The reasons of other events that tell of progress, not of what is in the way. */
const PROGRESS_REASONS = new Set(['Pulling', 'Killing', 'SuccessfulDelete']);

/**
 * What the cluster last complained of about an object: that a volume cannot be mounted, a probe fails, a pod may not be
 * created stands nowhere but in events. Undefined when there is nothing.
 */
export async function latestWarning(
  { cluster }: Services,
  { metadata }: ClusterObject,
): Promise<string | undefined> {
  const { items } = await cluster.request<{ items: Event[] }>({
    method: 'GET',
    path: pathOf(builtin.Event, metadata.namespace),
    query: { fieldSelector: `involvedObject.uid=${metadata.uid}`, limit: 100 },
  });
  return newestWarning(items);
}

/** The newest event that is neither progress nor older than the last progress: a pod that pulls is scheduled by now. */
export function newestWarning(events: readonly Event[]): string | undefined {
  const done = events.filter(({ reason = '' }) => COMPLETED_REASONS.has(reason)).map(timeOf);
  const since = Math.max(-Infinity, ...done);
  const [last] = events
    .filter(({ reason = '' }) => !COMPLETED_REASONS.has(reason) && !PROGRESS_REASONS.has(reason))
    .filter((event) => timeOf(event) >= since)
    .sort((a, b) => timeOf(b) - timeOf(a));
  return last && `${last.reason}: ${(last.message ?? '').trim()}`;
}

function timeOf({ series, lastTimestamp, eventTime, metadata }: Event): number {
  return Date.parse(series?.lastObservedTime ?? lastTimestamp ?? eventTime ?? metadata.creationTimestamp);
}
