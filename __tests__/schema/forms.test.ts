import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { App } from 'cdk8s';
import { WatchedNamespace } from '../../manifests/access';
import { Installation } from '../../manifests/installation';
import {
  defaultSettings,
  namespaced,
  type SynthSettings,
  webhookCertificates,
} from '../../manifests/settings';
import { freshNamespace, mustKubectl } from '../cluster';
import { CHART, helm, HELM_BUILD_TIMEOUT, type Manifest, parsed, rendered } from '../cluster/helm';
import { documentedYaml } from '../integration/docs/documented-commands';
import { expectStrictDryRun, expectStrictDryRunOf } from './strict-dry-run';
import { readManifests } from '../../manifests/read-manifests';

// All forms in which the operator can be installed, read by the programs that users install them with.

const install = readManifests('dist/install.yaml') as Manifest[];
const KEEP = 'helm.sh/resource-policy';

/** Returns objects by kind, namespace and name. CRDs of the chart lose the annotation that keeps them. */
function byName(manifests: readonly Manifest[]): Record<string, unknown> {
  return Object.fromEntries(
    manifests.map((manifest) => {
      const { annotations, ...metadata } = manifest.metadata;
      const { [KEEP]: _, ...others } = annotations ?? {};
      const isAnnotated = Object.keys(others).length > 0;
      const name = [manifest.kind, metadata.name, metadata.namespace ?? ''].join('/');
      return [name, { ...manifest, metadata: { ...metadata, ...(isAnnotated && { annotations: others }) } }];
    }),
  );
}

/**
 * Removes the intended differences between the chart and the synth: Helm installs into an existing namespace,
 * labels its objects, knows their names, and has a test.
 */
function comparable(manifests: readonly Manifest[], watchNamespaces: readonly string[] = []) {
  const others = manifests.filter(
    ({ kind, metadata }) => kind !== 'Namespace' && metadata.annotations?.['helm.sh/hook'] === undefined,
  );
  const labels = /"(app.kubernetes.io\/managed-by":"Helm|helm.sh\/chart":"[^"]*)",?/g;
  const text = JSON.stringify(others)
    .replaceAll(labels, '')
    .replaceAll(/,\}/g, '}')
    .replace('[^:]+:(.+-)?hub-operator(-.+)?', 'hub-operator:hub-operator')
    .replace('"valueFrom":{"fieldRef":{"fieldPath":"spec.serviceAccountName"}}', '"value":"hub-operator"');
  const objects = JSON.parse(text) as (Manifest & { webhooks?: object[] })[];
  const values = [...watchNamespaces];
  const namespaceSelector = {
    matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'In', values }],
  };
  for (const { webhooks } of values.length > 0 ? objects : [])
    for (const webhook of webhooks ?? []) Object.assign(webhook, { namespaceSelector });
  return byName(objects);
}

const kustomized = async (folder: string) => parsed(await mustKubectl(['kustomize', folder]));

/** Sorts environment variables, because a kustomize patch moves the variable that it changes to the front. */
function withSortedEnvironment(manifests: readonly Manifest[]): Manifest[] {
  return manifests.map((manifest) => {
    if (manifest.kind !== 'Deployment') return manifest;
    const copy = structuredClone(manifest) as Manifest & {
      spec: { template: { spec: { containers: { env: { name: string }[] }[] } } };
    };
    for (const { env } of copy.spec.template.spec.containers) env.sort((a, b) => (a.name < b.name ? -1 : 1));
    return copy;
  });
}

/**
 * An operator for some namespaces cannot make a certificate itself, so it is equal to one without a webhook.
 */
const differing = [...webhookCertificates, undefined].flatMap((webhook) =>
  [false, true].flatMap((monitoring): SynthSettings[] => {
    const wide: SynthSettings = { ...defaultSettings, webhook, monitoring };
    const narrow = { ...namespaced(wide), watchNamespaces: ['home', 'garden'] };
    return webhook === 'self-signed' ? [wide] : [wide, narrow];
  }),
);
const described = differing.map((settings): [string, SynthSettings] => [
  `scope ${settings.scope}, webhook ${settings.webhook ?? 'none'}, monitoring ${settings.monitoring}`,
  settings,
]);

describe('kubectl', () => {
  test.each([
    ['dist', 'install'],
    ['dist/namespaced', 'install'],
    ['dist/watched-namespace', 'roles'],
  ])('kustomize makes of %s what is in its %s.yaml', async (folder, file) => {
    expect(byName(await kustomized(folder))).toEqual(
      byName(readManifests(`${folder}/${file}.yaml`) as Manifest[]),
    );
  });

  test('kustomize may set another namespace and a prefix: no name of the others is left, and the webhook is reached', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'renamed-'));
    try {
      await symlink(resolve('.'), join(folder, 'hub-operator'));
      await mkdir(join(folder, 'mine'));
      const text = 'resources: [../hub-operator/dist]\nnamespace: foo\nnamePrefix: x-\n';
      await writeFile(join(folder, 'mine', 'kustomization.yaml'), text);
      const made = await kustomized(join(folder, 'mine'));
      expect(JSON.stringify(made)).not.toContain('hub-operator:hub-operator');
      const found = (kind: string, name: string) => {
        const object = made.find((each) => each.kind === kind && each.metadata.name === name);
        if (!object) throw new Error(`there is no ${kind} ${name}`);
        return object;
      };
      // Without its binding the policy has no effect, and Kubernetes reports no error.
      found('ValidatingAdmissionPolicy', 'x-hub-operator');
      expect(found('ValidatingAdmissionPolicyBinding', 'x-hub-operator')).toMatchObject({
        spec: { policyName: 'x-hub-operator' },
      });
      const service = { name: found('Service', 'x-hub-operator-webhook').metadata.name, namespace: 'foo' };
      // The operator makes its certificate for this Service, and finds the registration by the name of its
      // account.
      expect(found('ValidatingWebhookConfiguration', 'x-hub-operator')).toMatchObject({
        webhooks: [{ clientConfig: { service } }],
      });
      const account = { serviceAccountName: found('ServiceAccount', 'x-hub-operator').metadata.name };
      const env = [
        { name: 'WEBHOOK_CONFIGURATION', valueFrom: { fieldRef: { fieldPath: 'spec.serviceAccountName' } } },
      ];
      expect(found('Deployment', 'x-hub-operator')).toMatchObject({
        spec: {
          template: { spec: { ...account, containers: [{ env: expect.arrayContaining(env) as unknown }] } },
        },
      });
      expect(found('ClusterRole', 'x-hub-operator-webhook')).toMatchObject({
        rules: expect.arrayContaining([
          expect.objectContaining({ resourceNames: ['x-hub-operator'] }),
        ]) as unknown,
      });
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test('the kustomizations of limit-access.md change the image and the namespaces, and nothing else', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'fleet-'));
    try {
      await symlink(resolve('.'), join(folder, 'hub-operator'));
      await mkdir(join(folder, 'fleet', 'home'), { recursive: true });
      const write = (path: string, containing: string) =>
        writeFile(
          join(folder, 'fleet', path, 'kustomization.yaml'),
          documentedYaml('docs/how-to/limit-access.md', containing).replace('REGISTRY', 'registry.example'),
        );
      await Promise.all([write('', 'WATCH_NAMESPACES'), write('home', 'namespace: home')]);
      const settings: SynthSettings = {
        ...namespaced(defaultSettings),
        image: 'registry.example/hub-operator:0.1.0',
        watchNamespaces: ['home'],
      };
      const rights = new WatchedNamespace(new App(), settings.namespace).toJson() as Manifest[];
      const expected = [
        ...(new Installation(new App(), 'install', settings).toJson() as Manifest[]),
        ...rights.map((each) => ({ ...each, metadata: { ...each.metadata, namespace: 'home' } })),
      ];
      const made = await kustomized(join(folder, 'fleet'));
      expect(byName(withSortedEnvironment(made))).toEqual(byName(withSortedEnvironment(expected)));
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe('the chart', () => {
  beforeAll(() => helm('version'), HELM_BUILD_TIMEOUT);

  test('has no fault that helm lint knows', async () => {
    await expect(helm('lint', '--strict', CHART, '--kube-version', '1.36.0')).resolves.toContain(
      '0 chart(s) failed',
    );
  });

  test('is with its default values what is in install.yaml, but for the namespace', async () => {
    expect(comparable(await rendered('hub-operator'))).toEqual(comparable(install));
  });

  test.each(described)('makes the same objects as the synth with %s', async (_, settings) => {
    const rights = new WatchedNamespace(new App(), settings.namespace).toJson() as Manifest[];
    const expected = [
      ...(new Installation(new App(), 'install', settings).toJson() as Manifest[]),
      ...settings.watchNamespaces.flatMap((namespace) =>
        rights.map((each) => ({ ...each, metadata: { ...each.metadata, namespace } })),
      ),
    ];
    const values = {
      watchNamespaces: settings.watchNamespaces,
      'webhook.certificate': settings.webhook ?? 'none',
      'monitoring.enabled': settings.monitoring,
    };
    expect(comparable(await rendered('hub-operator', values))).toEqual(
      comparable(expected, settings.watchNamespaces),
    );
  });

  test('keeps every CRD when it is uninstalled, and upgrades it', async () => {
    const definitions = (await rendered('hub-operator')).filter(
      ({ kind }) => kind === 'CustomResourceDefinition',
    );
    expect(definitions.length).toBe(install.filter(({ kind }) => kind === 'CustomResourceDefinition').length);
    for (const { metadata } of definitions) expect(metadata.annotations).toMatchObject({ [KEEP]: 'keep' });
  });

  test('adds nothing to the roles of the cluster when the value says so', async () => {
    const roles = (await rendered('hub-operator', { aggregateRoles: false })).filter(({ metadata }) =>
      ['hub-operator-view', 'hub-operator-edit', 'hub-operator-admin'].includes(metadata.name),
    );
    expect(roles).toHaveLength(3);
    expect(JSON.stringify(roles)).not.toContain('aggregate-to');
  });

  test('leaves the CRDs out when they are installed by other means', async () => {
    const kinds = (await rendered('hub-operator', { 'crds.install': false })).map(({ kind }) => kind);
    expect(kinds).not.toContain('CustomResourceDefinition');
    expect(kinds).toContain('Deployment');
  });

  test('is without a webhook where the operator has no rights in the whole cluster', async () => {
    const manifests = await rendered('hub-operator', { watchNamespaces: ['home'] });
    // The admission policy covers the webhook where there is one.
    const others = new Set(['CustomResourceDefinition', 'ValidatingAdmissionPolicy']);
    expect(JSON.stringify(manifests.filter(({ kind }) => !others.has(kind)))).not.toMatch(/webhook/i);
    expect(manifests.map(({ kind }) => kind)).not.toContain('ClusterRoleBinding');
  });

  test.each([
    ['replica', 2, /replica/],
    ['webhook.certificate', 'self', /webhook.certificate/],
    ['settings.LOG_LEVLE', 'debug', /LOG_LEVLE/],
    ['image.digest', 'sha256:12', /image.digest/],
    ['watchNamespaces', 'home', /watchNamespaces/],
    ['env', [{ name: 'POD_IP', value: '::1' }], /env.0.name/],
    ['env', [{ name: 'LOG_LEVEL', value: 'debug' }], /env.0.name/],
    ['podLabels', { 'app.kubernetes.io/version': '1' }, /podLabels/],
    ['commonLabels', { 'helm.sh/chart': '1' }, /commonLabels/],
    ['monitoring.labels', { 'app.kubernetes.io/name': 'x' }, /monitoring.labels/],
    ['webhook.port', 0, /webhook.port/],
  ])('refuses %s=%j by its name', async (path, value, name) => {
    await expect(rendered('hub-operator', { [path]: value })).rejects.toThrow(name);
  });
});

describe('the API server accepts without a warning', () => {
  test.each(['dist', 'dist/namespaced', 'dist/watched-namespace'])('the kustomization in %s', (folder) =>
    expectStrictDryRun(folder, '-k'),
  );

  test('the chart with its default values', async () => {
    await expectStrictDryRunOf(await rendered(await freshNamespace('chart')));
  });

  test('the chart with every value changed, in some namespaces', async () => {
    const [own, home, garden] = await Promise.all(['chart', 'home', 'garden'].map(freshNamespace));
    const digest = `sha256:${randomBytes(32).toString('hex')}`;
    const manifests = await rendered(own!, {
      image: { repository: 'registry.example:5000/operator', tag: 'ignored', digest, pullPolicy: 'Always' },
      imagePullSecrets: [{ name: 'registry' }],
      replicas: 2,
      watchNamespaces: [home, garden],
      webhook: { certificate: 'cert-manager', port: 10250, timeoutSeconds: 5 },
      serviceAccount: { create: true, name: 'worker', annotations: { 'example.org/role': 'hubs' } },
      fullnameOverride: 'household',
      commonLabels: { owner: 'me', team: 'all' },
      podSecurityContext: { runAsNonRoot: null, runAsUser: 1000 },
      securityContext: { seccompProfile: null },
      extraVolumes: [{ name: 'authorities', configMap: { name: 'authorities' } }],
      extraVolumeMounts: [{ name: 'authorities', mountPath: '/authorities' }],
      monitoring: {
        enabled: true,
        labels: { release: 'kube-prometheus-stack' },
        namespace: garden,
        interval: '1m',
      },
      'admissionPolicy.enabled': false,
      'networkPolicy.enabled': false,
      'podDisruptionBudget.enabled': false,
      resources: { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: 2, memory: '2Gi' } },
      settings: { LOG_LEVEL: 'debug', WORKERS: 8, LEADER_ELECTION: true },
      env: [{ name: 'HTTPS_PROXY', value: 'http://proxy:3128' }],
      podAnnotations: { 'example.org/team': '1' },
      podLabels: { team: 'home' },
      priorityClassName: 'system-cluster-critical',
      nodeSelector: { 'kubernetes.io/arch': 'arm64' },
      tolerations: [{ key: 'board', operator: 'Exists' }],
      affinity: {
        nodeAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 1, preference: { matchExpressions: [{ key: 'board', operator: 'Exists' }] } },
          ],
        },
      },
    });
    // This cluster has no CRDs of cert-manager and of the Prometheus operator.
    const foreign = /^(cert-manager|monitoring\.coreos)\.\w+\//;
    await expectStrictDryRunOf(manifests.filter(({ apiVersion }) => !foreign.test(apiVersion)));
    const found = (kind: string) => manifests.find((each) => each.kind === kind)!;
    for (const kind of ['ValidatingAdmissionPolicy', 'NetworkPolicy', 'PodDisruptionBudget'])
      expect(manifests.map((each) => each.kind)).not.toContain(kind);
    expect(found('ServiceAccount').metadata).toMatchObject({
      name: 'worker',
      annotations: { 'example.org/role': 'hubs' },
    });
    expect(found('RoleBinding')).toMatchObject({ subjects: [{ name: 'worker', namespace: own }] });
    expect(found('ValidatingWebhookConfiguration')).toMatchObject({
      metadata: { name: 'household' },
      webhooks: [{ timeoutSeconds: 5, clientConfig: { service: { name: 'household-webhook' } } }],
    });
    expect(found('ServiceMonitor')).toMatchObject({
      metadata: { namespace: garden, labels: { release: 'kube-prometheus-stack', owner: 'me' } },
      spec: { namespaceSelector: { matchNames: [own] }, endpoints: [{ interval: '1m' }] },
    });
    const deployment = found('Deployment');
    expect(deployment).toMatchObject({
      metadata: { name: 'household', namespace: own, labels: { owner: 'me', team: 'all' } },
      spec: {
        replicas: 2,
        template: {
          metadata: { labels: { owner: 'me', team: 'home' }, annotations: { 'example.org/team': '1' } },
          spec: {
            serviceAccountName: 'worker',
            securityContext: { runAsUser: 1000 },
            volumes: [{ name: 'authorities', configMap: { name: 'authorities' } }],
            imagePullSecrets: [{ name: 'registry' }],
            nodeSelector: { 'kubernetes.io/arch': 'arm64' },
            priorityClassName: 'system-cluster-critical',
            containers: [
              {
                image: `registry.example:5000/operator@${digest}`,
                imagePullPolicy: 'Always',
                ports: expect.arrayContaining([{ name: 'webhook', containerPort: 10250 }]) as unknown,
                volumeMounts: [{ name: 'authorities', mountPath: '/authorities' }],
                env: expect.arrayContaining([
                  { name: 'WATCH_NAMESPACES', value: `${home},${garden}` },
                  { name: 'WEBHOOK_PORT', value: '10250' },
                  { name: 'WORKERS', value: '8' },
                  { name: 'LEADER_ELECTION', value: 'true' },
                  { name: 'HTTPS_PROXY', value: 'http://proxy:3128' },
                ]) as unknown,
                resources: { limits: { memory: '2Gi' } },
              },
            ],
          },
        },
      },
    });
    expect(JSON.stringify(deployment)).not.toMatch(/runAsNonRoot":true,"runAsUser|seccompProfile/);
    const roles = manifests.filter(({ kind, metadata }) => kind === 'Role' && metadata.name === 'household');
    expect(roles.map(({ metadata }) => metadata.namespace)).toEqual([home, garden]);
  });
});
