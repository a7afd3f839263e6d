import type { Hub } from '../../../kinds/index';
import { DEPENDENCY_REQUEUE, POD_NOT_READY_REQUEUE } from '../../../base/limits';
import { byAge } from '../../../runtime/age';
import { type Outcome, stalled, waiting } from '../../../runtime/outcome';
import { builtin } from '../../../runtime/types';
import type { Services } from '../../services';
import { claimName, configClaimOf, mountsClaim, type Pod, statefulSetOf } from '../../hub-pod/owned-objects';
import { PerHub } from '../../hub-connection/per-hub';
import { listPages } from '../../../runtime/list-pages';
import { FIELD_MANAGER, MANAGED_BY_LABEL } from '../../../runtime/object-ownership';

/**
 * Pods per page. An ordinary pod has about 500 JSON keys and values, and a response may have 700,000 of them.
 */
const PODS_PAGE = 250;

/**
 * Ensures that a claim serves only one Hub, since two hubs on one volume would write to one database
 * (rules.md, "Storage"). Of several Hubs, the one whose StatefulSet uses the claim keeps it. Otherwise it
 * goes to the Hub that got it first from this process, or else to the oldest.
 */
export class ClaimConflicts {
  /** The claims that this process has given to Hubs. Their StatefulSets may not be in the cache yet. */
  private readonly given: PerHub<string>;

  constructor(private readonly services: Pick<Services, 'applier' | 'cache' | 'cluster'>) {
    this.given = new PerHub(services.cache);
  }

  /**
   * Gives a Hub its claim.
   *
   * @returns the outcome that says why the Hub does not get it, or undefined when the Hub has it
   */
  async find(hub: Hub): Promise<Outcome | undefined> {
    const claim = claimName(hub);
    const [holder] = [hub, ...this.contenders(hub, claim)].sort((a, b) => this.compare(a, b, claim));
    if (holder && holder.metadata.uid !== hub.metadata.uid) {
      const message = `The PersistentVolumeClaim ${claim} serves the Hub ${holder.metadata.name}: name another claim in spec.storage.existingClaim, or delete one of the two Hubs: the volume stays.`;
      return stalled('NameConflict', message, { after: DEPENDENCY_REQUEUE });
    }
    if (this.rank(hub, claim) === 0) return undefined;
    this.given.set(hub, claim); // before the request, so that no other Hub gets the claim during it
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
    return configClaimOf(statefulSetOf(this.services, hub)?.spec.template.spec) === claim;
  }

  /**
   * The outcome for a pod of another owner that mounts the claim. Either a Hub that was deleted or has
   * another claim now still has a pod that is terminating, or another workload uses the claim, and both would
   * write to the same files. The pods are listed until the first such pod, since the cache only has the
   * operator's own.
   */
  private async conflictWithPod(hub: Hub, claim: string): Promise<Outcome | undefined> {
    const pod = await this.foreignPod(hub, claim);
    if (!pod) return undefined;
    const { name, labels } = pod.metadata;
    if (labels?.[MANAGED_BY_LABEL] === FIELD_MANAGER) {
      const message = `The pod ${name} of another Hub still uses the PersistentVolumeClaim ${claim}.`;
      return waiting('NameConflict', message, POD_NOT_READY_REQUEUE);
    }
    const message = `The pod ${name} uses the PersistentVolumeClaim ${claim}, and two programs that write to one volume destroy its data: stop that pod, such as by scaling its workload to 0.`;
    return stalled('NameConflict', message, { after: DEPENDENCY_REQUEUE });
  }

  /** The first pod that mounts the claim and does not belong to the Hub. */
  private async foreignPod(hub: Hub, claim: string): Promise<Pod | undefined> {
    const { applier, cluster } = this.services;
    const ours = Object.entries(applier.labels(hub));
    const query = { fieldSelector: 'status.phase!=Succeeded,status.phase!=Failed' };
    const pods = listPages<Pod>(cluster, builtin.Pod, hub.metadata.namespace, { pageSize: PODS_PAGE, query });
    for await (const pod of pods) {
      const isOurs = ours.every(([name, value]) => pod.metadata.labels?.[name] === value);
      if (mountsClaim(pod.spec, claim) && !isOurs) return pod;
    }
    return undefined;
  }
}
