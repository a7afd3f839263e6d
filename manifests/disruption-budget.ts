import { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import { OPERATOR_LABELS } from '../operator/kinds/object-names';
import { OPERATOR } from './names';

/**
 * Allows the eviction of one replica at a time. A single replica may be evicted too, so that its node can be
 * drained: hubs keep running without the operator, and its next pod continues.
 */
export class DisruptionBudget extends Construct {
  constructor(parent: Construct, namespace: string) {
    super(parent, 'disruption-budget');
    new k8s.KubePodDisruptionBudget(this, 'budget', {
      metadata: { name: OPERATOR, namespace },
      spec: {
        maxUnavailable: k8s.IntOrString.fromNumber(1),
        selector: { matchLabels: OPERATOR_LABELS },
        // A replica that cannot become ready must not prevent that its node is drained.
        unhealthyPodEvictionPolicy: 'AlwaysAllow',
      },
    });
  }
}
