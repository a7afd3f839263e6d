import type { RegistryRecord, RegistryType } from '../../client/connection/api-types';
import type { HubClient } from '../../client/hub-client';
import { isReady } from '../../runtime/conditions';
import type { Outcome } from '../../runtime/outcome';
import type { Corrected } from '../objects/drift-policy';
import type { Services } from '../services';
import { type EntryResource, type EntryType, entryId } from './entry-type';
import { RegistryWatch, type WatchedEntry } from './watch';

/** In-memory state of one resource. All of it is optional: a restart of the operator loses it. */
export interface CachedEntry extends Corrected {
  /** The entry when it was last observed to be as desired. */
  seen?: RegistryRecord | undefined;
  lastWrite?: LastWrite;
  /** The missing references, and since when they have not changed, on the monotonic clock. */
  waiting?: { readonly missing: string; readonly since: number } | undefined;
}

/** The last write of an entry to the hub. */
export interface LastWrite {
  /** When it ended, on the monotonic clock. */
  readonly at: number;
  /** The hub rejected it: the hash of the sent fields, and the outcome. */
  readonly rejection: { readonly hash: string; readonly outcome: Outcome } | undefined;
}

/** In-memory state of one hub. */
export interface HubContext {
  /** By uid. */
  readonly cached: Map<string, CachedEntry>;
  readonly watch: RegistryWatch;
  /** Has the registries read again, once for all resources whose full reconciliation was requested together. */
  refresh(): void;
}

/** Registries that were read again less than this ago (milliseconds) are not read once more on request. */
const REFRESH_INTERVAL = 1_000;

/** The contexts of all hubs, one for each client: a new client starts without one. */
export class HubContexts {
  private readonly contexts = new WeakMap<HubClient, HubContext>();

  constructor(
    private readonly services: Pick<Services, 'cache' | 'clock' | 'log' | 'requeue'>,
    private readonly entryTypes: readonly EntryType[],
  ) {}

  /** The context of the hub of a resource. */
  of(client: HubClient, { metadata: { namespace }, spec: { hubRef } }: EntryResource): HubContext {
    let context = this.contexts.get(client);
    if (!context) {
      const { clock } = this.services;
      const cached = new Map<string, CachedEntry>();
      const log = this.services.log.child({ hub: `${namespace}/${hubRef.name}` });
      const resources = (type: RegistryType) => this.resources(type, namespace, hubRef.name, cached);
      const watch = new RegistryWatch({ client, clock, log, entryTypes: this.entryTypes, resources });
      let refreshedAt = -Infinity;
      const refresh = () => {
        if (clock.monotonic() - refreshedAt < REFRESH_INTERVAL) return;
        refreshedAt = clock.monotonic();
        for (const { type } of this.entryTypes) client.registries[type].invalidate();
      };
      context = { cached, watch, refresh };
      this.contexts.set(client, context);
    }
    return context;
  }

  private *resources(
    type: RegistryType,
    namespace: string,
    hubName: string,
    cached: ReadonlyMap<string, CachedEntry>,
  ): Generator<WatchedEntry> {
    const entryType = this.entryTypes.find((each) => each.type === type)!;
    const { kind } = entryType.definition;
    for (const resource of this.services.cache.ofHub<EntryResource>(kind, namespace, hubName)) {
      const { name, uid } = resource.metadata;
      yield {
        id: entryId(entryType, resource),
        seen: cached.get(uid)?.seen,
        isReady: isReady(resource),
        requeue: (priority) => this.services.requeue(kind, namespace, name, priority),
      };
    }
  }
}
