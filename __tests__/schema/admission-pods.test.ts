import {
  CONTAINER_FIELDS,
  POD_FIELDS,
  PROJECTED_SOURCES,
  SECURITY_CONTEXT_FIELDS,
  VOLUME_SOURCES,
} from '../../manifests/admission/pod-fields';
import { type HubWorkload, installerPod } from '../../operator/sync/community/installer-pod';
import { freshNamespace, mustKubectl, until } from '../cluster';
import {
  allowed,
  container,
  hubPod,
  type Manifest,
  pod,
  podOf,
  refusals,
  requestsIn,
  set,
} from './operator-account';

/**
 * Every control of the level `baseline` of Pod Security, for every pod that the operator's account writes.
 */

type Fields = Readonly<Record<string, unknown>>;

let namespace: string;
const { create } = requestsIn(() => namespace);

beforeAll(async () => {
  namespace = await freshNamespace('pods');
  await until('the policy is in force', async () => (await create(pod({ hostNetwork: true }))).code === 1);
});

const BEYOND = 'gives a pod more than the level baseline of Pod Security';
const NOT_INSTALLER = 'creates only pods that install';
const NO_TOKEN = 'gives the pod of a hub no token';

const [prepare, unban] = hubPod.initContainers;
const [hub] = hubPod.containers;
/** Every place of a container, each with additional fields. */
const places: Readonly<Record<string, (fields: Fields) => Manifest>> = {
  'the installer': (fields) => pod({ containers: [{ ...container, ...fields }] }),
  'a hub': (fields) => set(podOf({ containers: [{ ...hub, ...fields }] })),
  'prepare-config': (fields) => set(podOf({ initContainers: [{ ...prepare, ...fields }, unban] })),
  'an init container': (fields) =>
    set(
      podOf({
        initContainers: [
          ...hubPod.initContainers,
          { ...container, name: 'x', restartPolicy: 'Always', ...fields },
        ],
      }),
    ),
  'a sidecar': (fields) =>
    set(podOf({ containers: [hub, { name: 'sidecar', image: 'sidecar', ...fields }] })),
};

const handlers = { httpGet: { port: 80, host: '10.0.0.1' }, tcpSocket: { port: 80, host: '10.0.0.1' } };
const ofHandlers = Object.entries(handlers).flatMap(([type, handler]): [string, Fields][] => [
  ...['livenessProbe', 'readinessProbe', 'startupProbe'].map((probe): [string, Fields] => [
    `host in ${type} of ${probe}`,
    { [probe]: { [type]: handler } },
  ]),
  ...(type === 'httpGet' ? ['postStart', 'preStop'] : []).map((hook): [string, Fields] => [
    `host in ${type} of ${hook}`,
    { lifecycle: { [hook]: { [type]: handler } } },
  ]),
]);
const CAPABILITIES = [
  ...['ALL', 'AUDIT_CONTROL', 'AUDIT_READ', 'BLOCK_SUSPEND', 'BPF', 'CHECKPOINT_RESTORE', 'DAC_READ_SEARCH'],
  ...['IPC_LOCK', 'IPC_OWNER', 'LEASE', 'LINUX_IMMUTABLE', 'MAC_ADMIN', 'MAC_OVERRIDE', 'NET_ADMIN'],
  ...['NET_BROADCAST', 'PERFMON', 'SYSLOG', 'SYS_ADMIN', 'SYS_BOOT', 'SYS_MODULE', 'SYS_NICE', 'SYS_PACCT'],
  ...['SYS_PTRACE', 'SYS_RAWIO', 'SYS_RESOURCE', 'SYS_TIME', 'SYS_TTY_CONFIG', 'WAKE_ALARM'],
];
/** Fields of the securityContext of both containers and pods. */
const ofBoth: [string, Fields][] = [
  ['seccompProfile', { seccompProfile: { type: 'Unconfined' } }],
  ['appArmorProfile', { appArmorProfile: { type: 'Unconfined' } }],
  ['seLinuxOptions', { seLinuxOptions: { type: 'spc_t' } }],
  ['seLinuxOptions', { seLinuxOptions: { user: 'system_u' } }],
  ['seLinuxOptions', { seLinuxOptions: { role: 'sysadm_r' } }],
  ['windowsOptions', { windowsOptions: { runAsUserName: 'ContainerAdministrator' } }],
];
const ofContainer: [string, Fields][] = [
  ...CAPABILITIES.map((capability): [string, Fields] => [
    'capabilities',
    { securityContext: { capabilities: { add: [capability] } } },
  ]),
  ['privileged', { securityContext: { privileged: true } }],
  ...ofBoth.map(([what, context]): [string, Fields] => [what, { securityContext: context }]),
  ['hostPort', { ports: [{ containerPort: 443, hostPort: 443 }] }],
  ...ofHandlers,
];
/** Fields that are added to the pod of a hub and to the installer. */
const ofPod: [string, Fields][] = [
  ['hostPID', { hostPID: true }],
  ['hostIPC', { hostIPC: true }],
  ...ofBoth.map(([what, context]): [string, Fields] => [what, { securityContext: context }]),
  ['sysctls', { securityContext: { sysctls: [{ name: 'kernel.msgmax', value: '1' }] } }],
  [
    'windowsOptions',
    {
      os: { name: 'windows' },
      hostNetwork: true,
      securityContext: { windowsOptions: { hostProcess: true } },
    },
  ],
];
const volumes: [string, Fields][] = [
  ['hostPath', { hostPath: { path: '/' } }],
  ['gitRepo', { gitRepo: { repository: 'https://example.org' } }],
  ['flexVolume', { flexVolume: { driver: 'example.org/x' } }],
  ['cephfs', { cephfs: { monitors: ['10.0.0.1'] } }],
  ['fc', { fc: { targetWWNs: ['1'], lun: 1 } }],
];

const within = (spec: Fields): Manifest[] => [set(podOf(spec)), pod(spec)];
const withVolume = (volume: Fields): Manifest[] => [
  set(podOf({ volumes: [...hubPod.volumes, { name: 'x', ...volume }] })),
  pod({ volumes: [...hubPod.volumes, { name: 'x', ...volume }] }),
];
const annotation = (name: string, value: string): Fields => ({
  template: {
    metadata: { labels: { app: 'hub' }, annotations: { [name]: value } },
    spec: hubPod,
  },
});

/** Refused objects: a name, the object, and the words of the refusal. */
const cases: readonly (readonly [string, Manifest, string])[] = [
  ...Object.entries(places).flatMap(([place, build]) =>
    ofContainer
      // Only a container that keeps running has probes and lifecycle hooks.
      .filter(([what]) => !what.startsWith('host in') || place !== 'prepare-config')
      .map(([what, fields]) => {
        const words =
          place === 'the installer'
            ? ''
            : `${BEYOND} .*: ${what.startsWith('host in') ? 'host of a probe or hook' : what}`;
        return [`${what} of ${place}`, build(fields), words] as const;
      }),
  ),
  ...ofPod.flatMap(([what, spec]) =>
    within(spec).map(
      (object) =>
        [
          `${what} of the pod: ${object.kind}`,
          object,
          object.kind === 'Pod' ? '' : `${BEYOND} .*: ${what}`,
        ] as const,
    ),
  ),
  ...volumes.flatMap(([what, volume]) =>
    withVolume(volume).map(
      (object) =>
        [
          `${what}: ${object.kind}`,
          object,
          object.kind === 'Pod' ? NOT_INSTALLER : `${BEYOND} .*: the type of the volume x`,
        ] as const,
    ),
  ),
  ...withVolume({ projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } }).map(
    (object) =>
      [`a token: ${object.kind}`, object, object.kind === 'Pod' ? NOT_INSTALLER : NO_TOKEN] as const,
  ),
  [
    'AppArmor by annotation',
    set(annotation('container.apparmor.security.beta.kubernetes.io/hub', 'unconfined')),
    `${BEYOND} .*: an annotation for AppArmor`,
  ],
  [
    'a driver that may get a token of a ServiceAccount',
    set(
      podOf({
        serviceAccountName: 'admin',
        volumes: [...hubPod.volumes, { name: 'x', csi: { driver: 'example.org' } }],
      }),
    ),
    `${BEYOND} .*: serviceAccountName beside csi of the volume x`,
  ],
  // Fields that are allowed for a hub but not for the installer.
  ...(
    [
      ['hostNetwork', { hostNetwork: true }],
      ['init containers', { initContainers: [{ ...container, name: 'first' }] }],
      ['hostAliases', { hostAliases: [{ ip: '10.0.0.1', hostnames: ['x'] }] }],
      ['shareProcessNamespace', { shareProcessNamespace: true }],
      ['a second claim', { volumes: [...hubPod.volumes, { ...hubPod.volumes[0], name: 'other' }] }],
      ['no claim', { volumes: [] }],
      ['a ConfigMap', { volumes: [...hubPod.volumes, { name: 'x', configMap: { name: 'x' } }] }],
      ['csi', { volumes: [...hubPod.volumes, { name: 'x', csi: { driver: 'example.org' } }] }],
      ['nfs', { volumes: [...hubPod.volumes, { name: 'x', nfs: { server: 'x', path: '/' } }] }],
      ['env', { containers: [{ ...container, env: [{ name: 'A', value: 'b' }] }] }],
      ['a port', { containers: [{ ...container, ports: [{ containerPort: 80 }] }] }],
      ['args', { containers: [{ ...container, args: ['x'] }] }],
      [
        'a device',
        { containers: [{ ...container, volumeDevices: [{ name: 'config', devicePath: '/dev/x' }] }] },
      ],
    ] as const
  ).map(([what, spec]) => [`${what} of the installer`, pod(spec), NOT_INSTALLER] as const),
  // Refused fields of a StatefulSet.
  ['ordinals', set({ ordinals: { start: 1 } }), 'creates only StatefulSets of one replica'],
];

describe('the account of the operator creates no pod with', () => {
  let answers: (string | undefined)[];

  beforeAll(async () => {
    answers = await refusals(
      namespace,
      cases.map(([, manifest]) => manifest),
    );
  });

  test.each(cases.map(([what, , words], index) => [what, words, index] as const))('%s', (_, words, index) => {
    expect(answers[index]).toMatch(new RegExp(`the account of the operator ${words}`));
  });
});

describe('the account of the operator creates', () => {
  /** Fields that a user may set in `spec.podTemplate` of a Hub. */
  const asked: readonly (readonly [string, Manifest])[] = [
    ...Object.entries({
      'profiles of the node': {
        seccompProfile: { type: 'Localhost', localhostProfile: 'x' },
        appArmorProfile: { type: 'Localhost', localhostProfile: 'x' },
        seLinuxOptions: { type: 'container_t', level: 's0:c1' },
      },
      'a user and harmless rights': {
        runAsUser: 1000,
        runAsGroup: 1000,
        runAsNonRoot: true,
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        procMount: 'Default',
        privileged: false,
        capabilities: { drop: ['ALL'], add: ['NET_RAW', 'NET_BIND_SERVICE'] },
      },
    }).map(([what, securityContext]) => [what, places['a hub']!({ securityContext })] as const),
    [
      'a harmless sysctl and groups',
      set(
        podOf({
          securityContext: {
            fsGroup: 1,
            supplementalGroups: [20],
            sysctls: [{ name: 'net.ipv4.tcp_syncookies', value: '1' }],
          },
        }),
      ),
    ],
    [
      'the network of the node with its ports',
      set(
        podOf({
          hostNetwork: true,
          containers: [{ ...hub, ports: [{ containerPort: 8123, hostPort: 8123 }] }],
        }),
      ),
    ],
    ['a device of a plugin', places['a hub']!({ resources: { limits: { 'example.org/zigbee': '1' } } })],
    [
      'probes and hooks of the pod itself',
      places['a hub']!({
        livenessProbe: { httpGet: { port: 80 } },
        lifecycle: { preStop: { exec: { command: ['x'] } } },
      }),
    ],
    [
      'a place in the cluster',
      set(
        podOf({
          nodeName: 'node',
          nodeSelector: { a: 'b' },
          tolerations: [{ operator: 'Exists' }],
          priorityClassName: 'system-node-critical',
          affinity: {},
          topologySpreadConstraints: [
            { maxSkew: 1, topologyKey: 'x', whenUnsatisfiable: 'DoNotSchedule', labelSelector: {} },
          ],
          runtimeClassName: 'x',
          serviceAccountName: 'hub',
          dnsConfig: { nameservers: ['10.0.0.1'] },
          hostAliases: [{ ip: '10.0.0.1', hostnames: ['x'] }],
          shareProcessNamespace: true,
        }),
      ),
    ],
    ...Object.entries({
      configMap: { name: 'x' },
      csi: { driver: 'nfs.csi.k8s.io' },
      downwardAPI: { items: [] },
      emptyDir: {},
      image: { reference: 'x' },
      iscsi: { targetPortal: '10.0.0.1', iqn: 'iqn.2001-04.org.example:x', lun: 0 },
      nfs: { server: 'x', path: '/' },
      persistentVolumeClaim: { claimName: 'x' },
      secret: { secretName: 'x' },
      projected: { sources: [{ secret: { name: 'x' } }, { configMap: { name: 'x' } }, { downwardAPI: {} }] },
      ephemeral: {
        volumeClaimTemplate: {
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
        },
      },
    }).map(([type, source]) => [`a volume of the type ${type}`, withVolume({ [type]: source })[0]!] as const),
  ];

  test('all that a person may ask for in spec.podTemplate', async () => {
    const answers = await refusals(
      namespace,
      asked.map(([, manifest]) => manifest),
    );
    const refusedOnes = asked.flatMap(([what], index) =>
      answers[index] === undefined ? [] : [[what, answers[index]]],
    );
    expect(refusedOnes).toEqual([]);
  });

  test('the installer of a hub whose pod has everything that it takes over', async () => {
    const spec = {
      imagePullSecrets: [{ name: 'x' }],
      priorityClassName: 'system-node-critical',
      securityContext: { fsGroup: 1, seccompProfile: { type: 'RuntimeDefault' } },
      serviceAccountName: 'default',
      tolerations: [{ operator: 'Exists' }],
      initContainers: [
        {
          ...prepare,
          imagePullPolicy: 'Always',
          securityContext: { capabilities: { drop: ['ALL'], add: ['FOWNER'] } },
        },
      ],
    };
    const installation = { install: null, remove: [], claimUID: 'x', parts: 2 };
    const template = { metadata: {}, spec } as unknown as HubWorkload['set']['spec']['template'];
    const workload = {
      set: { metadata: { name: 'x' }, spec: { template } },
      claimName: 'x',
      nodeName: 'node',
    };
    const made = installerPod({ name: 'x', namespace }, installation, workload) as unknown as Manifest;
    const metadata = { ...made.metadata, ...pod().metadata, namespace };
    expect(await create({ ...made, metadata })).toMatchObject(allowed);
  });
});

const OTHER_VOLUMES = [
  ...['awsElasticBlockStore', 'azureDisk', 'azureFile', 'cephfs', 'cinder', 'fc', 'flexVolume', 'flocker'],
  ...['gcePersistentDisk', 'gitRepo', 'glusterfs', 'hostPath', 'photonPersistentDisk', 'portworxVolume'],
  ...['quobyte', 'rbd', 'scaleIO', 'storageos', 'vsphereVolume'],
];

describe('the fields of the lists', () => {
  interface Schema {
    readonly properties: Readonly<Record<string, unknown>>;
  }
  const fieldsOf = async (...names: readonly string[]): Promise<Set<string>> => {
    const openapi = await mustKubectl(['get', '--raw', '/openapi/v3/api/v1']);
    const { schemas } = (JSON.parse(openapi) as { components: { schemas: Record<string, Schema> } })
      .components;
    return new Set(names.flatMap((name) => Object.keys(schemas[`io.k8s.api.core.v1.${name}`]!.properties)));
  };

  test.each<[string, readonly string[], readonly string[], readonly string[]]>([
    ['a pod', ['PodSpec'], POD_FIELDS, ['ephemeralContainers', 'hostIPC', 'hostPID', 'schedulingGroup']],
    ['a container', ['Container'], CONTAINER_FIELDS, []],
    [
      'a securityContext',
      ['SecurityContext', 'PodSecurityContext'],
      SECURITY_CONTEXT_FIELDS,
      ['windowsOptions'],
    ],
    [
      'a projected volume',
      ['VolumeProjection'],
      PROJECTED_SOURCES,
      ['podCertificate', 'serviceAccountToken'],
    ],
    ['a volume', ['Volume'], ['name', ...VOLUME_SOURCES], OTHER_VOLUMES],
  ])(
    'together with those that are refused on purpose, the lists name all fields of %s',
    async (_, schemas, listed, others) => {
      expect([...(await fieldsOf(...schemas))].sort()).toEqual([...listed, ...others].sort());
    },
  );
});
