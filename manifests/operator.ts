import { ApiObject } from 'cdk8s';
import { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import { OPERATOR_LABELS } from '../operator/kinds/object-names';
import { Access } from './access';
import { OperatorAdmissionPolicy } from './admission-policy';
import { HEALTH_PORT, OperatorDeployment } from './deployment';
import { DisruptionBudget } from './disruption-budget';
import { OPERATOR } from './names';
import { OperatorNetworkPolicy } from './network-policy';
import type { SynthSettings } from './settings';

/** The operator's namespace, account, roles and pods, and the objects that belong to the pods. */
export class Operator extends Construct {
  constructor(parent: Construct, settings: SynthSettings) {
    super(parent, 'operator');
    const { namespace } = settings;

    new ApiObject(this, 'namespace', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: {
        name: namespace,
        labels: Object.fromEntries(
          ['enforce', 'audit', 'warn'].map((mode) => [`pod-security.kubernetes.io/${mode}`, 'restricted']),
        ),
      },
    });
    new k8s.KubeServiceAccount(this, 'account', { metadata: { name: OPERATOR, namespace } });
    new Access(this, settings);
    new OperatorAdmissionPolicy(this);
    new OperatorDeployment(this, settings);
    new DisruptionBudget(this, namespace);
    new k8s.KubeService(this, 'metrics', {
      metadata: { name: `${OPERATOR}-metrics`, namespace },
      spec: {
        selector: OPERATOR_LABELS,
        ports: [{ name: 'metrics', port: HEALTH_PORT, targetPort: k8s.IntOrString.fromString('health') }],
      },
    });
    new OperatorNetworkPolicy(this, settings);
  }
}
