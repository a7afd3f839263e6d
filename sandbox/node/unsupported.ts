/**
 * The fields of a pod that the sandbox supports. All other fields are rejected, so that a pod never appears
 * to have a feature that it lacks. All functions are pure.
 */
import type {
  V1Container,
  V1Pod,
  V1PodSpec,
  V1Probe,
  V1Volume,
  V1VolumeMount,
} from '@kubernetes/client-node';

// Fields that are supported, or that have no effect on one machine. Two are accepted but not enforced:
// securityContext, since every process runs as the user who started the sandbox, and activeDeadlineSeconds.
const POD_FIELDS: (keyof V1PodSpec)[] = [
  'activeDeadlineSeconds',
  'affinity',
  'automountServiceAccountToken',
  'containers',
  'dnsPolicy',
  'enableServiceLinks',
  'hostNetwork',
  'hostname',
  'imagePullSecrets',
  'initContainers',
  'nodeName',
  'nodeSelector',
  'preemptionPolicy',
  'priority',
  'priorityClassName',
  'restartPolicy',
  'schedulerName',
  'schedulingGates',
  'securityContext',
  'serviceAccount',
  'serviceAccountName',
  'subdomain',
  'terminationGracePeriodSeconds',
  'tolerations',
  'topologySpreadConstraints',
  'volumes',
];

const CONTAINER_FIELDS: (keyof V1Container)[] = [
  'args',
  'command',
  'env',
  'envFrom',
  'image',
  'imagePullPolicy',
  'livenessProbe',
  'name',
  'ports',
  'readinessProbe',
  'resizePolicy',
  'resources',
  'securityContext',
  'startupProbe',
  'terminationMessagePath',
  'terminationMessagePolicy',
  'volumeMounts',
  'workingDir',
];

const PROBE_FIELDS: (keyof V1Probe)[] = [
  'exec',
  'failureThreshold',
  'httpGet',
  'initialDelaySeconds',
  'periodSeconds',
  'successThreshold',
  'tcpSocket',
  'terminationGracePeriodSeconds',
  'timeoutSeconds',
];

const VOLUME_FIELDS: (keyof V1Volume)[] = [
  'configMap',
  'downwardAPI',
  'emptyDir',
  'name',
  'persistentVolumeClaim',
  'projected',
  'secret',
];

const MOUNT_FIELDS: (keyof V1VolumeMount)[] = ['mountPath', 'name', 'readOnly', 'subPath'];
const PROJECTIONS = ['configMap', 'downwardAPI', 'secret', 'serviceAccountToken'];
const VALUE_SOURCES = ['configMapKeyRef', 'fieldRef', 'secretKeyRef'];

/**
 * Returns the first unsupported field of the pod as `spec.x.y: reason`, or `undefined` when all are
 * supported.
 */
export function unsupportedField(pod: V1Pod): string | undefined {
  return findings(pod.spec ?? { containers: [] }).next().value ?? undefined;
}

function* findings(spec: V1PodSpec): Generator<string, undefined> {
  yield* unknown('spec', spec, POD_FIELDS);
  const ports = new Set(spec.containers.flatMap(({ ports = [] }) => ports.map((port) => port.containerPort)));
  if (ports.size > 1) yield 'spec.containers[*].ports: a pod has one port in the sandbox';
  for (const volume of spec.volumes ?? []) yield* volumeFindings(volume);
  for (const container of spec.initContainers ?? []) {
    const path = `spec.initContainers[${container.name}]`;
    yield* containerFindings(path, container, [...CONTAINER_FIELDS, 'restartPolicy']);
  }
  for (const container of spec.containers) {
    yield* containerFindings(`spec.containers[${container.name}]`, container, CONTAINER_FIELDS);
  }
  return undefined;
}

function* volumeFindings(volume: V1Volume): Generator<string> {
  const path = `spec.volumes[${volume.name}]`;
  yield* unknown(path, volume, VOLUME_FIELDS);
  for (const source of volume.projected?.sources ?? [])
    yield* unknown(`${path}.projected`, source, PROJECTIONS);
}

function* containerFindings(path: string, container: V1Container, known: string[]): Generator<string> {
  yield* unknown(path, container, known);
  if (container.securityContext?.privileged)
    yield `${path}.securityContext.privileged: not supported in the sandbox`;
  if (!container.command?.length && container.args?.length) {
    yield `${path}.args: needs a command: the sandbox passes no arguments to the image's entrypoint`;
  }
  for (const { name, valueFrom } of container.env ?? []) {
    yield* unknown(`${path}.env[${name}].valueFrom`, valueFrom, VALUE_SOURCES);
  }
  for (const mount of container.volumeMounts ?? []) {
    yield* unknown(`${path}.volumeMounts[${mount.name}]`, mount, MOUNT_FIELDS);
    const around = container.volumeMounts?.find(({ mountPath }) =>
      mount.mountPath.startsWith(`${mountPath}/`),
    );
    if (around) {
      yield (
        `${path}.volumeMounts[${mount.name}].mountPath: ${mount.mountPath} is inside ${around.mountPath}: ` +
        'the sandbox cannot mount one volume in another'
      );
    }
  }
  for (const kind of ['startupProbe', 'readinessProbe', 'livenessProbe'] as const) {
    const probe = container[kind];
    yield* unknown(`${path}.${kind}`, probe, PROBE_FIELDS);
    yield* unknown(`${path}.${kind}.httpGet`, probe?.httpGet, ['httpHeaders', 'path', 'port', 'scheme']);
    if (probe?.httpGet?.scheme === 'HTTPS') yield `${path}.${kind}.httpGet.scheme: only HTTP in the sandbox`;
    yield* unknown(`${path}.${kind}.tcpSocket`, probe?.tcpSocket, ['port']);
  }
}

function* unknown(path: string, given: object | undefined, known: readonly string[]): Generator<string> {
  for (const [field, value] of Object.entries(given ?? {})) {
    if (isSet(value) && !known.includes(field)) yield `${path}.${field}: not supported in the sandbox`;
  }
}

function isSet(value: unknown): boolean {
  return Boolean(value) && !(Array.isArray(value) && value.length === 0);
}
