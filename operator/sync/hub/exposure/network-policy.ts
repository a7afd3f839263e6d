import type { Hub, HubSpec } from '../../../kinds/index';
import { objectNames, OPERATOR_LABELS } from '../../../kinds/object-names';
import type { Manifest } from '../../../runtime/apply';
import { HUB_PORT } from '../workload/pod-template';
import { selectorOf } from './service';

/**
 * Closes the hub's pod to all but the operator and `spec.networkPolicy.from`. A policy speaks of the port of the pod,
 * whatever port the Service has.
 */
export function networkPolicyOf(hub: Hub, { networkPolicy }: HubSpec, operatorNamespace: string): Manifest {
  const { name, namespace } = hub.metadata;
  const operator = {
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': operatorNamespace } },
    podSelector: { matchLabels: OPERATOR_LABELS },
  };
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name: objectNames(name).workload, namespace, labels: selectorOf(hub) },
    spec: {
      podSelector: { matchLabels: selectorOf(hub) },
      policyTypes: ['Ingress'],
      ingress: [
        {
          from: [operator, ...(networkPolicy.from ?? [])],
          ports: [{ port: HUB_PORT, protocol: 'TCP' }],
        },
      ],
    },
  };
}
