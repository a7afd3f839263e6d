import type { ConfigEntityKind } from '../../client/connection/config-entity';
import type { HubClient } from '../../client/hub-client';
import { conditionOf } from '../../runtime/conditions';
import type { Child } from '../objects/child';
import { PerClient } from '../objects/remembered';
import { recordedId } from '../objects/ownership';
import type { Services } from '../services';
import { isHeld } from '../still-desired';
import { Delivery, type DeliveryServices } from './delivery/delivery';
import { DriftDetector, type WatchedResource } from './drift';
import { EntityCache } from './entity-cache';
import type { ConfigEntitySpec, EntityType } from './entity-type';
import { FileReadSchedule } from './file-read-schedule';

/** The data of one hub: the cache of its resources, the drift detection, and the schedule of file reads. */
export interface HubContext {
  readonly fileReads: FileReadSchedule;
  readonly cache: EntityCache;
  readonly drift: DriftDetector;
  readonly delivery: Delivery;
}

type WatchedEntityType = Pick<EntityType<Child, ConfigEntitySpec>, 'type' | 'definition' | 'idField'>;

/** The resources of a hub whose drift is watched. */
interface Watched {
  readonly namespace: string;
  readonly hubName: string;
  readonly entities: EntityCache;
}

/** The contexts of all hubs. */
export class HubContexts extends PerClient<HubContext> {
  constructor(
    private readonly services: Pick<Services, 'log' | 'requeue'> & DeliveryServices,
    private readonly entityTypes: readonly WatchedEntityType[],
  ) {
    super();
  }

  protected override create(client: HubClient, namespace: string, hubName: string): HubContext {
    const { clock } = this.services;
    const cache = new EntityCache(clock);
    const log = this.services.log.child({ hub: `${namespace}/${hubName}` });
    const watched = { entities: cache, namespace, hubName };
    const resources = (kind: ConfigEntityKind) => this.resources(kind, watched);
    const resourcesOf = (kind: ConfigEntityKind, id: string) => this.resourcesOf(kind, id, watched);
    const isExpecting = () =>
      this.entityTypes.some(({ type }) => this.expectsWrites(type, namespace, hubName, cache));
    client.reloads.deferWhile((component) => this.expectsWrites(component, namespace, hubName, cache));
    const drift = new DriftDetector({ client, clock, log, resources, resourcesOf });
    const delivery = new Delivery(this.services, client, { namespace, name: hubName }, isExpecting);
    return { cache, drift, delivery, fileReads: new FileReadSchedule(clock) };
  }

  /**
   * A resource of that kind and hub will be written soon: its spec is not reconciled yet, or its first write has not
   * begun. One with an operation is written when that ends, which may be only after what asks. Status may be behind meanwhile.
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

  private *resources(
    kind: ConfigEntityKind,
    { namespace, hubName, entities }: Watched,
  ): Generator<WatchedResource> {
    const entityType = this.typeOf(kind);
    for (const resource of this.services.cache.ofHub<Child>(entityType.definition.kind, namespace, hubName))
      yield this.watchedResource(entityType, resource, entities);
  }

  private *resourcesOf(
    kind: ConfigEntityKind,
    id: string,
    { namespace, hubName, entities }: Watched,
  ): Generator<WatchedResource> {
    const entityType = this.typeOf(kind);
    const { definition, idField } = entityType;
    const { cache } = this.services;
    for (const resource of cache.ofHubByStatus<Child>(definition.kind, namespace, hubName, idField, id))
      yield this.watchedResource(entityType, resource, entities);
  }

  private typeOf(kind: ConfigEntityKind): WatchedEntityType {
    return this.entityTypes.find(({ type }) => type === kind)!;
  }

  private watchedResource(
    entityType: WatchedEntityType,
    resource: Child,
    entities: EntityCache,
  ): WatchedResource {
    const { name, namespace, uid } = resource.metadata;
    return {
      id: recordedId(entityType, resource),
      entityId: resource.status?.['entityId'] as string | undefined,
      cached: entities.get(uid),
      desiredOff: 'enabled' in resource.spec && resource.spec.enabled === false,
      requeue: (priority) => this.services.requeue(entityType.definition.kind, namespace, name, priority),
    };
  }
}
