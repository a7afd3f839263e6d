import type { HubConfiguration } from '../../kinds';
import { operatorAnnotations } from '../../kinds/annotations';
import { objectNames } from '../../kinds/object-names';
import { builtin } from '../../runtime/types';
import { hubRedactor } from '../hub-secrets';
import type { Pod } from '../hub/health/pod-state';
import { NOT_LOADED, PREPARE_CONTAINER } from '../hub/workload/init-scripts';
import type { Services } from '../services';

/**
 * Why the hub would not load the configuration of this hash, in the words of its own check at the start of the present
 * pod; undefined: it does, or no pod has been started with it yet.
 */
export async function checkFailureOf(
  services: Services,
  { metadata: { namespace }, spec: { hubRef } }: HubConfiguration,
  hash: string,
): Promise<string | undefined> {
  const { name } = hubRef;
  const pod = services.cache.get<Pod>(builtin.Pod.kind, namespace, objectNames(name).pod);
  if (pod?.metadata.annotations?.[operatorAnnotations.configHash] !== hash) return undefined;
  const preparation = pod.status?.initContainerStatuses?.find(
    (container) => container.name === PREPARE_CONTAINER,
  );
  const ended = preparation?.state?.terminated ?? preparation?.lastState?.terminated;
  if (!ended?.message?.startsWith(NOT_LOADED)) return undefined;
  const redact = await hubRedactor(services, { metadata: { namespace, name } });
  return redact(ended.message.trim());
}
