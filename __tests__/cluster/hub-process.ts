import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../operator/clock';
import { getConfig } from '../../operator/client/core';
import { redactor } from '../../operator/client/redact';
import { RestClient } from '../../operator/client/rest';
import { withDeadline } from '../../operator/deadline';
import { freePort } from '../../sandbox/ports';
import { until } from '.';

// The hub ends with this code when it wants to be started again (a restart, new http settings, a restored backup).
const START_AGAIN = 100;
// Milliseconds, on a machine that has more to do.
const START_TIMEOUT = 240_000;
/** After it the process is killed, and what it has not written yet is lost. */
const STOP_TIMEOUT = 120_000;

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
 * A real hub as a child process, on a free port, with a configuration directory of its own. It is started again
 * whenever it asks for that, as a container's supervisor would.
 */
export class HubProcess {
  private child: ChildProcess | undefined;
  private wanted = false;

  private constructor(
    private readonly hass: string,
    readonly configDir: string,
    readonly port: number,
  ) {}

  /** A hub that is not started yet: fresh, or with a copy of another's configuration directory. */
  static async create(template?: string): Promise<HubProcess> {
    const configDir = await mkdtemp(path.join(tmpdir(), 'hub-process-'));
    if (template !== undefined) await cp(template, configDir, { recursive: true });
    else
      for (const [name, content] of Object.entries(CONFIGURATION_FILES))
        await writeFile(path.join(configDir, name), content);
    return new HubProcess(path.join(hubEnvironment(), 'bin', 'hass'), configDir, await freePort());
  }

  /** A fresh hub that answers. */
  static async start(): Promise<HubProcess> {
    const hub = await HubProcess.create();
    await hub.start();
    return hub;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get pid(): number | undefined {
    return this.child?.pid;
  }

  /** Starts the process and waits until it answers. */
  async start(): Promise<void> {
    this.launch();
    await this.answering();
  }

  /** Starts the process without waiting for it. */
  launch(): void {
    this.wanted = true;
    const child = spawn(this.hass, ['--config', this.configDir, '--skip-pip'], {
      env: { ...process.env, SETUP_PORT: String(this.port), HA_DISABLE_LOG_FILE: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => void appendFile(this.logFile, chunk).catch(() => undefined));
    }
    child.once('exit', (code) => {
      if (this.child === child) this.child = undefined;
      if (this.wanted && code === START_AGAIN) this.launch();
    });
  }

  /** Resolves once the hub answers. */
  async answering(): Promise<void> {
    const deadline = Date.now() + START_TIMEOUT;
    while (Date.now() < deadline) {
      try {
        const { ok } = await withDeadline({ clock: systemClock, delay: 2_000 }, (signal) =>
          fetch(`${this.url}/manifest.json`, { signal }),
        );
        if (ok) return;
      } catch {
        if (!this.child && this.wanted) break;
      }
      await sleep(100);
    }
    throw new Error(`the hub does not answer at ${this.url}:\n${await this.log()}`);
  }

  /** Resolves once the hub has started up completely. */
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

  /** What the hub has printed. */
  async log(): Promise<string> {
    return readFile(this.logFile, 'utf8').catch(() => '');
  }

  /** Ends the process as a pod's end would, writing everything to disk; the directory stays. */
  async stop(): Promise<void> {
    this.wanted = false;
    const child = this.child;
    if (!child) return;
    const ended = once(child, 'exit');
    const kill = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT);
    child.kill('SIGTERM');
    await ended;
    clearTimeout(kill);
  }

  /** Sends a signal, e.g. SIGSTOP and SIGCONT to freeze and thaw it. */
  signal(signal: NodeJS.Signals): void {
    this.child?.kill(signal);
  }

  /** Ends the process without a chance to write, and forgets all it had. */
  async dispose(): Promise<void> {
    this.wanted = false;
    const child = this.child;
    if (child) {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }
    await rm(this.configDir, { recursive: true, force: true, maxRetries: 3 });
  }

  private get logFile(): string {
    return path.join(this.configDir, 'printed.log');
  }
}

/** Where Home Assistant is installed. */
function hubEnvironment(): string {
  const found = process.env['HUB_SANDBOX_VENV'];
  if (!found)
    throw new Error('HUB_SANDBOX_VENV is not set: run this with a jest project that has the cluster');
  return found;
}
