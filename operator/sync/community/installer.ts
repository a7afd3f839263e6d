import { createHash } from 'node:crypto';
import type { Hub, HubCommunityRepository } from '../../kinds';
import { objectNames } from '../../kinds/object-names';
import { ObjectRejected } from '../../runtime/apply-errors';
import type { ClusterObject } from '../../runtime/objects';
import { builtin } from '../../runtime/types';
import { claimName, type Pod, type StatefulSet } from '../hub-pod/owned-objects';
import type { Services } from '../services';
import { InstallRejected } from './errors';
import {
  type HubWorkload,
  type Installation,
  installerPod,
  isPartOf,
  PART_KEY,
  partName,
} from './installer-pod';

/** Runs pods that write files to the volumes of hubs, one at a time for each resource. */
export class Installer {
  constructor(private readonly services: Pick<Services, 'applier' | 'cache' | 'clock'>) {}

  /** The pod of a resource, in any state. */
  find(resource: HubCommunityRepository): Pod | undefined {
    return this.services.cache.get<Pod>(builtin.Pod.kind, resource.metadata.namespace, podName(resource));
  }

  /** Milliseconds since the pod was created. */
  ageOf({ metadata: { creationTimestamp } }: Pod): number {
    return this.services.clock.now() - Date.parse(creationTimestamp ?? '');
  }

  /**
   * The workload beside which a pod can run.
   *
   * @returns undefined when the hub has no pod on a node
   */
  workloadOf(hub: Hub): HubWorkload | undefined {
    const { namespace, name } = hub.metadata;
    const names = objectNames(name);
    const { cache } = this.services;
    const set = cache.get<StatefulSet>(builtin.StatefulSet.kind, namespace, names.workload);
    const pod = cache.get<ClusterObject & { readonly spec?: { readonly nodeName?: string } }>(
      builtin.Pod.kind,
      namespace,
      names.pod,
    );
    const nodeName = pod?.spec?.nodeName;
    if (!set || nodeName === undefined) return undefined;
    return { set, nodeName, claimName: claimName(hub) };
  }

  /**
   * Writes the parts of the files into Secrets, then starts the pod that reads them. All objects are owned by
   * the resource.
   *
   * @throws NameConflict
   * @throws InstallRejected the API server rejected an object; the objects created before it are deleted
   * again
   */
  async start(
    resource: HubCommunityRepository,
    installation: Omit<Installation, 'parts'>,
    parts: readonly Buffer[],
    workload: HubWorkload,
  ): Promise<void> {
    const { applier } = this.services;
    const { namespace } = resource.metadata;
    const name = podName(resource);
    const pod = installerPod({ name, namespace }, { ...installation, parts: parts.length }, workload);
    try {
      // The pod is tried first, since it is rejected most often, and then no Secret has to be written.
      await applier.dryRun(builtin.Pod, pod, { owner: resource });
      for (const [index, part] of parts.entries()) {
        const metadata = { name: partName(name, index), namespace };
        const data = { [PART_KEY]: part.toString('base64') };
        const secret = { apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque', data };
        await applier.apply(builtin.Secret, secret, { owner: resource });
      }
      await applier.apply(builtin.Pod, pod, { owner: resource });
    } catch (error) {
      if (!(error instanceof ObjectRejected)) throw error;
      await this.clean(resource);
      throw new InstallRejected(error.message, { cause: error });
    }
  }

  /** Deletes the pod and the Secrets with files, even if no pod was created for them. */
  async clean(resource: HubCommunityRepository): Promise<void> {
    const { applier, cache } = this.services;
    const name = podName(resource);
    const secrets = [...cache.list(builtin.Secret.kind, resource.metadata.namespace)]
      .filter((secret) => isPartOf(name, secret) && applier.isOurs(secret, resource))
      .map(({ metadata }) => metadata.name);
    for (const secret of secrets) await applier.remove(builtin.Secret, resource, secret);
    const pod = this.find(resource);
    if (pod && !pod.metadata.deletionTimestamp) await applier.remove(builtin.Pod, resource, name);
  }
}

/**
 * Name of the pod. It depends on the uid, so that a resource that is created again does not find the pod of
 * the former one.
 */
function podName({ metadata: { uid }, spec }: HubCommunityRepository): string {
  const id = createHash('sha256').update(uid).digest('hex').slice(0, 10);
  return objectNames(spec.hubRef.name).installer(id);
}
