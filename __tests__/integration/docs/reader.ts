import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { clusterAccess, until } from '../../cluster';
import { type DocumentedCommand, repository, shownAs } from './documented-commands';
import { Shell } from './shell';

/** Whether a command only reads and may be repeated until the cluster has reached the shown state. */
const isRead = (command: string) => /^(kubectl .*\b(get|wait)\b|curl )/.test(command);
/**
 * Whether the page shows a warning or a refusal of the webhook, as opposed to a refusal by the schema, which
 * is a list.
 */
const isAnswerOfWebhook = (output: string) => /Warning: spec|is invalid: spec/.test(output);
/**
 * Whether the page shows a refusal, a resource that is not Ready in the tree of `kubectl hub status`, or a
 * test that fails.
 */
const isRefused = (output: string) => / is invalid:|^[├└]─ […✗] |^ {2}FAIL {2}/m.test(output);

interface Following {
  readonly typed?: string;
  readonly compared?: boolean;
  readonly code?: number;
}

/**
 * A reader of README and docs, who has `make run` in one terminal and types each documented command in
 * another one.
 */
export class Reader {
  private constructor(
    /** The folder in which the reader works, with `dist/` and `samples/` of the clone. */
    readonly folder: string,
    readonly shell: Shell,
    readonly makeRun: ChildProcess,
    private readonly allPrinted: () => string,
  ) {}

  /** @param settings environment variables of the operator */
  static async start(settings: Readonly<Record<string, string>> = {}): Promise<Reader> {
    const folder = await mkdtemp(join(tmpdir(), 'reader-'));
    let printed = '';
    // Starts `make run` as the Makefile does.
    const makeRun = spawn(process.execPath, ['--import', 'tsx', join('sandbox', 'run.ts')], {
      cwd: repository,
      // On a busy machine an answer may take longer than a lease lasts.
      env: {
        ...process.env,
        HUB_OPERATOR_RUNS: join(folder, 'runs'),
        LEADER_ELECTION: 'false',
        ...settings,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [makeRun.stdout, makeRun.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (printed += text));
    const ended = once(makeRun, 'exit').then(() => {
      throw new Error(`make run has ended:\n${printed}`);
    });
    const { kubeconfig, log, url } = await Promise.race([
      until('make run is ready', () => readyFacts(printed), 1_000_000),
      ended,
    ]);
    ended.catch(() => undefined);

    for (const name of ['dist', 'samples']) await symlink(join(repository, name), join(folder, name));
    const bin = join(folder, 'bin');
    await mkdir(bin);
    const [program, ...first] = clusterAccess().kubectl;
    // A link to the built kubectl where none is installed.
    if (first.length > 0)
      await writeFile(join(bin, 'kubectl'), `#!/bin/sh\nexec ${program} ${first.join(' ')} "$@"\n`);
    // The editor of the tutorial's reader, which adds a line below input_boolean with the indentation of its
    // neighbours.
    const editor = `#!/bin/sh\nsed -i 's/^\\( *\\)input_boolean:$/&\\n\\1  porch_light:/' "$1"\n`;
    await writeFile(join(bin, 'editor'), editor);
    for (const name of await readdir(bin)) await chmod(join(bin, name), 0o755);
    const shell = new Shell(folder, {
      KUBECONFIG: kubeconfig,
      KUBE_EDITOR: join(bin, 'editor'),
      OPERATOR_LOG: log,
      OPERATOR_URL: url,
      // Global npm packages are installed only for this reader.
      npm_config_prefix: folder,
      npm_config_audit: 'false',
      npm_config_update_notifier: 'false',
      PATH: [bin, process.env['PATH']].join(delimiter),
    });
    return new Reader(folder, shell, makeRun, () => printed);
  }

  /** The output of `make run` so far. */
  get printed(): string {
    return this.allPrinted();
  }

  write(file: string, text: string): Promise<void> {
    return writeFile(join(this.folder, file), text);
  }

  /**
   * Types a command of a page. A command that only reads is repeated until it succeeds.
   * @param typed the command to type instead
   * @param compared whether the output has to match the page
   * @param code the expected exit code; default: 1 where the page shows a refusal or a resource that is not
   * Ready, else 0
   * @throws Error with the output
   */
  async follow(
    { page, command, output }: DocumentedCommand,
    { typed = command, compared = true, code = isRefused(output) ? 1 : 0 }: Following = {},
  ): Promise<void> {
    const attempt = async () => {
      const result = await this.shell.run(typed);
      // `make run` must apply the samples in the same way as a user, so that kubectl has nothing to patch.
      if (result.output.includes('last-applied-configuration'))
        throw new Error(`it warned: ${result.output}`);
      if (result.code !== code) throw new Error(`it ended with ${result.code}: ${result.output}`);
      if (output !== '' && compared && !shownAs(output).test(result.output))
        throw new Error(`${page} shows:\n${output}\nit printed:\n${result.output}`);
    };
    // A webhook that answers too late, or does not know of the resource yet, admits it silently.
    if (isAnswerOfWebhook(output)) {
      await until(`${page}: ${typed}`, async () => {
        try {
          await attempt();
          return true;
        } catch (error) {
          await this.shell.run(typed.replace('apply', 'delete --ignore-not-found'));
          throw error;
        }
      });
      return;
    }
    if (!isRead(typed)) return attempt();
    await until(`${page}: ${typed}`, () => attempt().then(() => true));
  }

  async stop(): Promise<void> {
    this.shell.stop();
    if (this.makeRun.exitCode === null) {
      this.makeRun.kill('SIGINT');
      await once(this.makeRun, 'exit');
    }
    await rm(this.folder, { recursive: true, force: true, maxRetries: 10 });
  }
}

/** Returns the addresses and paths that `make run` prints when all is ready. */
function readyFacts(text: string): { kubeconfig: string; log: string; url: string } | undefined {
  const [, url, log] = /Operator: .* (http\S+)\/metrics, log (\S+)/.exec(text) ?? [];
  const [, kubeconfig] = /export KUBECONFIG=(\S+)[^]*Events \(Ctrl-C/.exec(text) ?? [];
  return kubeconfig && log && url ? { kubeconfig, log, url } : undefined;
}
