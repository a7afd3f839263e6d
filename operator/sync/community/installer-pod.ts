import { operatorAnnotations } from '../../kinds/annotations';
import type { Manifest } from '../../runtime/apply';
import type { ClusterObject } from '../../runtime/objects';
import type { Pod, StatefulSet } from '../hub-pod/owned-objects';
import { parseObject, PREPARE_CONTAINER } from '../hub-pod/termination-messages';
import { INSTALL, pythonCommand } from '../hub-pod/scripts';

/** Paths in the pod. */
const CONFIG = '/config';
const PARTS = '/hub-operator/parts';
const TERMINATION_LOG = '/dev/termination-log';

/** The container that runs {@link INSTALL}. */
const INSTALLER_CONTAINER = 'install';

/** Seconds after which Kubernetes ends the pod, also while no operator runs. */
const DEADLINE_SECONDS = 300;

/**
 * The task of a pod. It is recorded in an annotation of the pod, so that it survives a crash of the operator.
 */
export interface Installation {
  /** The version to install. Null if targets are only removed. */
  readonly install: Installed | null;
  /** Targets to remove, which earlier versions had. */
  readonly remove: readonly string[];
  /** UID of the volume claim. */
  readonly claimUID: string;
  /** Number of Secrets with the parts of the files. */
  readonly parts: number;
}

export interface Installed {
  readonly repository: string;
  readonly ref: string;
  readonly target: string;
  readonly isFile: boolean;
  readonly digest: string;
  readonly provides: readonly string[];
}

/** The hub's workload, from which the installer's pod is derived. */
export interface HubWorkload {
  readonly set: StatefulSet;
  readonly claimName: string;
  /** The node of the hub's pod: a ReadWriteOnce volume can only be mounted there. */
  readonly nodeName: string;
}

/** Fields of the hub's pod that determine whether a pod is admitted, and as which user it writes. */
const POD_FIELDS = [
  'imagePullSecrets',
  'priorityClassName',
  'runtimeClassName',
  'securityContext',
  'serviceAccountName',
  'tolerations',
];
const CONTAINER_FIELDS = ['image', 'imagePullPolicy', 'securityContext'];

/**
 * The pod that runs the installer's script once, beside the hub. It mounts the hub's volume and uses the
 * hub's image, which the node already has.
 */
export function installerPod(
  metadata: { readonly name: string; readonly namespace: string },
  installation: Installation,
  { set, claimName, nodeName }: HubWorkload,
): Manifest {
  const hub: Fields = { ...set.spec.template.spec };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...metadata,
      annotations: { [operatorAnnotations.installation]: JSON.stringify(installation) },
    },
    spec: {
      ...pick(hub, POD_FIELDS),
      nodeName,
      restartPolicy: 'Never',
      activeDeadlineSeconds: DEADLINE_SECONDS,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      terminationGracePeriodSeconds: 10,
      containers: [installerContainer(hub, installation)],
      volumes: [
        { name: 'config', persistentVolumeClaim: { claimName } },
        { name: 'parts', projected: { sources: partSources(metadata.name, installation.parts) } },
      ],
    },
  };
}

/** @param hub spec of the hub's pod */
function installerContainer(hub: Fields, { install, remove }: Installation): Fields {
  const containers = (hub['initContainers'] ?? []) as readonly Fields[];
  const prepare = containers.find((each) => each['name'] === PREPARE_CONTAINER);
  return {
    name: INSTALLER_CONTAINER,
    ...(prepare && pick(prepare, CONTAINER_FIELDS)),
    command: pythonCommand(
      INSTALL,
      CONFIG,
      PARTS,
      TERMINATION_LOG,
      JSON.stringify({ install: task(install), remove }),
    ),
    resources: {
      requests: { cpu: '10m', memory: '32Mi' },
      limits: { cpu: '1', memory: '256Mi' },
    },
    terminationMessagePolicy: 'FallbackToLogsOnError',
    volumeMounts: [
      { name: 'config', mountPath: CONFIG },
      { name: 'parts', mountPath: PARTS, readOnly: true },
    ],
  };
}

/** The Secrets with the parts of the files, as files that are numbered in their order. */
const partSources = (pod: string, parts: number) =>
  Array.from({ length: parts }, (_, index) => ({
    secret: {
      name: partName(pod, index),
      items: [{ key: PART_KEY, path: String(index).padStart(3, '0') }],
    },
  }));

/** Key of a Secret with a part of the files. */
export const PART_KEY = 'part';

export const partName = (pod: string, index: number): string => `${pod}-${index}`;

/** Reports whether an object of the resource is a Secret with files for this pod. */
export const isPartOf = (pod: string, { metadata }: ClusterObject): boolean =>
  metadata.name.startsWith(`${pod}-`);

/** The result of the installer's pod. */
type Verdict =
  | { readonly result: 'running'; readonly message: string | undefined }
  /** `installationID` changes when files of the target are written. It is absent if the task had no files. */
  | { readonly result: 'done'; readonly message: string; readonly installationID: string | undefined }
  | { readonly result: 'conflict' | 'failed'; readonly message: string };

const STARTING: ReadonlySet<string> = new Set(['', 'ContainerCreating', 'PodInitializing']);

/** @param pod pod of the installer, in any state */
export function verdictOf({ status }: Pod): Verdict {
  const own = status?.containerStatuses?.find(({ name }) => name === INSTALLER_CONTAINER)?.state;
  if (own?.terminated) {
    const { exitCode, message = '' } = own.terminated;
    return written(message) ?? { result: 'failed', message: message.trim() || `exit code ${exitCode}` };
  }
  if (status?.phase === 'Failed')
    return { result: 'failed', message: status.message ?? status.reason ?? 'the pod was evicted' };
  const { message, reason = '' } = own?.waiting ?? {};
  // A pod that is starting needs no message.
  const waits = message ?? (STARTING.has(reason) ? undefined : reason);
  const blocked = status?.conditions?.find((each) => each.type === 'PodScheduled' && each.status === 'False');
  return { result: 'running', message: waits ?? blocked?.message };
}

/**
 * The result that the script has written.
 *
 * @returns undefined when the text is not a result of the script
 */
function written(text: string): Verdict | undefined {
  const { id, result, message } = parseObject(text) ?? {};
  const words = typeof message === 'string' ? message : '';
  if (result === 'done')
    return { result, message: words, installationID: typeof id === 'string' ? id : undefined };
  return result === 'conflict' || result === 'failed' ? { result, message: words } : undefined;
}

/**
 * The task of the pod.
 *
 * @returns undefined when the annotation is missing, or was changed to another format
 */
export function installationOf({ metadata }: ClusterObject): Installation | undefined {
  const json = metadata.annotations?.[operatorAnnotations.installation] ?? '';
  return parseObject(json) as Installation | undefined;
}

/**
 * The part of a task that is passed to the script. An argument of a command has at most 128 KiB, which the
 * list of provided names may exceed.
 */
const task = (install: Installed | null) => install && pick({ ...install }, ['target', 'isFile', 'digest']);

type Fields = Readonly<Record<string, unknown>>;

const pick = (from: Fields, names: readonly string[]): Fields =>
  Object.fromEntries(names.filter((name) => from[name] !== undefined).map((name) => [name, from[name]]));
