import { operatorAnnotations } from '../../../kinds/annotations';
import { objectNames } from '../../../kinds/object-names';
import { isNotFound } from '../../../runtime/api-errors';
import { pathOf } from '../../../runtime/objects';
import { builtin } from '../../../runtime/types';
import type { Services } from '../../services';

/**
 * Has the kubelet refresh the mounted volumes of the hub's pod within about a second, by a new value of an annotation;
 * by itself it takes up to a minute and more. One that arrives before the kubelet knows of the changed ConfigMap has no
 * effect, so it is repeated.
 */
export async function refreshVolumes(
  { cluster, clock }: Pick<Services, 'cluster' | 'clock'>,
  namespace: string,
  hub: string,
): Promise<void> {
  try {
    await cluster.request({
      method: 'PATCH',
      path: pathOf(builtin.Pod, namespace, objectNames(hub).pod),
      contentType: 'application/merge-patch+json',
      body: { metadata: { annotations: { [operatorAnnotations.refresh]: String(clock.now()) } } },
    });
  } catch (error) {
    if (!isNotFound(error)) throw error; // the pod is being replaced, and the next one reads the new files
  }
}
