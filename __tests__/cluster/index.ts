import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { until } from './until';

export { until };

// Access of tests to the cluster that setup.ts started.

export interface KubectlResult {
  readonly stdout: string;
  readonly stderr: string;
  /** kubectl's exit code. */
  readonly code: number;
}

/** Returns the path of the administrator's kubeconfig. */
export const kubeconfig = (): string => setting('HUB_SANDBOX_KUBECONFIG');

/** Returns the URL of the API server: `https://127.0.0.1:<port>`. */
export const apiServer = (): string => setting('HUB_SANDBOX_API_SERVER');

/** Returns the folder in which the sandbox and its hubs keep data and logs. */
export const sandboxDirectory = (): string => setting('HUB_SANDBOX_DIRECTORY');

/** Returns the access to the cluster that functions of the sandbox need. */
export const clusterAccess = () => ({
  kubeconfig: kubeconfig(),
  directory: sandboxDirectory(),
  kubectl: JSON.parse(setting('HUB_SANDBOX_KUBECTL')) as [string, ...string[]],
});

/**
 * Runs kubectl as administrator; `input` goes to its standard input. A failed command is a result, not an
 * error.
 */
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
  // a command that fails at once does not read its input; the exit code reports the failure
  child.stdin.on('error', () => undefined);
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

/** Runs a kubectl command that must succeed. Returns its standard output. */
export async function mustKubectl(...call: Parameters<typeof kubectl>): Promise<string> {
  const { stdout, stderr, code } = await kubectl(...call);
  if (code !== 0) throw new Error(`kubectl ${call[0].join(' ')} ended with ${code}: ${stderr}`);
  return stdout;
}

const namespaces: string[] = [];

/**
 * Creates a namespace with this prefix in its name. Hubs and controllers in it are removed at the end of the
 * test file.
 */
export async function freshNamespace(prefix: string): Promise<string> {
  const name = await createNamespace(prefix);
  namespaces.push(name);
  return name;
}

/** Creates a namespace with this prefix in its name, which stays after the tests. */
export async function createNamespace(prefix: string): Promise<string> {
  const name = `${prefix}-${randomBytes(3).toString('hex')}`;
  await until(`the namespace ${name} is created`, async () => {
    const { code, stderr } = await kubectl(['create', 'namespace', name]);
    // The API server may have created the namespace although its answer came too late.
    if (code === 0 || stderr.includes('AlreadyExists')) return true;
    throw new Error(stderr);
  });
  return name;
}

const operators: (() => Promise<unknown>)[] = [];

/**
 * Stops an operator at the end of the test file, before its namespaces are emptied, because a running
 * operator would start the hubs again.
 */
export function stopAtEnd(stop: () => Promise<unknown>): void {
  operators.push(stop);
}

// Hubs and their controllers are removed; the namespace stays until the cluster ends. Without an operator
// that removes finalizers the cluster would retry the deletion all the time, which once was a third of all
// requests to the API server.
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
