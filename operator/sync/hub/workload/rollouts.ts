import { isDeepStrictEqual } from 'node:util';
import { operatorAnnotations } from '../../../kinds/annotations';
import type { Hub } from '../../../kinds/index';
import { API_NOT_LOADED_REQUEUE, ROLLOUT_TURN } from '../../../base/limits';
import type { Manifest } from '../../../runtime/apply';
import { PerHub } from '../../hub-access/per-hub';
import type { Services } from '../../services';
import type { StatefulSet } from '../../hub-workload/owned-objects';
import type { Occupation, PodRestarts } from '../../hub-workload/pod-restarts';
import { RolloutDebounce } from './rollout-debounce';
import { RolloutTurns } from './rollout-turns';

/** Milliseconds until a changed pod template may be applied, and why it waits, for people. 0: now. */
export interface RolloutDelay {
  readonly delay: number;
  readonly notice?: string;
}

const NOTICES: Readonly<Record<Occupation, string>> = {
  start: 'A pending change of its pod waits for the end of its start.',
  backup: 'A pending change of its pod waits for the end of a backup, for an hour at most.',
};

/** Decides when a changed pod template restarts a hub (rules.md, "Rollout and debounce"). */
export class Rollouts {
  private readonly debounce: RolloutDebounce;
  private readonly turns: RolloutTurns;
  /** Whether a person has caused the pending change: a change of the Hub, its configuration, its secrets or its communities. */
  private readonly isRequested: PerHub<boolean>;

  /** @param isLoading whether a configuration is being loaded into the hub, which may need a restart as well */
  constructor(
    services: Pick<Services, 'applier' | 'clock' | 'cache' | 'requeue'>,
    private readonly restarts: PodRestarts,
    isLoading: (hub: Hub) => boolean,
  ) {
    this.debounce = new RolloutDebounce(services, isLoading);
    this.turns = new RolloutTurns(services, restarts);
    this.isRequested = new PerHub(services.cache);
  }

  /** When `desired` may replace `present`. */
  async delay(hub: Hub, present: StatefulSet | undefined, desired: Manifest): Promise<RolloutDelay> {
    await this.turns.endTurn();
    const remaining = this.debounce.remaining(hub, present, desired);
    if (!present || remaining === undefined) {
      this.recordApplied(hub);
      return { delay: 0 };
    }
    const isRequested = this.isRequested.get(hub) ?? false;
    this.isRequested.set(hub, isRequested || isRequestedChange(hub, present, desired));
    this.restarts.recordTemplate(hub, 'pending');
    // The next pod would get the former template, and a rollout would restart the hub once more.
    if (this.restarts.isGoing(hub)) return { delay: 0 };
    if (remaining > 0) return { delay: remaining };
    const occupation = await this.restarts.occupation(hub);
    if (occupation) return { delay: API_NOT_LOADED_REQUEUE, notice: NOTICES[occupation] };
    if (this.isRequested.get(hub) || (await this.turns.take(hub))) return { delay: 0 };
    return {
      delay: ROLLOUT_TURN,
      notice: 'A pending change of its pod waits for the restart of another hub.',
    };
  }

  /** The pod template is the desired one. */
  recordApplied(hub: Hub): void {
    this.isRequested.delete(hub);
    this.restarts.recordTemplate(hub, 'current');
  }

  /** Why the pod was deleted since the last call, without a changed template. */
  takeDeletion(hub: Hub): string | undefined {
    return this.restarts.takeReason(hub);
  }

  /** The pod template cannot be applied now. */
  recordHeld(hub: Hub): void {
    this.restarts.recordTemplate(hub, 'held');
  }
}

/** Annotations of the pod template that change with what people write. */
const REQUESTED = ['configHash', 'secretsHash', 'communityHash'] as const;

function isRequestedChange({ metadata, status }: Hub, present: StatefulSet, desired: Manifest): boolean {
  if (status?.observedGeneration !== metadata.generation) return true;
  const [before, after] = [present, desired as unknown as StatefulSet].map(({ spec }) =>
    REQUESTED.map((name) => spec.template.metadata?.annotations?.[operatorAnnotations[name]]),
  );
  return !isDeepStrictEqual(before, after);
}
