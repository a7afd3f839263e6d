import { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import { OPERATOR_LABELS } from '../operator/kinds/object-names';
import { OPERATOR } from './names';
import type { SynthSettings } from './settings';

/**
 * Allows connections to the operator's pods from anywhere, but only to the ports that the pods serve. The API
 * server, which calls the webhook, and the kubelet have addresses that no selector matches, and Prometheus
 * may run in any namespace. Outgoing connections are not limited: hubs, code hosts and the API server are at
 * any address and port.
 */
export class OperatorNetworkPolicy extends Construct {
  constructor(parent: Construct, { namespace, webhook }: SynthSettings) {
    super(parent, 'network-policy');
    const ports = ['health', ...(webhook ? ['webhook'] : [])];
    new k8s.KubeNetworkPolicy(this, 'policy', {
      metadata: { name: OPERATOR, namespace },
      spec: {
        podSelector: { matchLabels: OPERATOR_LABELS },
        policyTypes: ['Ingress'],
        ingress: [
          { ports: ports.map((port) => ({ protocol: 'TCP', port: k8s.IntOrString.fromString(port) })) },
        ],
      },
    });
  }
}
