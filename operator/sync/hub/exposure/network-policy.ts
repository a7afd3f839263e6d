import type { Hub, HubSpec } from '../../../kinds/index';
import { objectNames, OPERATOR_LABELS } from '../../../kinds/object-names';
import type { Manifest } from '../../../runtime/apply';
import { builtin } from '../../../runtime/types';
import type { Services } from '../../services';
import type { WorkloadStep } from '../continue-on-failure';
import { HUB_PORT, selectorOf } from '../../hub-workload/owned-objects';
import { ensureObject } from './ensure-object';

/**
 * Ensures the NetworkPolicy of `spec.networkPolicy`, and that there is none without it. Leaves nothing in the status.
 */
export function ensureNetworkPolicy(
  services: Pick<Services, 'applier' | 'settings' | 'cache'>,
): WorkloadStep {
  return {
    name: 'NetworkPolicy',
    async run({ hub, spec }) {
      const { podNamespace } = services.settings;
      const desired = spec.networkPolicy.enabled ? networkPolicyOf(hub, spec, podNamespace) : undefined;
      await ensureObject(services, hub, builtin.NetworkPolicy, desired);
      return {};
    },
    present: () => ({}),
  };
}

/**
 * Admits only the operator and `spec.networkPolicy.from` to the hub's pod. The port in a policy is that of the pod, not
 * that of the Service.
 */
function networkPolicyOf(hub: Hub, { networkPolicy }: HubSpec, operatorNamespace: string): Manifest {
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
