import type { RegistryType, SettingsType } from '../../client/connection/registry-types';
import type { HubClient } from '../../client/hub-client';
import { isReady } from '../../runtime/conditions';
import type { Corrected } from '../objects/drift-policy';
import { PerClient, PerResource } from '../objects/remembered';
import { type ObjectType, recordedId } from '../objects/ownership';
import type { Child } from '../objects/child';
import type { Paced } from '../objects/write-pacing';
import type { Services } from '../services';
import type { ReferringField } from './entry-types';
import { isDeepStrictEqual } from 'node:util';
import { HubTooLarge, HubUnreachable } from '../../client/connection/errors';
import type { Clock } from '../../base/clock';
import { errorOf } from '../../base/errors';
import { API_NOT_LOADED_REQUEUE, DEPENDENCY_REQUEUE } from '../../base/limits';
import type { Logger } from '../../base/log';
import type { Priority } from '../../runtime/priority';
import { Timer } from '../../base/timer';

/** In-memory state of one resource. */
export interface CachedEntry extends Corrected, Paced {
  /** The entry when it was last observed to be as desired. */
  seen?: object | undefined;
  /** The id of the entry that this process has created, until status has it. */
  created?: string | undefined;
  /** Whether an entity has a state, as last asked, on the monotonic clock. */
  state?: { readonly entityId: string; readonly at: number; readonly isThere: boolean } | undefined;
  /** The missing references, and since when they have not changed, on the monotonic clock. */
  waiting?: { readonly missing: string; readonly since: number } | undefined;
}

/** A kind whose objects are entries of a registry of the hub. */
interface WatchedType extends Pick<ObjectType, 'definition' | 'idField'> {
  readonly type: RegistryType | SettingsType;
  readonly fields: Readonly<Record<string, ReferringField>>;
  /** Only those of its resources are watched that have an entry, or wait for one that they refer to. */
  readonly isOptional?: true;
}

/** A registry of the hub, as far as its changes are concerned. */
interface WatchedRegistry {
  entries(): Promise<{ get(id: string): object | undefined }>;
  invalidate(): void;
  onChange(listener: () => void): void;
}

const registryOf = (
  { registries, settings }: Pick<HubClient, 'registries' | 'settings'>,
  type: WatchedType['type'],
): WatchedRegistry => ({ ...registries, ...settings })[type];

/** In-memory state of one hub. */
export interface EntryContext {
  readonly cached: PerResource<CachedEntry>;
  readonly watch: RegistryWatch;
  /** Has the registries read again, once for all resources whose full reconciliation was requested together. */
  refresh(): void;
}

/** Registries that were read again less than this ago (milliseconds) are not read once more on request. */
const REFRESH_INTERVAL = 1_000;

export class EntryContexts extends PerClient<EntryContext> {
  constructor(
    private readonly services: Pick<Services, 'cache' | 'clock' | 'log' | 'requeue'>,
    private readonly entryTypes: readonly WatchedType[],
  ) {
    super();
  }

  protected override create(client: HubClient, namespace: string, hubName: string): EntryContext {
    const { clock } = this.services;
    const cached = new PerResource<CachedEntry>(() => ({}));
    const log = this.services.log.child({ hub: `${namespace}/${hubName}` });
    const resources = (type: WatchedType['type']) => this.resources(type, namespace, hubName, cached);
    const watch = new RegistryWatch({ client, clock, log, entryTypes: this.entryTypes, resources });
    let refreshedAt = -Infinity;
    const refresh = () => {
      if (clock.monotonic() - refreshedAt < REFRESH_INTERVAL) return;
      refreshedAt = clock.monotonic();
      for (const { type } of this.entryTypes) registryOf(client, type).invalidate();
    };
    return { cached, watch, refresh };
  }

  private *resources(
    type: WatchedType['type'],
    namespace: string,
    hubName: string,
    cached: PerResource<CachedEntry>,
  ): Generator<WatchedEntry> {
    for (const entryType of this.entryTypes.filter((each) => each.type === type)) {
      const { kind } = entryType.definition;
      for (const resource of this.services.cache.ofHub<Child>(kind, namespace, hubName)) {
        const { name, uid } = resource.metadata;
        const id = recordedId(entryType, resource);
        const remembered = cached.find(uid);
        if (entryType.isOptional && id === undefined && !remembered?.waiting) continue;
        yield {
          id,
          seen: remembered?.seen,
          isReady: isReady(resource),
          requeue: (priority) => this.services.requeue(kind, namespace, name, priority),
        };
      }
    }
  }
}

/** A resource with an entry in a registry, as far as changes in the hub are concerned. */
export interface WatchedEntry {
  /** Undefined: it has none yet. */
  readonly id: string | undefined;
  /** The entry when it was last as desired. */
  readonly seen: object | undefined;
  readonly isReady: boolean;
  readonly requeue: (priority?: Priority) => void;
}

export interface RegistryWatchOptions {
  readonly client: Pick<HubClient, 'registries' | 'settings'>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly entryTypes: readonly WatchedType[];
  /** All resources of that registry and hub, as they are now. */
  readonly resources: (type: WatchedType['type']) => Iterable<WatchedEntry>;
}

/** A person who edits in the hub causes several events; one reconcile follows them (milliseconds). */
const QUIET_PERIOD = 300;

/**
 * Converts changes by other clients of the hub's registries to reconciles of the resources that they concern
 * (rules.md, "Drift"). The registry is read once for all of them.
 */
export class RegistryWatch {
  constructor(private readonly options: RegistryWatchOptions) {
    const { client, clock, entryTypes } = options;
    for (const type of new Set(entryTypes.map((each) => each.type))) {
      const timer = new Timer(clock);
      registryOf(client, type).onChange(() => this.schedule(type, timer, QUIET_PERIOD));
    }
  }

  /** The operator has freed a name or recreated an entry: others may have waited for that, or refer to it by that name. */
  requeueAfterOwnChange(type: WatchedType['type']): void {
    for (const { isReady, requeue } of this.options.resources(type)) if (!isReady) requeue();
    this.requeueDependents(type);
  }

  private schedule(type: WatchedType['type'], timer: Timer, delay: number): void {
    if (timer.pending) return;
    timer.set(delay, () => {
      this.run(type).catch((error: unknown) => {
        if (error instanceof HubUnreachable) return; // a change is reported when the connection is back
        if (error instanceof HubTooLarge) return this.schedule(type, timer, DEPENDENCY_REQUEUE); // logged when it was dropped
        this.options.log.warn({ error: errorOf(error) }, 'failed to read registry');
        this.schedule(type, timer, API_NOT_LOADED_REQUEUE);
      });
    });
  }

  private async run(type: WatchedType['type']): Promise<void> {
    if (this.isUsed(type)) await this.requeueChanged(type);
    this.requeueDependents(type);
  }

  /** A registry without resources is not read: a hub may have many thousands of entities. */
  private isUsed(type: WatchedType['type']): boolean {
    return [...this.options.resources(type)].length > 0;
  }

  private async requeueChanged(type: WatchedType['type']): Promise<void> {
    const { client, resources } = this.options;
    const entries = await registryOf(client, type).entries();
    for (const { id, seen, isReady, requeue } of resources(type)) {
      const present = id === undefined ? undefined : entries.get(id);
      if (!isReady || !isDeepStrictEqual(seen, present)) requeue();
    }
  }

  /** Dependents refer to entries by name, also to those that people make. */
  private requeueDependents(type: WatchedType['type']): void {
    for (const dependent of this.dependentsOf(type))
      for (const { isReady, requeue } of this.options.resources(dependent))
        requeue(isReady ? 'resync' : 'change');
  }

  /** The registries whose entries refer to those of this one. */
  private dependentsOf(type: WatchedType['type']): ReadonlySet<WatchedType['type']> {
    const dependents = this.options.entryTypes.filter(({ fields }) =>
      Object.values(fields).some((field) => field.refersTo?.entryType.type === type),
    );
    return new Set(dependents.map((entryType) => entryType.type));
  }
}
