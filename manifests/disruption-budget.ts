import { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import { OPERATOR_LABELS } from '../operator/kinds/object-names';
import { OPERATOR } from './names';

/**
 * One of several replicas at a time is evicted. The only replica may be evicted as well, so that its node can be
 * drained: hubs run on without the operator, and its next pod continues where this one ended.
 */
export class DisruptionBudget extends Construct {
  constructor(parent: Construct, namespace: string) {
    super(parent, 'disruption-budget');
    new k8s.KubePodDisruptionBudget(this, 'budget', {
      metadata: { name: OPERATOR, namespace },
      spec: {
        maxUnavailable: k8s.IntOrString.fromNumber(1),
        selector: { matchLabels: OPERATOR_LABELS },
        // A replica that cannot become ready must not keep a node from being drained.
        unhealthyPodEvictionPolicy: 'AlwaysAllow',
      },
    });
  }
}
