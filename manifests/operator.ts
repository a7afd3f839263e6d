import { ApiObject, Duration, Size } from 'cdk8s';
import {
  Capability,
  Cpu,
  Deployment,
  EnvFieldPaths,
  EnvValue,
  ImagePullPolicy,
  LabelSelector,
  Probe,
  SeccompProfileType,
  Service,
  ServiceAccount,
} from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import { OPERATOR_LABELS, WEBHOOK } from '../operator/kinds/object-names';
import { Access } from './access';
import { NAMESPACE, OPERATOR } from './names';
import type { SynthSettings } from './settings';

const labels = OPERATOR_LABELS;

// The user `nonroot` of distroless images. A number, since a node cannot tell whether a *named* user is root.
const USER = 65532;

const HEALTH_PORT = 8080;

const MEMORY_LIMIT = Size.mebibytes(256);
/** Of old objects, in MiB: what else a Node.js process needs, and the buffers of answers, fit beside it. */
const HEAP_LIMIT = 160;

/** The operator's namespace, account, roles, pod and Service. It is admitted under Pod Security `restricted`. */
export class Operator extends Construct {
  constructor(parent: Construct, { image, scope, webhook, replicas }: SynthSettings) {
    super(parent, 'operator');

    new ApiObject(this, 'namespace', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: {
        name: NAMESPACE,
        labels: Object.fromEntries(
          ['enforce', 'audit', 'warn'].map((mode) => [`pod-security.kubernetes.io/${mode}`, 'restricted']),
        ),
      },
    });

    const metadata = { name: OPERATOR, namespace: NAMESPACE, labels };
    new ApiObject(this, 'account', { apiVersion: 'v1', kind: 'ServiceAccount', metadata });
    new Access(this, scope, webhook);

    const deployment = new Deployment(this, 'deployment', {
      metadata,
      podMetadata: { labels },
      select: false,
      replicas,
      serviceAccount: ServiceAccount.fromServiceAccountName(this, 'its-account', OPERATOR),
      automountServiceAccountToken: true,
      // Longer than the 20 s in which the operator finishes its work.
      terminationGracePeriod: Duration.seconds(30),
      securityContext: { ensureNonRoot: true, user: USER, group: USER },
    });
    deployment.select(LabelSelector.of({ labels }));

    deployment.addContainer({
      name: 'operator',
      image,
      imagePullPolicy: ImagePullPolicy.IF_NOT_PRESENT,
      ports: [
        { name: 'health', number: HEALTH_PORT },
        ...(webhook ? [{ name: 'webhook', number: WEBHOOK.port }] : []),
      ],
      envVariables: {
        // The address under which the hub sees the operator: what a ban is lifted from.
        POD_IP: EnvValue.fromFieldRef(EnvFieldPaths.POD_IP),
        POD_NAME: EnvValue.fromFieldRef(EnvFieldPaths.POD_NAME),
        POD_NAMESPACE: EnvValue.fromFieldRef(EnvFieldPaths.POD_NAMESPACE),
        // V8 would take the size of its heap from the machine, and be killed before it collects its garbage.
        NODE_OPTIONS: EnvValue.fromValue(`--max-old-space-size=${HEAP_LIMIT}`),
        ...(webhook && {
          WEBHOOK: EnvValue.fromValue(webhook === 'cert-manager' ? 'provided' : webhook),
        }),
        ...(scope === 'namespaced' && { WATCH_NAMESPACES: EnvValue.fromValue('default') }),
      },
      liveness: Probe.fromHttpGet('/healthz', { port: HEALTH_PORT, periodSeconds: Duration.seconds(20) }),
      readiness: Probe.fromHttpGet('/readyz', { port: HEALTH_PORT, periodSeconds: Duration.seconds(5) }),
      resources: {
        cpu: { request: Cpu.millis(20) },
        memory: { request: Size.mebibytes(96), limit: MEMORY_LIMIT },
      },
      securityContext: {
        user: USER,
        group: USER,
        ensureNonRoot: true,
        readOnlyRootFilesystem: true,
        allowPrivilegeEscalation: false,
        capabilities: { drop: [Capability.ALL] },
        seccompProfile: { type: SeccompProfileType.RUNTIME_DEFAULT },
      },
    });

    const metrics = new Service(this, 'metrics', {
      metadata: { ...metadata, name: `${OPERATOR}-metrics` },
      ports: [{ name: 'metrics', port: HEALTH_PORT, targetPort: HEALTH_PORT }],
    });
    for (const [key, value] of Object.entries(labels)) metrics.selectLabel(key, value);
  }
}
