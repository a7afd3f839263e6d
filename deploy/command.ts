import { spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline/promises';

/** An error that the user can solve: commands print it without a stack. */
export class CommandError extends Error {}

/** Runs a command to its end and exits; an error that is no {@link CommandError} is a bug and is printed with its stack. */
export function runCommand(main: () => Promise<void>): void {
  main().then(
    () => process.exit(0),
    (error: unknown) => {
      console.error(error instanceof CommandError ? `\n${error.message}` : error);
      process.exit(1);
    },
  );
}

/** Asks the person at the terminal; `YES=1` agrees in scripts. @throws CommandError unless the answer is yes */
export async function confirm(refusal: string): Promise<void> {
  if (process.env['YES'] === '1') return;
  if (!process.stdin.isTTY)
    throw new CommandError(`${refusal} There is no terminal to ask on; YES=1 answers yes in a script.`);
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  // Ctrl-D and Ctrl-C are no.
  const answer = await Promise.race([
    terminal.question('Go on? [y/N] '),
    new Promise<string>((resolve) => terminal.once('close', () => resolve(''))),
  ]);
  terminal.close();
  if (!/^y(es)?$/i.test(answer.trim())) throw new CommandError(refusal);
}

/**
 * Runs kubectl, on the cluster and as the user of a person's own commands; `KUBECTL` names another program. A refusal is a
 * result, not an error.
 *
 * @throws CommandError when there is no kubectl
 */
export function kubectl(args: readonly string[], input = '') {
  const [program = '', ...first] = (process.env['KUBECTL'] || 'kubectl').split(' ');
  // An API server that does not answer must not hang a command. Commands that wait have a timeout of their own.
  const limit = args.some((arg) => arg.startsWith('--timeout=')) ? [] : ['--request-timeout=15s'];
  const { stdout, stderr, status, error } = spawnSync(program, [...first, ...limit, ...args], {
    encoding: 'utf8',
    input,
    maxBuffer: Infinity,
  });
  // EPIPE: kubectl has ended without reading its input, and its exit code tells why.
  if (status === null && error)
    throw new CommandError(
      `Cannot start ${program}: ${error.message}. Install kubectl, or name it in KUBECTL.`,
    );
  return { stdout, stderr, code: status ?? 1 };
}

/** The standard output of a kubectl that must succeed. @throws CommandError with kubectl's own words, then `hint` */
export function mustKubectl(args: readonly string[], input = '', hint = ''): string {
  const { stdout, stderr, code } = kubectl(args, input);
  if (code === 0) return stdout;
  throw new CommandError(`kubectl ${args.slice(0, 2).join(' ')} failed: ${stderr.trim()}\n${hint}`.trim());
}

/** The objects of a `kubectl get`. */
export function listObjects<T>(args: readonly string[]): readonly T[] {
  const printed = mustKubectl(['get', '--ignore-not-found', '--output=json', ...args]);
  if (printed.trim() === '') return []; // one object by its name, which does not exist
  const parsed = JSON.parse(printed) as { items?: T[] };
  return parsed.items ?? [parsed as T];
}

/** Describes the cluster of kubectl's current context. @throws CommandError when there is none, or no answer */
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
