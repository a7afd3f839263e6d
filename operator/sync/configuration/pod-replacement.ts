import type { Hub } from '../../kinds';
import { operatorAnnotations } from '../../kinds/annotations';
import { objectNames } from '../../kinds/object-names';
import { builtin } from '../../runtime/types';
import type { PodRestarts } from '../hub/workload/pod-restarts';
import { PerHub } from '../per-hub';
import type { Services } from '../services';
import type { RestartHashes } from './publish';

/** Restarts hubs for which no template changes, by the deletion of their pod: once for each reason. */
export class PodReplacement {
  /** The last replacement: why, and the uid of the pod that was to go. */
  private readonly replaced: PerHub<{ readonly reason: string; readonly pod: string }>;

  constructor(
    private readonly services: Pick<Services, 'cache'>,
    private readonly restarts: Pick<PodRestarts, 'restart'>,
  ) {
    this.replaced = new PerHub(services.cache);
  }

  /** Whether the present pod was started for this decision. */
  isPodOf(hub: Hub, { configuration, secrets }: RestartHashes): boolean {
    const annotations = this.podOf(hub)?.metadata.annotations ?? {};
    return (
      annotations[operatorAnnotations.configHash] === configuration &&
      annotations[operatorAnnotations.secretsHash] === secrets
    );
  }

  /** @returns false: it was replaced for this reason before */
  async replace(hub: Hub, reason: string): Promise<boolean> {
    const pod = this.podOf(hub);
    if (!pod || pod.metadata.uid === undefined || pod.metadata.deletionTimestamp) return true;
    const { uid } = pod.metadata;
    const before = this.replaced.get(hub);
    // The pod that was to go may still be there: the request for it has failed, or the cache does not show that it goes.
    if (before?.reason === reason && before.pod !== uid) return false;
    // Otherwise a rollout replaces the pod, or it is too early.
    if ((await this.restarts.restart(hub, pod, reason)) === 'deleted')
      this.replaced.set(hub, { reason, pod: uid });
    return true;
  }

  /** The hub has read its configuration: the next replacement is for another cause. */
  settled(hub: Hub): void {
    this.replaced.delete(hub);
  }

  /** The present pod of the hub. */
  podOf({ metadata: { namespace, name } }: Hub) {
    return this.services.cache.get(builtin.Pod.kind, namespace, objectNames(name).pod);
  }
}
