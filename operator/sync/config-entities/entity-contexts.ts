import type { ConfigEntityKind } from '../../client/connection/config-entity';
import type { HubClient } from '../../client/hub-client';
import { conditionOf } from '../../runtime/conditions';
import type { Child } from '../objects/child';
import { PerClient } from '../objects/remembered';
import { recordedBy, recordedId } from '../objects/ownership';
import type { Services } from '../services';
import { isHeld } from '../still-desired';
import { DriftDetector, type WatchedResource } from './drift';
import { EntityCache } from './entity-cache';
import type { ConfigEntitySpec, EntityType } from './entity-type';
import { FileReadSchedule } from './file-read-schedule';
import { Places, type PlaceServices } from './places';

/** The data of one hub: the cache of its resources, the drift detection, and the places of their definitions. */
interface EntityContext {
  readonly cache: EntityCache;
  readonly drift: DriftDetector;
  readonly places: Places;
}

type WatchedEntityType = Pick<EntityType<Child, ConfigEntitySpec>, 'type' | 'definition' | 'idField'>;

/** The contexts of all hubs. */
export class EntityContexts extends PerClient<EntityContext> {
  constructor(
    private readonly services: Pick<Services, 'log' | 'requeue'> & PlaceServices,
    private readonly entityTypes: readonly WatchedEntityType[],
  ) {
    super();
  }

  protected override create(client: HubClient, namespace: string, hubName: string): EntityContext {
    const { clock } = this.services;
    const cache = new EntityCache(clock);
    const log = this.services.log.child({ hub: `${namespace}/${hubName}` });
    const typeOf = (kind: ConfigEntityKind) => this.entityTypes.find(({ type }) => type === kind)!;
    const resources = (kind: ConfigEntityKind) => {
      const { definition } = typeOf(kind);
      const found = this.services.cache.ofHub<Child>(definition.kind, namespace, hubName);
      return this.watched(typeOf(kind), found, cache);
    };
    const resourcesOf = (kind: ConfigEntityKind, id: string) => {
      const found = recordedBy(this.services, typeOf(kind), { namespace, name: hubName }, id);
      return this.watched(typeOf(kind), found, cache);
    };
    const isExpecting = () =>
      this.entityTypes.some(({ type }) => this.expectsWrites(type, namespace, hubName, cache));
    client.reloads.deferWhile((component) => this.expectsWrites(component, namespace, hubName, cache));
    const drift = new DriftDetector({ client, clock, log, resources, resourcesOf });
    const fileReads = new FileReadSchedule(clock);
    const at = { namespace, name: hubName };
    return { cache, drift, places: new Places(this.services, client, at, { fileReads, isExpecting }) };
  }

  /**
   * Reports whether a resource of that kind and hub will be written soon: its spec is not reconciled yet, or
   * its first write has not begun. A resource with a running operation does not count: that operation may end
   * only after the publication that asks. Status may be outdated, so the cache is used too.
   */
  private expectsWrites(component: string, namespace: string, hubName: string, cache: EntityCache): boolean {
    const entityType = this.entityTypes.find(({ type }) => type === component);
    if (!entityType) return false;
    for (const resource of this.services.cache.ofHub<Child>(entityType.definition.kind, namespace, hubName)) {
      const { metadata, status } = resource;
      if (metadata.deletionTimestamp || isHeld(resource)) continue;
      const { desired, operation, rejection, failure } = cache.get(metadata.uid);
      if (operation && !operation.end) continue;
      const { generation } = metadata;
      if (![status?.observedGeneration, desired?.generation].includes(generation)) return true;
      if (conditionOf(resource, 'Stalled')) continue;
      const isClaimed =
        recordedId(entityType, resource) !== undefined && status?.['appliedHash'] === undefined;
      if (isClaimed && !operation && !rejection && !failure) return true;
    }
    return false;
  }

  private *watched(
    entityType: WatchedEntityType,
    resources: Iterable<Child>,
    cache: EntityCache,
  ): Generator<WatchedResource> {
    for (const resource of resources) {
      const { name, namespace, uid } = resource.metadata;
      yield {
        id: recordedId(entityType, resource),
        entityId: resource.status?.['entityId'] as string | undefined,
        cached: cache.get(uid),
        desiredOff: 'enabled' in resource.spec && resource.spec.enabled === false,
        requeue: (priority) => this.services.requeue(entityType.definition.kind, namespace, name, priority),
      };
    }
  }
}
