import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { appendFile, cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../operator/base/clock';
import { getConfig } from '../../operator/client/setup/core';
import { redactor } from '../../operator/client/connection/redact';
import { RestClient } from '../../operator/client/connection/rest';
import { withDeadline } from '../../operator/base/deadline';
import { freePort } from '../../sandbox/ports';
import { tether } from '../../sandbox/tether';
import { until } from './until';

// The exit code with which the hub requests a restart (for a restart, new http settings, or a restored
// backup).
const START_AGAIN = 100;
// In milliseconds, for a busy machine.
const START_TIMEOUT = 240_000;
/** Grace period for tether, after which the process is killed and unsaved changes are lost. */
const STOP_TIMEOUT = '120s';

const CONFIGURATION_FILES = {
  'configuration.yaml': [
    'automation: !include automations.yaml',
    'scene: !include scenes.yaml',
    'script: !include scripts.yaml',
    'frontend:',
    'config:',
    'logger:',
    '  default: warning',
    '',
  ].join('\n'),
  'automations.yaml': '[]\n',
  'scenes.yaml': '',
  'scripts.yaml': '',
};

/**
 * A real hub as a child process, on a free port, with its own configuration directory. It is restarted when
 * it requests that, as a container's supervisor would.
 */
export class HubProcess {
  private child: ChildProcess | undefined;
  private shouldRun = false;

  private constructor(
    private readonly tether: string,
    readonly configDir: string,
    readonly port: number,
  ) {}

  /**
   * Creates a hub that is not started yet: fresh, or with a copy of another hub's configuration directory.
   */
  static async create(template?: string): Promise<HubProcess> {
    const configDir = await mkdtemp(path.join(tmpdir(), 'hub-process-'));
    if (template !== undefined) await cp(template, configDir, { recursive: true });
    else
      for (const [name, content] of Object.entries(CONFIGURATION_FILES))
        await writeFile(path.join(configDir, name), content);
    return new HubProcess(await tether(), configDir, await freePort());
  }

  /** Starts a fresh hub. Resolves when the hub answers. */
  static async start(): Promise<HubProcess> {
    const hub = await HubProcess.create();
    await hub.start();
    return hub;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Process id of the hub; undefined while the hub does not run. */
  get pid(): number | undefined {
    return this.child && existsSync(this.pidFile) ? Number(readFileSync(this.pidFile, 'utf8')) : undefined;
  }

  /** Starts the process and waits until the hub answers. */
  async start(): Promise<void> {
    this.launch();
    await this.answering();
  }

  /** Starts the process without waiting for the hub. */
  launch(): void {
    this.shouldRun = true;
    rmSync(this.pidFile, { force: true }); // the pid file of the previous process
    const forkServer = process.env['HUB_SANDBOX_FORK_SERVER'];
    const flags = ['--grace', STOP_TIMEOUT, '--pid-file', this.pidFile];
    if (forkServer !== undefined) flags.push('--fork-server', forkServer);
    const hass = [path.join(hubEnvironment(), 'bin', 'hass'), '--config', this.configDir, '--skip-pip'];
    const child = spawn(this.tether, [...flags, '--', ...hass], {
      env: { ...process.env, SETUP_PORT: String(this.port), HA_DISABLE_LOG_FILE: '1' },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.child = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => void appendFile(this.logFile, chunk).catch(() => undefined));
    }
    child.once('exit', (code) => {
      if (this.child === child) this.child = undefined;
      if (this.shouldRun && code === START_AGAIN) this.launch();
    });
  }

  /** Resolves when the hub answers. */
  async answering(): Promise<void> {
    const deadline = Date.now() + START_TIMEOUT;
    while (Date.now() < deadline) {
      try {
        const { ok } = await withDeadline({ clock: systemClock, delay: 2_000 }, (signal) =>
          fetch(`${this.url}/manifest.json`, { signal }),
        );
        if (ok) return;
      } catch {
        if (!this.child && this.shouldRun) break;
      }
      await sleep(100);
    }
    throw new Error(`the hub does not answer at ${this.url}:\n${await this.log()}`);
  }

  /** Resolves when the hub has started completely. */
  async running(token: string): Promise<void> {
    const rest = new RestClient({ url: this.url, token, clock: systemClock, redact: redactor([]) });
    try {
      await until(
        'the hub has started up completely',
        async () => (await getConfig(rest)).state === 'RUNNING',
        START_TIMEOUT,
      );
    } finally {
      rest.close();
    }
  }

  /** The output of the hub. */
  async log(): Promise<string> {
    return readFile(this.logFile, 'utf8').catch(() => '');
  }

  /**
   * Ends the process gracefully, like the end of a pod: the hub writes everything to disk. The directory
   * stays.
   */
  async stop(): Promise<void> {
    this.shouldRun = false;
    const child = this.child;
    if (!child) return;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  }

  /** Sends a signal, for example SIGSTOP or SIGCONT to freeze or continue the hub. */
  signal(signal: NodeJS.Signals): void {
    try {
      if (this.pid !== undefined) process.kill(this.pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error; // the process has just ended
    }
  }

  /** Kills the process without a chance to write, and removes all its files. */
  async dispose(): Promise<void> {
    this.shouldRun = false;
    const child = this.child;
    if (child) {
      const ended = once(child, 'exit');
      if (this.pid === undefined)
        child.kill('SIGKILL'); // tether has not started the hub yet
      else this.signal('SIGKILL');
      await ended;
    }
    await rm(this.configDir, { recursive: true, force: true, maxRetries: 3 });
    await rm(this.pidFile, { force: true });
  }

  private get pidFile(): string {
    return `${this.configDir}.pid`;
  }

  private get logFile(): string {
    return path.join(this.configDir, 'printed.log');
  }
}

/** Returns the virtual environment in which Home Assistant is installed. */
function hubEnvironment(): string {
  const found = process.env['HUB_SANDBOX_VENV'];
  if (!found)
    throw new Error('HUB_SANDBOX_VENV is not set: run this with a jest project that has the cluster');
  return found;
}
