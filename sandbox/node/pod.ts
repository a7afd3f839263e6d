/** Runs one pod that is bound to this node, from mounting its volumes to the end of its last process. */
import { readdir, rm } from 'node:fs/promises';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { V1Container, V1ContainerStatus, V1Pod } from '@kubernetes/client-node';
import type { ForkServer } from '../fork-server';
import type { HubSoftware } from '../hub-software';
import type { NodeCache } from './node-cache';
import { ContainerRunner, type ContainerHost, type RestartPolicy } from './containers';
import type { PodEvents } from './events';
import { MissingReference } from './lookup';
import { NODE_ADDRESS } from './names';
import type { Ports } from './ports';
import { pause, pauseAfter } from './pause';
import { describe, retry } from './retry';
import { podStatus } from './status';
import { StatusWriter } from './status-writer';
import { unsupportedField } from './unsupported';
import { PodVolumes } from './volumes';

/** Upper bound of the grace period. That of a hub's pod is minutes, which would make tests long. */
const LONGEST_GRACE_SECONDS = 20;

export interface PodHost {
  cluster: NodeCache;
  events: PodEvents;
  ports: Ports;
  /** Parent folder of the pods' directories. */
  directory: string;
  tether: string;
  forkServer?: ForkServer;
  softwareOf: (image: string | undefined) => HubSoftware;
  probePatience: number;
  /** Called when a pod of this namespace was assigned its port. */
  portAssigned(namespace: string): void;
}

export class PodRun {
  /** The port of this machine on which the pod listens; undefined until it is assigned. */
  port: number | undefined;
  private readonly directory: string;
  private readonly startTime: Date;
  private readonly volumes: PodVolumes;
  private readonly status: StatusWriter;
  private readonly stopping = new AbortController();
  private init: ContainerRunner[] = [];
  private main: ContainerRunner[] = [];
  private volumesWritten: Promise<unknown> | undefined;
  private removal: Promise<void> | undefined;

  constructor(
    private latest: V1Pod,
    private readonly podIP: string,
    private readonly host: PodHost,
  ) {
    const { name, namespace, uid } = this.identity;
    this.directory = join(host.directory, `${namespace}_${name}_${uid}`);
    this.startTime = new Date(latest.status?.startTime ?? Date.now());
    this.volumes = new PodVolumes(latest, this.directory, host.cluster.lookup, (audience, lifetime) =>
      this.requestToken(audience, lifetime),
    );
    this.status = new StatusWriter(host.cluster, latest, (previous, now) => {
      const statuses = {
        init: this.init.map(({ status }) => status),
        main: this.main.map(({ status }) => status),
      };
      return podStatus(this.latest, { podIP, startTime: this.startTime, ...statuses }, previous, now);
    });
  }

  get identity(): { name: string; namespace: string; uid: string } {
    const { name = '', namespace = '', uid = '' } = this.latest.metadata ?? {};
    return { name, namespace, uid };
  }

  /** The latest version of the pod, with its addresses. */
  get pod(): V1Pod {
    const addresses = { podIP: this.podIP, hostIP: NODE_ADDRESS };
    return { ...this.latest, status: { ...this.latest.status, ...addresses } };
  }

  /** Runs the pod until it is completed or stopped. */
  async run(): Promise<void> {
    await this.runContainers().catch((error: unknown) => this.fail(error));
  }

  /** Takes a newer version of the pod. As in a kubelet, changed annotations refresh the volumes. */
  update(pod: V1Pod): void {
    const before = JSON.stringify(this.latest.metadata?.annotations);
    this.latest = pod;
    if (JSON.stringify(pod.metadata?.annotations) !== before) this.refreshVolumes();
  }

  mounts(kind: 'configMap' | 'secret', name: string): boolean {
    return this.volumes.refersTo(kind, name);
  }

  /**
   * Updates the files of ConfigMap, Secret, downwardAPI and projected volumes. If a source was deleted, its files stay.
   */
  refreshVolumes(): void {
    if (this.stopping.signal.aborted) return;
    this.volumesWritten = this.volumesWritten
      ?.then(() => this.writeVolumes())
      .catch((error: unknown) => {
        this.host.cluster.log(`volumes of pod ${this.identity.name}: ${describe(error)}`);
      });
  }

  /** Stops every process of the pod, sidecars last. */
  async stop(graceSeconds: number): Promise<void> {
    this.stopping.abort();
    const isSidecar = (_: unknown, index: number) =>
      isSidecarContainer(this.latest.spec?.initContainers?.[index]);
    const sidecars = this.init.filter(isSidecar);
    const others = [...this.main, ...this.init.filter((runner) => !sidecars.includes(runner))];
    await Promise.all(others.map((runner) => runner.stop(graceSeconds)));
    await Promise.all(sidecars.map((runner) => runner.stop(graceSeconds)));
  }

  /** Stops a pod that has a deletionTimestamp, then removes the Pod object with grace period 0. */
  remove(): Promise<void> {
    return (this.removal ??= this.stopAndDelete());
  }

  /** Removes the pod's files except its logs, which are kept for debugging. */
  async removeFiles(): Promise<void> {
    const kept = (name: string) => name.endsWith('.log');
    for (const name of (await readdir(this.directory)).filter((entry) => !kept(entry))) {
      await rm(join(this.directory, name), { recursive: true, force: true });
    }
  }

  /** Shows an unexpected error, such as a full disk, as the waiting reason until the pod is recreated. */
  private fail(error: unknown): void {
    const { name, namespace } = this.identity;
    this.host.cluster.log(`pod ${namespace}/${name}: ${describe(error)}`);
    for (const runner of [...this.init, ...this.main]) runner.setWaiting('SandboxError', describe(error));
  }

  private async stopAndDelete(): Promise<void> {
    const { cluster } = this.host;
    const { name, namespace, uid } = this.identity;
    await this.stop(
      Math.min(this.latest.metadata?.deletionGracePeriodSeconds ?? Infinity, this.graceSeconds),
    );
    await this.status.written();
    const body = { gracePeriodSeconds: 0, preconditions: { uid } };
    const request = () => cluster.core.deleteNamespacedPod({ name, namespace, body });
    await retry(`deletion of pod ${namespace}/${name}`, request, cluster.signal, cluster.log);
  }

  private get graceSeconds(): number {
    return Math.min(this.latest.spec?.terminationGracePeriodSeconds ?? 30, LONGEST_GRACE_SECONDS);
  }

  private async runContainers(): Promise<void> {
    const { namespace, name } = this.identity;
    mkdirSync(this.directory, { recursive: true });
    this.port = await this.host.ports.assign(namespace, name);
    const { initContainers = [], containers = [], restartPolicy = 'Always' } = this.latest.spec ?? {};
    const waiting = initContainers.length ? 'PodInitializing' : 'ContainerCreating';
    const before = this.latest.status;
    this.init = initContainers.map((container) =>
      this.runner(container, waiting, before?.initContainerStatuses),
    );
    this.main = containers.map((container) => this.runner(container, waiting, before?.containerStatuses));
    this.status.changed();
    this.host.portAssigned(namespace);
    if (this.rejectIfUnsupported() || !(await this.mountVolumes())) return;
    for (const [index, runner] of this.init.entries()) {
      if (isSidecarContainer(initContainers[index])) await this.startSidecar(runner);
      else {
        const code = await runner.run(restartPolicy === 'Never' ? 'Never' : 'OnFailure');
        if (code !== 0) return;
      }
      if (this.stopping.signal.aborted) return;
    }
    await Promise.all(this.main.map((runner) => runner.run(restartPolicy as RestartPolicy)));
    if (!this.stopping.signal.aborted) await this.stop(this.graceSeconds);
  }

  private runner(
    container: V1Container,
    waiting: string,
    before: V1ContainerStatus[] | undefined,
  ): ContainerRunner {
    const { cluster, events, tether, forkServer, softwareOf, probePatience } = this.host;
    const host: ContainerHost = {
      pod: () => this.pod,
      directory: this.directory,
      port: this.port ?? 0,
      graceSeconds: this.graceSeconds,
      volumes: this.volumes,
      lookup: cluster.lookup,
      softwareOf,
      probePatience,
      tether,
      ...(forkServer && { forkServer }),
      signal: this.stopping.signal,
      changed: () => this.status.changed(),
      event: (type, reason, message) => events.record(this.latest, type, reason, message),
    };
    const own = before?.find(({ name }) => name === container.name);
    return new ContainerRunner(container, host, waiting, own);
  }

  private rejectIfUnsupported(): boolean {
    const unsupported = unsupportedField(this.latest);
    if (!unsupported) return false;
    for (const runner of [...this.init, ...this.main]) runner.setWaiting('SandboxUnsupported', unsupported);
    this.host.events.record(this.latest, 'Warning', 'SandboxUnsupported', unsupported);
    return true;
  }

  /**
   * Writes the volumes and waits for missing sources. Returns `false` when the pod was stopped in the
   * meantime.
   */
  private async mountVolumes(): Promise<boolean> {
    for (let failures = 0; !(await this.writeVolumes()); failures++) {
      if (!(await pause(pauseAfter(failures), this.stopping.signal))) return false;
    }
    this.volumesWritten = Promise.resolve();
    return true;
  }

  private async writeVolumes(): Promise<boolean> {
    try {
      await this.volumes.write(this.pod);
      return true;
    } catch (error) {
      if (!(error instanceof MissingReference)) throw error;
      this.host.events.record(this.latest, 'Warning', 'FailedMount', error.message);
      return false;
    }
  }

  private async startSidecar(runner: ContainerRunner): Promise<void> {
    void runner.run('Always').catch((error: unknown) => this.fail(error));
    while (!runner.status.started && (await pause(100, this.stopping.signal)));
  }

  private async requestToken(audience: string | undefined, expirationSeconds: number): Promise<string> {
    const { core, signal, log } = this.host.cluster;
    const { name: podName, namespace, uid } = this.identity;
    const name = this.latest.spec?.serviceAccountName ?? 'default';
    const boundObjectRef = { apiVersion: 'v1', kind: 'Pod', name: podName, uid };
    const body = { spec: { audiences: audience ? [audience] : [], boundObjectRef, expirationSeconds } };
    const request = () => core.createNamespacedServiceAccountToken({ name, namespace, body });
    const made = await retry(`token of service account ${namespace}/${name}`, request, signal, log);
    if (!made?.status) throw new MissingReference(`no token for serviceaccount "${name}"`);
    return made.status.token;
  }
}

/** A sidecar is an init container with the restart policy Always. */
function isSidecarContainer(container: V1Container | undefined): boolean {
  return container?.restartPolicy === 'Always';
}
