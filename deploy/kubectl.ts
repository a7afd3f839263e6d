import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { CommandError } from './command-error';

export interface KubectlResult {
  readonly stdout: string;
  readonly stderr: string;
  /** kubectl's exit code. */
  readonly code: number;
}

export interface KubectlOptions {
  /** The standard input of kubectl. */
  readonly input?: string;
}

/** An API server that does not answer must not hang a command. */
const REQUEST_TIMEOUT = '--request-timeout=15s';

/** kubectl, so that these commands act on the cluster, and as the user, that `kubectl` acts on and as. */
export class Kubectl {
  private readonly command: readonly string[];

  /** @param command the beginning of the command line; `KUBECTL` sets another one, separated by spaces */
  constructor(command: readonly string[] = (process.env['KUBECTL'] || 'kubectl').split(' ')) {
    this.command = command;
  }

  /** Runs it; a refusal is a result, not an error. @throws CommandError when there is no kubectl */
  async try(args: readonly string[], { input = '' }: KubectlOptions = {}): Promise<KubectlResult> {
    const [program = '', ...first] = this.command;
    const child = spawn(program, [...first, REQUEST_TIMEOUT, ...args]);
    child.stdin.on('error', () => undefined); // it may end without reading its input: the exit code tells
    child.stdin.end(input);
    const ended = new Promise<number>((resolve, reject) => {
      child.on('close', (code) => resolve(code ?? 1));
      child.on('error', reject);
    }).catch((error: unknown) => {
      throw new CommandError(
        `Cannot start ${program}: ${(error as Error).message}.`,
        'Install kubectl from https://kubernetes.io/docs/tasks/tools/, or name it in KUBECTL.',
      );
    });
    const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
    return { stdout, stderr, code };
  }

  /** The standard output of a command that must succeed. @throws CommandError with kubectl's own words */
  async run(args: readonly string[], options: KubectlOptions = {}): Promise<string> {
    const { stdout, stderr, code } = await this.try(args, options);
    if (code !== 0) throw new CommandError(`kubectl ${args.slice(0, 3).join(' ')} failed: ${stderr.trim()}`);
    return stdout;
  }

  /** The objects of a `kubectl get`. */
  async list<T>(args: readonly string[], options?: KubectlOptions): Promise<readonly T[]> {
    const printed = await this.run(['get', '--ignore-not-found', '--output=json', ...args], options);
    if (printed.trim() === '') return []; // one object by its name, which does not exist
    const parsed = JSON.parse(printed) as { kind: string; items?: T[] };
    return parsed.items ?? [parsed as T];
  }
}
