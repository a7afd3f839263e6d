import { randomUUID } from 'node:crypto';
import type { CoreV1Event, V1Pod } from '@kubernetes/client-node';
import { MERGE_PATCH, type NodeCache } from './node-cache';
import { COMPONENT, NODE_NAME } from './names';
import { retry } from './retry';

/**
 * Writes events about pods with the kubelet's reasons. A repeated event only increments the count of the
 * first one.
 */
export class PodEvents {
  private readonly written = new Map<string, { name: string; count: number }>();
  private queue = Promise.resolve();

  constructor(private readonly cluster: NodeCache) {}

  record(pod: V1Pod, type: 'Normal' | 'Warning', reason: string, message: string): void {
    // Events are written one after another, because a repeated event needs the name of the first one.
    this.queue = this.queue.then(() => this.write(pod, type, reason, message));
  }

  private async write(pod: V1Pod, type: string, reason: string, message: string): Promise<void> {
    const { name: podName = '', namespace = '', uid = '' } = pod.metadata ?? {};
    const key = [uid, reason, message].join('|');
    const known = this.written.get(key);
    const { core, signal, log } = this.cluster;
    const what = `event ${reason} of pod ${namespace}/${podName}`;
    if (known) {
      known.count++;
      const body = { count: known.count, lastTimestamp: new Date() };
      const patch = () => core.patchNamespacedEvent({ name: known.name, namespace, body }, MERGE_PATCH);
      await retry(what, patch, signal, log);
      return;
    }
    const name = `${podName}.${randomUUID().slice(0, 13)}`;
    this.written.set(key, { name, count: 1 });
    const body: CoreV1Event = {
      metadata: { name, namespace },
      involvedObject: { apiVersion: 'v1', kind: 'Pod', name: podName, namespace, uid },
      type,
      reason,
      message,
      source: { component: COMPONENT, host: NODE_NAME },
      reportingComponent: COMPONENT,
      firstTimestamp: new Date(),
      lastTimestamp: new Date(),
      count: 1,
    };
    await retry(what, () => core.createNamespacedEvent({ namespace, body }), signal, log);
  }

  /** Forgets the events of a pod that ended. */
  forget(uid: string): void {
    for (const key of this.written.keys()) if (key.startsWith(`${uid}|`)) this.written.delete(key);
  }
}
