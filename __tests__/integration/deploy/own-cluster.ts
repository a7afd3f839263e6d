import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../../sandbox';
import { kubectl, type KubectlResult } from '../../cluster';

const repository = join(__dirname, '..', '..', '..');
/** Python that runs its arguments on a separate terminal, and ends with their exit code. */
const ON_TERMINAL = 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))';

interface Run {
  readonly code: number;
  /** Output on both streams. */
  readonly output: string;
}

/** A control plane for one test file, since nothing may be uninstalled in the shared one. */
export class OwnCluster {
  private constructor(readonly sandbox: Sandbox) {}

  static async start(options: Pick<SandboxOptions, 'hubs' | 'probePatience'> = {}): Promise<OwnCluster> {
    return new OwnCluster(await startSandbox({ progress: 'silent', ...options }));
  }

  stop(): Promise<void> {
    return this.sandbox.stop();
  }

  kubectl(args: readonly string[], input = ''): Promise<KubectlResult> {
    return kubectl([`--kubeconfig=${this.sandbox.kubeconfig}`, ...args], { input });
  }

  /** Runs a kubectl command that must succeed. Returns its standard output. */
  async must(args: readonly string[], input = ''): Promise<string> {
    const { code, stdout, stderr } = await this.kubectl(args, input);
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')} ended with ${code}: ${stderr}`);
    return stdout;
  }

  /** Returns one object, or undefined when it does not exist. */
  async find<T>(...what: readonly string[]): Promise<T | undefined> {
    const printed = await this.must(['get', '--ignore-not-found', '--output=json', ...what]);
    return printed === '' ? undefined : (JSON.parse(printed) as T);
  }

  /**
   * Runs a script of `deploy/`, as `make` does.
   * @param answer typed at a terminal at the question; without it there is no terminal
   */
  async run(script: string, variables: Readonly<Record<string, string>> = {}, answer?: string): Promise<Run> {
    const command = [process.execPath, '--import', 'tsx', join('deploy', `${script}.ts`)];
    const python = join(process.env['HUB_SANDBOX_VENV']!, 'bin', 'python3');
    const [program, ...args] = answer === undefined ? command : [python, '-c', ON_TERMINAL, ...command];
    const child = spawn(program!, args, {
      cwd: repository,
      env: {
        ...process.env,
        KUBECONFIG: this.sandbox.kubeconfig,
        KUBECTL: this.sandbox.kubectl.join(' '),
        ...variables,
      },
    });
    if (answer === undefined) child.stdin.end();
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
        if (answer === undefined || !output.includes('[y/N]')) return;
        child.stdin.end(`${answer}\n`);
        answer = undefined;
      });
    const code = await new Promise<number>((resolve, reject) => {
      child.on('close', (ended) => resolve(ended ?? 1));
      child.on('error', reject);
    });
    return { code, output: output.replaceAll('\r\n', '\n') };
  }
}
