import { spawn } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ControlPlane } from '../control-plane';
import { SandboxProcess } from '../process';
import { defaultProgress, type ProgressMode, type Report, runSteps } from '../progress';
import { makeRunDirectory } from '../run-directory';
import { SandboxError, serverError } from '../sandbox-error';
import { makeCgroup, removeCgroup, removeOldCgroups } from './cgroups';
import { clusterObjects, kubeletConfiguration, NODE_NAME, proxyConfiguration } from './configuration';
import { Containerd, useImageStore } from './containerd';
import type { ImageArchive } from './images';
import { Namespaces, removeRemainsOfNamespaces } from './namespaces';
import { type NodeSoftware, provideNodeSoftware } from './software';

// Durations in milliseconds.
const READY_TIMEOUT = 300_000;
const POLL_INTERVAL = 100;

interface RealNodeOptions {
  /** How progress is shown. Default: `pretty` on a terminal, `plain` elsewhere. */
  readonly progress?: ProgressMode;
}

type NodeProgram = 'kubelet' | 'kube-proxy' | 'kube-scheduler';

/**
 * A Kubernetes cluster with one real node: kubelet, containerd, kube-proxy, scheduler and CoreDNS, as root on Linux. It
 * lives in namespaces of its own and ends with this process; others may run on the same machine.
 */
export class RealNode {
  private readonly processes = new Map<NodeProgram, SandboxProcess>();
  private containerd: Containerd | undefined;

  private constructor(
    private readonly software: NodeSoftware,
    readonly directory: string,
    readonly namespaces: Namespaces,
    private readonly cgroup: string,
    readonly controlPlane: ControlPlane,
  ) {}

  static async start({ progress = defaultProgress() }: RealNodeOptions = {}): Promise<RealNode> {
    const software = await provideNodeSoftware(progress);
    let node!: RealNode;
    const start = async (report: Report) => {
      node = await RealNode.make(software, report);
    };
    await runSteps([{ title: 'Starting the cluster with a real node', run: start }], progress);
    return node;
  }

  /** The path of the administrator's kubeconfig. */
  get kubeconfig(): string {
    return this.controlPlane.kubeconfig;
  }

  /** The first words of a kubectl command line. */
  get kubectl(): readonly [string, ...string[]] {
    return this.software.controlPlane('kubectl');
  }

  /** The first words of a command line of containerd's client, inside the namespaces. */
  get ctr(): readonly [string, ...string[]] {
    return this.containerd!.client;
  }

  /** Imports an image into the node, as if the node had pulled it. */
  async importImage(image: ImageArchive): Promise<void> {
    await this.containerd!.importImage(image);
  }

  /**
   * Ends all processes immediately, and removes data and logs. With `keep`, data and logs stay until the next
   * start.
   */
  async stop({ keep = false } = {}): Promise<void> {
    await this.namespaces.stop();
    const processes = [...this.processes.values(), ...(this.containerd ? [this.containerd.process] : [])];
    await Promise.all(processes.map(({ exited }) => exited));
    await this.controlPlane.stopAll();
    await removeCgroup(this.cgroup);
    // Killed processes may still write to the folder for a moment.
    if (!keep) await rm(this.directory, { recursive: true, force: true, maxRetries: 20 });
  }

  private static async make(software: NodeSoftware, report: Report): Promise<RealNode> {
    const directory = await makeRunDirectory();
    const cgroup = await makeCgroup();
    report('making namespaces');
    const namespaces = await Namespaces.start(directory, [software.pause]);
    try {
      const { address, enter } = namespaces;
      const controlPlane = await ControlPlane.start(
        software.controlPlane,
        join(directory, 'cluster'),
        report,
        {
          address,
          enter,
        },
      );
      const node = new RealNode(software, directory, namespaces, cgroup, controlPlane);
      await node.join(report);
      return node;
    } catch (error) {
      await namespaces.stop();
      await removeCgroup(cgroup);
      throw error;
    }
  }

  private async join(report: Report): Promise<void> {
    const path = (name: string) => join(this.directory, 'node', name);
    await this.writeConfigurations(path);
    report('waiting for containerd');
    await useImageStore(this.software.imageStore, this.namespaces);
    this.containerd = await Containerd.start(this.namespaces, this.software.containerd, path(''));
    report('waiting for the node');
    const { kubeNode } = this.software;
    const kubeconfig = `--kubeconfig=${this.kubeconfig}`;
    await this.startProgram('kubelet', [
      kubeNode,
      'kubelet',
      kubeconfig,
      `--config=${path('kubelet.json')}`,
      `--hostname-override=${NODE_NAME}`,
      `--node-ip=${this.namespaces.address}`,
      `--cert-dir=${path('certificates')}`,
    ]);
    await this.startProgram('kube-proxy', [kubeNode, 'kube-proxy', `--config=${path('kube-proxy.json')}`]);
    await this.startProgram('kube-scheduler', [
      kubeNode,
      'kube-scheduler',
      kubeconfig,
      '--leader-elect=false',
      '--secure-port=0',
    ]);
    await this.apply({ apiVersion: 'v1', kind: 'List', items: clusterObjects });
    await this.waitFor('kubelet', () => this.wait('--for=condition=Ready', `node/${NODE_NAME}`));
    report('waiting for CoreDNS');
    await this.waitFor('kubelet', () =>
      this.wait('--namespace=kube-system', '--for=condition=Available', 'deployment/kube-dns'),
    );
  }

  /** @param path returns the path of a file of the node */
  private async writeConfigurations(path: (name: string) => string): Promise<void> {
    await mkdir(path(''), { recursive: true });
    const write = (name: string, content: object) => writeFile(path(name), JSON.stringify(content));
    await Promise.all([
      writeFile(path('resolv.conf'), ''),
      write(
        'kubelet.json',
        kubeletConfiguration({
          certificateAuthority: this.controlPlane.identity('ca.crt'),
          resolvConf: path('resolv.conf'),
          volumePlugins: path('volume-plugins'),
          cgroup: this.cgroup,
        }),
      ),
      write('kube-proxy.json', proxyConfiguration(this.kubeconfig)),
    ]);
  }

  private async startProgram(name: NodeProgram, command: readonly string[]): Promise<void> {
    const started = await SandboxProcess.start({
      name,
      command: [...this.namespaces.enter, ...command],
      directory: join(this.directory, 'node'),
    });
    this.processes.set(name, started);
  }

  private async wait(...args: string[]): Promise<void> {
    await this.runKubectl(['wait', '--timeout=1s', ...args]);
  }

  private async apply(objects: object): Promise<void> {
    await this.runKubectl(['apply', '--server-side', '-f', '-'], JSON.stringify(objects));
  }

  private async runKubectl(args: readonly string[], input = ''): Promise<void> {
    const [program, ...first] = this.kubectl;
    const child = spawn(program, [...first, `--kubeconfig=${this.kubeconfig}`, ...args], {
      stdio: ['pipe', 'ignore', 'pipe'],
    });
    child.stdin.end(input);
    let said = '';
    child.stderr.on('data', (text: Buffer) => (said += text.toString()));
    const code = await new Promise((resolve) => child.on('close', resolve));
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')} ended with ${String(code)}: ${said}`);
  }

  private async waitFor(name: NodeProgram, succeeds: () => Promise<unknown>): Promise<void> {
    const deadline = Date.now() + READY_TIMEOUT;
    const { logFile } = this.processes.get(name)!;
    for (;;) {
      const failure = await succeeds().then(
        () => undefined,
        (error: Error) => error,
      );
      if (!failure) return;
      const { running } = this.processes.get(name)!;
      if (!running) throw serverError(name, await readFile(logFile, 'utf8'), logFile);
      if (Date.now() > deadline)
        throw new SandboxError(
          `${name} is not ready after ${READY_TIMEOUT / 1000} s.`,
          `Read the log. The last answer: ${failure.message}`,
          { logFile },
        );
      await sleep(POLL_INTERVAL);
    }
  }
}

/**
 * Removes the remains of nodes whose process was killed: cgroups, network devices and folders. The programs
 * of those nodes have ended, or are about to.
 */
export async function removeRemains(): Promise<void> {
  await removeOldCgroups();
  await removeRemainsOfNamespaces();
}
