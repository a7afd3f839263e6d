import type { V1Container, V1Pod, V1PodSpec } from '@kubernetes/client-node';
import { unsupportedField } from '../../../../sandbox/node/unsupported';

const pod = (spec: Partial<V1PodSpec>): V1Pod => ({ spec: { containers: [{ name: 'hub' }], ...spec } });
const withContainer = (container: Partial<V1Container>) =>
  pod({ containers: [{ name: 'hub', ...container }] });

describe('unsupportedField', () => {
  test('every field of a hub’s pod is supported', () => {
    const probe = {
      httpGet: { path: '/', port: 'http', scheme: 'HTTP' },
      periodSeconds: 1,
      timeoutSeconds: 1,
    };
    const hub: V1Container = {
      name: 'hub',
      image: 'hub',
      ports: [{ name: 'http', containerPort: 8123, protocol: 'TCP' }],
      env: [{ name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } }],
      startupProbe: probe,
      readinessProbe: probe,
      livenessProbe: { tcpSocket: { port: 8123 } },
      securityContext: { runAsNonRoot: true, allowPrivilegeEscalation: false },
      volumeMounts: [
        { name: 'config', mountPath: '/config' },
        { name: 'generated', mountPath: '/config-generated', readOnly: true },
      ],
    };
    const spec: V1PodSpec = {
      initContainers: [{ name: 'prepare', command: ['python3'], args: ['x'] }],
      containers: [hub],
      hostNetwork: true,
      dnsPolicy: 'ClusterFirstWithHostNet',
      terminationGracePeriodSeconds: 240,
      tolerations: [{ operator: 'Exists' }],
      volumes: [
        { name: 'config', persistentVolumeClaim: { claimName: 'config' } },
        { name: 'generated', configMap: { name: 'generated' } },
        { name: 'kube-api-access', projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } },
      ],
    };
    expect(unsupportedField({ spec })).toBeUndefined();
  });

  test.each<[string, V1Pod]>([
    ['spec.hostPID', pod({ hostPID: true })],
    ['spec.hostAliases', pod({ hostAliases: [{ ip: '1.2.3.4' }] })],
    ['spec.runtimeClassName', pod({ runtimeClassName: 'gvisor' })],
    ['spec.volumes[usb].hostPath', pod({ volumes: [{ name: 'usb', hostPath: { path: '/dev' } }] })],
    [
      'spec.volumes[x].projected.podCertificate',
      pod({
        volumes: [
          { name: 'x', projected: { sources: [{ podCertificate: { keyType: 'x', signerName: 'y' } }] } },
        ],
      }),
    ],
    [
      'spec.containers[hub].lifecycle',
      withContainer({ lifecycle: { preStop: { exec: { command: ['x'] } } } }),
    ],
    [
      'spec.containers[hub].securityContext.privileged',
      withContainer({ securityContext: { privileged: true } }),
    ],
    ['spec.containers[hub].readinessProbe.grpc', withContainer({ readinessProbe: { grpc: { port: 1 } } })],
    [
      'spec.containers[hub].livenessProbe.httpGet.scheme',
      withContainer({ livenessProbe: { httpGet: { port: 1, scheme: 'HTTPS' } } }),
    ],
    [
      'spec.containers[hub].startupProbe.tcpSocket.host',
      withContainer({ startupProbe: { tcpSocket: { port: 1, host: 'x' } } }),
    ],
    ['spec.containers[hub].args', withContainer({ args: ['x'] })],
    [
      'spec.containers[hub].env[A].valueFrom.resourceFieldRef',
      withContainer({ env: [{ name: 'A', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } }] }),
    ],
    [
      'spec.containers[hub].volumeMounts[b].subPathExpr',
      withContainer({ volumeMounts: [{ name: 'b', mountPath: '/b', subPathExpr: '$(X)' }] }),
    ],
    [
      'spec.containers[hub].volumeMounts[b].mountPath',
      withContainer({
        volumeMounts: [
          { name: 'a', mountPath: '/a' },
          { name: 'b', mountPath: '/a/b' },
        ],
      }),
    ],
    ['spec.containers[*].ports', withContainer({ ports: [{ containerPort: 1 }, { containerPort: 2 }] })],
    ['spec.initContainers[init].lifecycle', pod({ initContainers: [{ name: 'init', lifecycle: {} }] })],
  ])('%s is refused by name', (field, given) => {
    expect(unsupportedField(given)).toMatch(new RegExp(`^${field.replace(/[[\].*]/g, '\\$&')}: `));
  });

  test('a field that is off or empty is accepted', () => {
    expect(unsupportedField(pod({ hostPID: false, hostAliases: [] }))).toBeUndefined();
  });
});
