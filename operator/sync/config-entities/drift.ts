import type { ConfigEntityKind } from '../../client/config-entities';
import type { HubClient } from '../../client/hub-client';
import type { HubEvent } from '../../client/hub-events';
import type { Clock } from '../../clock';
import type { Logger } from '../../log';
import type { Priority } from '../../runtime/queue';
import { Timer } from '../../timer';
import { invalidate, type CachedEntity } from './entity-cache';

/** A resource of the hub, as far as drift is concerned. */
export interface WatchedResource {
  /** Under which the hub has it; undefined: it has no claim yet. */
  readonly id: string | undefined;
  readonly cached: CachedEntity;
  /** An automation that is to be off. */
  readonly desiredOff: boolean;
  readonly requeue: (priority?: Priority) => void;
}

export interface DriftDetectorOptions {
  readonly client: HubClient;
  readonly clock: Clock;
  readonly log: Logger;
  /** All resources of that kind and hub, as they are now. */
  readonly resources: (kind: ConfigEntityKind) => Iterable<WatchedResource>;
}

/** A sweep comes this long after the last sign that the hub is at work on a kind's file … */
const QUIET_MS = 1_000;
/** … and at the latest this long after the first: "noticed within 10 s". */
const LATEST_MS = 5_000;
/** Our own writes are followed by one sweep, but not by one each: what others put into the file comes to light by ours. */
const OWN_SWEEP_PAUSE_MS = 10_000;
const SWITCH_SOON_MS = 300;
/** A hub that starts tells of a hundred components within seconds: what was refused is tried once for many of them. */
const FORGIVE_AFTER_MS = 5_000;

interface Recheck {
  /** Ids that somebody else may have changed. */
  readonly doubted: Set<string>;
  /** Somebody else may have changed any. */
  allDoubted: boolean;
  /** All are to be looked at, because we were at work. */
  own: boolean;
  /** When it may not be put off any more; Infinity as long as nobody else was at work. */
  latestAt: number;
  readonly timer: Timer;
}

/**
 * Turns what a hub tells of itself into passes over the resources that it may concern. What we did ourselves is no
 * sign of drift: the client counts it.
 */
export class DriftDetector {
  readonly #options: DriftDetectorOptions;
  readonly #sweeps = new Map<ConfigEntityKind, Recheck>();
  readonly #ownSweptAt = new Map<ConfigEntityKind, number>();
  /** Kinds that somebody reloads and whose reload had not ended when the sweep could not wait any more. */
  readonly #unfinished = new Set<ConfigEntityKind>();
  readonly #switches: Timer;
  readonly #forgiveness: Timer;

  constructor(options: DriftDetectorOptions) {
    this.#options = options;
    this.#switches = new Timer(options.clock);
    this.#forgiveness = new Timer(options.clock);
    const { client, resources } = options;
    client.events.onEvent((signal) => this.#onSignal(signal));
    client.entityRegistry.onChange((kind, id) => {
      for (const resource of resources(kind)) if (resource.id === id) this.#suspect(resource);
    });
  }

  /** Resolves once the hub tells us of changes. */
  async ready(): Promise<void> {
    await this.#options.client.events.watch();
  }

  /** A write or reload of ours has ended. */
  ownWorkEnded(kind: ConfigEntityKind): void {
    this.#sweep(kind).own = true;
    this.#arm(kind);
  }

  #onSignal(signal: HubEvent): void {
    this.#options.log.debug({ ...signal }, 'signal of the hub');
    switch (signal.type) {
      case 'external-reload':
        return this.#doubt(signal.kind, signal.id);
      case 'reloaded':
        if (signal.id !== undefined) this.#requeue(signal.kind, ({ id }) => id === signal.id);
        if (this.#unfinished.delete(signal.kind)) this.#doubt(signal.kind);
        else if (this.#sweeps.has(signal.kind)) this.#arm(signal.kind);
        return;
      case 'automations-turned-on':
        if (!this.#switches.pending)
          this.#switches.set(SWITCH_SOON_MS, () =>
            this.#requeue('automation', ({ desiredOff }) => desiredOff),
          );
        return;
      case 'component-loaded': // a kind's own component is what its resources wait for
        this.#eachKind((kind) => kind === signal.component && this.#requeue(kind, clearReloadFailure));
        return this.#forgiveSoon();
      case 'device-added':
        return this.#forgiveSoon();
      case 'reconnected':
        return this.#eachKind((kind) => {
          for (const resource of this.#options.resources(kind)) {
            clearRejection(resource);
            this.#suspect(resource);
          }
        });
    }
  }

  /** What was refused may be acceptable now. */
  #forgiveSoon(): void {
    if (this.#forgiveness.pending) return;
    this.#forgiveness.set(FORGIVE_AFTER_MS, () =>
      this.#eachKind((kind) => this.#requeue(kind, clearRejection)),
    );
  }

  /** Without an id: all of the kind. */
  #doubt(kind: ConfigEntityKind, id?: string): void {
    const sweep = this.#sweep(kind);
    if (id === undefined) sweep.allDoubted = true;
    else sweep.doubted.add(id);
    sweep.latestAt = Math.min(sweep.latestAt, this.#options.clock.monotonic() + LATEST_MS);
    this.#arm(kind);
  }

  #sweep(kind: ConfigEntityKind): Recheck {
    let sweep = this.#sweeps.get(kind);
    if (!sweep) {
      sweep = {
        doubted: new Set(),
        allDoubted: false,
        own: false,
        latestAt: Infinity,
        timer: new Timer(this.#options.clock),
      };
      this.#sweeps.set(kind, sweep);
    }
    return sweep;
  }

  /** Puts the sweep off until the hub is quiet; one for our own sake only, until we are too. */
  #arm(kind: ConfigEntityKind): void {
    const { client, clock } = this.#options;
    const sweep = this.#sweep(kind);
    const foreign = sweep.latestAt < Infinity;
    const now = clock.monotonic();
    const ownPause = (this.#ownSweptAt.get(kind) ?? -Infinity) + OWN_SWEEP_PAUSE_MS - now;
    const delay = foreign ? Math.min(QUIET_MS, sweep.latestAt - now) : Math.max(QUIET_MS, ownPause);
    sweep.timer.set(delay, () => {
      if (!foreign && client.entities.isWriting(kind)) this.#arm(kind);
      else this.#run(kind, sweep);
    });
  }

  #run(kind: ConfigEntityKind, { doubted, allDoubted, own, latestAt }: Recheck): void {
    const now = this.#options.clock.monotonic();
    this.#sweeps.delete(kind);
    if (own) this.#ownSweptAt.set(kind, now);
    if (now >= latestAt) this.#unfinished.add(kind);
    for (const resource of this.#options.resources(kind)) {
      if (allDoubted || (resource.id !== undefined && doubted.has(resource.id))) this.#suspect(resource);
      else if (own) resource.requeue('resync'); // hundreds of looks must not hold up an edit
    }
  }

  #suspect({ cached, requeue }: WatchedResource): void {
    invalidate(cached);
    requeue();
  }

  #requeue(kind: ConfigEntityKind, which: (resource: WatchedResource) => boolean): void {
    for (const resource of this.#options.resources(kind)) if (which(resource)) resource.requeue();
  }

  #eachKind(act: (kind: ConfigEntityKind) => unknown): void {
    for (const kind of ['automation', 'scene', 'script'] as const) act(kind);
  }
}

/** Its component is there: a reload that failed for want of it need not wait. */
function clearReloadFailure({ cached }: WatchedResource): boolean {
  cached.reloadFailedAt = undefined;
  return true;
}

/** What was refused may be sent again. Answers whether something was. */
function clearRejection({ cached }: WatchedResource): boolean {
  const refused = cached.rejection !== undefined;
  cached.rejection = undefined;
  return refused;
}
