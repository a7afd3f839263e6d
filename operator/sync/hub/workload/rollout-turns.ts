import type { Hub } from '../../../kinds/index';
import { ROLLOUT_TURN } from '../../../base/limits';
import type { Services } from '../../services';
import type { PodRestarts } from '../../hub-workload/pod-restarts';

interface Turn {
  readonly hub: Hub;
  /** By the monotonic clock. */
  readonly since: number;
}

/**
 * Restarts hubs one after another where the operator is the cause: its next version may have another pod template for all
 * hubs. A hub has its turn until it has started with the template, or for {@link ROLLOUT_TURN}.
 */
export class RolloutTurns {
  private turn: Turn | undefined;
  private former: Promise<void> | undefined;
  private readonly waiting = new Map<string, Hub>();

  constructor(
    private readonly services: Pick<Services, 'cache' | 'clock' | 'requeue'>,
    private readonly restarts: Pick<PodRestarts, 'hasStartedWithTemplate' | 'isRestarting'>,
  ) {}

  /** Whether it is the turn of this hub, from now on. */
  async take(hub: Hub): Promise<boolean> {
    this.former ??= this.resume(hub).catch((error: unknown) => {
      this.former = undefined;
      throw error;
    });
    await this.former;
    if (this.turn && this.turn.hub.metadata.uid !== hub.metadata.uid) {
      this.waiting.set(hub.metadata.uid, hub);
      return false;
    }
    this.waiting.delete(hub.metadata.uid);
    this.turn ??= { hub, since: this.services.clock.monotonic() };
    return true;
  }

  /** Gives the turn to another hub that is restarting: the process before this one may have begun that. */
  private async resume({ metadata: { uid } }: Hub): Promise<void> {
    for (const other of this.services.cache.list<Hub>('Hub')) {
      if (other.metadata.uid === uid || !(await this.restarts.isRestarting(other))) continue;
      this.turn ??= { hub: other, since: this.services.clock.monotonic() };
    }
  }

  /** Ends the turn if it is over, and requeues the hubs that wait. */
  async endTurn(): Promise<void> {
    const { turn } = this;
    if (!turn || !(await this.isOver(turn)) || this.turn !== turn) return;
    this.turn = undefined;
    for (const { metadata } of this.waiting.values())
      this.services.requeue('Hub', metadata.namespace, metadata.name);
    this.waiting.clear();
  }

  private async isOver({ hub, since }: Turn): Promise<boolean> {
    if (this.services.clock.monotonic() - since >= ROLLOUT_TURN) return true;
    const { namespace, name, uid } = hub.metadata;
    if (this.services.cache.get<Hub>('Hub', namespace, name)?.metadata.uid !== uid) return true;
    return this.restarts.hasStartedWithTemplate(hub);
  }
}
