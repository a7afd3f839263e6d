import type { RegistryRecord } from '../../client/connection/api-types';
import type { RegistryType } from '../../client/connection/registry-types';
import type { HubClient } from '../../client/hub-client';
import { isReady } from '../../runtime/conditions';
import type { Corrected } from '../objects/drift-policy';
import { PerClient, PerResource } from '../objects/remembered';
import { recordedId } from '../objects/ownership';
import type { Paced } from '../objects/write-pacing';
import type { Services } from '../services';
import type { EntryResource, EntryType } from './entry-types';
import { RegistryWatch, type WatchedEntry } from './watch';

/** In-memory state of one resource. */
export interface CachedEntry extends Corrected, Paced {
  /** The entry when it was last observed to be as desired. */
  seen?: RegistryRecord | undefined;
  /** The missing references, and since when they have not changed, on the monotonic clock. */
  waiting?: { readonly missing: string; readonly since: number } | undefined;
}

/** In-memory state of one hub. */
export interface HubContext {
  readonly cached: PerResource<CachedEntry>;
  readonly watch: RegistryWatch;
  /** Has the registries read again, once for all resources whose full reconciliation was requested together. */
  refresh(): void;
}

/** Registries that were read again less than this ago (milliseconds) are not read once more on request. */
const REFRESH_INTERVAL = 1_000;

export class HubContexts extends PerClient<HubContext> {
  constructor(
    private readonly services: Pick<Services, 'cache' | 'clock' | 'log' | 'requeue'>,
    private readonly entryTypes: readonly EntryType[],
  ) {
    super();
  }

  protected override create(client: HubClient, namespace: string, hubName: string): HubContext {
    const { clock } = this.services;
    const cached = new PerResource<CachedEntry>(() => ({}));
    const log = this.services.log.child({ hub: `${namespace}/${hubName}` });
    const resources = (type: RegistryType) => this.resources(type, namespace, hubName, cached);
    const watch = new RegistryWatch({ client, clock, log, entryTypes: this.entryTypes, resources });
    let refreshedAt = -Infinity;
    const refresh = () => {
      if (clock.monotonic() - refreshedAt < REFRESH_INTERVAL) return;
      refreshedAt = clock.monotonic();
      for (const { type } of this.entryTypes) client.registries[type].invalidate();
    };
    return { cached, watch, refresh };
  }

  private *resources(
    type: RegistryType,
    namespace: string,
    hubName: string,
    cached: PerResource<CachedEntry>,
  ): Generator<WatchedEntry> {
    const entryType = this.entryTypes.find((each) => each.type === type)!;
    const { kind } = entryType.definition;
    for (const resource of this.services.cache.ofHub<EntryResource>(kind, namespace, hubName)) {
      const { name, uid } = resource.metadata;
      yield {
        id: recordedId(entryType, resource),
        seen: cached.find(uid)?.seen,
        isReady: isReady(resource),
        requeue: (priority) => this.services.requeue(kind, namespace, name, priority),
      };
    }
  }
}
