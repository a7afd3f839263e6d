import { execFile } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { ControlPlane } from './control-plane';
import type { ControlPlaneProgram } from './control-plane-programs';
import { ForkServer } from './fork-server';
import { Interrupted, rejectWhen } from './interrupt';
import { makeRunDirectory } from './run-directory';
import { AFTER_FORK, HUB_MODULES } from './hub-modules';
import type { HubSoftware } from './hub-software';
import { type NodeOptions, startNode } from './node';
import { interpreterVariables } from './node/environment';
import { defaultProgress, type ProgressMode, type Report, runSteps } from './progress';
import { ensureDependencies } from './dependencies';
import { tether } from './tether';

export interface SandboxOptions {
  /** Folder of data and logs. Default: a new folder under `.sandbox/` that is removed at the end. */
  readonly directory?: string;
  /** How progress is shown. Default: `pretty` on a terminal, `plain` elsewhere. */
  readonly progress?: ProgressMode;
  /**
   * Also starts a node that runs Home Assistant. Default: false, which starts only the control plane, so that
   * pods stay Pending.
   */
  readonly hubs?: boolean;
  /** Factor by which the timeouts of pods' probes are extended. Default 1. */
  readonly probePatience?: number;
  /** Resolves when the sandbox is no longer needed: a start then ends with {@link Interrupted}. */
  readonly interrupted?: Promise<void>;
}

export interface Sandbox {
  readonly directory: string;
  /** The path of the administrator's kubeconfig. */
  readonly kubeconfig: string;
  /** URL of the API server: `https://127.0.0.1:<port>`. */
  readonly apiServer: string;
  /**
   * The first words of a kubectl command line. kubectl is the installed one, or else one that was downloaded
   * or built.
   */
  readonly kubectl: readonly [program: string, ...args: string[]];
  readonly controlPlane: ControlPlane;
  /** The hub's software; set only with `hubs`. */
  readonly hubSoftware?: HubSoftware;
  /** The server that runs hubs as forks; set only with `hubs`. */
  readonly forkServer?: ForkServer;
  /**
   * Stops every process of the sandbox and removes its data and logs. With `keep`, data and logs stay until
   * the next start.
   */
  stop(options?: { readonly keep?: boolean }): Promise<void>;
}

/**
 * Starts a Kubernetes cluster that belongs to this process; others may run on the same machine. Its programs
 * are built or downloaded at the first start and cached. All its processes end with this process, also after
 * `kill -9`.
 * @throws Interrupted after everything that was started has been stopped, except builds, which end with this
 * process
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const mode = options.progress ?? defaultProgress();
  let isInterrupted = false;
  void options.interrupted?.then(() => (isInterrupted = true));
  const { controlPlane: program, hubSoftware } = await dependenciesUnlessInterrupted(mode, options);
  const directory = options.directory === undefined ? await makeRunDirectory() : resolve(options.directory);
  const places = { cluster: join(directory, 'cluster'), node: join(directory, 'node') };
  const forkServer = hubSoftware?.isForkable ? await newForkServer(hubSoftware, places.node) : undefined;
  const nodeOptions = hubSoftware && {
    directory: places.node,
    hubSoftware,
    ...(options.probePatience !== undefined && { probePatience: options.probePatience }),
    ...(forkServer && { forkServer }),
  };
  let cluster!: Cluster;
  const start = async (report: Report) => {
    cluster = await startCluster(program, places.cluster, nodeOptions, report);
    return cluster.controlPlane.apiServer;
  };
  await runSteps([{ title: 'Starting the cluster', run: start }], mode);

  const { controlPlane } = cluster;
  const sandbox: Sandbox = {
    directory,
    kubeconfig: controlPlane.kubeconfig,
    apiServer: controlPlane.apiServer,
    kubectl: await kubectlCommand(program),
    controlPlane,
    ...(hubSoftware && { hubSoftware }),
    ...(forkServer && { forkServer }),
    async stop({ keep = false } = {}) {
      await stopProcesses(cluster, forkServer);
      if (keep) return;
      const ours = options.directory === undefined ? [directory] : Object.values(places);
      for (const place of ours) await rm(place, { recursive: true, force: true });
    },
  };
  if (!isInterrupted) return sandbox;
  // an interrupt waits for the end of the start, which takes seconds: only then are all processes known
  await sandbox.stop();
  throw new Interrupted();
}

/** @throws Interrupted */
function dependenciesUnlessInterrupted(mode: ProgressMode, { hubs = false, interrupted }: SandboxOptions) {
  return Promise.race([ensureDependencies(mode, hubs), ...(interrupted ? [rejectWhen(interrupted)] : [])]);
}

interface Cluster {
  readonly controlPlane: ControlPlane;
  readonly node?: { stop(): Promise<void> };
}

/** @param nodeOptions of the node that runs hubs; undefined for the control plane alone */
async function startCluster(
  program: ControlPlaneProgram,
  directory: string,
  nodeOptions: Omit<LoggingNodeOptions, 'kubeconfig'> | undefined,
  report: Report,
): Promise<Cluster> {
  const controlPlane = await ControlPlane.start(program, directory, report);
  if (!nodeOptions) return { controlPlane };
  report('waiting for the node');
  const { kubeconfig } = controlPlane;
  const node = await startLoggingNode({ ...nodeOptions, kubeconfig }).catch(async (error) => {
    await controlPlane.stopAll();
    throw error;
  });
  return { controlPlane, node };
}

/** Stops the node before the control plane, which the node still uses. */
async function stopProcesses(
  { controlPlane, node }: Cluster,
  forkServer: ForkServer | undefined,
): Promise<void> {
  await node?.stop();
  await forkServer?.stop();
  await controlPlane.stopAll();
}

async function newForkServer({ python, venv }: HubSoftware, directory: string): Promise<ForkServer> {
  await mkdir(directory, { recursive: true });
  return new ForkServer({
    tether: await tether(),
    python,
    // numpy starts threads, which a fork would lose.
    environment: { ...interpreterVariables(venv), OPENBLAS_NUM_THREADS: '1' },
    modules: HUB_MODULES,
    afterFork: AFTER_FORK,
    logFile: join(directory, 'fork-server.log'),
  });
}

type LoggingNodeOptions = Omit<NodeOptions, 'tether' | 'log'>;

async function startLoggingNode(options: LoggingNodeOptions): Promise<{ stop(): Promise<void> }> {
  await mkdir(options.directory, { recursive: true });
  // The log is never closed: requests that were in flight when the node stopped may still write to it.
  const log = createWriteStream(join(options.directory, 'node.log'), { flags: 'a' });
  return startNode({
    ...options,
    tether: await tether(),
    log: (line) => log.write(`${new Date().toISOString()} ${line}\n`),
  });
}

async function kubectlCommand(program: ControlPlaneProgram): Promise<readonly [string, ...string[]]> {
  return promisify(execFile)('kubectl', ['version', '--client']).then(
    () => ['kubectl'] as const,
    () => program('kubectl'),
  );
}
