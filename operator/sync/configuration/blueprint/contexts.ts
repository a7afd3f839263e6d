import type { Clock } from '../../../base/clock';
import { Timer } from '../../../base/timer';
import type { ReloadResult } from '../../../client/config-entities/reload-retry';
import type { BlueprintDomain, EntityPayload } from '../../../client/connection/config-entity';
import type { HubClient } from '../../../client/hub-client';
import type { HubEvent } from '../../../client/hub-events';
import type { HubBlueprint } from '../../../kinds';
import type { Corrected } from '../../objects/drift-policy';
import type { Operation } from '../../objects/operation';
import { PerClient, PerResource } from '../../objects/remembered';
import type { Paced } from '../../objects/write-pacing';
import type { Services } from '../../services';
import { Checks } from './checks';

/** The result of a trial of a text in the hub. */
export interface Trial {
  /** Identifies the text and the blueprint in the hub. The result is only valid for these. */
  readonly key: string;
  /** Identifies the definitions that use the blueprint, for a text that is not equal. */
  readonly users: string;
  readonly isEqual: boolean;
  /** The automations and scripts that would be invalid with the text, each with the reason. */
  readonly broken: readonly { readonly entityId: string; readonly problem: string }[];
}

/** An automation or script that uses a blueprint. */
export interface User {
  readonly entityId: string;
  /** The inputs in the spec of its resource, or the present inputs if it has no resource. */
  readonly input: object;
  /** Keys of its own, which override the keys of the blueprint. */
  readonly own: EntityPayload;
}

/** Automations and scripts without a resource by entity id, with the paths of their blueprints; undefined if the hub does not return them. */
export type ReadUsers = Map<string, { readonly path: unknown; readonly user: User } | undefined>;

/** In-memory state of one resource. */
export interface CachedBlueprint extends Corrected, Paced {
  /** Automations and scripts that were read, and the number of reloads in the hub until then. */
  read?: { readonly reloadCount: number; readonly users: ReadUsers } | undefined;
  trial?: Trial | undefined;
  /** The present or last reload of the automations and scripts that use the blueprint. */
  reload?: Operation<ReloadResult | undefined> | undefined;
  /** The failure of the last reload. `at`: its monotonic time. */
  failed?: { readonly message: string; readonly at: number } | undefined;
  /** Monotonic time since which a removal waits for the hub's list of blueprints. */
  unlistedSince?: number | undefined;
}

/** In-memory state of one hub. */
export interface BlueprintContext {
  readonly cached: PerResource<CachedBlueprint>;
  readonly checks: Checks;
  /** The number of reloads in the hub that were seen: each may have changed definitions. */
  reloadCount(): number;
  /** Resolves with true when the hub reports the end of a reload, or with false at a time limit. */
  expectReload(domain: BlueprintDomain): Promise<boolean>;
}

/**
 * Milliseconds from the last event of a burst until all blueprints are compared, and the limit since the
 * first event.
 */
const QUIET_PERIOD = 1_000;
const LONGEST_DELAY = 5_000;

/** Milliseconds within which the hub reports the end of a reload that it began by itself. */
const RELOAD_WAIT = 10_000;

export class BlueprintContexts extends PerClient<BlueprintContext> {
  constructor(private readonly services: Pick<Services, 'cache' | 'clock' | 'requeue'>) {
    super();
  }

  protected override create(client: HubClient, namespace: string, hubName: string): BlueprintContext {
    const { cache, clock, requeue } = this.services;
    const cached = new PerResource<CachedBlueprint>(() => ({}));
    const watch = new ReloadWatch(clock, (domain) => {
      for (const { kind, metadata, spec } of cache.ofHub<HubBlueprint>('HubBlueprint', namespace, hubName))
        if (domain === undefined || spec.domain === domain) requeue(kind, namespace, metadata.name, 'resync');
    });
    client.events.onEvent((event) => watch.onEvent(event));
    client.repairIssues.onChange((entityId) => watch.changed(entityId.split('.', 1)[0] as BlueprintDomain));
    return {
      cached,
      checks: new Checks(client),
      reloadCount: () => watch.count,
      expectReload: (domain) => watch.expect(domain, RELOAD_WAIT),
    };
  }
}

/**
 * Converts reloads in a hub to reconciles, since the hub reloads the automations and scripts with a changed
 * blueprint.
 */
class ReloadWatch {
  /** The number of reloads that were seen. */
  count = 0;
  private readonly timers = new Map<
    BlueprintDomain | undefined,
    { readonly timer: Timer; latestAt: number }
  >();
  private readonly awaited = new Set<{ readonly domain: BlueprintDomain; readonly done: () => void }>();

  /** @param recheck reconciles the blueprints of a domain, or all if the domain is undefined */
  constructor(
    private readonly clock: Clock,
    private readonly recheck: (domain: BlueprintDomain | undefined) => void,
  ) {}

  onEvent(event: HubEvent): void {
    switch (event.type) {
      case 'reloaded':
        this.count += 1;
        for (const each of this.awaited) if (each.domain === event.kind) each.done();
        return this.changed(event.kind as BlueprintDomain);
      case 'external-reload':
        this.count += 1;
        return this.changed(event.kind as BlueprintDomain);
      case 'reconnected':
      case 'changes-missed':
        this.count += 1;
        return this.changed(undefined);
    }
  }

  changed(domain: BlueprintDomain | undefined): void {
    const now = this.clock.monotonic();
    const pending = this.timers.get(domain) ?? {
      timer: new Timer(this.clock),
      latestAt: now + LONGEST_DELAY,
    };
    if (!pending.timer.pending) pending.latestAt = now + LONGEST_DELAY;
    this.timers.set(domain, pending);
    pending.timer.set(Math.max(0, Math.min(QUIET_PERIOD, pending.latestAt - now)), () =>
      this.recheck(domain),
    );
  }

  expect(domain: BlueprintDomain, limit: number): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (isDone: boolean) => {
        this.awaited.delete(awaited);
        cancel();
        resolve(isDone);
      };
      const awaited = { domain, done: () => end(true) };
      const cancel = this.clock.after(limit, () => end(false));
      this.awaited.add(awaited);
    });
  }
}
