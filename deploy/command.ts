import { spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline/promises';

/** An error that the user can solve. Commands print its message without a stack trace. */
export class CommandError extends Error {}

/**
 * Runs a command to its end and exits. An error other than {@link CommandError} is a bug and is printed with
 * its stack trace.
 */
export function runCommand(main: () => Promise<void>): void {
  main().then(
    () => process.exit(0),
    (error: unknown) => {
      console.error(error instanceof CommandError ? `\n${error.message}` : error);
      process.exit(1);
    },
  );
}

/**
 * Asks the user at the terminal; `YES=1` answers yes in scripts.
 * @throws CommandError unless the answer is yes
 */
export async function confirm(refusal: string): Promise<void> {
  if (process.env['YES'] === '1') return;
  if (!process.stdin.isTTY)
    throw new CommandError(`${refusal} There is no terminal to ask on; YES=1 answers yes in a script.`);
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  // Ctrl-D and Ctrl-C mean no.
  const answer = await Promise.race([
    terminal.question('Go on? [y/N] '),
    new Promise<string>((resolve) => terminal.once('close', () => resolve(''))),
  ]);
  terminal.close();
  if (!/^y(es)?$/i.test(answer.trim())) throw new CommandError(refusal);
}

/**
 * Runs kubectl with the cluster and the credentials of the user's kubeconfig; `KUBECTL` names another
 * program. A failure of kubectl is returned as a result, not thrown.
 * @throws CommandError if kubectl cannot be started
 */
export function kubectl(args: readonly string[], input = '') {
  const [program = '', ...first] = (process.env['KUBECTL'] || 'kubectl').split(' ');
  // Commands must not hang if the API server does not answer. Commands that wait have their own timeout.
  const limit = args.some((arg) => arg.startsWith('--timeout=')) ? [] : ['--request-timeout=15s'];
  const { stdout, stderr, status, error } = spawnSync(program, [...first, ...limit, ...args], {
    encoding: 'utf8',
    input,
    maxBuffer: Infinity,
  });
  // With EPIPE, kubectl has ended without reading its input, and its exit code gives the reason.
  if (status === null && error)
    throw new CommandError(
      `Cannot start ${program}: ${error.message}. Install kubectl, or name it in KUBECTL.`,
    );
  return { stdout, stderr, code: status ?? 1 };
}

/**
 * Returns the standard output of a kubectl that must succeed.
 * @throws CommandError with kubectl's message, then `hint`
 */
export function mustKubectl(args: readonly string[], input = '', hint = ''): string {
  const { stdout, stderr, code } = kubectl(args, input);
  if (code === 0) return stdout;
  throw new CommandError(`kubectl ${args.slice(0, 2).join(' ')} failed: ${stderr.trim()}\n${hint}`.trim());
}

/** Returns the objects that `kubectl get` prints. */
export function listObjects<T>(args: readonly string[]): readonly T[] {
  const printed = mustKubectl(['get', '--ignore-not-found', '--output=json', ...args]);
  if (printed.trim() === '') return []; // one object was requested by its name, and does not exist
  const parsed = JSON.parse(printed) as { items?: T[] };
  return parsed.items ?? [parsed as T];
}

/**
 * Describes the cluster of kubectl's current context.
 * @throws CommandError if there is no context, or no answer
 */
export function describeCluster(): string {
  const hint = 'Choose a context with `kubectl config use-context`; check the network and your credentials.';
  const print = (...args: string[]) => mustKubectl(args, '', hint).trim();
  const context = print('config', 'current-context');
  const server = print('config', 'view', '--minify', '--output=jsonpath={.clusters[0].cluster.server}');
  const { serverVersion } = JSON.parse(print('version', '--output=json')) as {
    serverVersion: { gitVersion: string };
  };
  return `  context  ${context}\n  server   ${server} (Kubernetes ${serverVersion.gitVersion})`;
}
