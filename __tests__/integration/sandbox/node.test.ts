import { existsSync, lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { V1Container, V1PersistentVolume, V1Pod, V1PodSpec } from '@kubernetes/client-node';
import { URL_ANNOTATION } from '../../../sandbox/node/names';
import { freshNamespace, kubectl, mustKubectl, sandboxDirectory, until } from '../../cluster';
import { getObject, listObjects, patchObject } from '../../cluster/api';

// Tests the development node from outside: with kubectl, over HTTP, and on the disk.

let namespace: string;
beforeAll(async () => {
  namespace = await freshNamespace('node');
});

const apply = (...objects: object[]) =>
  mustKubectl(['apply', '--filename=-'], {
    namespace,
    input: JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }),
  });
const read = async <T>(kind: string, name?: string) =>
  (name === undefined
    ? { items: await listObjects(kind, namespace) }
    : await getObject(kind, namespace, name)) as T;
const podNamed = (name: string) => read<V1Pod>('pod', name);
const remove = (...what: string[]) => mustKubectl(['delete', ...what], { namespace });

const configMap = (name: string, data: Record<string, string>) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data,
});
const claim = (name: string, storage: string) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } },
});
const pod = (name: string, spec: Partial<V1PodSpec>) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels: { app: name } },
  spec: { terminationGracePeriodSeconds: 5, ...spec },
});
const service = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name },
  spec: { selector: { app: name }, ports: [{ port: 8123 }] },
});
const python = (script: string, ...args: string[]): V1Container => ({
  name: 'main',
  image: 'hub',
  command: ['python3', '-c', script],
  args,
});
/** A web server for the files that are mounted at /data. */
const server = (): V1Container => ({
  name: 'main',
  image: 'hub',
  command: ['python3', '-m', 'http.server', '$(SETUP_PORT)', '--directory', '/data'],
  volumeMounts: [{ name: 'data', mountPath: '/data' }],
});

const isReady = ({ status }: V1Pod) =>
  status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True');
const ready = (name: string, timeoutMs?: number) =>
  until(`pod ${name} is ready`, async () => isReady(await podNamed(name)), timeoutMs);
const urlOf = (name: string) =>
  until(`service ${name} has its URL`, async () => {
    const { metadata } = await read<{ metadata: { annotations?: Record<string, string> } }>('service', name);
    return metadata.annotations?.[URL_ANNOTATION];
  });
const isGone = async (name: string) => (await kubectl(['get', 'pod', name], { namespace })).code !== 0;
const answers = (url: string) =>
  fetch(url).then(
    () => true,
    () => false,
  );
const eventsOf = async (name: string) => {
  const { items } = await read<{
    items: { involvedObject: { name: string }; reason: string; message: string }[];
  }>('events');
  return items
    .filter(({ involvedObject }) => involvedObject.name === name)
    .map(({ reason, message }) => `${reason}: ${message}`);
};

describe('the node of the sandbox', () => {
  test('a hub: claim, configuration, readiness, address, crash and end', async () => {
    const prepare = `
import os, shutil, sys
source, target, termination = sys.argv[1:]
shutil.copy(source + '/configuration.yaml', target)
open(termination, 'w').write('prepared by ' + os.environ['POD'])`;
    const volumeMounts = [
      { name: 'config', mountPath: '/config' },
      { name: 'generated', mountPath: '/generated' },
    ];
    const manifest = { httpGet: { path: '/manifest.json', port: 'http' } };
    const spec = {
      initContainers: [
        {
          ...python(prepare, '/generated', '/config/', '/dev/termination-log'),
          name: 'prepare',
          env: [{ name: 'POD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
          volumeMounts,
        },
      ],
      containers: [
        {
          name: 'hub',
          image: 'ghcr.io/home-assistant/home-assistant:stable',
          ports: [{ name: 'http', containerPort: 8123 }],
          startupProbe: { ...manifest, periodSeconds: 1, failureThreshold: 120 },
          readinessProbe: { ...manifest, periodSeconds: 1, failureThreshold: 1 },
          volumeMounts,
        },
      ],
      volumes: [
        { name: 'config', persistentVolumeClaim: { claimName: 'hub-config' } },
        { name: 'generated', configMap: { name: 'generated' } },
      ],
    };
    const metadata = { labels: { app: 'hub' } };
    await apply(
      {
        apiVersion: 'apps/v1',
        kind: 'StatefulSet',
        metadata: { name: 'hub' },
        spec: {
          serviceName: 'hub',
          selector: { matchLabels: metadata.labels },
          template: { metadata, spec },
        },
      },
      service('hub'),
      claim('hub-config', '1Gi'),
      configMap('generated', { 'configuration.yaml': 'frontend:\nhomeassistant:\n  name: Sandbox\n' }),
    );

    await ready('hub-0');
    const first = await podNamed('hub-0');
    expect(first.status?.phase).toBe('Running');
    expect(first.status?.initContainerStatuses?.[0]?.state?.terminated?.message).toBe('prepared by hub-0');
    const url = await urlOf('hub');
    expect(await (await fetch(`${url}/manifest.json`)).json()).toMatchObject({ name: 'Home Assistant' });
    await until('the endpoint slice has the pod', async () => {
      const slices = await read<{
        items: { endpoints?: { addresses: string[]; conditions: { ready: boolean } }[] }[];
      }>('endpointslices');
      const endpoints = slices.items.flatMap(({ endpoints = [] }) => endpoints);
      return endpoints.some(
        ({ addresses, conditions }) => conditions.ready && addresses[0] === first.status?.podIP,
      );
    });
    const { items } = await read<{ items: V1PersistentVolume[] }>('persistentvolumes');
    const volume = items.find(({ spec }) => spec?.claimRef?.namespace === namespace);
    const directory = volume?.spec?.hostPath?.path ?? '';
    expect(readFileSync(join(directory, 'configuration.yaml'), 'utf8')).toContain('name: Sandbox');
    await until('the hub has stored something', () => existsSync(join(directory, '.storage')));

    const pidFile = join(
      sandboxDirectory(),
      'node/pods',
      `${namespace}_hub-0_${first.metadata?.uid}`,
      'hub.pid',
    );
    // On a busy machine the startup probe may have restarted it before.
    const restarts = (await podNamed('hub-0')).status!.containerStatuses![0]!.restartCount;
    process.kill(Number(readFileSync(pidFile, 'utf8')), 'SIGKILL');
    await until('the hub was restarted and is ready', async () => {
      const now = await podNamed('hub-0');
      return now.status!.containerStatuses![0]!.restartCount > restarts && isReady(now);
    });
    const [hub] = (await podNamed('hub-0')).status?.containerStatuses ?? [];
    expect(hub?.lastState?.terminated?.exitCode).toBe(137);
    expect(hub?.containerID).not.toBe(first.status?.containerStatuses?.[0]?.containerID);
    expect(await urlOf('hub')).toBe(url);

    await remove('statefulset', 'hub');
    await until('the pod is gone', () => isGone('hub-0'));
    expect(await answers(url)).toBe(false);
    expect(existsSync(directory)).toBe(true);
    await remove('persistentvolumeclaim', 'hub-config');
    await until('the volume and its directory are gone', async () => {
      const { code } = await kubectl(['get', 'persistentvolume', volume?.metadata?.name ?? '']);
      return code !== 0 && !existsSync(directory);
    });
  });

  test('a changed ConfigMap reaches a volume late, and immediately when the pod itself changes; a subPath never', async () => {
    const volumes = [{ name: 'data', configMap: { name: 'page' } }];
    const frozen = {
      ...server(),
      volumeMounts: [{ name: 'data', mountPath: '/data/', subPath: 'index.html' }],
    };
    frozen.command = [
      'python3',
      '-c',
      'import sys, time; print(sys.argv[1], flush=True); time.sleep(999)',
      '/data',
    ];
    await apply(
      configMap('page', { 'index.html': 'old' }),
      ...['patient', 'nudged'].flatMap((name) => [
        pod(name, { containers: [server()], volumes }),
        service(name),
      ]),
      pod('frozen', { containers: [frozen], volumes }),
    );
    const urls = { patient: await urlOf('patient'), nudged: await urlOf('nudged') };
    const content = async (name: keyof typeof urls) => (await fetch(urls[name])).text();
    for (const name of ['patient', 'nudged'] as const) {
      await until(`${name} shows the page`, async () => (await content(name)) === 'old');
    }
    const log = join(
      sandboxDirectory(),
      'node/pods',
      `${namespace}_frozen_${(await podNamed('frozen')).metadata?.uid}/main.log`,
    );
    const subPath = await until(
      'the file of the subPath',
      () => readFileSync(log, 'utf8').trim() || undefined,
    );

    const shownAt = async (name: string) => {
      const directory = `${namespace}_${name}_${(await podNamed(name)).metadata?.uid}`;
      return lstatSync(join(sandboxDirectory(), 'node/pods', directory, 'volumes/data/..data')).mtimeMs;
    };
    let round = 0;
    let nudges = 0;
    // Repeated when this process was too late to touch the pod.
    await until('the nudged pod has the new page seconds before the other one', async () => {
      const page = `new ${++round}`;
      await apply(configMap('page', { 'index.html': page }));
      await until('the nudged pod shows the new page', async () => {
        await patchObject('pod', namespace, 'nudged', {
          metadata: { annotations: { nudge: `${nudges++}` } },
        });
        return (await content('nudged')) === page;
      });
      await until('the other one shows it later', async () => (await content('patient')) === page);
      return (await shownAt('patient')) - (await shownAt('nudged')) > 2_000;
    });
    expect(readFileSync(subPath, 'utf8')).toBe('old');
  });

  test('a missing object is waited for, and named', async () => {
    const env = [{ name: 'TOKEN', valueFrom: { secretKeyRef: { name: 'late', key: 'token' } } }];
    const printing = { ...python('import os; print(os.environ["TOKEN"], flush=True)'), env };
    await apply(
      pod('volume', { containers: [server()], volumes: [{ name: 'data', configMap: { name: 'late' } }] }),
      pod('variable', { containers: [printing], restartPolicy: 'Never' }),
      pod('elsewhere', {
        containers: [server()],
        nodeSelector: { zigbee: 'yes' },
        volumes: [{ name: 'data', emptyDir: {} }],
      }),
    );
    const waiting = (name: string) =>
      until(
        `${name} waits`,
        async () => (await podNamed(name)).status?.containerStatuses?.[0]?.state?.waiting,
      );

    expect(await waiting('volume')).toEqual({ reason: 'ContainerCreating' });
    await until('the event names the ConfigMap', async () =>
      (await eventsOf('volume')).some((line) => /^FailedMount: .*configmap "late" not found/.test(line)),
    );
    await until('the container names the Secret', async () => {
      const { reason, message } = await waiting('variable');
      return reason === 'CreateContainerConfigError' && message === 'secret "late" not found';
    });
    const scheduled = await until('the scheduler says why', async () =>
      (await podNamed('elsewhere')).status?.conditions?.find(({ type }) => type === 'PodScheduled'),
    );
    expect(scheduled).toMatchObject({
      status: 'False',
      reason: 'Unschedulable',
      message: "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.",
    });

    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'late' },
      stringData: { token: 'secret' },
    };
    await apply(configMap('late', {}), secret);
    await ready('volume');
    await until(
      'the other one ran to its end',
      async () => (await podNamed('variable')).status?.phase === 'Succeeded',
    );
  });

  test('an unsupported field is refused by name', async () => {
    const main = { ...server(), livenessProbe: { grpc: { port: 9000 } } };
    await apply(pod('odd', { containers: [main], volumes: [{ name: 'data', emptyDir: {} }] }));
    const waiting = await until('the pod is refused', async () => {
      const { containerStatuses = [] } = (await podNamed('odd')).status ?? {};
      return containerStatuses[0]?.state?.waiting;
    });
    expect(waiting).toEqual({
      reason: 'SandboxUnsupported',
      message: 'spec.containers[main].livenessProbe.grpc: not supported in the sandbox',
    });
  });

  test('failures: an init container is retried, and a container that fails its liveness probe is restarted', async () => {
    // The container fails the first time. The file that it makes tells the second run that it is not the
    // first.
    const init: V1Container = {
      name: 'init',
      image: 'hub',
      command: [
        'sh',
        '-c',
        'if [ -e "$0" ]; then exit 0; fi; touch "$0"; echo no luck >&2; exit 3',
        '/data/tried',
      ],
      terminationMessagePolicy: 'FallbackToLogsOnError',
      volumeMounts: [{ name: 'data', mountPath: '/data' }],
    };
    const deaf = {
      ...python('import time; time.sleep(999)'),
      livenessProbe: { tcpSocket: { port: 8123 }, periodSeconds: 1, failureThreshold: 2 },
    };
    await apply(
      pod('failing', {
        initContainers: [init],
        containers: [deaf],
        volumes: [{ name: 'data', emptyDir: {} }],
      }),
    );
    // The second run may begin before the test reads the status, but lastState is kept.
    const crash = await until('the init container has failed and backed off', async () => {
      const [status] = (await podNamed('failing')).status?.initContainerStatuses ?? [];
      return status?.lastState?.terminated;
    });
    expect(crash).toMatchObject({ exitCode: 3, reason: 'Error', message: 'no luck\n' });
    await until('the deaf container was restarted', async () => {
      const { initContainerStatuses = [], containerStatuses = [] } = (await podNamed('failing')).status ?? {};
      return initContainerStatuses[0]?.restartCount === 1 && (containerStatuses[0]?.restartCount ?? 0) >= 1;
    });
  });

  test('a deleted pod gets SIGTERM and time; a pod that is deleted by force leaves no process; the name keeps its port', async () => {
    const script = `
import http.server, os, signal, sys
def end(*_):
    open(sys.argv[1], 'w').write('ended well')
    os._exit(0)
signal.signal(signal.SIGTERM, end)
http.server.HTTPServer(('127.0.0.1', int(os.environ['SETUP_PORT'])), http.server.SimpleHTTPRequestHandler).serve_forever()`;
    const main = {
      ...python(script, '/data/termination'),
      volumeMounts: [{ name: 'data', mountPath: '/data' }],
    };
    const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'words' } }];
    const tcp = { ...main, readinessProbe: { tcpSocket: { port: 8123 }, periodSeconds: 1 } };
    const ending = () =>
      // Enough time for a process on a busy machine.
      pod('ending', { containers: [tcp], volumes, terminationGracePeriodSeconds: 120 });
    await apply(claim('words', '1Gi'), service('ending'), ending());
    await ready('ending');
    const url = await urlOf('ending');
    const { items } = await read<{ items: V1PersistentVolume[] }>('persistentvolumes');
    const volume = items.find(
      ({ spec }) => spec?.claimRef?.name === 'words' && spec.claimRef.namespace === namespace,
    );
    await remove('pod', 'ending');
    expect(readFileSync(join(volume?.spec?.hostPath?.path ?? '', 'termination'), 'utf8')).toBe('ended well');

    await apply(ending());
    await ready('ending');
    expect(await urlOf('ending')).toBe(url);
    expect(await answers(url)).toBe(true);
    await remove('pod', 'ending', '--grace-period=0', '--force');
    await until('nothing listens any more', async () => !(await answers(url)));
  });

  test('a pod with all harmless fields, and a sidecar that ends after the other containers', async () => {
    const resources = { requests: { cpu: '10m', memory: '16Mi' }, limits: { memory: '64Mi' } };
    const securityContext = { runAsNonRoot: true, runAsUser: 1000, allowPrivilegeEscalation: false };
    const mounted = { resources, securityContext, volumeMounts: [{ name: 'data', mountPath: '/data' }] };
    const write = 'import sys, time; open(sys.argv[1], "w").close(); time.sleep(float(sys.argv[2]))';
    const sidecar = {
      ...python(write, '/data/sidecar', '999'),
      ...mounted,
      name: 'side',
      restartPolicy: 'Always',
    };
    const look =
      'import os, sys; sys.exit(0 if os.path.exists(sys.argv[1]) and os.environ["POD_IP"] == os.environ["NODE_IP"] else 1)';
    const main = {
      ...python(look, '/data/sidecar'),
      ...mounted,
      env: [
        { name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
        { name: 'NODE_IP', valueFrom: { fieldRef: { fieldPath: 'status.hostIP' } } },
      ],
    };
    await apply(
      pod('rich', {
        initContainers: [sidecar],
        containers: [main],
        restartPolicy: 'OnFailure',
        // A process that gets no processor time for longer is killed, and does not end with 143.
        terminationGracePeriodSeconds: 120,
        hostNetwork: true,
        dnsPolicy: 'ClusterFirstWithHostNet',
        tolerations: [{ operator: 'Exists' }],
        topologySpreadConstraints: [
          {
            maxSkew: 1,
            topologyKey: 'kubernetes.io/hostname',
            whenUnsatisfiable: 'ScheduleAnyway',
            labelSelector: {},
          },
        ],
        volumes: [{ name: 'data', emptyDir: { sizeLimit: '1Mi' } }],
      }),
    );
    const done = await until('it has done its work', async () => {
      const now = await podNamed('rich');
      return now.status?.phase === 'Succeeded' && now;
    });
    expect(done.status?.conditions).toContainEqual(
      expect.objectContaining({ type: 'Initialized', status: 'True' }),
    );
    await until('the sidecar was stopped', async () => {
      const [side] = (await podNamed('rich')).status?.initContainerStatuses ?? [];
      return side?.state?.terminated?.exitCode === 143;
    });
  });

  test('a claim that requests a larger size gets it', async () => {
    await apply(claim('growing', '1Gi'));
    const capacity = async () =>
      (await read<{ status?: { phase?: string; capacity?: { storage: string } } }>('pvc', 'growing')).status
        ?.capacity?.storage;
    await until('it is bound', async () => (await capacity()) === '1Gi');
    await apply(claim('growing', '3Gi'));
    await until('it has grown', async () => (await capacity()) === '3Gi');
  });
});
