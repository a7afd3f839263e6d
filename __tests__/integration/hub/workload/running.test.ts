import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freshNamespace, mustKubectl, until } from '../../../cluster';
import { forceReconcile } from '../../../cluster/forced-reconcile';
import { configuration, Home, type Stored } from '../../../cluster/home';
import { lightHub, lightPod, type ProgramEnvironment, programEnvironment } from '../../../cluster/light-hub';
import { ObjectHistory } from '../../../cluster/object-history';
import { startTestOperator, type TestOperator } from '../../../cluster/operator';

// The effect of a Hub's fields on a running pod, and the conditions of a pod that does not run. Most tests
// run a lightweight program in the pod; real-hub.test.ts tests the reports of the hub itself.

let home: Home;
let operator: TestOperator;

beforeAll(async () => {
  home = new Home(await freshNamespace('running'));
  operator = await startTestOperator(home.namespace);
});

const pod = (hub: string) => home.get('pod', `${hub}-0`);
const isReady = async (hub: string) =>
  (await pod(hub)).status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True');
const urlOf = async (hub: string) => String((await home.get('hub', hub)).status?.['url']);
const tells = (hub: string, expected: (answer: ProgramEnvironment) => unknown) =>
  until(`the program in ${hub} was started as expected`, async () => {
    const answer = await programEnvironment(await urlOf(hub));
    if (expected(answer)) return answer;
    throw new Error(
      JSON.stringify({ ...answer, env: { TZ: answer.env['TZ'], GREETING: answer.env['GREETING'] } }),
    );
  });
/** Retries, because the pod may just be replaced for another reason. */
const deletePod = (hub: string) =>
  until(`the pod of ${hub} is deleted`, async () => {
    await home.delete('pod', `${hub}-0`);
    return true;
  });
/** Waits for the message of the Hub about its pod. */
const says = (hub: string, words: RegExp) =>
  until(`Hub ${hub} says ${String(words)}`, async () => {
    const condition = await home.condition('hub', hub);
    if (condition?.status === 'False' && condition.reason === 'PodNotReady' && words.test(condition.message))
      return condition;
    throw new Error(JSON.stringify(condition));
  });

describe('a running pod', () => {
  const show = { name: 'SHOW_GREETING', value: '/media/greeting' };

  beforeAll(async () => {
    await home.apply(
      lightHub(
        'villa',
        { timezone: 'Asia/Tokyo' },
        {
          env: [{ name: 'GREETING', value: 'hello from $(TZ)' }, show],
          volumeMounts: [{ name: 'media', mountPath: '/media' }],
        },
        { volumes: [{ name: 'media', emptyDir: {} }], containers: [greeter] },
      ),
      configuration('villa'),
    );
    await until('the pod is ready', () => isReady('villa'));
  });

  const greeter = {
    name: 'greeter',
    image: 'example.org/greeter',
    command: [
      'python3',
      '-c',
      'import sys, pathlib, time; pathlib.Path(sys.argv[1]).write_text("from the sidecar"); time.sleep(1e6)',
      '/media/greeting',
    ],
    volumeMounts: [{ name: 'media', mountPath: '/media' }],
  };

  test('has the time zone, and what podTemplate adds', async () => {
    const answer = await tells('villa', () => true);
    expect(answer.env).toMatchObject({ TZ: 'Asia/Tokyo', GREETING: 'hello from Asia/Tokyo' });
    expect(answer.zone).toBe('+0900');
  });

  test('a change causes one rollout, and reaches the program', async () => {
    const before = await pod('villa');
    const pods = await ObjectHistory.of(home, 'pod', 'villa-0');
    const container = { env: [show], volumeMounts: [{ name: 'media', mountPath: '/media' }] };
    await home.change('hub', 'villa', {
      timezone: 'Europe/Athens',
      podTemplate: lightPod(container, { volumes: [{ name: 'media', emptyDir: {} }], containers: [greeter] }),
    });
    const answer = await tells(
      'villa',
      ({ env, files }) => env['TZ'] === 'Europe/Athens' && files['SHOW_GREETING'],
    );
    expect(answer.env).not.toHaveProperty('GREETING');
    expect(answer.files['SHOW_GREETING']).toBe('from the sidecar');
    await operator.calm(); // another rollout would come within the debounce
    const { uid } = (await pod('villa')).metadata;
    // The watch may be late, but its events up to this pod are complete.
    await pods.find('the present pod', ({ metadata }) => metadata.uid === uid && metadata);
    const uids = new Set(pods.states.map(({ metadata }) => metadata.uid));
    expect(uids).toEqual(new Set([before.metadata.uid, uid]));
  });

  test('a Service with another port still leads to the pod', async () => {
    const { uid } = (await pod('villa')).metadata;
    await home.change('hub', 'villa', { service: { port: 80 } });
    await until('the Service has its port', async () =>
      JSON.stringify((await home.get('service', 'villa')).spec).includes('"port":80'),
    );
    await until('an endpoint', async () => {
      const slices = (await home.list('endpointslices')) as readonly (Stored & object)[];
      const slice = slices.find(
        ({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === 'villa',
      );
      expect(slice).toMatchObject({
        ports: [{ port: 8123 }],
        endpoints: [{ targetRef: { name: 'villa-0' } }],
      });
      return true;
    });
    expect((await pod('villa')).metadata.uid).toBe(uid);
  });

  test('suspended, the pod keeps running', async () => {
    const { uid } = (await pod('villa')).metadata;
    await home.change('hub', 'villa', { suspend: true, timezone: 'UTC' });
    await until(
      'it is suspended',
      async () => (await home.condition('hub', 'villa', 'Suspended'))?.status === 'True',
    );
    expect((await pod('villa')).metadata.uid).toBe(uid);
    expect((await tells('villa', () => true)).env['TZ']).toBe('Europe/Athens');
  });

  test('a Hub whose HubConfiguration is deleted keeps its pod and its last content', async () => {
    await home.change('hub', 'villa', { suspend: false });
    await tells('villa', ({ env }) => env['TZ'] === 'UTC');
    await home.delete('hubconfiguration', 'villa');
    await until(
      'the ConfigMap is gone',
      async () => !(await home.exists('configmap', 'villa-configuration')),
    );
    const { uid } = (await pod('villa')).metadata;
    await forceReconcile(home, 'hub', 'villa');
    await operator.calm(); // longer than the debounce of a rollout
    expect((await pod('villa')).metadata.uid).toBe(uid);
    // A recreated pod also has the content.
    await deletePod('villa');
    await until(
      'it is recreated',
      async () => (await pod('villa')).metadata.uid !== uid && (await isReady('villa')),
    );
  });
});

describe('two hubs beside the next version of the operator', () => {
  const hubs = ['first', 'second'] as const;
  const uidsOf = () => Promise.all(hubs.map(async (hub) => (await pod(hub)).metadata.uid));

  beforeAll(async () => {
    for (const hub of hubs) await home.apply(lightHub(hub), configuration(hub));
    for (const hub of hubs) await until(`${hub} is ready`, () => isReady(hub));
    await operator.calm();
  });

  test('are not restarted by a restart of the operator', async () => {
    const before = await uidsOf();
    await operator.stop();
    await operator.start();
    await operator.calm();
    expect(await uidsOf()).toEqual(before);
  });

  test('are restarted once each where it has another pod template', async () => {
    await operator.stop();
    const before = await uidsOf();
    // Simulates a former version that had another value in one of the operator's fields.
    for (const hub of hubs)
      await mustKubectl([
        ...['patch', 'statefulset', hub, '-n', home.namespace, '--type=json', '-p'],
        '[{"op":"replace","path":"/spec/template/spec/terminationGracePeriodSeconds","value":1000}]',
      ]);
    for (const [index, hub] of hubs.entries())
      await until(
        `${hub} runs with the former template`,
        async () => (await pod(hub)).metadata.uid !== before[index] && (await isReady(hub)),
      );
    const former = await uidsOf();
    const histories = await Promise.all(hubs.map((hub) => ObjectHistory.of(home, 'pod', `${hub}-0`)));
    await operator.start();
    for (const [index, hub] of hubs.entries())
      await until(
        `${hub} runs with the present template`,
        async () => (await pod(hub)).metadata.uid !== former[index] && (await isReady(hub)),
      );
    await operator.calm();
    const present = await uidsOf();
    for (const [index, { states }] of histories.entries())
      expect([...new Set(states.map(({ metadata }) => metadata.uid))].sort()).toEqual(
        [former[index], present[index]].sort(),
      );
  });
});

test('the deletion of a claim under a running hub is reported, and the rest continues', async () => {
  // The pod on the next volume needs the configuration, since that volume has no copy of it.
  await home.apply(configuration('villa'));
  await until('it is generated', () => home.exists('configmap', 'villa-configuration'));
  const { uid } = (await home.get('pvc', 'villa-config')).metadata;
  await home.delete('pvc', 'villa-config', { wait: false });
  const told = await until('it is told', async () => {
    const seen = await home.condition('hub', 'villa', 'StorageReady');
    return seen?.reason === 'Mismatch' && seen;
  });
  expect(told).toMatchObject({
    status: 'False',
    message: expect.stringMatching(/^villa-config is being deleted.*the pod villa-0 ends: make a backup/),
  });
  await home.change('hub', 'villa', { service: { port: 8080 } });
  await until('the Service has its port', async () =>
    JSON.stringify((await home.get('service', 'villa')).spec).includes('"port":8080'),
  );
  expect((await home.condition('hub', 'villa'))?.reason).not.toBe('NameConflict');
  await deletePod('villa');
  await until('it has another volume', async () => {
    if ((await home.get('pvc', 'villa-config')).metadata.uid !== uid && (await isReady('villa'))) return true;
    throw new Error((await home.condition('hub', 'villa'))?.message);
  });
});

describe('a pod that does not run', () => {
  test('without a HubConfiguration the Hub waits, and nothing is started', async () => {
    await home.apply(lightHub('tent'));
    await home.ready('hub', 'tent', { status: 'False', reason: 'WaitingForConfiguration' });
    expect(await home.exists('statefulset', 'tent')).toBe(false);
    expect(await home.exists('persistentvolumeclaim', 'tent-config')).toBe(true);
    await home.delete('hub', 'tent');
  });

  test('the scheduler’s words, until the selector is corrected', async () => {
    await home.apply(lightHub('cabin', {}, {}, { nodeSelector: { disk: 'ssd' } }), configuration('cabin'));
    await says(
      'cabin',
      /^Pod cabin-0 cannot be scheduled: 0\/1 nodes are available: 1 node\(s\) didn't match/,
    );
    await until(
      'it is pending',
      async () => (await home.get('hub', 'cabin')).status?.['phase'] === 'Pending',
    );
    await home.change('hub', 'cabin', { podTemplate: { spec: { nodeSelector: null } } });
    await until('the pod is ready', () => isReady('cabin'));
  });

  test('the probe’s words, and probes can be replaced', async () => {
    const probe = { httpGet: { path: '/nothing-here', port: 'http' }, periodSeconds: 1 };
    await home.change('hub', 'cabin', { podTemplate: lightPod({ readinessProbe: probe }) });
    await says('cabin', /^Pod cabin-0 is starting: Unhealthy: Readiness probe failed: .*404/);
    await home.change('hub', 'cabin', {
      podTemplate: lightPod({ readinessProbe: { httpGet: null, tcpSocket: { port: 'http' } } }),
    });
    await until('the pod is ready', () => isReady('cabin'));
  });

  test('the termination message of the container', async () => {
    const command = ['python3', '-c', 'import sys; print("the disk is full"); sys.exit(3)'];
    await home.change('hub', 'cabin', { podTemplate: lightPod({ command }) });
    await says('cabin', /^Container hub ended with 3: the disk is full$/);
  });

  test('an init container’s words: those of the hub’s own check, or of the user’s container', async () => {
    const initContainers = [
      {
        name: 'fetch',
        image: 'x',
        command: ['python3', '-c', 'raise SystemExit("no network")'],
        terminationMessagePolicy: 'FallbackToLogsOnError',
      },
    ];
    await home.change('hub', 'cabin', { podTemplate: lightPod({}, { initContainers }) });
    await says('cabin', /^Container fetch ended with 1: no network/);
    await home.apply(lightHub('mill'), configuration('mill', 'homeassistant:\n  latitude: 999\n'));
    await says(
      'mill',
      /Container prepare-config ended with 1: The hub would not load this configuration:.*latitude/s,
    );
    await home.delete('hub', 'mill');
  });

  test('a volume that cannot be mounted', async () => {
    const volumes = [{ name: 'media', configMap: { name: 'nowhere' } }];
    await home.change('hub', 'cabin', { podTemplate: lightPod({}, { volumes }) });
    await says('cabin', /FailedMount: .*"media".*configmap "nowhere" not found/);
  });

  test('the kubelet’s message on an image that it cannot pull', async () => {
    // The sandbox pulls no images, so the test writes the kubelet's status on a pod that the sandbox ignores.
    await home.change('hub', 'cabin', {
      version: '1.2.3',
      podTemplate: lightPod({}, { schedulerName: 'absent' }),
    });
    const waiting = {
      reason: 'ImagePullBackOff',
      message: 'Back-off pulling image "ghcr.io/home-assistant/home-assistant:1.2.3"',
    };
    const status = {
      initContainerStatuses: [
        { name: 'prepare-config', image: '', imageID: '', ready: false, restartCount: 0, state: { waiting } },
      ],
    };
    await until('the pod is replaced', async () => (await pod('cabin')).spec['schedulerName'] === 'absent');
    await mustKubectl(
      [
        'patch',
        'pod',
        'cabin-0',
        '--subresource=status',
        '--type=merge',
        `--patch=${JSON.stringify({ status })}`,
      ],
      { namespace: home.namespace },
    );
    await says(
      'cabin',
      /^Container prepare-config: ImagePullBackOff: Back-off pulling image "ghcr.io\/home-assistant\/home-assistant:1.2.3"/,
    );
  });

  test('a pod that the API server refuses to create', async () => {
    await home.apply({
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'none' },
      spec: { hard: { pods: '0' } },
    });
    try {
      await until('the quota counts', async () => (await home.get('resourcequota', 'none')).status?.['hard']);
      await home.apply(lightHub('kiosk'), configuration('kiosk'));
      await says('kiosk', /^Pod kiosk-0 does not exist yet: FailedCreate: .*exceeded quota: none/);
    } finally {
      await home.delete('resourcequota', 'none');
    }
  });
});

test('files that existed on a claim are kept once', async () => {
  const claim = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'old-home' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  };
  await home.apply(claim);
  const { spec } = await until('it is bound', async () => {
    const object = await home.get('pvc', 'old-home');
    return object.status?.['phase'] === 'Bound' ? object : undefined;
  });
  const volume = await home.get('pv', String(spec['volumeName']));
  const { path } = (volume.spec as { hostPath: { path: string } }).hostPath;
  await writeFile(join(path, 'configuration.yaml'), 'default_config:\n');
  await writeFile(join(path, 'automations.yaml'), '- id: by_hand\n');
  await home.apply(
    lightHub('manor', { storage: { existingClaim: 'old-home' } }),
    configuration('manor', '# first\n'),
  );
  await until('the pod is ready', () => isReady('manor'));
  expect(await readFile(join(path, 'configuration.yaml.before-hub-operator'), 'utf8')).toBe(
    'default_config:\n',
  );
  expect(await readFile(join(path, 'configuration.yaml'), 'utf8')).toContain('# first');
  expect(await readFile(join(path, 'automations.yaml'), 'utf8')).toBe('- id: by_hand\n');

  const { uid } = (await pod('manor')).metadata;
  await home.apply(configuration('manor', '# second\n', { reloadStrategy: 'restart' }));
  await until(
    'it is started with the second one',
    async () => (await pod('manor')).metadata.uid !== uid && (await isReady('manor')),
  );
  expect(await readFile(join(path, 'configuration.yaml'), 'utf8')).toContain('# second');
  expect(await readFile(join(path, 'configuration.yaml.before-hub-operator'), 'utf8')).toBe(
    'default_config:\n',
  );
});
