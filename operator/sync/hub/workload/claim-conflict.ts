import type { Hub } from '../../../kinds/index';
import { objectNames } from '../../../kinds/object-names';
import { DEPENDENCY_REQUEUE, POD_NOT_READY_REQUEUE } from '../../../limits';
import { byAge } from '../../../runtime/age';
import { type Outcome, stalled, waiting } from '../../../runtime/outcome';
import { builtin } from '../../../runtime/types';
import type { Services } from '../../services';
import { claimName, INSTANCE_LABEL, mountsClaim, type PodSpec, type StatefulSet } from '../owned-objects';
import { PerHub } from '../../per-hub';
import type { ClusterObject } from '../../../runtime/objects';

/**
 * Holds that a claim serves one Hub: two hubs would write to one database (rules.md, "Storage"). Of several Hubs the one
 * whose StatefulSet uses the claim keeps it, else the one that was first given it, else the oldest.
 */
export class ClaimConflicts {
  /** The claim that this process gave to a Hub. Its StatefulSet may not be in the cache yet. */
  private readonly given: PerHub<string>;

  constructor(private readonly services: Pick<Services, 'cache'>) {
    this.given = new PerHub(services.cache);
  }

  /** Why a Hub does not get its claim; undefined: it has it from now on. */
  find(hub: Hub): Outcome | undefined {
    const claim = claimName(hub);
    const [holder] = [hub, ...this.contenders(hub, claim)].sort((a, b) => this.compare(a, b, claim));
    if (holder && holder.metadata.uid !== hub.metadata.uid) {
      const message = `The PersistentVolumeClaim ${claim} serves the Hub ${holder.metadata.name}: name another claim in spec.storage.existingClaim, or delete one of the two Hubs.`;
      return stalled('NameConflict', message, { after: DEPENDENCY_REQUEUE });
    }
    const pod = this.rank(hub, claim) === 0 ? undefined : this.podOfAnother(hub, claim);
    if (pod) {
      const message = `The pod ${pod.metadata.name} of another Hub still uses the PersistentVolumeClaim ${claim}.`;
      return waiting('NameConflict', message, POD_NOT_READY_REQUEUE);
    }
    this.given.set(hub, claim);
    return undefined;
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

  private uses({ metadata: { namespace, name } }: Hub, claim: string): boolean {
    const { workload } = objectNames(name);
    const set = this.services.cache.get<StatefulSet>(builtin.StatefulSet.kind, namespace, workload);
    return mountsClaim(set?.spec.template.spec, claim);
  }

  /** A pod that ends, of a Hub that was deleted or has another claim by now. */
  private podOfAnother({ metadata: { namespace, name } }: Hub, claim: string): ClusterObject | undefined {
    const pods = this.services.cache.list<ClusterObject & { readonly spec?: PodSpec }>('Pod', namespace);
    return [...pods].find(
      ({ metadata, spec }) => metadata.labels?.[INSTANCE_LABEL] !== name && mountsClaim(spec, claim),
    );
  }
}
