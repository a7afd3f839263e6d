import type { HubClient } from '../../client/hub-client';
import type { Hub } from '../../kinds';
import { objectNames } from '../../kinds/object-names';
import type { Outcome } from '../../runtime/outcome';
import { builtin } from '../../runtime/types';
import type { Pod } from '../hub-workload/pod';
import type { PodRestarts } from '../hub-workload/pod-restarts';
import type { Services } from '../services';
import { Outcomes } from './conditions';
import type { Situation, Step } from './decide';
import { isSameMarker } from './generate/configuration-content';
import type { DesiredContent } from './load/load-jobs';
import { changedParts } from './load/reload-decision';
import type { Observed } from './record/observe';
import type { ConfigurationRecords, HubStart } from './record/record';

/** What a step works with. */
export interface Work extends Situation, DesiredContent {
  readonly step: Step;
  readonly outcomes: Outcomes;
}

export interface UsableWork extends Work {
  readonly hub: Hub;
  readonly client: HubClient;
  readonly observed: Observed & { readonly start: HubStart };
}

export interface UnusableWork extends Work {
  readonly hub: Hub | undefined;
  /** Why the hub cannot be used, with its fields of status. */
  readonly unusable: Outcome;
}

export interface StepServices {
  readonly services: Pick<Services, 'cache' | 'applier' | 'secrets'>;
  readonly restarts: Pick<PodRestarts, 'restart'>;
  readonly records: ConfigurationRecords;
}

export const changedOf = ({ record, content }: Work): string[] =>
  record ? changedParts(record.loaded, content.sections) : [];

export function reportRejected({ content, observed, record, outcomes }: Work): Outcome {
  const byPod = observed.pod?.rejected;
  const isByPod = byPod !== undefined && isSameMarker(byPod.marker, content.marker);
  return outcomes.checkFailed(isByPod ? byPod.problem : (record?.rejected?.problem ?? ''));
}

/** @param running hash of the configuration that the hub runs with; undefined: it is not back */
export async function reportFailed(
  { records }: StepServices,
  work: Work & { readonly hub: Hub },
  running?: string,
): Promise<Outcome> {
  const { resource, content, observed, hub } = work;
  const record = work.record!;
  const { failed } = record;
  const words = observed.pod?.errorsBefore.join('\n');
  // The log of the failed start is beside that of the next one, and gone after it.
  const isNew = failed?.cause === undefined && words && observed.pod?.uid !== failed?.pod;
  const known = isNew ? { ...record, failed: { ...failed!, cause: words } } : record;
  if (isNew) await records.set(hub, known);
  return new Outcomes(resource, content, known).reverted(running, observed.heldBy);
}

/** Has no effect while a rollout is about to replace the pod, or its hub must not be interrupted. */
export async function replacePod(
  { services, restarts }: StepServices,
  hub: Hub,
  reason: string,
): Promise<void> {
  const { namespace, name } = hub.metadata;
  const pod = services.cache.get<Pod>(builtin.Pod.kind, namespace, objectNames(name).pod);
  if (pod) await restarts.restart(hub, pod, reason);
}
