import type { Hub, HubSpec } from '../../../kinds/index';
import { objectNames } from '../../../kinds/object-names';
import type { Manifest } from '../../../runtime/apply';
import { selectorOf } from './service';

/** The route from the Gateways in `spec.gateway.parentRefs` to the hub's Service. */
export function httpRouteOf(hub: Hub, { gateway, service }: HubSpec): Manifest {
  const { name, namespace } = hub.metadata;
  const { parentRefs, hostnames, filters } = gateway ?? {};
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'HTTPRoute',
    metadata: { name: objectNames(name).workload, namespace, labels: selectorOf(hub) },
    spec: {
      parentRefs,
      ...(hostnames && { hostnames }),
      rules: [
        {
          ...(filters && { filters }),
          backendRefs: [{ name: objectNames(name).workload, port: service.port }],
        },
      ],
    },
  };
}
