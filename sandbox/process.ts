import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { tether } from './tether';

export interface Launch {
  /** Names the process for people, and its files `<name>.log` (appended to) and `<name>.pid` in `directory`. */
  readonly name: string;
  readonly command: readonly [program: string, ...args: string[]];
  readonly directory: string;
  readonly cwd?: string;
  /** Added to this process's environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Between SIGTERM and SIGKILL; 10 s without it. */
  readonly graceMs?: number;
}

// Milliseconds.
const PID_POLL_INTERVAL = 5;

/**
 * A process that ends with this one, however this one ends: it runs under `tether`, which stops it, with all that it
 * started, when our end of a pipe closes.
 */
export class SandboxProcess {
  /** Its exit code, or 128 + the number of the signal that ended it. */
  readonly exited: Promise<number>;
  private code: number | undefined;

  private constructor(
    readonly name: string,
    readonly pid: number,
    readonly logFile: string,
    private readonly keeper: ChildProcess,
    exited: Promise<number>,
  ) {
    this.exited = exited.then((code) => (this.code = code));
  }

  static async start(launch: Launch): Promise<SandboxProcess> {
    await mkdir(launch.directory, { recursive: true });
    const logFile = join(launch.directory, `${launch.name}.log`);
    const pidFile = join(launch.directory, `${launch.name}.pid`);
    await rm(pidFile, { force: true }); // of the process that it replaces
    const log = await open(logFile, 'a');
    try {
      const keeper = await spawnTethered(launch, ['pipe', log.fd, log.fd], ['--pid-file', pidFile]);
      const exited = exitOf(keeper);
      const pid = await readPid(launch, pidFile, keeper);
      return new SandboxProcess(launch.name, pid, logFile, keeper, exited);
    } finally {
      await log.close();
    }
  }

  get running(): boolean {
    return this.code === undefined;
  }

  /** SIGTERM to it and all that it started, SIGKILL after the grace. */
  async stop(): Promise<void> {
    this.keeper.stdin?.end();
    await this.exited;
  }

  /** SIGKILL at once, as the kernel does when memory runs out; for tests of faults. */
  async kill(): Promise<void> {
    if (this.running) process.kill(this.pid, 'SIGKILL');
    await this.exited;
  }
}

/**
 * Spawns the keeper with the command. It gets a session of its own, so that Ctrl-C in a terminal reaches only us and we
 * stop things in order.
 */
export async function spawnTethered(
  launch: Pick<Launch, 'command' | 'cwd' | 'env' | 'graceMs'>,
  stdio: StdioOptions,
  flags: readonly string[] = [],
): Promise<ChildProcess> {
  const grace = ['--grace', `${launch.graceMs ?? 10_000}ms`];
  const keeper = spawn(await tether(), [...grace, ...flags, '--', ...launch.command], {
    stdio,
    detached: true,
    env: { ...process.env, ...launch.env },
    ...(launch.cwd !== undefined && { cwd: launch.cwd }),
  });
  await once(keeper, 'spawn');
  return keeper;
}

/** The exit code of a keeper; 137 when it was itself killed. */
export async function exitOf(keeper: ChildProcess): Promise<number> {
  const [code] = (await once(keeper, 'close')) as [number | null];
  return code ?? 137;
}

async function readPid(launch: Launch, pidFile: string, keeper: ChildProcess): Promise<number> {
  for (;;) {
    const ended = keeper.exitCode !== null || keeper.signalCode !== null;
    const pid = await readFile(pidFile, 'utf8').catch(() => undefined); // not written yet
    if (pid !== undefined) return Number(pid);
    // The keeper writes the file before anything else, unless there is no such program.
    if (ended) throw new Error(`could not start ${launch.name}: ${launch.command.join(' ')}`);
    await sleep(PID_POLL_INTERVAL);
  }
}
