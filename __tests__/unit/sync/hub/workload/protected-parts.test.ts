import { hub as definition, type Hub } from '../../../../../operator/kinds/index';
import { defaulted } from '../../../../../operator/kinds/schema';
import { statefulSet } from '../../../../../operator/sync/hub/workload/statefulset';
import { aHub } from '../../fixtures';

function workload(podTemplate: object) {
  const object = aHub({ spec: { version: '2026.11.0', podTemplate } as Hub['spec'] });
  return statefulSet(
    object,
    defaulted(definition.spec, object.spec),
    { config: 'sha256:1' },
    { owner: 'villa' },
  );
}

const container = (name: string, fields: object) => ({ spec: { containers: [{ name, ...fields }] } });
const initContainer = (name: string, fields: object) => ({ spec: { initContainers: [{ name, ...fields }] } });

describe('statefulSet', () => {
  test.each<[object, string]>([
    [container('hub', { $patch: 'delete' }), 'spec.containers[hub]'],
    [{ spec: { containers: null } }, 'spec.containers[hub]'],
    [{ spec: null }, 'spec'],
    [{ spec: 'x' }, 'spec'],
    [
      { metadata: { labels: { 'app.kubernetes.io/instance': 'other' } } },
      'metadata.labels.app.kubernetes.io/instance',
    ],
    [{ metadata: { labels: { $patch: 'replace' } } }, 'metadata.labels.app.kubernetes.io/name'],
    [
      { metadata: { annotations: { 'hub-operator.dev/config-hash': 'x' } } },
      'metadata.annotations.hub-operator.dev/config-hash',
    ],
    [initContainer('prepare-config', { $patch: 'delete' }), 'spec.initContainers[prepare-config]'],
    [initContainer('prepare-config', { command: ['true'] }), 'spec.initContainers[prepare-config].command'],
    [initContainer('prepare-config', { args: ['x'] }), 'spec.initContainers[prepare-config].args'],
    [
      initContainer('unban-operator-ip', { restartPolicy: 'Always' }),
      'spec.initContainers[unban-operator-ip].restartPolicy',
    ],
    [
      container('hub', { volumeMounts: [{ name: 'x', mountPath: '/config' }] }),
      'spec.containers[hub].volumeMounts[/config].name',
    ],
    [
      container('hub', { volumeMounts: [{ mountPath: '/config', subPath: 'x' }] }),
      'spec.containers[hub].volumeMounts[/config].subPath',
    ],
    [
      container('hub', { volumeMounts: [{ mountPath: '/config', readOnly: true }] }),
      'spec.containers[hub].volumeMounts[/config].readOnly',
    ],
    [
      container('hub', { volumeMounts: [{ mountPath: '/hub-operator/secrets', subPathExpr: '$(A)' }] }),
      'spec.containers[hub].volumeMounts[/hub-operator/secrets].subPathExpr',
    ],
    [
      initContainer('unban-operator-ip', {
        volumeMounts: [{ mountPath: '/hub-operator/operator-ip', subPath: 'x' }],
      }),
      'spec.initContainers[unban-operator-ip].volumeMounts[/hub-operator/operator-ip].subPath',
    ],
    [
      { spec: { volumes: [{ name: 'configuration', projected: { defaultMode: 0 } }] } },
      'spec.volumes[configuration].projected.defaultMode',
    ],
    [
      { spec: { volumes: [{ name: 'configuration', configMap: { items: [{ key: 'a', path: 'b' }] } }] } },
      'spec.volumes[configuration].configMap',
    ],
    [
      { spec: { volumes: [{ name: 'config', persistentVolumeClaim: { readOnly: true } }] } },
      'spec.volumes[config].persistentVolumeClaim.readOnly',
    ],
    [{ spec: { volumes: [{ name: 'secrets', emptyDir: {} }] } }, 'spec.volumes[secrets].emptyDir'],
    [
      container('hub', { volumeMounts: [{ name: 'x', mountPath: '/config/' }] }),
      'spec.containers[hub].volumeMounts[/config/]',
    ],
    [
      initContainer('prepare-config', { volumeMounts: [{ name: 'x', mountPath: '/hub-operator//secrets' }] }),
      'spec.initContainers[prepare-config].volumeMounts[/hub-operator//secrets]',
    ],
    [container('hub', { volumeMounts: null }), 'spec.containers[hub].volumeMounts[/config]'],
    [
      container('hub', { ports: [{ containerPort: 8123, name: 'web' }] }),
      'spec.containers[hub].ports[8123].name',
    ],
    [
      { spec: { volumes: [{ name: 'config', $patch: 'replace', emptyDir: {} }] } },
      'spec.volumes[config].persistentVolumeClaim',
    ],
  ])('refuses %j', (podTemplate, part) => {
    expect(workload(podTemplate)).toEqual({
      problem: `spec.podTemplate changes ${part}, which the operator needs: remove that field from spec.podTemplate.`,
    });
  });

  test('a mount path that is a number is a problem', () => {
    expect(workload(container('hub', { volumeMounts: [{ name: 'x', mountPath: 5 }] }))).toEqual({
      problem: 'spec.podTemplate.spec.containers.volumeMounts[0]: mountPath must be text: quote it.',
    });
  });

  test('names the place that cannot be merged', () => {
    expect(workload({ spec: { volumes: [{ emptyDir: {} }] } })).toEqual({
      problem: 'spec.podTemplate.spec.volumes[0]: needs name.',
    });
  });

  test.each([
    { metadata: { labels: { a: 'b' }, annotations: { a: 'b' } } },
    container('hub', { image: 'own/hub:1', resources: { limits: { memory: '1Gi' } }, command: ['/init'] }),
    container('hub', { livenessProbe: null, readinessProbe: { tcpSocket: { port: 'http' } } }),
    container('sidecar', {
      image: 'sidecar',
      volumeMounts: [{ name: 'config', mountPath: '/config', readOnly: true }],
    }),
    {
      spec: {
        volumes: [{ name: 'media', emptyDir: {} }],
        containers: [
          { name: 'hub', volumeMounts: [{ name: 'media', mountPath: '/config/www', subPath: 'www' }] },
        ],
      },
    },
    initContainer('prepare-config', { image: 'own/hub:1', env: [{ name: 'A', value: '1' }], resources: {} }),
    initContainer('wait', { image: 'sidecar', restartPolicy: 'Always' }),
    {
      spec: {
        nodeSelector: { disk: 'ssd' },
        securityContext: { fsGroup: 1000 },
        terminationGracePeriodSeconds: 300,
      },
    },
  ])('accepts %j', (podTemplate) => {
    expect(workload(podTemplate)).toHaveProperty('manifest');
  });

  test('runs init containers of the user after those of the operator', () => {
    const result = workload(initContainer('own', { image: 'x' }));
    if (!('manifest' in result)) throw new Error(result.problem);
    const { template } = result.manifest['spec'] as {
      template: { spec: { initContainers: { name: string }[] } };
    };
    expect(template.spec.initContainers.map(({ name }) => name)).toEqual([
      'prepare-config',
      'unban-operator-ip',
      'own',
    ]);
  });

  test('runs the init containers in the hub’s image, since they compare its version', () => {
    const result = workload(container('hub', { image: 'own/hub:1' }));
    if (!('manifest' in result)) throw new Error(result.problem);
    const { template } = result.manifest['spec'] as {
      template: { spec: { initContainers: { image: string }[] } };
    };
    expect(template.spec.initContainers.map(({ image }) => image)).toEqual(['own/hub:1', 'own/hub:1']);
  });

  test.each([1, 239, null])('refuses a grace period that is too short for a hub to stop: %j', (seconds) => {
    expect(workload({ spec: { terminationGracePeriodSeconds: seconds } })).toEqual({
      problem: expect.stringMatching(/terminationGracePeriodSeconds is .* set it to 240 or more/),
    });
  });

  test('gives the resources of the hub to the init containers too, for a namespace with a quota', () => {
    const object = aHub({ spec: { resources: { limits: { memory: '1Gi' } } } });
    const result = statefulSet(object, defaulted(definition.spec, object.spec), { config: 'sha256:1' }, {});
    if (!('manifest' in result)) throw new Error(result.problem);
    const { template } = result.manifest['spec'] as {
      template: { spec: Record<'containers' | 'initContainers', { resources?: unknown }[]> };
    };
    for (const { resources } of [...template.spec.initContainers, ...template.spec.containers])
      expect(resources).toEqual({ limits: { memory: '1Gi' } });
  });
});
