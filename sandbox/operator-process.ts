import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { repository } from './image/bundle';
import { HEAP_FLAG, operatorImage } from './image/description';
import { operatorNode } from './image/operator-node';
import { heapLimit, shippedMemory } from '../manifests/memory';
import { readManifests } from '../manifests/read-manifests';
import type { Sandbox } from './index';
import { readCluster, writeKubeconfig } from './kubeconfig';
import { URL_ANNOTATION } from './node';
import { freePort } from './ports';
import { SandboxProcess } from './process';

/** The part of a sandbox that the operator needs. Other processes read it from the run file. */
export type ClusterAccess = Pick<Sandbox, 'kubeconfig' | 'directory' | 'kubectl'>;

/** Path of the operator's bundle, equal to the one in its image. */
export const bundle = join(repository, 'build', 'operator.cjs');
/** The program that starts the bundle with settings that only tests and sandboxes use. */
const entry = join(__dirname, 'operator-entry.mjs');

export interface OperatorOptions {
  /** Path of another bundle, such as that of another version. */
  readonly bundle?: string;
  /** Name of the log and pid files. Default: `operator`. */
  readonly name?: string;
  /** Environment variables of the operator. They override those that a sandbox sets. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Path of a kubeconfig, for example one whose server is a proxy. Default: one of the operator's service account. */
  readonly kubeconfig?: string;
  /** A program that starts the operator, with the program's first arguments. Default: none. */
  readonly launcher?: readonly string[];
  /**
   * The memory limit of the operator's container, in bytes, from which the size of the heap follows. Default:
   * the shipped limit.
   */
  readonly memory?: number;
}

export interface OperatorProcess {
  readonly process: SandboxProcess;
  /** `http://127.0.0.1:<port>`, which serves /healthz, /readyz and /metrics. */
  readonly url: string;
}

/**
 * Installs `dist/` with the Deployment scaled to 0: in a sandbox the operator is a process, not a pod. The
 * webhook is not registered, because the API server would call its Service, which has no pod, at each write;
 * see `installWebhook`.
 * @param dist the manifests of another version
 */
export async function installOperator(
  sandbox: ClusterAccess,
  dist = join(repository, 'dist'),
): Promise<void> {
  const kinds = join(dist, 'crds.yaml');
  await sandboxKubectl(sandbox, ['apply', '--server-side', '-f', kinds]);
  // `--for=condition=` fails on a kind that has no conditions yet.
  const established = '{.status.conditions[?(@.type=="Established")].status}';
  await sandboxKubectl(sandbox, [
    'wait',
    `--for=jsonpath=${established}=True`,
    '--timeout=120s',
    '-f',
    kinds,
  ]);
  const shipped = readManifests(join(dist, 'install.yaml')) as { kind: string }[];
  const items = shipped.filter(({ kind }) => kind !== 'ValidatingWebhookConfiguration');
  await sandboxKubectl(
    sandbox,
    // after a first call `scale` below owns the field
    ['apply', '--server-side', '--force-conflicts', '-f', '-'],
    JSON.stringify({ apiVersion: 'v1', kind: 'List', items }),
  );
  await sandboxKubectl(sandbox, [
    '--namespace',
    'hub-operator',
    'scale',
    'deployment',
    'hub-operator',
    '--replicas=0',
  ]);
}

/** Writes a kubeconfig of the operator's service account, so that the operator has exactly the role in `dist/`. */
export async function operatorKubeconfig(sandbox: ClusterAccess): Promise<string> {
  const token = await sandboxKubectl(sandbox, [
    '--namespace',
    'hub-operator',
    'create',
    'token',
    'hub-operator',
    '--duration=24h',
  ]);
  const path = join(sandbox.directory, 'operator.kubeconfig');
  await writeKubeconfig(path, {
    ...(await readCluster(sandbox.kubeconfig)),
    credentials: { token: token.trim() },
  });
  return path;
}

export async function startOperator(
  sandbox: ClusterAccess,
  options: OperatorOptions = {},
): Promise<OperatorProcess> {
  const port = await freePort();
  const environment = await operatorEnvironment(sandbox, { ...options, port });
  const command = [...operatorCommand(options.memory), entry, options.bundle ?? bundle];
  const [program = '', ...args] = [...(options.launcher ?? []), ...command];
  const operator = await SandboxProcess.start({
    name: options.name ?? 'operator',
    command: [program, ...args],
    directory: join(sandbox.directory, 'operator'),
    graceMs: 120_000, // the operator ends within 20 s on an idle machine, later on a busy one
    env: { ...environment, ...options.settings },
  });
  return { process: operator, url: `http://127.0.0.1:${port}` };
}

/**
 * Returns the program and the flags with which the image starts the bundle. The heap size follows from the
 * container's memory limit. Outside of a container Node.js would take the percentage of the machine's memory,
 * even if another flag sets a size in MiB.
 */
export function operatorCommand(memory = shippedMemory()): [program: string, ...flags: string[]] {
  const flags = operatorImage.entrypoint
    .slice(1, -1)
    .map((flag) => (flag === HEAP_FLAG ? `--max-old-space-size=${heapLimit(memory)}` : flag));
  return [operatorNode().path, ...flags];
}

/** Returns the environment variables of an operator in a sandbox. With `port` 0 it listens on a free port. */
export async function operatorEnvironment(
  sandbox: ClusterAccess,
  { name = 'operator', kubeconfig, port = 0 }: OperatorOptions & { readonly port?: number } = {},
): Promise<Record<string, string>> {
  return {
    KUBECONFIG: kubeconfig ?? (await operatorKubeconfig(sandbox)),
    POD_NAMESPACE: 'hub-operator',
    POD_NAME: name,
    HTTP_ADDRESS: '127.0.0.1',
    HTTP_PORT: String(port),
    HUB_URL_ANNOTATION: URL_ANNOTATION,
    ...operatorImage.environment,
    ...sourceAddress(),
  };
}

/**
 * Runs kubectl as the sandbox's administrator with `input` as its standard input. Returns its standard
 * output; an error contains its standard error.
 */
export async function sandboxKubectl(
  sandbox: ClusterAccess,
  args: readonly string[],
  input = '',
): Promise<string> {
  const [program, ...first] = sandbox.kubectl;
  const running = promisify(execFile)(program, [...first, '--kubeconfig', sandbox.kubeconfig, ...args], {
    maxBuffer: 64 * 1024 * 1024,
  });
  running.child.stdin?.end(input);
  return (await running).stdout;
}

/**
 * On Linux the operator has its own loopback address, so that a hub can ban the operator without banning the probes.
 */
function sourceAddress(): Record<string, string> {
  return process.platform === 'linux'
    ? { HUB_SOURCE_ADDRESS: '127.0.0.2', POD_IP: '127.0.0.2' }
    : { POD_IP: '127.0.0.1' };
}
