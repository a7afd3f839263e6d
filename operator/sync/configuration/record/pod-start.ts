import type { Hub } from '../../../kinds';
import { operatorAnnotations } from '../../../kinds/annotations';
import { objectNames } from '../../../kinds/object-names';
import { builtin } from '../../../runtime/types';
import { hubRedactor } from '../../hub-access/hub-secrets';
import { hubContainer, type Pod } from '../../hub-workload/owned-objects';
import { prepareReport } from '../../hub-workload/termination-messages';
import type { Services } from '../../services';
import type { ContentHashes } from '../generate/content-marker';
import type { Rejection } from './record';

/** The content that the present pod of a hub has begun with. */
export interface PodStart {
  readonly uid: string;
  /** The decision that it was started for; undefined: none. */
  readonly restart: ContentHashes | undefined;
  /** The content that its hub began with. Undefined: another one, not known, or the hub has started again in this pod. */
  readonly begunWith?: ContentHashes | undefined;
  /** The content that `prepare-config` rejected, and why: the hub runs with the last good copy of its volume. */
  readonly rejected?: Rejection | undefined;
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
  const secrets = annotations[operatorAnnotations.secretsHash];
  const restart = configuration === undefined ? undefined : { configuration, secrets };
  const report = prepareReport(pod);
  if (!report) return { uid, restart, createdFiles: [], errorsBefore: [] };
  const redact = await hubRedactor(services, { metadata: { namespace, name } });
  const start = { uid, restart, createdFiles: report.created, errorsBefore: report.lastStart.map(redact) };
  if (report.result === 'replaced' || report.result === 'refused') {
    const problem = redact(report.problems.map(({ text }) => text).join('\n'));
    return { ...start, rejected: { marker: report.content ?? { configuration: '' }, problem } };
  }
  if (report.result !== 'loaded' && report.result !== 'unchanged') return start;
  const isFirstRun = (hubContainer(pod)?.restartCount ?? 0) === 0;
  return { ...start, ...(isFirstRun && { begunWith: report.content }) };
}
