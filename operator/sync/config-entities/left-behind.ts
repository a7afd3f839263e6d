import { fewNames } from '../../base/few-names';
import type { ConfigEntityKind } from '../../client/connection/config-entity';
import type { LabelledEntity } from '../../client/registries/entity-registry';
import type { HubClient } from '../../client/hub-client';
import type { Hub } from '../../kinds';
import { userAnnotations } from '../../kinds/annotations';
import { LEFT_BEHIND_GRACE, LEFT_BEHIND_RETRY } from '../../base/limits';
import type { EventSpec } from '../../runtime/event-spec';
import type { Child } from '../objects/child';
import { Operation } from '../objects/operation';
import { recordedId } from '../objects/ownership';
import type { Services } from '../services';
import type { ConfigEntitySpec, EntityType } from './entity-type';
import type { EntityContexts } from './entity-contexts';
import { formerIds } from './ownership';
import { createdByOperator, unmark } from './ownership-label';

/** A report for the Hub about objects without a resource. */
interface LeftBehindReport {
  /** Sentences for the message of `Ready`, if there are such objects. */
  readonly notice?: string;
  readonly events: readonly EventSpec[];
  /** Milliseconds until the next check, if that is sooner than the resync. */
  readonly after?: number;
}

interface HubState {
  readonly since: number;
  /** True if an event has named the objects since the hub was last connected. */
  told: boolean;
  removal: Operation | undefined;
  /** The time of the next attempt after a failed removal, and the failure until an event reports it. */
  retryAt: number;
  failure: string | undefined;
}

/** Maximum number of objects that are named. The others are named after these are gone. */
const MOST_NAMED = 10;

/**
 * Finds objects with the operator's label that no resource describes, for example after a skipped removal or
 * the restore of an older backup. They are named, and removed only if an annotation of the Hub lists them
 * (rules.md, "Left behind").
 */
export class LeftBehind {
  private readonly states = new WeakMap<HubClient, HubState>();

  constructor(
    private readonly services: Pick<Services, 'cache' | 'clock' | 'log' | 'requeue'>,
    private readonly contexts: Pick<EntityContexts, 'ofHub'>,
    private readonly entityTypes: readonly Pick<
      EntityType<Child, ConfigEntitySpec>,
      'type' | 'definition' | 'idField' | 'id'
    >[],
  ) {}

  async report(hub: Hub, client: HubClient): Promise<LeftBehindReport> {
    const now = this.services.clock.monotonic();
    const state = this.stateOf(client, now);
    // Resources may be applied a moment after their Hub.
    const wait = state.since + LEFT_BEHIND_GRACE - now;
    if (wait > 0) return { events: [], after: wait };
    const marked = await createdByOperator(client);
    const isDescribed = this.describedBy(hub, new Set(marked.map(({ kind }) => kind)));
    const all = marked.filter((entity) => !isDescribed(entity));
    if (all.length === 0) return { events: [] };
    const events = [...this.takeFailure(state), ...(state.told ? [] : [eventOf(all)])];
    state.told = true;
    this.removeNamed(hub, client, state, all);
    return { notice: noticeOf(all), events };
  }

  private stateOf(client: HubClient, now: number): HubState {
    let state = this.states.get(client);
    if (!state) {
      state = { since: now, told: false, removal: undefined, retryAt: -Infinity, failure: undefined };
      const created = state;
      client.connection.onReconnect(() => (created.told = false));
      this.states.set(client, state);
    }
    return state;
  }

  /**
   * Returns a function that reports whether a resource describes an object now. All ids are collected first,
   * since a hub may have thousands of objects and resources.
   */
  private describedBy(
    { metadata: { namespace, name } }: Hub,
    kinds: ReadonlySet<ConfigEntityKind>,
  ): (entity: LabelledEntity) => boolean {
    const described = new Map<string, ReadonlySet<string | undefined>>();
    for (const entityType of this.entityTypes.filter(({ type }) => kinds.has(type))) {
      const resources = [...this.services.cache.ofHub<Child>(entityType.definition.kind, namespace, name)];
      const idsOf = (resource: Child) => [
        entityType.id(resource),
        recordedId(entityType, resource),
        ...formerIds(resource),
      ];
      described.set(entityType.type, new Set(resources.flatMap(idsOf)));
    }
    return ({ kind, id }) => described.get(kind)?.has(id) === true;
  }

  private takeFailure(state: HubState): EventSpec[] {
    const { failure } = state;
    state.failure = undefined;
    return failure === undefined ? [] : [{ type: 'Warning', reason: 'CleanupFailed', message: failure }];
  }

  /**
   * Removes the objects that the annotation lists. This is done in the background, since a removal may wait
   * for others and for a reload.
   */
  private removeNamed(hub: Hub, client: HubClient, state: HubState, all: readonly LabelledEntity[]): void {
    const { clock, log, requeue } = this.services;
    const list = hub.metadata.annotations?.[userAnnotations.removeLeftBehind] ?? '';
    const listed = new Set(list.split(/[\s,]+/));
    const named = all.filter(({ entityId }) => listed.has(entityId));
    if (named.length === 0 || (state.removal && !state.removal.end) || clock.monotonic() < state.retryAt)
      return;
    const { namespace, name } = hub.metadata;
    const removeAll = async () => {
      for (const entity of named) {
        const shouldRemove = () => !this.describedBy(hub, new Set([entity.kind]))(entity);
        if (!shouldRemove()) continue;
        const prepare = () => unmark(client, entity.kind, entity.id);
        const { places } = this.contexts.ofHub(client, hub.metadata);
        await places.remove(entity.kind, entity.id, { shouldRemove, reload: true, prepare });
        log.info(
          { kind: 'Hub', namespace, name, entity: entity.entityId },
          'removed object without a resource',
        );
      }
    };
    const removal = new Operation(clock).start(removeAll, () => {
      const { error } = removal;
      if (error) {
        log.warn({ kind: 'Hub', namespace, name, error }, 'failed to remove object without a resource');
        state.failure = `What ${userAnnotations.removeLeftBehind} names could not be removed from the hub: ${error.message}`;
        state.retryAt = clock.monotonic() + LEFT_BEHIND_RETRY;
      }
      requeue('Hub', namespace, name);
    });
    state.removal = removal;
  }
}

function eventOf(all: readonly LabelledEntity[]): EventSpec {
  return { type: 'Warning', reason: 'LeftBehind', message: noticeOf(all) };
}

function noticeOf(all: readonly LabelledEntity[]): string {
  const ids = all.map(({ entityId }) => entityId).sort();
  return (
    `The hub has objects of the operator that no resource describes: ${fewNames(ids, MOST_NAMED)}. ` +
    `Apply their resources again, or have them removed by the annotation ${userAnnotations.removeLeftBehind} of the Hub, ` +
    'whose value lists these entity ids.'
  );
}
