import { isDeepStrictEqual } from 'node:util';
import { freshNamespace, kubectl, mustKubectl, until } from '../../../cluster';
import { configuration, Home, hubSecrets, secret, type Stored } from '../../../cluster/home';
import { idleHub, nowhere } from '../../../cluster/idle-hub';
import { oneOfThree } from '../../../cluster/one-of-three';
import { startTestOperator, type TestOperator } from '../../../cluster/operator';

// The effect of each field of a Hub on its StatefulSet. The pod is never scheduled; running.test.ts tests
// running pods.

interface Template {
  readonly metadata: {
    readonly labels: Record<string, string>;
    readonly annotations: Record<string, string>;
  };
  readonly spec: Record<string, unknown> & {
    readonly containers: Container[];
    readonly initContainers: Container[];
  };
}

type Container = Record<string, unknown> & { readonly name: string };

let home: Home;
let operator: TestOperator;

beforeAll(async () => {
  home = new Home(await freshNamespace('workload'));
  operator = await startTestOperator(home.namespace);
  await home.apply(idleHub('villa'), configuration('villa'));
  await until('the StatefulSet is made', () => home.exists('statefulset', 'villa'));
});

const set = () => home.get('statefulset', 'villa');
const templateOf = (object: Stored) => object.spec['template'] as Template;
const template = async () => templateOf(await set());
const hubContainer = ({ spec }: Template) => spec.containers.find(({ name }) => name === 'hub')!;
const everyContainer = ({ spec }: Template) => [...spec.initContainers, ...spec.containers];

/** Waits until the template has the expected value. The error shows the last value. */
const becomes = (read: (template: Template) => unknown, expected: unknown) =>
  until('the pod template is as expected', async () => {
    const seen = read(await template());
    if (isDeepStrictEqual(seen, expected)) return true;
    throw new Error(JSON.stringify(seen));
  });

/**
 * Replaces the podTemplate in one write. A merge patch would need two, and on a busy machine the pod could
 * start in between.
 */
const replacePodTemplate = (value: object) =>
  mustKubectl(
    [
      'patch',
      'hub',
      'villa',
      '--type=json',
      `--patch=${JSON.stringify([{ op: 'add', path: '/spec/podTemplate', value }])}`,
    ],
    { namespace: home.namespace },
  );

/** Returns the generated objects by content, without the status, which other controllers write. */
const generated = async () =>
  (await home.list('persistentvolumeclaim,statefulset,service,configmap')).map(
    ({ kind, metadata, spec, data }) => [
      kind,
      metadata.name,
      metadata.annotations,
      metadata.generation,
      spec,
      data,
    ],
  );

/** Returns the status of the Hub without the report of a dry run. */
const statusBesideReady = async () => {
  const { conditions = [], ...status } = (await home.get('hub', 'villa')).status ?? {};
  const reported = ['Ready', 'Reconciling', 'Stalled'];
  return { ...status, conditions: conditions.filter(({ type }) => !reported.includes(type)) };
};

const refused = async (words: RegExp) => {
  const { message } = await home.ready('hub', 'villa', { status: 'False', reason: 'InvalidSpec' });
  expect(message).toMatch(words);
  expect(await home.condition('hub', 'villa', 'Stalled')).toMatchObject({ status: 'True' });
};

const everyImage = (image: string) =>
  ['prepare-config', 'unban-operator-ip', 'hub'].map((name) => [name, image]);
const imagesOf = (t: Template) => everyContainer(t).map(({ name, image }) => [name, image]);

test('without a podTemplate a hub has time to start and to stop, and no right in the cluster', async () => {
  // Must run before any other test changes the template.
  const { spec } = await template();
  expect(spec).toMatchObject({ automountServiceAccountToken: false, enableServiceLinks: false });
  // "One replica, grace period of at least 240 s". The startup probe must allow a database migration, which
  // may take most of an hour.
  expect(spec['terminationGracePeriodSeconds']).toBeGreaterThanOrEqual(240);
  expect((await set()).spec['replicas']).toBe(1);
  const { startupProbe, readinessProbe, livenessProbe } = hubContainer({
    spec,
  } as Template) as unknown as Record<
    'startupProbe' | 'readinessProbe' | 'livenessProbe',
    { periodSeconds: number; failureThreshold: number; exec: { command: string[] } }
  >;
  expect(startupProbe.periodSeconds * startupProbe.failureThreshold).toBeGreaterThanOrEqual(3_600);
  for (const probe of [startupProbe, readinessProbe, livenessProbe])
    expect(probe.exec.command).toContain('8123');
});

test('a version that is a digest names every image by it', async () => {
  const digest = `sha256:${'ab'.repeat(32)}`;
  await home.change('hub', 'villa', { version: digest });
  await becomes(imagesOf, everyImage(`ghcr.io/home-assistant/home-assistant@${digest}`));
});

describe('fields that become a part of the pod, and are removed again', () => {
  const fields: Record<string, [unknown, (template: Template) => unknown, unknown, unknown]> = {
    image: [
      'example.org:5000/own/hub',
      imagesOf,
      everyImage('example.org:5000/own/hub:2027.1.0'),
      everyImage('ghcr.io/home-assistant/home-assistant:2027.1.0'),
    ],
    imagePullPolicy: [
      'Never',
      (t) => everyContainer(t).map((each) => each['imagePullPolicy']),
      Array(3).fill('Never'),
      Array(3).fill('IfNotPresent'),
    ],
    imagePullSecrets: [
      [{ name: 'registry' }],
      (t) => t.spec['imagePullSecrets'],
      [{ name: 'registry' }],
      undefined,
    ],
    timezone: [
      'Europe/Vienna',
      (t) => hubContainer(t)['env'],
      [{ name: 'TZ', value: 'Europe/Vienna' }],
      [{ name: 'TZ', value: 'UTC' }],
    ],
    resources: [
      { limits: { memory: '1024Mi', 'example.org/stick': 1 }, requests: { cpu: '1000m' } },
      (t) => hubContainer(t)['resources'],
      { limits: { memory: '1Gi', 'example.org/stick': '1' }, requests: { cpu: '1' } },
      {},
    ],
    hostNetwork: [
      true,
      (t) => [t.spec['hostNetwork'], t.spec['dnsPolicy']],
      [true, 'ClusterFirstWithHostNet'],
      [undefined, 'ClusterFirst'],
    ],
  };
  const names = Object.keys(fields);

  beforeAll(() => {
    const expected = Object.fromEntries(names.map((name) => [name, fields[name]![0]]));
    return home.change('hub', 'villa', { version: '2027.1.0', ...expected });
  });

  test.each(names)('%s', (name) => becomes(fields[name]![1], fields[name]![2]));

  describe('after they are removed', () => {
    beforeAll(() => home.change('hub', 'villa', Object.fromEntries(names.map((name) => [name, null]))));

    test.each(names)('%s', (name) => becomes(fields[name]![1], fields[name]![3]));
  });
});

test('podTemplate is merged last, by Kubernetes’ merge keys, and removed parts disappear again', async () => {
  const before = await template();
  const podTemplate = nowhere({
    metadata: { labels: { floor: 'first' }, annotations: { 'example.org/scrape': 'true' } },
    spec: {
      terminationGracePeriodSeconds: 300,
      tolerations: [{ key: 'edge', operator: 'Exists' }],
      securityContext: { fsGroup: 1000 },
      imagePullSecrets: [{ name: 'registry' }],
      volumes: [{ name: 'media', emptyDir: {} }],
      initContainers: [{ name: 'fetch', image: 'example.org/fetch' }],
      containers: [
        {
          name: 'hub',
          env: [
            { name: 'TZ', value: 'Asia/Tokyo' },
            { name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
          ],
          ports: [{ name: 'homekit', containerPort: 21063 }],
          volumeMounts: [{ name: 'media', mountPath: '/media' }],
          livenessProbe: { tcpSocket: { port: 'http' } },
          resources: { limits: { memory: '512Mi' } },
        },
        { name: 'sidecar', image: 'example.org/sidecar' },
      ],
    },
  });
  await home.change('hub', 'villa', { podTemplate });
  await becomes(({ spec }) => spec.containers.map(({ name }) => name), ['hub', 'sidecar']);
  const { metadata, spec } = await template();
  expect(metadata.labels).toMatchObject({ floor: 'first', ...before.metadata.labels });
  expect(metadata.annotations).toMatchObject({
    'example.org/scrape': 'true',
    ...before.metadata.annotations,
  });
  expect(spec).toMatchObject({
    terminationGracePeriodSeconds: 300,
    tolerations: [{ key: 'edge', operator: 'Exists' }],
  });
  // Objects are merged field by field, so the operator's fields stay.
  expect(spec['securityContext']).toEqual({ fsGroup: 1000, seccompProfile: { type: 'RuntimeDefault' } });
  expect(spec.initContainers.map(({ name }) => name)).toEqual([
    'prepare-config',
    'unban-operator-ip',
    'fetch',
  ]);
  const hub = hubContainer({ metadata, spec });
  expect(hub['env']).toEqual([
    { name: 'TZ', value: 'Asia/Tokyo' },
    { name: 'NODE', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'spec.nodeName' } } },
  ]);
  expect(hub['ports']).toMatchObject([{ containerPort: 8123 }, { containerPort: 21063 }]);
  expect((hub['volumeMounts'] as { mountPath: string }[]).map(({ mountPath }) => mountPath)).toEqual([
    '/config',
    '/hub-operator/configuration',
    '/hub-operator/secrets',
    '/hub-operator/delivery',
    '/hub-operator/configuration-parts',
    '/media',
  ]);
  expect(hub['livenessProbe']).toMatchObject({ tcpSocket: { port: 'http' }, periodSeconds: 30 });
  expect(hub['livenessProbe']).not.toHaveProperty('exec');
  expect(hub['readinessProbe']).toHaveProperty('exec');

  await replacePodTemplate(nowhere());
  await becomes((now) => now, before);
});

test.each<[string, object, RegExp]>([
  [
    'a field that pods do not have',
    { spec: { priorityy: 1 } },
    /spec.template.spec.priorityy: field not declared in schema/,
  ],
  [
    'a value that the API server refuses',
    { spec: { restartPolicy: 'Never' } },
    /spec.template.spec.restartPolicy: Unsupported value: "Never"/,
  ],
  [
    'two handlers of one probe',
    {
      spec: {
        containers: [{ name: 'hub', livenessProbe: { exec: { command: ['true'] }, tcpSocket: { port: 1 } } }],
      },
    },
    /may not specify more than 1 handler type/,
  ],
  [
    'a container without a name',
    { spec: { containers: [{ image: 'x' }] } },
    /^spec.podTemplate.spec.containers\[0\]: needs name/,
  ],
  [
    'the hub without its volume',
    { spec: { containers: [{ name: 'hub', volumeMounts: [{ name: 'media', mountPath: '/config' }] }] } },
    /spec.containers\[hub\].volumeMounts\[\/config\].name, which the operator needs/,
  ],
  [
    'no configuration check',
    { spec: { initContainers: [{ name: 'prepare-config', $patch: 'delete' }] } },
    /spec.initContainers\[prepare-config\], which/,
  ],
  [
    'other labels than the StatefulSet selects',
    { metadata: { labels: { 'app.kubernetes.io/instance': 'x' } } },
    /metadata.labels.app.kubernetes.io\/instance, which/,
  ],
])('podTemplate: %s is refused, and nothing is touched', async (_, part, words) => {
  const before = await set();
  await replacePodTemplate(nowhere(part));
  await refused(words);
  const after = await set();
  expect(after.metadata.generation).toBe(before.metadata.generation);
  expect(templateOf(after)).toEqual(templateOf(before));
  await replacePodTemplate(nowhere());
  await home.ready('hub', 'villa', { status: 'False', reason: 'PodNotReady' });
});

test('kubectl rollout restart is kept, and so are the labels and annotations of other clients', async () => {
  const ours = await template();
  expect(
    await kubectl(['rollout', 'restart', 'statefulset/villa'], { namespace: home.namespace }),
  ).toMatchObject({ code: 0 });
  await home.annotate('statefulset', 'villa', 'example.org/team=home');
  const restarted = (await template()).metadata.annotations['kubectl.kubernetes.io/restartedAt'];
  expect(restarted).toMatch(/^20/);
  await home.change('hub', 'villa', { timezone: 'Europe/Rome' });
  await becomes((t) => hubContainer(t)['env'], [{ name: 'TZ', value: 'Europe/Rome' }]);
  const after = await set();
  expect(templateOf(after).metadata.annotations).toEqual({
    ...ours.metadata.annotations,
    'kubectl.kubernetes.io/restartedAt': restarted,
  });
  expect(after.metadata.annotations).toMatchObject({ 'example.org/team': 'home' });
});

test('changes by other clients to generated objects are reverted', async () => {
  const before = await template();
  const patch = JSON.stringify([
    { op: 'replace', path: '/spec/template/spec/containers/0/image', value: 'example.org/other' },
  ]);
  expect(
    await kubectl(['patch', 'statefulset', 'villa', '--type=json', `--patch=${patch}`], {
      namespace: home.namespace,
    }),
  ).toMatchObject({ code: 0 });
  await becomes((t) => t, before);
});

test('an unchanged Hub writes nothing', async () => {
  // The API server normalizes these values, so that they never look equal to the desired ones.
  await home.change('hub', 'villa', { resources: { requests: { cpu: '1000m', memory: '1024Mi' } } });
  await becomes((t) => hubContainer(t)['resources'], { requests: { cpu: '1', memory: '1Gi' } });
  await operator.touch('Hub', 'villa');
  const before = await generated();
  const patches = () => operator.metric('rest_client_requests_total', 'method="PATCH"');
  // The condition may change in the meantime because of the scheduler.
  await oneOfThree(
    async () => {
      const sent = await patches();
      await operator.touch('Hub', 'villa');
      return (await patches()) - sent;
    },
    (count) => count === 0,
  );
  expect(await generated()).toEqual(before);
});

test('suspend: nothing is changed until it ends', async () => {
  const before = await set();
  await home.change('hub', 'villa', { suspend: true, timezone: 'Asia/Tokyo' });
  await until(
    'it is suspended',
    async () => (await home.condition('hub', 'villa', 'Suspended'))?.status === 'True',
  );
  expect((await set()).metadata.generation).toBe(before.metadata.generation);
  await home.change('hub', 'villa', { suspend: false });
  await becomes((t) => hubContainer(t)['env'], [{ name: 'TZ', value: 'Asia/Tokyo' }]);
  await until('it is not suspended', async () => {
    const { status, metadata } = await home.get('hub', 'villa');
    const types = status?.conditions?.map(({ type }) => type);
    return status?.['observedGeneration'] === metadata.generation && !types!.includes('Suspended');
  });
});

/**
 * Returns the annotation of the pod template that matches the generated ConfigMap, as soon as that contains
 * these words.
 */
async function restartHashOf(words: string): Promise<string> {
  return until(`the configuration has ${words}`, async () => {
    const { data, metadata } = await home.get('configmap', 'villa-configuration');
    return (
      data!['configuration.yaml']!.includes(words) && metadata.annotations?.['hub-operator.dev/restart-hash']
    );
  });
}

// On a busy machine two changes may be further apart than the debounce, which makes two rollouts.
test('changes that follow each other at once are one rollout', async () => {
  await oneOfThree(
    async (attempt) => {
      const { generation } = (await set()).metadata;
      const hostNetwork = attempt % 2 === 1;
      const [zone, level] = [
        ['Europe/Madrid', 'Europe/Paris', 'Europe/Vienna'][attempt - 1],
        ['info', 'debug', 'error'][attempt - 1],
      ];
      await Promise.all([
        home.change('hub', 'villa', { timezone: zone }),
        home.change('hub', 'villa', { hostNetwork }),
        home.change('hubconfiguration', 'villa', { configuration: `logger:\n  default: ${level}\n` }),
      ]);
      await becomes(
        (t) => [hubContainer(t)['env'], t.spec['hostNetwork'] ?? false],
        [[{ name: 'TZ', value: zone }], hostNetwork],
      );
      const hash = await restartHashOf(`default: ${level}`);
      await becomes((t) => t.metadata.annotations['hub-operator.dev/config-hash'], hash);
      await operator.calm();
      return (await set()).metadata.generation - generation;
    },
    (rollouts) => rollouts === 1,
  );
  await home.change('hub', 'villa', { timezone: 'Europe/Oslo', hostNetwork: true });
  await becomes(
    (t) => [hubContainer(t)['env'], t.spec['hostNetwork']],
    [[{ name: 'TZ', value: 'Europe/Oslo' }], true],
  );
});

test('secrets and configuration that change together cause one rollout, and both are reported', async () => {
  await oneOfThree(
    async (attempt) => {
      const { generation } = (await set()).metadata;
      const before = (await home.get('hub', 'villa')).status?.['secretsHash'];
      await home.apply(
        secret('words', { word: `open sesame ${attempt}` }),
        hubSecrets('villa', 'villa', { secretRefs: [{ name: 'words' }] }),
        configuration('villa', `homeassistant:\n  name: !secret word\n  elevation: ${attempt}\n`),
      );
      const hash = await until('the secrets are generated', async () => {
        const { secretsHash } = (await home.get('hubsecrets', 'villa')).status ?? {};
        return secretsHash !== before && (secretsHash as string | undefined);
      });
      await home.ready('hubsecrets', 'villa');
      await becomes((t) => t.metadata.annotations['hub-operator.dev/secrets-hash'], hash);
      const configHash = await restartHashOf(`elevation: ${attempt}`);
      await becomes((t) => t.metadata.annotations['hub-operator.dev/config-hash'], configHash);
      await until('both are told', async () => {
        const { status } = await home.get('hub', 'villa');
        return status?.['configHash'] === configHash && status?.['secretsHash'] === hash;
      });
      await operator.calm();
      return (await set()).metadata.generation - generation;
    },
    (rollouts) => rollouts === 1,
  );
});

test('dry-run: the pending changes are reported, and nothing is done', async () => {
  await operator.calm();
  const before = await generated();
  const observed = await statusBesideReady();
  await home.annotate('hub', 'villa', 'hub-operator.dev/dry-run=true');
  await home.change('hub', 'villa', {
    timezone: 'America/Lima',
    service: { port: 80 },
    ingress: {
      host: 'home.example.org',
      tls: { enabled: true, issuerRef: { name: 'letsencrypt' } },
    },
  });
  const { message } = await home.ready('hub', 'villa', { status: 'False', reason: 'DryRun' });
  expect(message).toMatch(
    /StatefulSet villa would be changed: .*env\[0\].value "Europe\/Oslo" → "America\/Lima"/,
  );
  expect(message).toMatch(/Service villa would be changed: spec.ports\[0\].port 8123 → 80\./);
  expect(message).toMatch(/Ingress villa would be created\./);
  expect(await generated()).toEqual(before);
  expect(await statusBesideReady()).toEqual(observed);
  expect(await home.exists('ingress', 'villa')).toBe(false);
  await home.change('hub', 'villa', { timezone: 'Europe/Oslo', service: null, ingress: null });
  await home.ready('hub', 'villa', { status: 'True', reason: 'DryRun' });
  await home.annotate('hub', 'villa', 'hub-operator.dev/dry-run-');
  await home.ready('hub', 'villa', { status: 'False', reason: 'PodNotReady' });
});

test('the steps are logged in the order of the specification', async () => {
  const lines = (await operator.logLines('"step":"')) as { reconcileID: string; step: string }[];
  const reconciles = new Map<string, string[]>();
  for (const { reconcileID, step } of lines)
    reconciles.set(reconcileID, [...(reconciles.get(reconcileID) ?? []), step]);
  // The last reconcile may not have ended, and a dry run has no bootstrap.
  const complete = [...reconciles.values()].filter(
    (steps) => steps.includes('bootstrap') && steps.includes('status'),
  );
  expect(complete.length).toBeGreaterThan(0);
  for (const steps of complete)
    expect(steps).toEqual([
      // The ConfigMaps come first, because a start of the pod that a later step causes reads them.
      'configuration',
      'PersistentVolumeClaim',
      'StatefulSet',
      'Service',
      'Ingress',
      'HTTPRoute',
      'NetworkPolicy',
      'bootstrap',
      'status',
    ]);
});

test('an object of another owner with the desired name is unchanged, and the condition names it', async () => {
  const foreign = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'cabin' },
    spec: { ports: [{ port: 80 }] },
  };
  await home.apply(foreign);
  const before = await home.get('service', 'cabin');
  await home.apply(idleHub('cabin'), configuration('cabin'));
  const { message } = await home.ready('hub', 'cabin', { status: 'False', reason: 'NameConflict' });
  expect(message).toMatch(/Service .*cabin exists and does not belong to Hub cabin/);
  expect((await home.get('service', 'cabin')).metadata.resourceVersion).toBe(before.metadata.resourceVersion);
  await home.delete('service', 'cabin');
  await home.delete('hub', 'cabin');
  await until('all of it is gone', async () => !(await home.exists('statefulset', 'cabin')));
});
