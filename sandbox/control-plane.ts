import { readFile, rm } from 'node:fs/promises';
import { get as httpGet } from 'node:http';
import { get as httpsGet } from 'node:https';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { writeCertificates } from './certificates';
import type { ControlPlaneProgram } from './control-plane-programs';
import { SandboxError, serverError } from './sandbox-error';
import { writeKubeconfig } from './kubeconfig';
import { freePorts } from './ports';
import { SandboxProcess } from './process';
import type { Report } from './progress';

/** The components in the order of their start. */
const components = ['etcd', 'kube-apiserver', 'kube-controller-manager'] as const;
type Component = (typeof components)[number];

interface ControlPlanePorts {
  readonly etcd: number;
  readonly etcdPeer: number;
  readonly apiServer: number;
}

/** Where a control plane runs that must be reachable from outside this machine's loopback interface. */
interface Surroundings {
  /** The address on which all components listen. */
  readonly address: string;
  /** The first words of a command line that runs a command in those namespaces. */
  readonly enter: readonly [program: string, ...args: string[]];
}

/** The first address of the range of Services, under which pods reach the API server. */
const SERVICE_ADDRESS = '10.96.0.1';

// Timeouts in milliseconds.
const READY_TIMEOUT = 180_000;
const ANSWER_TIMEOUT = 10_000;
const READY_POLL_INTERVAL = 50;

/**
 * Kubernetes without nodes: etcd, API server and controller manager. They listen on the loopback interface
 * unless they have other surroundings. Each component can be stopped, killed and started alone, and keeps its
 * ports and its data.
 */
export class ControlPlane {
  readonly apiServer: string;
  /** Path of the administrator's kubeconfig. */
  readonly kubeconfig: string;
  private readonly processes = new Map<Component, SandboxProcess>();

  private constructor(
    private readonly program: ControlPlaneProgram,
    private readonly directory: string,
    readonly ports: ControlPlanePorts,
    private readonly surroundings?: Surroundings,
  ) {
    this.apiServer = `https://${this.address}:${ports.apiServer}`;
    this.kubeconfig = join(directory, 'kubeconfig');
  }

  /**
   * Starts all components with new certificates and without data, in `directory`, whose content is removed.
   * Resolves when pods can be created.
   */
  static async start(
    program: ControlPlaneProgram,
    directory: string,
    report: Report = () => {},
    surroundings?: Surroundings,
  ): Promise<ControlPlane> {
    const [etcd, etcdPeer, apiServer] = (await freePorts(3)) as [number, number, number];
    await rm(directory, { recursive: true, force: true });
    const plane = new ControlPlane(program, directory, { etcd, etcdPeer, apiServer }, surroundings);
    await plane.makeIdentities();
    try {
      for (const component of components) {
        report(`waiting for ${component}`);
        await plane.start(component);
      }
    } catch (error) {
      await plane.stopAll();
      throw error;
    }
    return plane;
  }

  /** Starts a component that is not running; resolves when it serves. */
  async start(component: Component): Promise<void> {
    if (this.processes.get(component)?.running) throw new Error(`cannot start ${component}: it is running`);
    const process = await SandboxProcess.start({
      name: component,
      command: this.within([...this.program(component), ...this.flags(component)]),
      directory: this.directory,
      env: garbageCollection(),
    });
    this.processes.set(component, process);
    await this.waitUntilServing(component, process);
  }

  /** Shuts the component down gracefully, as an upgrade does. */
  async stop(component: Component): Promise<void> {
    await this.processes.get(component)?.stop();
  }

  /** Kills the component with SIGKILL, like a crash. */
  async kill(component: Component): Promise<void> {
    await this.processes.get(component)?.kill();
  }

  /**
   * Stops all components in the reverse order of their start, so that each can reach its dependencies until it ends.
   */
  async stopAll(): Promise<void> {
    for (const component of [...components].reverse()) await this.stop(component);
  }

  /** Process ids of the running components. */
  pids(): Partial<Record<Component, number>> {
    const running = [...this.processes].filter(([, process]) => process.running);
    return Object.fromEntries(running.map(([component, process]) => [component, process.pid]));
  }

  /** The path of a certificate (`ca.crt`) or key of the cluster. */
  identity(file: string): string {
    return join(this.directory, 'identities', file);
  }

  private get address(): string {
    return this.surroundings?.address ?? '127.0.0.1';
  }

  private within(command: [string, ...string[]]): [string, ...string[]] {
    return this.surroundings ? [...this.surroundings.enter, ...command] : command;
  }

  private async makeIdentities(): Promise<void> {
    const addresses = this.surroundings ? [this.address, SERVICE_ADDRESS] : [];
    await writeCertificates(this.identity(''), addresses);
    await writeKubeconfig(this.kubeconfig, {
      apiServer: this.apiServer,
      certificateAuthority: await readFile(this.identity('ca.crt'), 'utf8'),
      credentials: {
        certificate: await readFile(this.identity('admin.crt'), 'utf8'),
        key: await readFile(this.identity('admin.key'), 'utf8'),
      },
    });
  }

  private flags(component: Component): string[] {
    switch (component) {
      case 'etcd':
        return this.etcdFlags();
      case 'kube-apiserver':
        return this.apiServerFlags();
      case 'kube-controller-manager':
        return this.controllerManagerFlags();
    }
  }

  private get etcd(): string {
    return `http://${this.address}:${this.ports.etcd}`;
  }

  private etcdFlags(): string[] {
    const { etcd } = this;
    const etcdPeer = `http://${this.address}:${this.ports.etcdPeer}`;
    return [
      `--data-dir=${join(this.directory, 'etcd')}`,
      `--listen-client-urls=${etcd}`,
      `--advertise-client-urls=${etcd}`,
      `--listen-peer-urls=${etcdPeer}`,
      `--initial-advertise-peer-urls=${etcdPeer}`,
      `--initial-cluster=default=${etcdPeer}`,
      // Data survives a crash of the process but not of the machine; etcd then does three times as many writes a
      // second.
      '--unsafe-no-fsync',
    ];
  }

  private apiServerFlags(): string[] {
    return [
      `--etcd-servers=${this.etcd}`,
      `--secure-port=${this.ports.apiServer}`,
      `--bind-address=${this.address}`,
      `--advertise-address=${this.address}`,
      ...(this.surroundings
        ? [
            // The API server needs a client certificate for logs, exec and port-forward.
            `--kubelet-client-certificate=${this.identity('admin.crt')}`,
            `--kubelet-client-key=${this.identity('admin.key')}`,
            '--kubelet-preferred-address-types=InternalIP',
          ]
        : ['--endpoint-reconciler-type=none']),
      `--tls-cert-file=${this.identity('apiserver.crt')}`,
      `--tls-private-key-file=${this.identity('apiserver.key')}`,
      `--client-ca-file=${this.identity('ca.crt')}`,
      `--service-account-key-file=${this.identity('sa.key')}`,
      `--service-account-signing-key-file=${this.identity('sa.key')}`,
      '--service-account-issuer=https://kubernetes.default.svc',
      '--authorization-mode=Node,RBAC',
      '--service-cluster-ip-range=10.96.0.0/16',
      '--allow-privileged=true',
      '--enable-priority-and-fairness=false',
    ];
  }

  private controllerManagerFlags(): string[] {
    return [
      `--kubeconfig=${this.kubeconfig}`,
      `--service-account-private-key-file=${this.identity('sa.key')}`,
      `--root-ca-file=${this.identity('ca.crt')}`,
      '--leader-elect=false',
      '--use-service-account-credentials=false',
      ...(this.surroundings
        ? ['--enable-hostpath-provisioner']
        : // No kubelet renews the node's lease, so this controller would evict every pod.
          ['--controllers=*,-node-lifecycle-controller']),
      // The API of the controller manager is not used, and its default port would collide with that of another
      // sandbox.
      '--secure-port=0',
    ];
  }

  private async waitUntilServing(component: Component, process: SandboxProcess): Promise<void> {
    const deadline = Date.now() + READY_TIMEOUT;
    while (!(await this.isServing(component))) {
      if (!process.running) throw await this.startFailure(component, process);
      if (Date.now() > deadline) {
        const hint = 'The machine may be overloaded. Read the log.';
        throw new SandboxError(
          `${component} is running but does not serve after ${READY_TIMEOUT / 1000} s.`,
          hint,
          {
            logFile: process.logFile,
          },
        );
      }
      await sleep(READY_POLL_INTERVAL);
    }
  }

  private async startFailure(component: Component, process: SandboxProcess): Promise<SandboxError> {
    return serverError(component, await readFile(process.logFile, 'utf8'), process.logFile);
  }

  /** Whether components that start later can use this one. */
  private async isServing(component: Component): Promise<boolean> {
    switch (component) {
      case 'etcd':
        return succeeds(`http://${this.address}:${this.ports.etcd}/health`);
      case 'kube-apiserver':
        return succeeds(`${this.apiServer}/readyz`, await this.adminTls());
      case 'kube-controller-manager':
        // Pods are rejected until the controller manager has created this service account.
        return succeeds(
          `${this.apiServer}/api/v1/namespaces/default/serviceaccounts/default`,
          await this.adminTls(),
        );
    }
  }

  private async adminTls(): Promise<Tls> {
    const [ca, cert, key] = await Promise.all(
      ['ca.crt', 'admin.crt', 'admin.key'].map((file) => readFile(this.identity(file))),
    );
    return { ca: ca!, cert: cert!, key: key! };
  }
}

/**
 * Garbage collection of the control plane's processes: `HUB_SANDBOX_GOGC` sets their `GOGC`, which trades
 * memory for processor time, and the limit bounds the memory. A general `GOGC` would also slow down builds of
 * Go programs, which need more memory.
 */
function garbageCollection(): Record<string, string> {
  const percentage = process.env['HUB_SANDBOX_GOGC'];
  return percentage === undefined ? {} : { GOGC: percentage, GOMEMLIMIT: '1500MiB' };
}

interface Tls {
  readonly ca: Buffer;
  readonly cert: Buffer;
  readonly key: Buffer;
}

/**
 * Whether the server answers a GET with 200 within the timeout. The timeout is long, because a handshake
 * takes seconds on a busy machine.
 */
function succeeds(url: string, tls?: Tls): Promise<boolean> {
  return new Promise((resolve) => {
    const options = { agent: false as const, timeout: ANSWER_TIMEOUT };
    const answered = (response: { statusCode?: number | undefined; resume(): unknown }) => {
      response.resume();
      resolve(response.statusCode === 200);
    };
    const request = tls ? httpsGet(url, { ...options, ...tls }, answered) : httpGet(url, options, answered);
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(false));
  });
}
