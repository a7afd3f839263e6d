import type { V1Pod, V1PodCondition, V1PodStatus } from '@kubernetes/client-node';
import { MERGE_PATCH, type NodeCache } from './node-cache';
import { retry } from './retry';

/**
 * Writes a pod's status when it differs from the last write. Changes that come at the same time are combined
 * into one write.
 */
export class StatusWriter {
  private lastWritten = '';
  private conditions: V1PodCondition[];
  private isDue = false;
  private writing: Promise<void> | undefined;

  constructor(
    private readonly cluster: NodeCache,
    private readonly pod: V1Pod,
    private readonly status: (previous: V1PodCondition[], now: Date) => V1PodStatus,
  ) {
    this.conditions = pod.status?.conditions ?? [];
  }

  changed(): void {
    this.isDue = true;
    this.writing ??= this.write();
  }

  /** Resolves when the latest status has been written. */
  async written(): Promise<void> {
    await this.writing;
  }

  private async write(): Promise<void> {
    const { core, signal, log } = this.cluster;
    const { name = '', namespace = '', uid } = this.pod.metadata ?? {};
    // Waits a moment, so that changes that come together are one write.
    await Promise.resolve();
    while (this.isDue && !signal.aborted) {
      this.isDue = false;
      const status = this.status(this.conditions, new Date());
      const text = JSON.stringify(status);
      if (text === this.lastWritten) continue;
      // The uid is a precondition: a recreated pod of the same name must not get this status.
      const body = { metadata: { uid }, status };
      const patch = () => core.patchNamespacedPodStatus({ name, namespace, body }, MERGE_PATCH);
      await retry(`status of pod ${namespace}/${name}`, patch, signal, log);
      this.lastWritten = text;
      this.conditions = status.conditions ?? [];
    }
    this.writing = undefined;
  }
}
