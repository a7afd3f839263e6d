import type { ConfigEntityKind } from '../../client/config-entities';
import type { HubClient } from '../../client/hub-client';
import type { Child } from '../child';
import type { Services } from '../services';
import { DriftDetector, type WatchedResource } from './drift';
import type { ConfigEntitySpec, EntityType } from './entity-type';
import { EntityCache } from './entity-cache';

/** What is known of a hub, and the watch over it. */
export interface HubContext {
  readonly cache: EntityCache;
  readonly watch: DriftDetector;
}

/** What the watch has to know of a kind. */
type WatchedEntityType = Pick<EntityType<Child, ConfigEntitySpec>, 'type' | 'definition' | 'idField'>;

/** The hubs that resources of the entityType were worked for. What is known of one goes with its client. */
export class HubContexts {
  readonly #hubs = new WeakMap<HubClient, HubContext>();

  constructor(
    private readonly services: Services,
    private readonly entityTypes: readonly WatchedEntityType[],
  ) {}

  /** The hub of a resource. */
  of(client: HubClient, { metadata, spec }: Child): HubContext {
    let hub = this.#hubs.get(client);
    if (!hub) {
      const cache = new EntityCache(this.services.clock);
      const { namespace } = metadata;
      const resources = (kind: ConfigEntityKind) => this.#resources(kind, namespace, spec.hubRef.name, cache);
      const { clock } = this.services;
      const log = this.services.log.child({ hub: `${namespace}/${spec.hubRef.name}` });
      hub = { cache, watch: new DriftDetector({ client, clock, log, resources }) };
      this.#hubs.set(client, hub);
    }
    return hub;
  }

  /** Something that went into the hub has not come to the notice of a pass yet. */
  hasUnrecordedResults(client: HubClient): boolean {
    return this.#hubs.get(client)?.cache.hasUnrecordedResults() ?? false;
  }

  *#resources(
    kind: ConfigEntityKind,
    namespace: string,
    hubName: string,
    cache: EntityCache,
  ): Generator<WatchedResource> {
    const { definition, idField } = this.entityTypes.find(({ type }) => type === kind)!;
    for (const resource of this.services.cache.list<Child>(definition.kind, namespace)) {
      if (resource.spec.hubRef.name !== hubName) continue;
      const { name, uid } = resource.metadata;
      yield {
        id: resource.status?.[idField] as string | undefined,
        cached: cache.get(uid),
        desiredOff: 'enabled' in resource.spec && resource.spec.enabled === false,
        requeue: (priority) => this.services.requeue(definition.kind, namespace, name, priority),
      };
    }
  }
}
