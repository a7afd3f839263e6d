import type { Hub } from '../../../kinds/index';
import { POD_NOT_READY_REQUEUE } from '../../../base/limits';
import { byAge } from '../../../runtime/age';
import { type Outcome, stalled, waiting } from '../../../runtime/outcome';
import { builtin } from '../../../runtime/types';
import type { Services } from '../../services';
import { claimName, mountsClaim, type PodSpec, statefulSetOf } from '../../hub-workload/owned-objects';
import { PerHub } from '../../hub-access/per-hub';
import { type ClusterObject, pathOf } from '../../../runtime/objects';
import { FIELD_MANAGER, MANAGED_BY_LABEL } from '../../../runtime/object-ownership';

/**
 * Holds that a claim serves one Hub: two hubs would write to one database (rules.md, "Storage"). Of several Hubs the one
 * whose StatefulSet uses the claim keeps it, else the one that was first given it, else the oldest.
 */
export class ClaimConflicts {
  /** The claim that this process gave to a Hub. Its StatefulSet may not be in the cache yet. */
  private readonly given: PerHub<string>;

  constructor(private readonly services: Pick<Services, 'applier' | 'cache' | 'cluster'>) {
    this.given = new PerHub(services.cache);
  }

  /** Why a Hub does not get its claim; undefined: it has it from now on. */
  async find(hub: Hub): Promise<Outcome | undefined> {
    const claim = claimName(hub);
    const [holder] = [hub, ...this.contenders(hub, claim)].sort((a, b) => this.compare(a, b, claim));
    if (holder && holder.metadata.uid !== hub.metadata.uid) {
      const message = `The PersistentVolumeClaim ${claim} serves the Hub ${holder.metadata.name}: name another claim in spec.storage.existingClaim, or delete one of the two Hubs: the volume stays.`;
      return stalled('NameConflict', message, { after: POD_NOT_READY_REQUEUE });
    }
    if (this.rank(hub, claim) === 0) return undefined;
    this.given.set(hub, claim); // before the request: no other Hub gets it meanwhile
    const conflict = await this.conflictWithPod(hub, claim);
    if (conflict) this.given.delete(hub);
    return conflict;
  }

  private *contenders(hub: Hub, claim: string): Generator<Hub> {
    for (const other of this.services.cache.list<Hub>('Hub', hub.metadata.namespace)) {
      if (other.metadata.uid === hub.metadata.uid || other.spec.external) continue;
      if (claimName(other) === claim || this.uses(other, claim)) yield other;
    }
  }

  private compare(a: Hub, b: Hub, claim: string): number {
    return this.rank(a, claim) - this.rank(b, claim) || byAge(a.metadata, b.metadata);
  }

  private rank(hub: Hub, claim: string): number {
    if (this.uses(hub, claim)) return 0;
    return this.given.get(hub) === claim ? 1 : 2;
  }

  private uses(hub: Hub, claim: string): boolean {
    return mountsClaim(statefulSetOf(this.services, hub)?.spec.template.spec, claim);
  }

  /**
   * The outcome for a pod that mounts the claim: one that ends, of a Hub that was deleted or has another claim by now, or one
   * of another workload, whose hub would write to the same files. Pods are listed, since only our own are watched.
   */
  private async conflictWithPod(hub: Hub, claim: string): Promise<Outcome | undefined> {
    const { items } = await this.services.cluster.request<{ readonly items: readonly MountingPod[] }>({
      method: 'GET',
      path: pathOf(builtin.Pod, hub.metadata.namespace),
      query: { fieldSelector: 'status.phase!=Succeeded,status.phase!=Failed' },
    });
    const ours = Object.entries(this.services.applier.labels(hub));
    const pod = items.find(
      ({ metadata: { labels }, spec }) =>
        mountsClaim(spec, claim) && !ours.every(([name, value]) => labels?.[name] === value),
    );
    if (!pod) return undefined;
    const { name, labels } = pod.metadata;
    if (labels?.[MANAGED_BY_LABEL] === FIELD_MANAGER) {
      const message = `The pod ${name} of another Hub still uses the PersistentVolumeClaim ${claim}.`;
      return waiting('NameConflict', message, POD_NOT_READY_REQUEUE);
    }
    const message = `The pod ${name} uses the PersistentVolumeClaim ${claim}, and two programs that write to one volume destroy its data: stop that pod, such as by scaling its workload to 0.`;
    return stalled('NameConflict', message, { after: POD_NOT_READY_REQUEUE });
  }
}

type MountingPod = ClusterObject & { readonly spec?: PodSpec };
