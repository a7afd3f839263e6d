import { type ClusterObject, pathOf } from '../../runtime/objects';
import { builtin } from '../../runtime/types';
import type { Services } from '../services';

interface Event {
  readonly metadata: { readonly creationTimestamp: string };
  readonly lastTimestamp?: string | null;
  readonly eventTime?: string | null;
  readonly series?: { readonly lastObservedTime?: string };
  readonly reason?: string;
  readonly message?: string;
}

/** The reasons of events that tell of progress, not of what is in the way. */
const PROGRESS = new Set([
  'Scheduled',
  'Pulling',
  'Pulled',
  'Created',
  'Started',
  'Killing',
  'SuccessfulCreate',
  'SuccessfulDelete',
]);

/**
 * What the cluster last complained of about an object: that a volume cannot be mounted, a probe fails, a pod may not be
 * created stands nowhere but in events. Undefined when there is nothing.
 */
export async function lastWords(
  { cluster }: Services,
  { metadata }: ClusterObject,
): Promise<string | undefined> {
  const { items } = await cluster.request<{ items: Event[] }>({
    method: 'GET',
    path: pathOf(builtin.Event, metadata.namespace),
    query: { fieldSelector: `involvedObject.uid=${metadata.uid}`, limit: 100 },
  });
  const complaints = items.filter(({ reason = '' }) => !PROGRESS.has(reason));
  const [last] = complaints.sort((a, b) => timeOf(b) - timeOf(a));
  return last && `${last.reason}: ${(last.message ?? '').trim()}`;
}

function timeOf({ series, lastTimestamp, eventTime, metadata }: Event): number {
  return Date.parse(series?.lastObservedTime ?? lastTimestamp ?? eventTime ?? metadata.creationTimestamp);
}
