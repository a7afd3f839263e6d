import {
  CONFIG_ENTITY_KINDS,
  type ConfigEntityKind,
  isConfigEntityKind,
} from '../../client/connection/config-entity';
import type { HubClient } from '../../client/hub-client';
import type { HubEvent } from '../../client/hub-events';
import type { Clock } from '../../base/clock';
import type { Logger } from '../../base/log';
import type { Priority } from '../../runtime/priority';
import { Timer } from '../../base/timer';
import { type CachedEntity, invalidate, invalidateOneOfMany } from './entity-cache';

/** The data of a resource that drift detection needs. */
export interface WatchedResource {
  /** The id of the resource's object in the hub. Undefined if it has none yet. */
  readonly id: string | undefined;
  /** The entity id according to status. */
  readonly entityId: string | undefined;
  readonly cached: CachedEntity;
  /** True for an automation with `enabled: false`. */
  readonly desiredOff: boolean;
  readonly requeue: (priority?: Priority) => void;
}

interface DriftDetectorOptions {
  readonly client: HubClient;
  readonly clock: Clock;
  readonly log: Logger;
  /** The latest versions of all resources of a kind in this hub. */
  readonly resources: (kind: ConfigEntityKind) => Iterable<WatchedResource>;
  /** The latest versions of the resources whose object in the hub has this id. */
  readonly resourcesOf: (kind: ConfigEntityKind, id: string) => Iterable<WatchedResource>;
}

/** Milliseconds between the last event about a kind and its recheck. */
const QUIET_PERIOD = 1_000;
/** Longest delay of a recheck after the first event, in milliseconds. Drift is detected within 10 s. */
const LONGEST_DELAY = 5_000;
/**
 * Milliseconds between two rechecks after writes of the operator, which also load changes that others made to
 * the file. A file is seldom changed without a reload, and a recheck of a thousand objects takes a second of
 * CPU time.
 */
const OWN_RECHECK_INTERVAL = 60_000;
/**
 * Milliseconds from a service call that turns on automations to a check of those that should be off. The hub
 * reports a call before it carries it out, so another check follows the last call after {@link
 * SWITCH_RECHECK_DELAY}.
 */
const SWITCH_DELAY = 300;
const SWITCH_RECHECK_DELAY = 5_000;
/**
 * Milliseconds until rejected writes are retried after a component was loaded. A hub that starts reports a
 * hundred components within seconds, which cause few retries this way.
 */
const REJECTION_DELAY = 5_000;

interface Recheck {
  /** Ids of objects that another client may have changed. */
  readonly ids: Set<string>;
  /** True if another client may have changed any object. */
  all: boolean;
  /** True if all objects are compared again because the operator wrote or reloaded. */
  own: boolean;
  /**
   * The time at which the recheck starts even if more events arrive. Infinity if only the operator was
   * active.
   */
  latestAt: number;
  readonly timer: Timer;
}

/**
 * Converts events of a hub to reconciles of the resources that they may concern (rules.md, "Drift"). Reloads
 * by the operator, which the client recognizes, do not count as drift.
 */
export class DriftDetector {
  private readonly rechecks = new Map<ConfigEntityKind, Recheck>();
  private readonly ownRecheckAt = new Map<ConfigEntityKind, number>();
  /** Kinds whose recheck started before the end of a reload by another client. */
  private readonly reloading = new Set<ConfigEntityKind>();
  private readonly switchTimer: Timer;
  private readonly switchRecheckTimer: Timer;
  private readonly rejectionTimer: Timer;

  constructor(private readonly options: DriftDetectorOptions) {
    const { client, clock, resourcesOf } = options;
    this.switchTimer = new Timer(clock);
    this.switchRecheckTimer = new Timer(clock);
    this.rejectionTimer = new Timer(clock);
    client.events.onEvent((event) => this.onEvent(event));
    client.entityRegistry.onChange((kind, id) => {
      if (!isConfigEntityKind(kind)) return;
      for (const resource of resourcesOf(kind, id)) this.invalidate(resource);
    });
    client.repairIssues.onChange((entityId) => {
      for (const kind of CONFIG_ENTITY_KINDS)
        this.requeue(kind, (resource) => resource.entityId === entityId);
    });
  }

  /** Resolves once the hub reports its events. */
  async watchEvents(): Promise<void> {
    await this.options.client.events.watch();
  }

  /** Records that a write or reload by the operator has ended. */
  recheckAfterOwnWork(kind: ConfigEntityKind): void {
    this.recheckOf(kind).own = true;
    this.schedule(kind);
  }

  private onEvent(event: HubEvent): void {
    this.options.log.debug({ ...event }, 'received hub event');
    switch (event.type) {
      case 'external-reload':
        return this.onForeignReload(event.kind, event.id);
      case 'reloaded':
        if (event.id !== undefined)
          for (const resource of this.options.resourcesOf(event.kind, event.id)) resource.requeue();
        if (this.reloading.delete(event.kind)) this.onForeignReload(event.kind);
        else if (this.rechecks.has(event.kind)) this.schedule(event.kind);
        return;
      case 'automations-turned-on':
        return this.onTurnedOn();
      case 'component-loaded':
        for (const kind of CONFIG_ENTITY_KINDS) {
          if (kind === event.component) this.requeue(kind, clearReloadFailure);
        }
        return this.scheduleRejected();
      case 'device-added':
        return this.scheduleRejected();
      case 'changes-missed':
        return this.invalidateAll(() => 'resync');
      case 'reconnected':
        return this.invalidateAll((resource) => (clearRejection(resource) ? undefined : 'resync'));
    }
  }

  private invalidateAll(priorityOf: (resource: WatchedResource) => Priority | undefined): void {
    for (const kind of CONFIG_ENTITY_KINDS)
      for (const resource of this.options.resources(kind))
        this.invalidateOneOfMany(resource, false, priorityOf(resource));
  }

  private onTurnedOn(): void {
    const check = () => this.requeue('automation', ({ desiredOff }) => desiredOff);
    if (!this.switchTimer.pending) this.switchTimer.set(SWITCH_DELAY, check);
    this.switchRecheckTimer.set(SWITCH_RECHECK_DELAY, check);
  }

  /** Schedules retries of rejected payloads, since the hub may accept them now. */
  private scheduleRejected(): void {
    if (this.rejectionTimer.pending) return;
    this.rejectionTimer.set(REJECTION_DELAY, () => {
      for (const kind of CONFIG_ENTITY_KINDS) this.requeue(kind, clearRejection);
    });
  }

  /** Called when another client has reloaded a kind or, with an id, one automation. */
  private onForeignReload(kind: ConfigEntityKind, id?: string): void {
    const recheck = this.recheckOf(kind);
    if (id === undefined) recheck.all = true;
    else recheck.ids.add(id);
    recheck.latestAt = Math.min(recheck.latestAt, this.options.clock.monotonic() + LONGEST_DELAY);
    this.schedule(kind);
  }

  private recheckOf(kind: ConfigEntityKind): Recheck {
    let recheck = this.rechecks.get(kind);
    if (!recheck) {
      const timer = new Timer(this.options.clock);
      recheck = { ids: new Set(), all: false, own: false, latestAt: Infinity, timer };
      this.rechecks.set(kind, recheck);
    }
    return recheck;
  }

  /**
   * Delays the recheck until no more events arrive. A recheck caused only by the operator's writes also waits
   * until these have ended.
   */
  private schedule(kind: ConfigEntityKind): void {
    const { client, clock } = this.options;
    const recheck = this.recheckOf(kind);
    const isForeign = recheck.latestAt < Infinity;
    const now = clock.monotonic();
    const ownPause = (this.ownRecheckAt.get(kind) ?? -Infinity) + OWN_RECHECK_INTERVAL - now;
    const delay = isForeign
      ? Math.min(QUIET_PERIOD, recheck.latestAt - now)
      : Math.max(QUIET_PERIOD, ownPause);
    recheck.timer.set(delay, () => {
      if (!isForeign && client.entities.isWriting(kind)) this.schedule(kind);
      else this.run(kind, recheck);
    });
  }

  private run(kind: ConfigEntityKind, { ids, all, own, latestAt }: Recheck): void {
    const now = this.options.clock.monotonic();
    this.rechecks.delete(kind);
    if (own) this.ownRecheckAt.set(kind, now);
    if (now >= latestAt) this.reloading.add(kind);
    for (const resource of this.options.resources(kind)) {
      if (resource.id !== undefined && ids.has(resource.id)) this.invalidate(resource);
      else if (all) this.invalidateOneOfMany(resource, true);
      else if (own) resource.requeue('resync'); // hundreds of such rechecks must not delay the reconcile of an edit
    }
  }

  private invalidate({ cached, requeue }: WatchedResource): void {
    invalidate(cached, this.options.clock.monotonic());
    requeue();
  }

  private invalidateOneOfMany(
    { cached, requeue }: WatchedResource,
    reloaded: boolean,
    priority?: Priority,
  ): void {
    invalidateOneOfMany(cached, this.options.clock.monotonic(), reloaded);
    requeue(priority);
  }

  private requeue(kind: ConfigEntityKind, predicate: (resource: WatchedResource) => boolean): void {
    for (const resource of this.options.resources(kind)) if (predicate(resource)) resource.requeue();
  }
}

/** Allows another attempt of a reload that failed because the component of the resource was not loaded. */
function clearReloadFailure({ cached }: WatchedResource): boolean {
  cached.reloadFailedAt = undefined;
  return true;
}

/**
 * Allows a rejected payload to be sent again.
 *
 * @returns whether there was a rejection
 */
function clearRejection({ cached }: WatchedResource): boolean {
  const wasRejected = cached.rejection !== undefined;
  cached.rejection = undefined;
  return wasRejected;
}
