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
import type { StatefulSet } from '../../hub-pod/owned-objects';
import type { Occupation, PodRestarts } from '../../hub-pod/pod-restarts';
import type { EventSpec } from '../../../runtime/event-spec';

/** Milliseconds until a changed pod template may be applied, and why it waits, for people. 0: now. */
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
    const isRequested =
      (this.isRequested.get(hub) ?? false) ||
      changesOf(hub, present, desired as unknown as StatefulSet).length > 0;
    this.isRequested.set(hub, isRequested);
    this.restarts.recordTemplate(hub, 'pending', isRequested);
    // The next pod would get the former template, and a rollout would restart the hub once more.
    if (this.restarts.isGoing(hub)) return { delay: 0 };
    if (remaining > 0) return { delay: remaining };
    const occupation = await this.restarts.occupation(hub);
    if (occupation) return { delay: API_NOT_LOADED_REQUEUE, notice: NOTICES[occupation] };
    if (isRequested || (await this.turns.take(hub))) return { delay: 0 };
    const notice = 'A pending change of its pod waits for the restart of another hub.';
    return { delay: ROLLOUT_TURN, notice };
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

/** A template that differs from the applied one. Times are of the monotonic clock. */
interface PendingTemplate {
  readonly digest: string;
  /** Stable since then. */
  readonly since: number;
  /** The first difference was seen then. */
  readonly first: number;
}

/**
 * Waits until a changed pod template has been stable for a moment and nothing is being loaded into the hub, so that a
 * burst of changes to the Hub, its configuration and its secrets is one rollout.
 */
export class RolloutDebounce {
  private readonly pending: PerHub<PendingTemplate>;

  constructor(
    private readonly services: Pick<Services, 'applier' | 'clock' | 'cache'>,
    private readonly isLoading: (hub: Hub) => boolean,
  ) {
    this.pending = new PerHub(services.cache);
  }

  /** Milliseconds until `desired` may replace `present`. Undefined: it is applied, or there is nothing to replace. */
  remaining(hub: Hub, present: StatefulSet | undefined, desired: Manifest): number | undefined {
    const { applier, clock } = this.services;
    // The new StatefulSet carries the first hashes, or a second rollout would follow at once.
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
  /** The beginning of the turn of the hub, by the monotonic clock. */
  readonly since: number;
}

/**
 * Restarts hubs one after another where the operator is the cause: its next version may have another pod template for all
 * hubs. A hub has its turn until it has started with the template, or for {@link ROLLOUT_TURN}.
 */
class RolloutTurns {
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

/** Annotations of the pod template that change with what people write. */
const CAUSES = [
  [operatorAnnotations.configHash, 'its configuration'],
  [operatorAnnotations.secretsHash, 'its secrets'],
  [operatorAnnotations.communityHash, 'its community integrations'],
] as const;

/** What people have changed between two pod templates of a Hub. */
function changesOf(
  { metadata, status }: Pick<Hub, 'metadata' | 'status'>,
  before: StatefulSet,
  after: StatefulSet,
): string[] {
  const [old, present] = [before, after].map(({ spec }) => spec.template.metadata?.annotations);
  const isNewSpec = status?.observedGeneration !== metadata.generation;
  const changed = CAUSES.filter(([annotation]) => old?.[annotation] !== present?.[annotation]);
  return [...(isNewSpec ? ['its spec'] : []), ...changed.map(([, cause]) => cause)];
}

/** Names why the pod of a hub was deleted, as its HubConfiguration has asked for. */
export const deletionEvent = (reason: string): EventSpec => event(`The hub restarts: ${reason}.`);

/** Names the cause of a rollout. Undefined: the pod template stays, and so does the pod. */
export function restartEvent(
  hub: Pick<Hub, 'metadata' | 'status'>,
  before: StatefulSet,
  after: StatefulSet,
): EventSpec | undefined {
  if (isDeepStrictEqual(before.spec.template, after.spec.template)) return undefined;
  const changes = changesOf(hub, before, after);
  const cause =
    changes.length > 0
      ? `${changes.join(' and ')} changed`
      : 'this version of the operator has another pod for it';
  return event(`The hub restarts, since ${cause}.`);
}

const event = (message: string): EventSpec => ({ type: 'Normal', reason: 'HubRestarting', message });
