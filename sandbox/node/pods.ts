/** Starts the pods that are bound to the node and stops those that are deleted. */
import type { V1Pod } from '@kubernetes/client-node';
import type { NodeCache } from './node-cache';
import type { PodEvents } from './events';
import { NODE_ADDRESS, NODE_NAME, POD_NETWORK } from './names';
import { PodRun, type PodHost } from './pod';
import { retry } from './retry';

export class Pods {
  private readonly runs = new Map<string, PodRun>();

  constructor(
    private readonly cluster: NodeCache,
    private readonly events: PodEvents,
    private readonly podHost: PodHost,
    private readonly refreshDelayMs: number,
  ) {}

  /** To be called when a pod was added or updated. */
  podChanged(pod: V1Pod): void {
    if (pod.spec?.nodeName !== NODE_NAME) return;
    const run = this.runs.get(podKey(pod));
    if (!run) this.start(pod);
    else if (run.identity.uid !== pod.metadata?.uid) this.end(run, () => run.stop(0));
    else {
      run.update(pod);
      if (pod.metadata.deletionTimestamp) this.end(run, () => run.remove());
    }
  }

  /** To be called when the Pod object was removed, by this node or by a forced deletion. */
  podDeleted(pod: V1Pod): void {
    const run = this.runs.get(podKey(pod));
    if (run && run.identity.uid === pod.metadata?.uid) this.end(run, () => run.stop(0));
  }

  /**
   * To be called when a ConfigMap or Secret changed. A kubelet updates volumes after a minute or more, unless
   * the pod itself changes. Here it takes `refreshDelayMs`: short enough for tests, and long enough to expose
   * code that relies on an immediate update.
   */
  sourceChanged(kind: 'configMap' | 'secret', namespace: string, name: string): void {
    for (const run of this.runs.values()) {
      if (run.identity.namespace !== namespace || !run.mounts(kind, name)) continue;
      setTimeout(() => run.refreshVolumes(), this.refreshDelayMs).unref();
    }
  }

  /**
   * Returns the port of the first pod by name that the selector matches, or undefined when none of them has a
   * port.
   */
  portOf(namespace: string, selector: Record<string, string>): number | undefined {
    const matching = [...this.runs.values()].filter(
      ({ pod, port }) =>
        port !== undefined &&
        pod.metadata?.namespace === namespace &&
        Object.entries(selector).every(([key, value]) => pod.metadata?.labels?.[key] === value),
    );
    return matching.sort((a, b) => (a.identity.name < b.identity.name ? -1 : 1))[0]?.port;
  }

  /** Stops every process. The Pod objects stay in the cluster. */
  async stop(graceSeconds: number): Promise<void> {
    await Promise.all([...this.runs.values()].map((run) => run.stop(graceSeconds)));
  }

  private start(pod: V1Pod): void {
    const { core, signal, log } = this.cluster;
    const { name = '', namespace = '', uid = '', deletionTimestamp } = pod.metadata ?? {};
    if (deletionTimestamp) {
      const body = { gracePeriodSeconds: 0, preconditions: { uid } };
      const request = () => core.deleteNamespacedPod({ name, namespace, body });
      void retry(`deletion of pod ${namespace}/${name}`, request, signal, log);
      return;
    }
    if (pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed') return;
    const run = new PodRun(pod, this.address(pod), this.podHost);
    this.runs.set(podKey(pod), run);
    void run.run();
  }

  /** Ends a run. A new pod of the same name is started afterwards, never at the same time. */
  private end(run: PodRun, how: () => Promise<void>): void {
    void this.finish(run, how).catch((error: unknown) =>
      this.cluster.log(`pod ${run.identity.name}: ${String(error)}`),
    );
  }

  private async finish(run: PodRun, how: () => Promise<void>): Promise<void> {
    const key = podKey(run.pod);
    await how();
    if (this.runs.get(key) !== run || this.cluster.signal.aborted) return;
    this.runs.delete(key);
    this.events.forget(run.identity.uid);
    await run.removeFiles();
    const next = this.cluster.caches.pods.get(run.identity.name, run.identity.namespace);
    if (next && next.metadata?.uid !== run.identity.uid) this.podChanged(next);
  }

  private address(pod: V1Pod): string {
    if (pod.spec?.hostNetwork) return NODE_ADDRESS;
    if (pod.status?.podIP) return pod.status.podIP;
    const used = new Set(this.cluster.caches.pods.list().map(({ status }) => status?.podIP));
    for (const run of this.runs.values()) used.add(run.pod.status?.podIP);
    for (let host = 2; ; host++) {
      const address = `${POD_NETWORK}.${host >> 8}.${host & 255}`;
      if (!used.has(address)) return address;
    }
  }
}

function podKey(pod: V1Pod): string {
  return `${pod.metadata?.namespace}/${pod.metadata?.name}`;
}
