import { objectNames } from '../../kinds/object-names';
import { builtin } from '../../runtime/types';
import { hubRedactor } from '../hub-secrets';
import type { Pod } from '../hub/health/pod-state';
import { CONTENT_HASH, NOT_LOADED, PREPARE_CONTAINER } from '../hub/workload/init-scripts';
import type { Services } from '../services';
import type { MarkerVariables } from './marker';

/** What `prepare-config` said at the start of the present pod about a configuration that the hub would not load. */
export interface StartVerdict {
  /** Of the rejected configuration and its secrets. */
  readonly marker: MarkerVariables;
  /** In the words of the hub's own check, without secrets. */
  readonly message: string;
}

/** Undefined: the pod started with what it mounts, or has not got that far. */
export async function startVerdict(
  services: Pick<Services, 'cache' | 'secrets'>,
  namespace: string,
  hub: string,
): Promise<StartVerdict | undefined> {
  const pod = services.cache.get<Pod>(builtin.Pod.kind, namespace, objectNames(hub).pod);
  const container = pod?.status?.initContainerStatuses?.find(({ name }) => name === PREPARE_CONTAINER);
  const message = (container?.state?.terminated ?? container?.lastState?.terminated)?.message;
  if (!message?.startsWith(NOT_LOADED)) return undefined;
  const at = message.lastIndexOf(CONTENT_HASH);
  const [configuration = '', secrets] = (at < 0 ? '' : message.slice(at + CONTENT_HASH.length))
    .trim()
    .split(' ');
  const redact = await hubRedactor(services, { metadata: { namespace, name: hub } });
  return {
    marker: { configuration, ...(secrets !== undefined && { secrets }) },
    message: redact(message.slice(0, at < 0 ? undefined : at).trim()),
  };
}
