import { spawn, type ChildProcess } from 'node:child_process';
import { appendFileSync, closeSync, openSync, readFileSync, rmSync } from 'node:fs';
import { systemClock } from '../../operator/clock';

export interface ProcessOptions {
  /** Path of the tether program: it ends the process group when this process is gone, in whatever way. */
  tether: string;
  command: string[];
  environment: Record<string, string>;
  workingDirectory: string;
  /** Appended to; standard output and error. */
  logFile: string;
  pidFile: string;
  graceSeconds: number;
}

/** A container's process group, on a tether. */
export class ContainerProcess {
  /** The exit code, 128 + the signal's number after a signal, 127 when the program could not be started. */
  readonly exited: Promise<number>;
  private readonly child: ChildProcess;

  constructor(private readonly options: ProcessOptions) {
    const { tether, command, environment, workingDirectory, logFile, pidFile, graceSeconds } = options;
    // Of the process before it: nobody may take that one for this.
    rmSync(pidFile, { force: true });
    const log = openSync(logFile, 'a');
    this.child = spawn(tether, ['--grace', `${graceSeconds}s`, '--pid-file', pidFile, '--', ...command], {
      cwd: workingDirectory,
      env: environment,
      // Only this end of the pipe keeps the process alive.
      stdio: ['pipe', log, log],
      // Else Ctrl-C in the terminal would stop the hub before the node decides to.
      detached: true,
    });
    closeSync(log);
    this.exited = new Promise((resolve) => {
      this.child.on('exit', (code) => resolve(code ?? 137));
      this.child.on('error', (error) => {
        appendFileSync(logFile, `${error.message}\n`);
        resolve(127);
      });
    });
  }

  /** SIGTERM, and SIGKILL to all that is left after the grace. Resolves when it has ended. */
  async stop(graceSeconds: number): Promise<void> {
    this.child.kill('SIGTERM');
    const disarm = systemClock.after(graceSeconds * 1000, () => this.killGroup());
    await this.exited.finally(disarm);
  }

  private killGroup(): void {
    try {
      process.kill(-Number(readFileSync(this.options.pidFile, 'utf8')), 'SIGKILL');
    } catch (error) {
      // Not started far enough to have one (tether's own grace ends it then), or ended this very moment, which
      // macOS calls EPERM.
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'ENOENT' && code !== 'ESRCH' && code !== 'EPERM') throw error;
    }
  }
}
