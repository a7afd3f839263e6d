import { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import { OPERATOR_LABELS, WEBHOOK } from '../operator/kinds/object-names';
import { installationLabels, OPERATOR } from './names';
import type { SynthSettings } from './settings';

/** The port of /healthz, /readyz and /metrics. */
export const HEALTH_PORT = 8080;

/**
 * The securityContext sets no user; the image does. OpenShift gives each namespace its own range of users and
 * refuses others.
 */
export const POD_SECURITY = { runAsNonRoot: true };
export const CONTAINER_SECURITY = {
  runAsNonRoot: true,
  readOnlyRootFilesystem: true,
  allowPrivilegeEscalation: false,
  privileged: false,
  capabilities: { drop: ['ALL'] },
  seccompProfile: { type: 'RuntimeDefault' },
};

/** The operator's pods. They are admitted under Pod Security `restricted`. */
export class OperatorDeployment extends Construct {
  constructor(parent: Construct, settings: SynthSettings) {
    super(parent, 'deployment');
    new k8s.KubeDeployment(this, 'deployment', {
      metadata: { name: OPERATOR, namespace: settings.namespace },
      spec: {
        replicas: settings.replicas,
        selector: { matchLabels: OPERATOR_LABELS },
        template: {
          metadata: { labels: installationLabels },
          spec: {
            serviceAccountName: OPERATOR,
            // Longer than the 28 s in which the operator finishes its work and releases the lease.
            terminationGracePeriodSeconds: 30,
            securityContext: POD_SECURITY,
            topologySpreadConstraints: ['kubernetes.io/hostname', 'topology.kubernetes.io/zone'].map(spread),
            containers: [container(settings)],
          },
        },
      },
    });
  }
}

/** A preference only: on a single node all replicas run there. */
function spread(topologyKey: string): k8s.TopologySpreadConstraint {
  return {
    topologyKey,
    maxSkew: 1,
    whenUnsatisfiable: 'ScheduleAnyway',
    labelSelector: { matchLabels: OPERATOR_LABELS },
  };
}

function container({ image, scope, watchNamespaces, webhook, resources }: SynthSettings): k8s.Container {
  const probe = (path: string) => ({ path, port: k8s.IntOrString.fromString('health') });
  const field = (name: string, fieldPath: string) => ({ name, valueFrom: { fieldRef: { fieldPath } } });
  return {
    name: 'operator',
    image,
    imagePullPolicy: 'IfNotPresent',
    ports: [
      { name: 'health', containerPort: HEALTH_PORT },
      ...(webhook ? [{ name: 'webhook', containerPort: WEBHOOK.port }] : []),
    ],
    env: [
      // The address under which the hub sees the operator, which is the one to lift a ban from.
      field('POD_IP', 'status.podIP'),
      field('POD_NAME', 'metadata.name'),
      field('POD_NAMESPACE', 'metadata.namespace'),
      ...(webhook ? [{ name: 'WEBHOOK', value: webhook === 'cert-manager' ? 'provided' : webhook }] : []),
      // Both objects have the name of the operator, also with a prefix or a suffix from kustomize.
      ...(webhook === 'self-signed' ? [field('WEBHOOK_CONFIGURATION', 'spec.serviceAccountName')] : []),
      ...(scope === 'namespaced' ? [{ name: 'WATCH_NAMESPACES', value: watchNamespaces.join(',') }] : []),
    ],
    // A failed probe would be a Warning event. Node.js serves its port after a second, or 2.5 s on a busy
    // machine, so the first probe comes later. With `wait` the operator answers when it is ready.
    startupProbe: {
      httpGet: probe('/healthz'),
      initialDelaySeconds: 3,
      periodSeconds: 2,
      failureThreshold: 30,
    },
    livenessProbe: { httpGet: probe('/healthz'), periodSeconds: 20, timeoutSeconds: 5 },
    readinessProbe: { httpGet: probe('/readyz?wait=8'), periodSeconds: 5, timeoutSeconds: 10 },
    resources: {
      requests: quantities(resources.requests),
      limits: quantities(resources.limits),
    },
    securityContext: CONTAINER_SECURITY,
  };
}

function quantities(amounts: Readonly<Record<string, string>>): Record<string, k8s.Quantity> {
  return Object.fromEntries(
    Object.entries(amounts).map(([name, amount]) => [name, k8s.Quantity.fromString(amount)]),
  );
}
