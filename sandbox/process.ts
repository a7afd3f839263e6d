import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { tether } from './tether';

interface Launch {
  /** Name in messages, and of the files `<name>.log` (appended to) and `<name>.pid` in `directory`. */
  readonly name: string;
  readonly command: readonly [program: string, ...args: string[]];
  readonly directory: string;
  readonly cwd?: string;
  /** Environment variables, added to those of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** Milliseconds between SIGTERM and SIGKILL. Default 10 s. */
  readonly graceMs?: number;
}

// In milliseconds.
const PID_POLL_INTERVAL = 5;

/**
 * A child process that ends with this process, also after `kill -9`: it runs under `tether`, which stops its process
 * group when this process's end of a pipe is closed.
 */
export class SandboxProcess {
  /** The exit code, or 128 + the number of the signal that ended the process. */
  readonly exited: Promise<number>;
  private code: number | undefined;

  private constructor(
    readonly name: string,
    readonly pid: number,
    readonly logFile: string,
    private readonly tethered: ChildProcess,
    exited: Promise<number>,
  ) {
    this.exited = exited.then((code) => (this.code = code));
  }

  static async start(launch: Launch): Promise<SandboxProcess> {
    await mkdir(launch.directory, { recursive: true });
    const logFile = join(launch.directory, `${launch.name}.log`);
    const pidFile = join(launch.directory, `${launch.name}.pid`);
    await rm(pidFile, { force: true }); // the pid file of the previous process
    const log = await open(logFile, 'a');
    try {
      const tethered = await spawnTethered(launch, ['pipe', log.fd, log.fd], ['--pid-file', pidFile]);
      const exited = exitOf(tethered);
      const pid = await readPid(launch, pidFile, tethered);
      return new SandboxProcess(launch.name, pid, logFile, tethered, exited);
    } finally {
      await log.close();
    }
  }

  get running(): boolean {
    return this.code === undefined;
  }

  /**
   * Sends SIGTERM to the process group, and SIGKILL after the grace period. Resolves when the process has
   * ended.
   */
  async stop(): Promise<void> {
    this.tethered.stdin?.end();
    await this.exited;
  }

  /** Sends SIGKILL, as the kernel does when it is out of memory. Resolves when the process has ended. */
  async kill(): Promise<void> {
    try {
      if (this.running) process.kill(this.pid, 'SIGKILL');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error; // the process has just ended
    }
    await this.exited;
  }
}

/**
 * Spawns `tether` with the command, in a session of its own: Ctrl-C in a terminal reaches only this process, which
 * stops the others in order.
 */
export async function spawnTethered(
  launch: Pick<Launch, 'command' | 'cwd' | 'env' | 'graceMs'>,
  stdio: StdioOptions,
  flags: readonly string[] = [],
): Promise<ChildProcess> {
  const grace = ['--grace', `${launch.graceMs ?? 10_000}ms`];
  const tethered = spawn(await tether(), [...grace, ...flags, '--', ...launch.command], {
    stdio,
    detached: true,
    env: { ...process.env, ...launch.env },
    ...(launch.cwd !== undefined && { cwd: launch.cwd }),
  });
  await once(tethered, 'spawn');
  return tethered;
}

/** The exit code of a tethered command; 137 when tether itself was killed. */
export async function exitOf(tethered: ChildProcess): Promise<number> {
  const [code] = (await once(tethered, 'close')) as [number | null];
  return code ?? 137;
}

async function readPid(launch: Launch, pidFile: string, tethered: ChildProcess): Promise<number> {
  for (;;) {
    const ended = tethered.exitCode !== null || tethered.signalCode !== null;
    const pid = await readFile(pidFile, 'utf8').catch(() => undefined); // undefined until the file is written
    if (pid !== undefined) return Number(pid);
    // tether writes the file before its command starts, unless the program does not exist.
    if (ended) throw new Error(`cannot start ${launch.name}: ${launch.command.join(' ')}`);
    await sleep(PID_POLL_INTERVAL);
  }
}
