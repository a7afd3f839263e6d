import type { Hub } from '../../../kinds';
import { operatorAnnotations } from '../../../kinds/annotations';
import { objectNames } from '../../../kinds/object-names';
import { builtin } from '../../../runtime/types';
import { hubRedactor } from '../../hub-secrets';
import { HUB_CONTAINER } from '../../hub/owned-objects';
import { CONTENT_HASH, NOT_LOADED, PREPARE_CONTAINER } from '../../hub/init-containers';
import type { Pod } from '../../hub/pod';
import type { Services } from '../../services';
import type { MarkerVariables } from '../generate/content-marker';
import type { RestartHashes } from './publish';

/** What the present pod of a hub has begun with. */
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
  const container = pod.status?.initContainerStatuses?.find(({ name: each }) => each === PREPARE_CONTAINER);
  const message = (container?.state?.terminated ?? container?.lastState?.terminated)?.message ?? '';
  const { text, marker } = read(message);
  const common = { uid, restart, createdFiles: [], errorsBefore: [] };
  if (message.startsWith(NOT_LOADED)) {
    const redact = await hubRedactor(services, { metadata: { namespace, name } });
    const problem = redact(text.slice(text.indexOf('\n') + 1).trim());
    return { ...common, rejected: { marker: marker ?? { configuration: '' }, problem } };
  }
  const hub = pod.status?.containerStatuses?.find(({ name: each }) => each === HUB_CONTAINER);
  return { ...common, begunWith: (hub?.restartCount ?? 0) === 0 ? marker : undefined };
}

function read(message: string): { readonly text: string; readonly marker: MarkerVariables | undefined } {
  const at = message.lastIndexOf(`\n${CONTENT_HASH}`);
  if (at < 0) return { text: message, marker: undefined };
  const [configuration = '', secrets] = message
    .slice(at + 1 + CONTENT_HASH.length)
    .trim()
    .split(' ');
  return {
    text: message.slice(0, at),
    marker: { configuration, ...(secrets !== undefined && { secrets }) },
  };
}
