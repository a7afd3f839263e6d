import { userAnnotations } from '../../../kinds/annotations';
import type { Hub } from '../../../kinds/index';
import { objectNames } from '../../../kinds/object-names';
import { builtin } from '../../../runtime/types';
import type { Services } from '../../services';

/** Keys of the ConfigMap, which are names of files in the init containers. */
export const OPERATOR_IP_KEY = 'ip';
export const ALLOW_DOWNGRADE_KEY = 'allow-downgrade';

/**
 * Ensures the ConfigMap `<hub>-operator-ip` with the values that the init containers read: the operator's address, and
 * whether an older version may start. They are not part of the pod template, since a change of them must not restart a
 * hub that runs.
 */
export async function ensureInitValues(
  { applier, settings }: Pick<Services, 'applier' | 'settings'>,
  hub: Hub,
): Promise<void> {
  const { annotations, name, namespace } = hub.metadata;
  const allowed = annotations?.[userAnnotations.allowDowngrade];
  await applier.apply(
    builtin.ConfigMap,
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: objectNames(name).operatorIp, namespace },
      data: {
        // Not known outside of a cluster.
        ...(settings.podIp && { [OPERATOR_IP_KEY]: settings.podIp }),
        ...(allowed === 'true' && { [ALLOW_DOWNGRADE_KEY]: allowed }),
      },
    },
    { owner: hub },
  );
}
