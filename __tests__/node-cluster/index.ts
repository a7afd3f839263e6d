import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { NAMESPACE, OPERATOR } from '../../manifests/names';
import { systemClock } from '../../operator/base/clock';
import { withDeadline } from '../../operator/base/deadline';
import { mustKubectl, sandboxDirectory, until } from '../cluster';

// Access of tests to the real node that setup.ts started, in addition to ../cluster.

const ANSWER_TIMEOUT = 60_000; // milliseconds

/** Returns the path of a file in `dist/`. */
export const dist = (name: string): string => join(__dirname, '..', '..', 'dist', name);

const setting = (name: string): string => process.env[name]!;

/** Address of the node, as this machine reaches it. */
export const nodeAddress = (): string => setting('HUB_NODE_ADDRESS');

/** Address of this machine, as the node sees it. */
export const visitorAddress = (): string => setting('HUB_NODE_VISITOR');

/** Runs a command in the namespaces of the node. Returns its standard output. */
export async function onNode(...command: string[]): Promise<string> {
  const [program, ...args] = JSON.parse(setting('HUB_NODE_ENTER')) as [string, ...string[]];
  const { stdout } = await promisify(execFile)(program, [...args, ...command]);
  return stdout;
}

/**
 * Freezes the kubelet, or continues it. A node whose kubelet sends no status is lost to its cluster, while
 * its containers and its network continue.
 */
export async function signalKubelet(name: 'STOP' | 'CONT'): Promise<void> {
  await onNode('pkill', `-${name}`, '--full', '^[^ ]+ kubelet ');
  // The kubelet's parent on this machine stops together with the kubelet, so it has to be continued too.
  if (name === 'CONT')
    process.kill(Number(await readFile(join(sandboxDirectory(), 'node', 'kubelet.pid'), 'utf8')), 'SIGCONT');
}

/** Imports the image of an archive, as if the node had pulled it. */
export async function importImage(archive: string): Promise<void> {
  const client = JSON.parse(setting('HUB_NODE_CTR')) as [string, ...string[]];
  await onNode(...client, 'images', 'import', archive);
}

/** Installs `dist/`, or restores its state. Resolves when the operator serves. */
export async function install(): Promise<void> {
  await until(
    'dist/ is installed', // CRDs take a moment to be established
    async () => {
      await mustKubectl(['apply', '--server-side', '--force-conflicts', '-k', dist('')]);
      return true;
    },
  );
  await mustKubectl(['rollout', 'status', 'deployment', OPERATOR, '--timeout=600s'], {
    namespace: NAMESPACE,
  });
}

/** Requests a URL from this machine, and returns the server's answer. */
export function visit(
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ status: number; body: string }> {
  return withDeadline({ clock: systemClock, delay: ANSWER_TIMEOUT }, async (signal) => {
    const response = await fetch(url, { headers, signal });
    return { status: response.status, body: await response.text() };
  });
}

export interface Pod {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly deletionTimestamp?: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: { readonly nodeName?: string; readonly containers: readonly { readonly image: string }[] };
  readonly status: {
    readonly phase: string;
    readonly podIP: string;
    readonly containerStatuses?: readonly {
      readonly name: string;
      readonly ready: boolean;
      readonly restartCount: number;
      readonly containerID: string;
    }[];
    readonly initContainerStatuses?: readonly { readonly name: string; readonly state: object }[];
  };
}

export async function podsOf(namespace: string, selector = ''): Promise<Pod[]> {
  const text = await mustKubectl(['get', 'pods', `--selector=${selector}`, '--output=json'], { namespace });
  return (JSON.parse(text) as { items: Pod[] }).items;
}

/** Returns the pods of the operator that are not being deleted. */
export async function operatorPods(): Promise<Pod[]> {
  const pods = await podsOf(NAMESPACE, `app.kubernetes.io/name=${OPERATOR}`);
  return pods.filter(({ metadata }) => !metadata.deletionTimestamp);
}

/**
 * Returns the kubelet's messages about failed probes of the pods. Messages about probes that a busy machine
 * was too slow for are left out, and those of startup probes before the program listens.
 */
export async function failedProbes(namespace: string, pods: readonly Pod[]): Promise<string[]> {
  const list = ['get', 'events', '--field-selector=reason=Unhealthy', '--output=json'];
  const { items } = JSON.parse(await mustKubectl(list, { namespace })) as {
    items: readonly { readonly message: string; readonly involvedObject: { readonly uid: string } }[];
  };
  return items
    .filter(({ involvedObject }) => pods.some(({ metadata }) => metadata.uid === involvedObject.uid))
    .map(({ message }) => message)
    .filter((message) => !/deadline exceeded|timed out|^Startup probe .*refused/.test(message));
}

/** Returns the process id, on the node, of a pod's only container. */
export async function processOf({ status }: Pod): Promise<number> {
  const id = status.containerStatuses![0]!.containerID.replace('containerd://', '');
  const tasks = await onNode(
    'sh',
    '-c',
    `cat /run/containerd/io.containerd.runtime.v2.task/k8s.io/${id}/init.pid`,
  );
  return Number(tasks);
}
