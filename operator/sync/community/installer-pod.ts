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

/** Seconds. The pod ends by itself also while no operator runs. */
const DEADLINE_SECONDS = 300;

/** The task of a pod, recorded in its annotation: it survives a crash of the operator. */
export interface Installation {
  /** Null: the targets in `remove` are removed, and nothing is installed. */
  readonly install: Installed | null;
  /** Targets of earlier versions. */
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

/** The hub's workload, to which the installer's pod is adapted. */
export interface HubWorkload {
  readonly set: StatefulSet;
  readonly claimName: string;
  /** Where the hub's pod runs: a volume with ReadWriteOnce can be mounted there only. */
  readonly nodeName: string;
}

/** Fields of the pod of the hub that decide whether a pod is admitted, and as which user it writes. */
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
 * The pod that runs the installer's script once, beside the hub: with the hub's image, which the node has already, and on
 * its volume.
 */
export function installerPod(
  metadata: { readonly name: string; readonly namespace: string },
  installation: Installation,
  { set, claimName, nodeName }: HubWorkload,
): Manifest {
  const { parts, remove } = installation;
  const hub: Fields = { ...set.spec.template.spec };
  const containers = (hub['initContainers'] ?? []) as readonly Fields[];
  const prepare = containers.find((each) => each['name'] === PREPARE_CONTAINER);
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
      containers: [
        {
          name: INSTALLER_CONTAINER,
          ...(prepare && pick(prepare, CONTAINER_FIELDS)),
          command: pythonCommand(
            INSTALL,
            CONFIG,
            PARTS,
            TERMINATION_LOG,
            JSON.stringify({ install: task(installation.install), remove }),
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
        },
      ],
      volumes: [
        { name: 'config', persistentVolumeClaim: { claimName } },
        {
          name: 'parts',
          projected: {
            sources: Array.from({ length: parts }, (_, index) => ({
              secret: {
                name: partName(metadata.name, index),
                items: [{ key: PART_KEY, path: String(index).padStart(3, '0') }],
              },
            })),
          },
        },
      ],
    },
  };
}

/** Key of a Secret with a part of the files. */
export const PART_KEY = 'part';

export const partName = (pod: string, index: number): string => `${pod}-${index}`;

/** Whether an object of the resource has files for this pod. */
export const isPartOf = (pod: string, { metadata }: ClusterObject): boolean =>
  metadata.name.startsWith(`${pod}-`);

/** The result of the pod. */
type Verdict =
  | { readonly result: 'running'; readonly message: string | undefined }
  /** `installationID`: another one than before if files of the target were written; absent: none were asked for. */
  | { readonly result: 'done'; readonly message: string; readonly installationID: string | undefined }
  | { readonly result: 'conflict' | 'failed'; readonly message: string };

const STARTING: ReadonlySet<string> = new Set(['', 'ContainerCreating', 'PodInitializing']);

/** @param pod of the installer, in any state */
export function verdictOf({ status }: Pod): Verdict {
  const own = status?.containerStatuses?.find(({ name }) => name === INSTALLER_CONTAINER)?.state;
  if (own?.terminated) {
    const { exitCode, message = '' } = own.terminated;
    return written(message) ?? { result: 'failed', message: message.trim() || `exit code ${exitCode}` };
  }
  if (status?.phase === 'Failed')
    return { result: 'failed', message: status.message ?? status.reason ?? 'the pod was evicted' };
  const { message, reason = '' } = own?.waiting ?? {};
  // A pod that starts needs no message.
  const waits = message ?? (STARTING.has(reason) ? undefined : reason);
  const blocked = status?.conditions?.find((each) => each.type === 'PodScheduled' && each.status === 'False');
  return { result: 'running', message: waits ?? blocked?.message };
}

/** @returns undefined: nothing that the script has written */
function written(text: string): Verdict | undefined {
  const { id, result, message } = parseObject(text) ?? {};
  const words = typeof message === 'string' ? message : '';
  if (result === 'done')
    return { result, message: words, installationID: typeof id === 'string' ? id : undefined };
  return result === 'conflict' || result === 'failed' ? { result, message: words } : undefined;
}

/** The task of the pod; undefined: it has no such annotation, or someone has changed that. */
export function installationOf({ metadata }: ClusterObject): Installation | undefined {
  const json = metadata.annotations?.[operatorAnnotations.installation] ?? '';
  return parseObject(json) as Installation | undefined;
}

/** One argument of a command has at most 128 KiB, which the names that a repository provides may exceed. */
const task = (install: Installed | null) => install && pick({ ...install }, ['target', 'isFile', 'digest']);

type Fields = Readonly<Record<string, unknown>>;

const pick = (from: Fields, names: readonly string[]): Fields =>
  Object.fromEntries(names.filter((name) => from[name] !== undefined).map((name) => [name, from[name]]));
