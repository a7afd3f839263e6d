import { execFile } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { ControlPlane } from './control-plane';
import { makeRunDirectory } from './run-directory';
import type { HubSoftware } from './hub-software';
import { type NodeOptions, startNode } from './node';
import { defaultProgress, type ProgressMode, type Report, runSteps } from './progress';
import { ensureDependencies } from './dependencies';
import { tether } from './tether';

export interface SandboxOptions {
  /** Where the run keeps its data and logs; a fresh folder under `.sandbox/`, removed at the end, without it. */
  readonly directory?: string;
  /** `pretty` on a terminal and `plain` elsewhere, without it. */
  readonly progress?: ProgressMode;
  /** Also provides Home Assistant and a node that runs it. Without it only the control plane: pods stay pending. */
  readonly hubs?: boolean;
}

export interface Sandbox {
  readonly directory: string;
  /** The path of the administrator's kubeconfig. */
  readonly kubeconfig: string;
  /** `https://127.0.0.1:<port>` */
  readonly apiServer: string;
  /** How a command line for kubectl begins: the person's own, or the one that was built. */
  readonly kubectl: readonly [program: string, ...args: string[]];
  readonly controlPlane: ControlPlane;
  /** Only with `hubs`. */
  readonly hubSoftware?: HubSoftware;
  /** Ends every process of the sandbox and removes its data and logs; `keep` leaves them until the next start. */
  stop(options?: { readonly keep?: boolean }): Promise<void>;
}

/**
 * A Kubernetes cluster of this process's own, beside any others on the machine. What it needs is built and downloaded at
 * the first start and cached. When this process ends, in whatever way, so do all processes of the sandbox.
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const mode = options.progress ?? defaultProgress();
  const { kube, hubSoftware } = await ensureDependencies(mode, options.hubs ?? false);

  const directory = options.directory === undefined ? await makeRunDirectory() : resolve(options.directory);
  const places = { cluster: join(directory, 'cluster'), node: join(directory, 'node') };
  let controlPlane!: ControlPlane;
  let node: { stop(): Promise<void> } | undefined;
  const start = async (report: Report) => {
    controlPlane = await ControlPlane.start(kube, places.cluster, report);
    const { kubeconfig, apiServer } = controlPlane;
    if (!hubSoftware) return apiServer;
    report('waiting for the node');
    node = await startLoggingNode({ kubeconfig, directory: places.node, hubSoftware }).catch(
      async (error) => {
        await controlPlane.stopAll();
        throw error;
      },
    );
    return apiServer;
  };
  await runSteps([{ title: 'Starting the cluster', run: start }], mode);

  return {
    directory,
    kubeconfig: controlPlane.kubeconfig,
    apiServer: controlPlane.apiServer,
    kubectl: await kubectlCommand(kube),
    controlPlane,
    ...(hubSoftware && { hubSoftware }),
    async stop({ keep = false } = {}) {
      await node?.stop();
      await controlPlane.stopAll();
      if (keep) return;
      const ours = options.directory === undefined ? [directory] : Object.values(places);
      for (const place of ours) await rm(place, { recursive: true, force: true });
    },
  };
}

async function startLoggingNode(
  options: Omit<NodeOptions, 'tether' | 'log'>,
): Promise<{ stop(): Promise<void> }> {
  await mkdir(options.directory, { recursive: true });
  // It is never ended: work that was under way when the node stopped may still say something.
  const log = createWriteStream(join(options.directory, 'node.log'), { flags: 'a' });
  return startNode({
    ...options,
    tether: await tether(),
    log: (line) => log.write(`${new Date().toISOString()} ${line}\n`),
  });
}

async function kubectlCommand(kube: string): Promise<[string, ...string[]]> {
  return promisify(execFile)('kubectl', ['version', '--client']).then(
    () => ['kubectl'],
    () => [kube, 'kubectl'],
  );
}
