/** Runs one container: its process, its probes, its restarts and its container status. */
import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { V1Container, V1ContainerStatus, V1Pod, V1Probe } from '@kubernetes/client-node';
import type { ForkServer } from '../fork-server';
import type { HubSoftware } from '../hub-software';
import {
  commandLine,
  interpreterVariables,
  mapPath,
  mapValues,
  runsInFork,
  startsHub,
  variables,
  type Mount,
} from './environment';
import { logSize, terminationMessage } from './termination-message';
import { MissingReference, type Lookup } from './lookup';
import { type ProbeTarget, verdicts } from './probes';
import { ContainerProcess } from './process';
import { pause } from './pause';
import { waitingStatus } from './status';
import type { PodVolumes } from './volumes';

/** The exit code by which the hub requests a restart. */
const HUB_RESTART = 100;
const BACKOFF_SECONDS = [1, 2, 4, 8, 10];
// Durations in milliseconds.
const STABLE_AFTER = 30_000;
const CONFIG_RETRY_INTERVAL = 1000;

export type RestartPolicy = 'Always' | 'OnFailure' | 'Never';

/** The parts of a pod that its containers need. */
export interface ContainerHost {
  /** Returns the latest version of the pod, with its addresses. */
  pod(): V1Pod;
  directory: string;
  /** The port of this machine on which the pod listens. Every container gets it as the variable SETUP_PORT. */
  port: number;
  graceSeconds: number;
  volumes: PodVolumes;
  lookup: Lookup;
  softwareOf: (image: string | undefined) => HubSoftware;
  /** Factor by which the timeouts of probes are extended. */
  probePatience: number;
  tether: string;
  forkServer?: ForkServer;
  /** Aborted when the container must not be started again. */
  signal: AbortSignal;
  changed(): void;
  event(type: 'Normal' | 'Warning', reason: string, message: string): void;
}

export class ContainerRunner {
  status: V1ContainerStatus;
  private process: ContainerProcess | undefined;
  /** Builds the command line of an exec probe; set when the container is started. */
  private command: ProbeTarget['command'] = (line) => ({ line, environment: {}, workingDirectory: '/' });
  private readonly files: {
    log: string;
    termination: string;
    pid: string;
    home: string;
    configuration: string;
  };

  constructor(
    private readonly container: V1Container,
    private readonly host: ContainerHost,
    waiting: string,
    before: V1ContainerStatus | undefined,
  ) {
    const { name, image = '' } = container;
    const own = (file: string) => join(host.directory, file);
    this.files = {
      log: own(`${name}.log`),
      termination: own(`${name}.termination`),
      pid: own(`${name}.pid`),
      home: own(`home/${name}`),
      configuration: own(`configuration/${name}`),
    };
    const { restartCount = 0, containerID } = before ?? {};
    this.status = {
      ...waitingStatus(name, image, waiting),
      restartCount,
      ...(containerID && { containerID }),
    };
  }

  /** Runs the container and restarts it according to the policy; resolves with the exit code of the last run. */
  async run(policy: RestartPolicy): Promise<number> {
    const { signal } = this.host;
    for (let failures = 0; ; failures++) {
      const started = Date.now();
      const code = await this.runOnce();
      if (signal.aborted || policy === 'Never' || (policy === 'OnFailure' && code === 0)) return code;
      if (Date.now() - started > STABLE_AFTER) failures = 0;
      if (!(await this.backOff(failures))) return code;
    }
  }

  /** Stops the container. Resolves when its process has ended. */
  async stop(graceSeconds: number): Promise<void> {
    await this.process?.stop(graceSeconds);
  }

  /** Sets the state `waiting`; a terminated state becomes `lastState`. */
  setWaiting(reason: string, message?: string): void {
    const { terminated } = this.status.state ?? {};
    this.set({
      state: { waiting: { reason, ...(message && { message }) } },
      ...(terminated && { lastState: { terminated } }),
    });
  }

  private async runOnce(): Promise<number> {
    const start = await this.prepare();
    const { signal } = this.host;
    if (!start || signal.aborted) return 0;
    const containerID = `sandbox://${randomUUID()}`;
    const startedAt = new Date();
    const logStart = logSize(this.files.log);
    const watching = new AbortController();
    const { startupProbe, readinessProbe } = this.container;
    this.set({
      // A container id means that the container ran before, possibly before the node was restarted.
      restartCount: this.status.restartCount + (this.status.containerID ? 1 : 0),
      containerID,
      imageID: `sandbox://home-assistant@${this.software.version}`,
      state: { running: { startedAt } },
      started: !startupProbe,
      ready: !startupProbe && !readinessProbe,
    });
    this.host.event('Normal', 'Started', `Started container ${this.container.name}`);
    const health = this.watchHealth(watching.signal);
    const exitCode = await this.exitCodeOf(start);
    watching.abort();
    await health;
    const message = terminationMessage(this.container, exitCode, this.files, logStart);
    const reason = exitCode === 0 ? 'Completed' : 'Error';
    const terminated = {
      exitCode,
      reason,
      startedAt,
      finishedAt: new Date(),
      containerID,
      ...(message && { message }),
    };
    this.set({ state: { terminated }, started: false, ready: false });
    return exitCode;
  }

  /** Runs the process until it ends for good. */
  private async exitCodeOf(start: () => ContainerProcess): Promise<number> {
    let exitCode: number;
    do {
      writeFileSync(this.files.termination, '');
      this.process = start();
      exitCode = await this.process.exited;
      // In the hub's image s6 restarts the process: the container stays the same.
    } while (exitCode === HUB_RESTART && startsHub(this.container) && !this.host.signal.aborted);
    this.process = undefined;
    return exitCode;
  }

  /**
   * Waits for missing references, then returns a function that starts the process. Returns `undefined` when
   * the container was stopped in the meantime.
   */
  private async prepare(): Promise<(() => ContainerProcess) | undefined> {
    const { host } = this;
    do {
      try {
        const mounts = await host.volumes.mounts(this.container);
        return await this.starter(mounts);
      } catch (error) {
        if (!(error instanceof MissingReference)) throw error;
        this.setWaiting('CreateContainerConfigError', error.message);
        host.event('Warning', 'Failed', `Error: ${error.message}`);
      }
    } while (await pause(CONFIG_RETRY_INTERVAL, host.signal));
    return undefined;
  }

  private async starter(volumeMounts: Mount[]): Promise<() => ContainerProcess> {
    const { container, host, files } = this;
    const { terminationMessagePath = '/dev/termination-log', workingDir } = container;
    const mounts = [...volumeMounts, { inside: terminationMessagePath, outside: files.termination }];
    const { venv, hass, isForkable } = this.software;
    const values = variables(container, host.pod(), baseVariables(host, venv, files.home), host.lookup);
    const command = commandLine(container, values, mounts, { hass, emptyConfiguration: files.configuration });
    const workingDirectory = workingDir ? mapPath(workingDir, mounts) : files.home;
    const environment = mapValues(values, mounts);
    const ports = container.ports?.map(({ containerPort }) => String(containerPort)) ?? [];
    this.command = (probe) => ({
      // A pod has one port in the sandbox, which replaces any container port in the command.
      line: commandLine({ name: container.name, command: [...probe] }, values, mounts, {
        hass,
        emptyConfiguration: files.configuration,
      }).map((part) => (ports.includes(part) ? String(host.port) : part)),
      environment,
      workingDirectory,
    });
    for (const directory of [files.home, files.configuration]) mkdirSync(directory, { recursive: true });
    const forkServer =
      isForkable && runsInFork(command, environment, this.software)
        ? await host.forkServer?.address()
        : undefined;
    return () =>
      new ContainerProcess({
        tether: host.tether,
        command,
        environment,
        workingDirectory,
        logFile: files.log,
        pidFile: files.pid,
        graceSeconds: host.graceSeconds,
        forkServer,
      });
  }

  private get software(): HubSoftware {
    return this.host.softwareOf(this.container.image);
  }

  private async watchHealth(signal: AbortSignal): Promise<void> {
    const { startupProbe, readinessProbe, livenessProbe } = this.container;
    if (startupProbe) {
      for await (const healthy of this.verdicts('Startup', startupProbe, signal)) {
        if (!healthy) return this.kill('startup', startupProbe);
        break;
      }
      if (signal.aborted) return;
      this.set({ started: true, ready: !readinessProbe });
    }
    await Promise.all([
      readinessProbe && this.watchReadiness(readinessProbe, signal),
      livenessProbe && this.watchLiveness(livenessProbe, signal),
    ]);
  }

  private async watchReadiness(probe: V1Probe, signal: AbortSignal): Promise<void> {
    for await (const ready of this.verdicts('Readiness', probe, signal)) {
      if (ready !== this.status.ready) this.set({ ready });
    }
  }

  private async watchLiveness(probe: V1Probe, signal: AbortSignal): Promise<void> {
    for await (const healthy of this.verdicts('Liveness', probe, signal)) {
      if (!healthy) return this.kill('liveness', probe);
    }
  }

  private verdicts(kind: string, probe: V1Probe, signal: AbortSignal): AsyncGenerator<boolean> {
    const target = { port: this.host.port, command: this.command };
    const timeoutSeconds = (probe.timeoutSeconds ?? 1) * this.host.probePatience;
    return verdicts({ ...probe, timeoutSeconds }, target, signal, (problem) =>
      this.host.event('Warning', 'Unhealthy', `${kind} probe failed: ${problem}`),
    );
  }

  private kill(kind: string, probe: V1Probe): void {
    const { name } = this.container;
    this.host.event('Normal', 'Killing', `Container ${name} failed ${kind} probe, will be restarted`);
    void this.stop(Math.min(probe.terminationGracePeriodSeconds ?? Infinity, this.host.graceSeconds));
  }

  private async backOff(failures: number): Promise<boolean> {
    const { name } = this.container;
    const { name: podName, namespace, uid } = this.host.pod().metadata ?? {};
    const seconds = BACKOFF_SECONDS[Math.min(failures, BACKOFF_SECONDS.length - 1)] ?? 10;
    const message = `restarting failed container=${name} pod=${podName}_${namespace}(${uid})`;
    this.setWaiting('CrashLoopBackOff', `back-off ${seconds}s ${message}`);
    this.host.event('Warning', 'BackOff', `Back-off ${message}`);
    return pause(seconds * 1000, this.host.signal);
  }

  private set(change: Partial<V1ContainerStatus>): void {
    this.status = { ...this.status, ...change };
    this.host.changed();
  }
}

/** Leaves out the developer's environment: a container must not depend on it. */
function baseVariables(host: ContainerHost, venv: string, home: string): Record<string, string> {
  return {
    ...interpreterVariables(venv),
    HOME: home,
    TMPDIR: home,
    HOSTNAME: host.pod().metadata?.name ?? '',
    SETUP_PORT: String(host.port),
  };
}
