import type { Hub } from '../../../kinds/index';
import { objectNames } from '../../../kinds/object-names';
import { builtin } from '../../../runtime/types';
import type { Services } from '../../services';

/** Ensures the ConfigMap that carries the operator's address to the init container `unban-operator-ip`. */
export async function ensureOperatorIp(
  { applier, settings }: Pick<Services, 'applier' | 'settings'>,
  hub: Hub,
): Promise<void> {
  if (!settings.podIp) return; // not known outside of a cluster
  await applier.apply(
    builtin.ConfigMap,
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: objectNames(hub.metadata.name).operatorIp, namespace: hub.metadata.namespace },
      data: { ip: settings.podIp },
    },
    { owner: hub },
  );
}
