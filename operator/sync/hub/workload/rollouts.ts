import { isDeepStrictEqual } from 'node:util';
import { createHash } from 'node:crypto';
import { operatorAnnotations } from '../../../kinds/annotations';
import type { Hub } from '../../../kinds';
import {
  API_NOT_LOADED_REQUEUE,
  ROLLOUT_DEBOUNCE,
  ROLLOUT_DEBOUNCE_LIMIT,
  ROLLOUT_TURN,
} from '../../../base/limits';
import type { Manifest } from '../../../runtime/apply';
import { PerHub } from '../../hub-connection/per-hub';
import type { Services } from '../../services';
import { isHeldNow } from '../../still-desired';
import type { StatefulSet } from '../../hub-pod/owned-objects';
import type { Occupation, PodRestarts } from '../../hub-pod/pod-restarts';
import type { EventSpec } from '../../../runtime/event-spec';

/**
 * Milliseconds until a changed pod template may be applied, 0 for now. `notice` tells users the cause of the
 * delay.
 */
interface RolloutDelay {
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
  /**
   * True for Hubs whose template waits with a changed spec: status has the generation of that spec before
   * the template is applied.
   */
  private readonly hasNewSpec: PerHub<boolean>;

  /** @param isLoading whether a configuration is being loaded into the hub, which may need a restart too */
  constructor(
    private readonly services: Pick<Services, 'applier' | 'clock' | 'cache' | 'requeue'>,
    private readonly restarts: PodRestarts,
    isLoading: (hub: Hub) => boolean,
  ) {
    this.debounce = new RolloutDebounce(services, isLoading);
    this.turns = new RolloutTurns(services, restarts);
    this.hasNewSpec = new PerHub(services.cache);
  }

  /** The time until `desired` may replace `present`. */
  async delay(hub: Hub, present: StatefulSet | undefined, desired: Manifest): Promise<RolloutDelay> {
    await this.turns.endOwn(hub);
    const remaining = this.debounce.remaining(hub, present, desired);
    if (!present || remaining === undefined) {
      this.recordApplied(hub);
      return { delay: 0 };
    }
    this.hasNewSpec.set(hub, this.isSpecNew(hub));
    const isRequested = changesOf(this.isSpecNew(hub), present, desired as unknown as StatefulSet).length > 0;
    this.restarts.recordTemplate(hub, 'pending', isRequested);
    // The pod is about to be deleted anyway. If the template waited, the next pod would get the former
    // template, and the rollout would restart the hub a second time.
    if (this.restarts.isGoing(hub)) return { delay: 0 };
    if (remaining > 0) return { delay: remaining };
    const occupation = await this.restarts.occupation(hub);
    if (occupation) return { delay: API_NOT_LOADED_REQUEUE, notice: NOTICES[occupation] };
    if (!isRequested && !(await this.turns.take(hub))) {
      const notice = 'A pending change of its pod waits for the restart of another hub.';
      return { delay: ROLLOUT_TURN, notice };
    }
    return { delay: isHeldNow(this.services, hub) ? API_NOT_LOADED_REQUEUE : 0 };
  }

  /**
   * Records that the pod template was replaced.
   *
   * @returns the event that names the cause, or undefined when the template is unchanged
   */
  recordReplaced(hub: Hub, before: StatefulSet, after: StatefulSet): EventSpec | undefined {
    const replaced = restartEvent(this.isSpecNew(hub), before, after);
    this.recordApplied(hub);
    return replaced;
  }

  /** Records that the pod template is the desired one. */
  recordApplied(hub: Hub): void {
    this.hasNewSpec.delete(hub);
    this.restarts.recordTemplate(hub, 'current');
  }

  /**
   * The reason why the operator has deleted the pod since the last call, for another cause than a changed
   * template.
   */
  takeDeletion(hub: Hub): string | undefined {
    return this.restarts.takeReason(hub);
  }

  /** Records that the pod template cannot be applied now. */
  recordHeld(hub: Hub): void {
    this.restarts.recordTemplate(hub, 'held');
  }

  private isSpecNew(hub: Hub): boolean {
    return (this.hasNewSpec.get(hub) ?? false) || hub.status?.observedGeneration !== hub.metadata.generation;
  }
}

/** A template that differs from the applied one. Times are of the monotonic clock. */
interface PendingTemplate {
  readonly digest: string;
  /** The time since which the template is unchanged. */
  readonly since: number;
  /** The time at which any difference from the applied template was first seen. */
  readonly first: number;
}

/**
 * Delays a changed pod template until it has been stable for a moment and nothing is being loaded into the
 * hub. A burst of changes to the Hub, its configuration and its secrets then causes one rollout.
 */
export class RolloutDebounce {
  private readonly pending: PerHub<PendingTemplate>;

  constructor(
    private readonly services: Pick<Services, 'applier' | 'clock' | 'cache'>,
    private readonly isLoading: (hub: Hub) => boolean,
  ) {
    this.pending = new PerHub(services.cache);
  }

  /**
   * Milliseconds until `desired` may replace `present`.
   *
   * @returns undefined when `desired` is already applied, or there is no StatefulSet to replace
   */
  remaining(hub: Hub, present: StatefulSet | undefined, desired: Manifest): number | undefined {
    const { applier, clock } = this.services;
    // A new StatefulSet is created without delay. Its template already has the hashes of the first
    // configuration, so that no second rollout follows.
    if (!present || applier.matchesLastApplied(present, desired, { owner: hub })) {
      this.pending.delete(hub);
      return undefined;
    }
    const digest = createHash('sha256').update(JSON.stringify(desired)).digest('hex');
    const before = this.pending.get(hub);
    const now = clock.monotonic();
    const since = before?.digest === digest && !this.isLoading(hub) ? before.since : now;
    const first = before?.first ?? now;
    this.pending.set(hub, { digest, since, first });
    return Math.max(0, Math.min(since + ROLLOUT_DEBOUNCE, first + ROLLOUT_DEBOUNCE_LIMIT) - now);
  }
}

interface Turn {
  readonly hub: Hub;
  /** Start of the turn, by the monotonic clock. */
  readonly since: number;
}

/**
 * Restarts hubs one at a time if the operator itself is the cause: an update of the operator may change the
 * pod template of all hubs. The turn of a hub ends when it has started with the new template, or after {@link
 * ROLLOUT_TURN}.
 */
class RolloutTurns {
  private turn: Turn | undefined;
  private former: Promise<void> | undefined;
  private readonly waiting = new Map<string, Hub>();

  constructor(
    private readonly services: Pick<Services, 'cache' | 'clock' | 'requeue'>,
    private readonly restarts: Pick<PodRestarts, 'hasStartedWithTemplate' | 'isRestarting'>,
  ) {}

  /**
   * Tries to start the turn of this hub.
   *
   * @returns false when another hub has the turn; this hub is queued then
   */
  async take(hub: Hub): Promise<boolean> {
    await this.end();
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

  /**
   * Gives the turn to another hub that is restarting already, since an earlier process of the operator may
   * have begun that restart.
   */
  private async resume({ metadata: { uid } }: Hub): Promise<void> {
    for (const other of this.services.cache.list<Hub>('Hub')) {
      if (other.metadata.uid === uid || !(await this.restarts.isRestarting(other))) continue;
      this.turn ??= { hub: other, since: this.services.clock.monotonic() };
    }
  }

  /**
   * Ends the turn of this hub if it is over. A hub that wants no turn does not wait for the answer of the one that has it.
   */
  async endOwn({ metadata: { uid } }: Hub): Promise<void> {
    if (this.turn?.hub.metadata.uid === uid) await this.end();
  }

  /** Ends the turn if it is over, and requeues the hubs that wait. */
  private async end(): Promise<void> {
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

/** Annotations of the pod template that change with resources of users, and the cause to report for each. */
const CAUSES = [
  [operatorAnnotations.configHash, 'its configuration'],
  [operatorAnnotations.secretsHash, 'its secrets'],
  [operatorAnnotations.communityHash, 'its community integrations'],
] as const;

/** The changes by users between two pod templates of a Hub. */
function changesOf(isNewSpec: boolean, before: StatefulSet, after: StatefulSet): string[] {
  const [old, present] = [before, after].map(({ spec }) => spec.template.metadata?.annotations);
  const changed = CAUSES.filter(([annotation]) => old?.[annotation] !== present?.[annotation]);
  return [...(isNewSpec ? ['its spec'] : []), ...changed.map(([, cause]) => cause)];
}

/** The event of a pod that was deleted at the request of its HubConfiguration. */
export const deletionEvent = (reason: string): EventSpec => event(`The hub restarts: ${reason}.`);

/**
 * The event that names the cause of a rollout.
 *
 * @returns undefined when the pod template is unchanged, so that the pod stays
 */
export function restartEvent(
  isNewSpec: boolean,
  before: StatefulSet,
  after: StatefulSet,
): EventSpec | undefined {
  if (isDeepStrictEqual(before.spec.template, after.spec.template)) return undefined;
  const changes = changesOf(isNewSpec, before, after);
  const cause =
    changes.length > 0
      ? `${changes.join(' and ')} changed`
      : 'this version of the operator has another pod for it';
  return event(`The hub restarts, since ${cause}.`);
}

const event = (message: string): EventSpec => ({ type: 'Normal', reason: 'HubRestarting', message });
