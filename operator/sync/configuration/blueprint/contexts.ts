import type { Clock } from '../../../base/clock';
import { Timer } from '../../../base/timer';
import type { ReloadResult } from '../../../client/config-entities/reload-retry';
import type { BlueprintDomain } from '../../../client/connection/config-entity';
import type { HubClient } from '../../../client/hub-client';
import type { HubEvent } from '../../../client/hub-events';
import type { HubBlueprint } from '../../../kinds';
import type { Corrected } from '../../objects/drift-policy';
import type { Operation } from '../../objects/operation';
import { PerClient, PerResource } from '../../objects/remembered';
import type { Paced } from '../../objects/write-pacing';
import type { Services } from '../../services';
import { Checks } from './checks';

/** What a trial of a text in the hub has shown. */
export interface Trial {
  /** The text, the blueprint in the hub and its users: of others it says nothing. */
  readonly key: string;
  readonly isEqual: boolean;
  /** The users that the text would break, and why. */
  readonly broken: readonly { readonly entityId: string; readonly problem: string }[];
}

/** In-memory state of one resource. */
export interface CachedBlueprint extends Corrected, Paced {
  trial?: Trial | undefined;
  /** The reload of the users. */
  reload?: Operation<ReloadResult | undefined> | undefined;
  /** The last reload failed; `at`: when, by the monotonic clock. */
  failed?: { readonly message: string; readonly at: number } | undefined;
}

/** The state of one hub. */
export interface BlueprintContext {
  readonly cached: PerResource<CachedBlueprint>;
  readonly checks: Checks;
  /** Resolves with whether the hub reports the end of a reload in time. */
  expectReload(domain: BlueprintDomain): Promise<boolean>;
}

/** Milliseconds between the last event of a burst and the comparison of all blueprints, and after the first one. */
const QUIET_PERIOD = 1_000;
const LONGEST_DELAY = 5_000;

/** Milliseconds in which the hub reports that the reload has ended, which it has started by itself. */
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
      expectReload: (domain) => watch.expect(domain, RELOAD_WAIT),
    };
  }
}

/** Converts reloads in a hub to reconciles: after a change of a blueprint, its users are reloaded. */
class ReloadWatch {
  private readonly timers = new Map<
    BlueprintDomain | undefined,
    { readonly timer: Timer; latestAt: number }
  >();
  private readonly awaited = new Set<{ readonly domain: BlueprintDomain; readonly done: () => void }>();

  /** @param recheck of all blueprints of a domain, or of all */
  constructor(
    private readonly clock: Clock,
    private readonly recheck: (domain: BlueprintDomain | undefined) => void,
  ) {}

  onEvent(event: HubEvent): void {
    switch (event.type) {
      case 'reloaded':
        for (const each of this.awaited) if (each.domain === event.kind) each.done();
        return this.changed(event.kind as BlueprintDomain);
      case 'external-reload':
        return this.changed(event.kind as BlueprintDomain);
      case 'reconnected':
      case 'changes-missed':
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
