import type { Hub } from '../../../kinds/index';
import { objectNames } from '../../../kinds/object-names';
import { ROLLOUT_TURN } from '../../../limits';
import { builtin } from '../../../runtime/types';
import type { Services } from '../../services';
import { isReadyPod } from '../health/pod-state';
import type { Pod } from '../pod';

interface Turn {
  readonly hub: Hub;
  /** The pod that is replaced. */
  readonly pod: string | undefined;
  /** By the monotonic clock. */
  readonly since: number;
}

/**
 * Restarts hubs one after another where the operator is the cause: its next version may have another pod template for all
 * hubs. A hub has its turn until its next pod is ready, or for {@link ROLLOUT_TURN}.
 */
export class RolloutTurns {
  private turn: Turn | undefined;
  private readonly waiting = new Map<string, Hub>();

  constructor(private readonly services: Pick<Services, 'cache' | 'clock' | 'requeue'>) {}

  /** Whether it is the turn of this hub, from now on. */
  take(hub: Hub): boolean {
    this.endTurn();
    if (this.turn && this.turn.hub.metadata.uid !== hub.metadata.uid) {
      this.waiting.set(hub.metadata.uid, hub);
      return false;
    }
    this.waiting.delete(hub.metadata.uid);
    this.turn ??= { hub, pod: this.podOf(hub)?.metadata.uid, since: this.services.clock.monotonic() };
    return true;
  }

  /** Requeues the hubs that wait, if the turn has ended. */
  endTurn(): void {
    if (!this.turn || !this.isOver(this.turn)) return;
    this.turn = undefined;
    for (const { metadata } of this.waiting.values())
      this.services.requeue('Hub', metadata.namespace, metadata.name);
    this.waiting.clear();
  }

  private isOver({ hub, pod: replaced, since }: Turn): boolean {
    if (this.services.clock.monotonic() - since >= ROLLOUT_TURN) return true;
    const { namespace, name, uid } = hub.metadata;
    if (this.services.cache.get<Hub>('Hub', namespace, name)?.metadata.uid !== uid) return true;
    const pod = this.podOf(hub);
    return pod !== undefined && pod.metadata.uid !== replaced && isReadyPod(pod);
  }

  private podOf({ metadata: { namespace, name } }: Hub): Pod | undefined {
    return this.services.cache.get<Pod>(builtin.Pod.kind, namespace, objectNames(name).pod);
  }
}
