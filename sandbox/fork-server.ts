import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, openSync } from 'node:fs';
import { platform } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const PROGRAM = join(__dirname, 'fork-server.py');

interface ForkServerOptions {
  /** Path of the tether program, which ends the fork server when this process ends. */
  readonly tether: string;
  /** The Python interpreter of the server, and its environment. */
  readonly python: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Modules that the server imports before it runs the first program. */
  readonly modules: readonly string[];
  /**
   * Python code that each fork runs before its program, for values that the modules have read from the
   * environment or the clock.
   */
  readonly afterFork?: string;
  readonly logFile: string;
}

/**
 * A Python process that has imported some modules and runs programs as forks of itself (fork-server.py). The
 * process starts on first use.
 */
export class ForkServer {
  private process: ChildProcess | undefined;
  private listening: Promise<string | undefined> | undefined;

  constructor(private readonly options: ForkServerOptions) {}

  /**
   * Returns the address of the fork server, for tether. A server that ended is not started again, since it
   * would end again.
   * @returns undefined when there is no server; then each program has to start as a process of its own
   */
  address(): Promise<string | undefined> {
    // Only Linux has abstract socket addresses and can end a process together with its parent.
    this.listening ??= platform() === 'linux' ? this.start() : Promise.resolve(undefined);
    return this.listening;
  }

  /** Ends the server and every program that the server still runs. */
  async stop(): Promise<void> {
    const { process } = this;
    this.listening = Promise.resolve(undefined);
    if (!process) return;
    const ended = new Promise((resolve) => process.once('exit', resolve));
    process.stdin?.end();
    await ended;
  }

  private start(): Promise<string | undefined> {
    const { tether, python, environment, modules, afterFork = '', logFile } = this.options;
    const address = `hub-operator-${randomUUID()}`;
    const log = openSync(logFile, 'a');
    // tether stops the server when its standard input is closed. The server prints a line when it listens.
    const process = spawn(tether, ['--grace', '1s', '--', python, PROGRAM, address, afterFork, ...modules], {
      env: environment,
      stdio: ['pipe', 'pipe', log],
      detached: true,
    });
    closeSync(log);
    this.process = process;
    return new Promise((resolve) => {
      createInterface({ input: process.stdout! }).once('line', () => resolve(address));
      for (const event of ['error', 'exit'] as const) {
        process.once(event, () => {
          this.process = undefined;
          this.listening = Promise.resolve(undefined);
          resolve(undefined);
        });
      }
    });
  }
}
