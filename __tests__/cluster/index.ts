import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { until } from './until';

export { until };

// What tests need of the cluster that setup.ts started.

export interface KubectlResult {
  readonly stdout: string;
  readonly stderr: string;
  /** kubectl's exit code. */
  readonly code: number;
}

/** The path of the administrator's kubeconfig. */
export const kubeconfig = (): string => setting('HUB_SANDBOX_KUBECONFIG');

/** `https://127.0.0.1:<port>` */
export const apiServer = (): string => setting('HUB_SANDBOX_API_SERVER');

/** Where the sandbox and its hubs keep data and logs. */
export const sandboxDirectory = (): string => setting('HUB_SANDBOX_DIRECTORY');

/** The access to the cluster that the sandbox's own functions need. */
export const clusterAccess = () => ({
  kubeconfig: kubeconfig(),
  directory: sandboxDirectory(),
  kubectl: JSON.parse(setting('HUB_SANDBOX_KUBECTL')) as [string, ...string[]],
});

/** Runs kubectl as administrator; `input` goes to its standard input. A refusal is a result, not an error. */
export async function kubectl(
  args: readonly string[],
  { input = '', namespace }: { input?: string; namespace?: string } = {},
): Promise<KubectlResult> {
  const [program, ...first] = clusterAccess().kubectl;
  const where = [
    `--kubeconfig=${kubeconfig()}`,
    ...(namespace === undefined ? [] : [`--namespace=${namespace}`]),
  ];
  const child = spawn(program, [...first, ...where, ...args]);
  child.stdin.on('error', () => undefined); // one that fails at once does not read it: its exit code tells
  child.stdin.end(input);
  const [stdout, stderr, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number>((resolve, reject) => {
      child.on('close', (code) => resolve(code ?? 1));
      child.on('error', reject);
    }),
  ]);
  return { stdout, stderr, code };
}

/** Runs a command that must succeed; returns its standard output. */
export async function mustKubectl(...call: Parameters<typeof kubectl>): Promise<string> {
  const { stdout, stderr, code } = await kubectl(...call);
  if (code !== 0) throw new Error(`kubectl ${call[0].join(' ')} ended with ${code}: ${stderr}`);
  return stdout;
}

const namespaces: string[] = [];

/** A new namespace of this name and a suffix. What runs in it ends when the test file is through. */
export async function freshNamespace(prefix: string): Promise<string> {
  const name = await createNamespace(prefix);
  namespaces.push(name);
  return name;
}

/** A new namespace of this name and a suffix, which stays. */
export async function createNamespace(prefix: string): Promise<string> {
  const name = `${prefix}-${randomBytes(3).toString('hex')}`;
  await until(`the namespace ${name} is created`, async () => {
    const { code, stderr } = await kubectl(['create', 'namespace', name]);
    // An API server that was too late to answer has created it all the same.
    if (code === 0 || stderr.includes('AlreadyExists')) return true;
    throw new Error(stderr);
  });
  return name;
}

const operators: (() => Promise<unknown>)[] = [];

/** Stops an operator when the test file is through, before its namespaces are emptied: it would start the hubs again. */
export function stopAtEnd(stop: () => Promise<unknown>): void {
  operators.push(stop);
}

// Hubs and their controllers go, the namespace stays until the cluster ends: without an operator that removes finalizers, the
// cluster would try to delete it all the time, and a third of all requests to the API server were for that.
afterAll(async () => {
  await Promise.all(operators.splice(0).map((stop) => stop()));
  for (const namespace of namespaces.splice(0))
    await mustKubectl(['delete', 'statefulsets,jobs,pods', '--all', '--wait=false'], { namespace });
});

function setting(name: string): string {
  const value = process.env[name];
  if (value === undefined)
    throw new Error(`${name} is not set: run this with a jest project that has the cluster`);
  return value;
}
