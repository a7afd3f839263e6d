import type { Hub } from '../../../kinds';
import { operatorAnnotations } from '../../../kinds/annotations';
import { objectNames } from '../../../kinds/object-names';
import { builtin } from '../../../runtime/types';
import { hubRedactor } from '../../hub-access/hub-secrets';
import { HUB_CONTAINER } from '../../hub-workload/owned-objects';
import type { Pod } from '../../hub-workload/pod';
import { prepareReport } from '../../hub-workload/termination-messages';
import type { Services } from '../../services';
import type { MarkerVariables } from '../generate/content-marker';
import type { RestartHashes } from '../generate/configuration-content';

/** The content that the present pod of a hub has begun with. */
export interface PodStart {
  readonly uid: string;
  /** The decision that it was started for. */
  readonly restart: Partial<RestartHashes>;
  /** The content that its hub began with. Undefined: another one, not known, or the hub has started again in this pod. */
  readonly begunWith?: MarkerVariables | undefined;
  /** The content that `prepare-config` rejected, and why: the hub runs with the last good copy of its volume. */
  readonly rejected?: { readonly marker: MarkerVariables; readonly problem: string } | undefined;
  /** Included files that do not exist elsewhere and were made empty. */
  readonly createdFiles: readonly string[];
  /** The errors that the hub logged in the start before, which ended in recovery mode. */
  readonly errorsBefore: readonly string[];
}

/** Undefined: there is no pod, or it is going. */
export async function podStart(
  services: Pick<Services, 'cache' | 'secrets'>,
  { metadata: { namespace, name } }: Pick<Hub, 'metadata'>,
): Promise<PodStart | undefined> {
  const pod = services.cache.get<Pod>(builtin.Pod.kind, namespace, objectNames(name).pod);
  if (!pod || pod.metadata.uid === undefined || pod.metadata.deletionTimestamp) return undefined;
  const { uid, annotations = {} } = pod.metadata;
  const configuration = annotations[operatorAnnotations.configHash];
  const restart = {
    ...(configuration !== undefined && { configuration }),
    secrets: annotations[operatorAnnotations.secretsHash],
  };
  const report = prepareReport(pod);
  const common = {
    uid,
    restart,
    createdFiles: report?.created ?? [],
    errorsBefore: report?.lastStart ?? [],
  };
  if (!report) return common;
  const redact = await hubRedactor(services, { metadata: { namespace, name } });
  const lines = { ...common, errorsBefore: common.errorsBefore.map(redact) };
  if (report.result === 'replaced' || report.result === 'refused') {
    const problem = redact(report.problems.map(({ text }) => text).join('\n'));
    return { ...lines, rejected: { marker: report.content ?? { configuration: '' }, problem } };
  }
  if (report.result !== 'loaded' && report.result !== 'unchanged') return lines;
  const hub = pod.status?.containerStatuses?.find(({ name: each }) => each === HUB_CONTAINER);
  const isFirstRun = (hub?.restartCount ?? 0) === 0;
  return { ...lines, ...(isFirstRun && { begunWith: report.content }) };
}
