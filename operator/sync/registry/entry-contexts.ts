import type { CollectionType, RegistryType, SettingsType } from '../../client/connection/registry-types';
import type { HubClient } from '../../client/hub-client';
import { isReady } from '../../runtime/conditions';
import type { Corrected } from '../objects/drift-policy';
import { PerClient, PerResource } from '../objects/remembered';
import { type ObjectType, recordedId } from '../objects/ownership';
import type { Child } from '../objects/child';
import type { Paced } from '../objects/write-pacing';
import type { Services } from '../services';
import type { ReferringField } from './entry-type';
import { isOfType } from './entry-types';
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
  /** The entry when it last matched the spec. */
  seen?: object | undefined;
  /** The id of the entry that this process has created, until status has it. */
  created?: string | undefined;
  /** Whether an entity has a state, with the monotonic time of that check. */
  state?: { readonly entityId: string; readonly at: number; readonly isThere: boolean } | undefined;
  /** The entities in the spec that the hub does not have. */
  missing?: readonly string[];
  /** The missing references, and the monotonic time since which they have not changed. */
  waiting?: { readonly missing: string; readonly since: number } | undefined;
}

/** A kind whose objects are entries in a registry of the hub. */
interface WatchedType extends Pick<ObjectType, 'definition' | 'idField'> {
  readonly type: RegistryType | SettingsType;
  /** The integration that the entities of the entries belong to. */
  readonly component?: CollectionType;
  /** The fields of a spec that select the type, see `EntryType`. */
  readonly typeFields?: Readonly<Record<string, unknown>>;
  readonly fields: Readonly<Record<string, ReferringField>>;
  /** Only those of its resources are watched that have an entry, or wait for one that they refer to. */
  readonly isOptional?: true;
}

/** The functions of a hub's registry that are needed to follow its changes. */
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
  /** In-memory state of the settings of an entity or a device, which a resource may have beside its own entry. */
  readonly settings: PerResource<CachedEntry>;
  readonly watch: RegistryWatch;
  /**
   * Makes the registries be read again, once for all resources whose full reconcile was requested at the same
   * time.
   */
  refresh(): void;
}

/** Milliseconds for which registries are not read again on request. */
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
    const settings = new PerResource<CachedEntry>(() => ({}));
    const cachedOf = (type: WatchedType['type']) =>
      type === 'entity' || type === 'device' ? settings : cached;
    const log = this.services.log.child({ hub: `${namespace}/${hubName}` });
    const resources = (type: WatchedType['type']) => this.resources(type, namespace, hubName, cachedOf(type));
    const watch = new RegistryWatch({ client, clock, log, entryTypes: this.entryTypes, resources });
    let refreshedAt = -Infinity;
    const refresh = () => {
      if (clock.monotonic() - refreshedAt < REFRESH_INTERVAL) return;
      refreshedAt = clock.monotonic();
      for (const { type } of this.entryTypes) registryOf(client, type).invalidate();
    };
    return { cached, settings, watch, refresh };
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
        if (!isOfType(entryType, resource.spec)) continue;
        const { name, uid } = resource.metadata;
        const id = recordedId(entryType, resource);
        const remembered = cached.find(uid);
        if (entryType.isOptional && id === undefined && !remembered?.waiting) continue;
        yield {
          id,
          seen: remembered?.seen,
          missing: remembered?.missing,
          isReady: isReady(resource),
          requeue: (priority) => this.services.requeue(kind, namespace, name, priority),
        };
      }
    }
  }
}

/** A resource with an entry in a registry, with the data that are needed to follow changes in the hub. */
export interface WatchedEntry {
  /** The id of the entry. Undefined if there is none yet. */
  readonly id: string | undefined;
  /** The entry when it last matched the spec. */
  readonly seen: object | undefined;
  /** The entities in the spec that the hub does not have. */
  readonly missing?: readonly string[] | undefined;
  readonly isReady: boolean;
  readonly requeue: (priority?: Priority) => void;
}

export interface RegistryWatchOptions {
  readonly client: Pick<HubClient, 'registries' | 'settings' | 'entityRegistry' | 'components' | 'users'>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly entryTypes: readonly WatchedType[];
  /** All resources of that registry and hub, in their latest versions. */
  readonly resources: (type: WatchedType['type']) => Iterable<WatchedEntry>;
}

/** Milliseconds between an event and the reconciles. A user who edits in the hub causes several events. */
const QUIET_PERIOD = 300;
/** Milliseconds until a new user has a login. The hub reports the user first, and not the login. */
const LOOKUP_PAUSE = 1_000;

/**
 * Converts changes of the hub's registries by other clients to reconciles of the affected resources
 * (rules.md, "Drift"). The registry is read once for all of them.
 */
export class RegistryWatch {
  constructor(private readonly options: RegistryWatchOptions) {
    const { client, clock, entryTypes } = options;
    for (const type of new Set(entryTypes.map((each) => each.type))) {
      const timer = new Timer(clock);
      registryOf(client, type).onChange(() => this.schedule(type, timer, QUIET_PERIOD));
    }
    client.entityRegistry.onChange((kind, id) => this.requeueOfEntity(kind, id));
    client.entityRegistry.onAppearance((entityId) => this.requeueWithout(entityId));
    for (const { type, fields } of entryTypes)
      for (const { lookup } of Object.values(fields)) {
        const timer = new Timer(clock);
        const requeue = () => this.requeueWaiting(type);
        lookup?.onChange(client, () => timer.pending || timer.set(LOOKUP_PAUSE, requeue));
      }
  }

  /** Requeues the resources that name an entity which the hub has got. */
  private requeueWithout(entityId: string): void {
    // A hub that sets up its integrations gets thousands of entities, so resources that name none are not looked at.
    for (const { type, fields } of this.options.entryTypes)
      if (Object.values(fields).some(({ ofEntities }) => ofEntities))
        for (const { missing, requeue } of this.options.resources(type))
          if (missing?.includes(entityId)) requeue();
  }

  /** Requeues the resources of a registry that may wait for a name of the hub. */
  private requeueWaiting(type: WatchedType['type']): void {
    for (const { isReady, requeue } of this.options.resources(type)) if (!isReady) requeue();
  }

  /**
   * Requeues resources after an entity was removed, renamed, disabled or enabled. If an entity from the hub's
   * YAML is removed, its id becomes free.
   */
  private requeueOfEntity(kind: string, entryId: string): void {
    for (const { type, component } of this.options.entryTypes)
      if (component === kind)
        for (const { id, isReady, requeue } of this.options.resources(type))
          if (id === entryId || !isReady) requeue();
  }

  /**
   * Requeues resources after the operator has freed a name or recreated an entry. Other resources may have
   * waited for the name, or refer to the entry by that name.
   */
  requeueAfterOwnChange(type: WatchedType['type']): void {
    this.requeueWaiting(type);
    this.requeueDependents(type);
  }

  private schedule(type: WatchedType['type'], timer: Timer, delay: number): void {
    if (timer.pending) return;
    timer.set(delay, () => {
      this.run(type).catch((error: unknown) => {
        if (error instanceof HubUnreachable) return; // a change is reported when the connection is back
        // Logged when the hub's answer was discarded.
        if (error instanceof HubTooLarge) return this.schedule(type, timer, DEPENDENCY_REQUEUE);
        this.options.log.warn({ error: errorOf(error) }, 'failed to read registry');
        this.schedule(type, timer, API_NOT_LOADED_REQUEUE);
      });
    });
  }

  private async run(type: WatchedType['type']): Promise<void> {
    if (this.isUsed(type)) {
      if (await this.isLoaded(type)) await this.requeueChanged(type);
      else for (const { requeue } of this.options.resources(type)) requeue();
    }
    this.requeueDependents(type);
  }

  /**
   * Reports whether the hub has loaded the collection. Before that it does not know the collection's
   * commands.
   */
  private async isLoaded(type: WatchedType['type']): Promise<boolean> {
    const { client, entryTypes } = this.options;
    const component = entryTypes.find((each) => each.type === type)?.component;
    return component === undefined || client.components.isLoaded(component);
  }

  /**
   * Reports whether a registry has resources. Other registries are not read, since a hub may have many
   * thousands of entities.
   */
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

  /**
   * Requeues the resources that refer to entries of this registry. They refer to entries by name, including
   * entries of users.
   */
  private requeueDependents(type: WatchedType['type']): void {
    for (const dependent of this.dependentsOf(type))
      for (const { isReady, requeue } of this.options.resources(dependent))
        requeue(isReady ? 'resync' : 'change');
  }

  /** The registries whose entries refer to entries of this one. */
  private dependentsOf(type: WatchedType['type']): ReadonlySet<WatchedType['type']> {
    const dependents = this.options.entryTypes.filter(({ fields }) =>
      Object.values(fields).some((field) => field.refersTo?.entryType.type === type),
    );
    return new Set(dependents.map((entryType) => entryType.type));
  }
}
