import type { Hub } from '../../../kinds';
import { objectNames } from '../../../kinds/object-names';
import { isConflict, isNotFound } from '../../../runtime/api-errors';
import { pathOf } from '../../../runtime/objects';
import { builtin } from '../../../runtime/types';
import type { Services } from '../../services';

/** Restarts a hub for which no template changes, by the deletion of its pod. A pod of another uid stays. */
export async function replacePod(
  { cluster, log }: Pick<Services, 'cluster' | 'log'>,
  { kind, metadata: { namespace, name } }: Hub,
  uid: string,
): Promise<void> {
  const { pod } = objectNames(name);
  log.warn(
    { kind, namespace, name, pod },
    'deleting the pod of a hub that has to read its configuration at a start',
  );
  try {
    await cluster.request({
      method: 'DELETE',
      path: pathOf(builtin.Pod, namespace, pod),
      body: { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid } },
    });
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error; // it is gone already
  }
}
