import type { V1Node, V1Pod } from '@kubernetes/client-node';
import { MERGE_PATCH, type NodeCache } from './node-cache';
import type { PodEvents } from './events';
import { KeyedQueue } from './keyed-queue';
import { NODE_NAME } from './names';
import { describe, retry } from './retry';
import { unschedulable, wantsNode } from './node-predicates';

/** Binds pods to the node, or sets their condition PodScheduled to False with a reason. */
export class Scheduler {
  private readonly work: KeyedQueue;

  constructor(
    private readonly cluster: NodeCache,
    private readonly node: V1Node,
    private readonly events: PodEvents,
  ) {
    this.work = new KeyedQueue((error) => cluster.log(`scheduling: ${describe(error)}`));
  }

  podChanged({ metadata }: V1Pod): void {
    const { name = '', namespace = '' } = metadata ?? {};
    this.work.add(`${namespace}/${name}`, async () => {
      const pod = this.cluster.caches.pods.get(name, namespace);
      if (pod && wantsNode(pod)) await this.schedule(pod);
    });
  }

  /** To be called when a claim changed: a pod that waits for the claim may be schedulable now. */
  claimChanged(): void {
    for (const pod of this.cluster.caches.pods.list()) if (wantsNode(pod)) this.podChanged(pod);
  }

  private async schedule(pod: V1Pod): Promise<void> {
    const { core, signal, log, lookup } = this.cluster;
    const { name = '', namespace = '', uid = '' } = pod.metadata ?? {};
    const problem = unschedulable(pod, this.node, lookup);
    if (problem) return this.markUnschedulable(pod, problem);
    const body = { metadata: { name, uid }, target: { apiVersion: 'v1', kind: 'Node', name: NODE_NAME } };
    const request = () => core.createNamespacedPodBinding({ name, namespace, body });
    const bound = await retry(`binding of pod ${namespace}/${name}`, request, signal, log);
    const message = `Successfully assigned ${namespace}/${name} to ${NODE_NAME}`;
    if (bound) this.events.record(pod, 'Normal', 'Scheduled', message);
  }

  private async markUnschedulable(pod: V1Pod, message: string): Promise<void> {
    const { core, signal, log } = this.cluster;
    const { name = '', namespace = '', uid } = pod.metadata ?? {};
    const conditions = pod.status?.conditions ?? [];
    const before = conditions.find(({ type }) => type === 'PodScheduled');
    if (before?.message === message) return;
    const condition = {
      type: 'PodScheduled',
      status: 'False',
      reason: 'Unschedulable',
      message,
      lastTransitionTime: before?.lastTransitionTime ?? new Date(),
    };
    const others = conditions.filter(({ type }) => type !== 'PodScheduled');
    const body = { metadata: { uid }, status: { conditions: [...others, condition] } };
    const request = () => core.patchNamespacedPodStatus({ name, namespace, body }, MERGE_PATCH);
    await retry(`status of pod ${namespace}/${name}`, request, signal, log);
    this.events.record(pod, 'Warning', 'FailedScheduling', message);
  }
}
