import { spawn, type ChildProcess } from 'node:child_process';
import { appendFileSync, closeSync, openSync, readFileSync, rmSync } from 'node:fs';
import { systemClock } from '../../operator/base/clock';

interface ProcessOptions {
  /** Path of the tether program, which ends the process group when this process ends. */
  tether: string;
  command: string[];
  environment: Record<string, string>;
  workingDirectory: string;
  /** File to which standard output and standard error are appended. */
  logFile: string;
  pidFile: string;
  graceSeconds: number;
  /**
   * Address of the fork server that runs the command, a Python program. Without an address the command is a
   * separate process.
   */
  forkServer?: string | undefined;
}

/** A container's process group, which runs under tether. */
export class ContainerProcess {
  /** The exit code: 128 + the signal's number after a signal, 127 when the program could not be started. */
  readonly exited: Promise<number>;
  private readonly child: ChildProcess;

  constructor(private readonly options: ProcessOptions) {
    const { tether, command, environment, workingDirectory, logFile, pidFile, graceSeconds, forkServer } =
      options;
    // The pid file of the previous process must not be taken for that of the new one.
    rmSync(pidFile, { force: true });
    const log = openSync(logFile, 'a');
    const flags = ['--grace', `${graceSeconds}s`, '--pid-file', pidFile];
    if (forkServer !== undefined) flags.push('--fork-server', forkServer);
    this.child = spawn(tether, [...flags, '--', ...command], {
      cwd: workingDirectory,
      env: environment,
      // tether stops the process when this pipe is closed.
      stdio: ['pipe', log, log],
      // The process has a session of its own, so that Ctrl-C in the terminal does not reach the container.
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

  /** Sends SIGTERM, and SIGKILL to the process group after the grace period. Resolves when the process has ended. */
  async stop(graceSeconds: number): Promise<void> {
    this.child.kill('SIGTERM');
    const disarm = systemClock.after(graceSeconds * 1000, () => this.killGroup());
    await this.exited.finally(disarm);
  }

  private killGroup(): void {
    try {
      process.kill(-Number(readFileSync(this.options.pidFile, 'utf8')), 'SIGKILL');
    } catch (error) {
      // Either the file is not written yet, and tether's own grace period ends the process, or the process
      // has just ended, which macOS reports as EPERM.
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'ENOENT' && code !== 'ESRCH' && code !== 'EPERM') throw error;
    }
  }
}
