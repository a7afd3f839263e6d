import type { Hub } from '../../kinds';
import { operatorAnnotations } from '../../kinds/annotations';
import { objectNames } from '../../kinds/object-names';
import { isConflict, isNotFound } from '../../runtime/api-errors';
import { pathOf } from '../../runtime/objects';
import { builtin } from '../../runtime/types';
import { PerHub } from '../per-hub';
import type { Services } from '../services';
import type { RestartHashes } from './record/publish';

/** Restarts hubs for which no template changes, by the deletion of their pod: once for each reason. */
export class PodReplacement {
  /** The last replacement: why, and the uid of the pod that was to go. */
  private readonly replaced: PerHub<{ readonly reason: string; readonly pod: string }>;

  constructor(private readonly services: Pick<Services, 'cache' | 'cluster' | 'log'>) {
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
    const { cluster, log } = this.services;
    const { namespace, name } = hub.metadata;
    const pod = this.podOf(hub);
    if (!pod || pod.metadata.uid === undefined || pod.metadata.deletionTimestamp) return true;
    const { uid } = pod.metadata;
    const before = this.replaced.get(hub);
    // The pod that was to go may still be there: the request for it has failed, or the cache does not show that it goes.
    if (before?.reason === reason && before.pod !== uid) return false;
    this.replaced.set(hub, { reason, pod: uid });
    const fields = { kind: hub.kind, namespace, name, pod: pod.metadata.name, reason };
    log.warn(fields, 'deleting the pod of a hub that has to read its configuration at a start');
    try {
      await cluster.request({
        method: 'DELETE',
        path: pathOf(builtin.Pod, namespace, pod.metadata.name),
        body: { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid } },
      });
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error; // it is gone already
    }
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
