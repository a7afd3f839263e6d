import type { HubClient } from '../../client/hub-client';
import { hubVolume, volumeStatus } from '../hub-pod/hub-volume';
import type { Child } from '../objects/child';
import { othersOf, recordedBy, recordedId } from '../objects/ownership';
import type { Services } from '../services';
import type { ConfigEntitySpec, EntityType } from './entity-type';
import type { EntityContexts } from './entity-contexts';
import { formerIds } from './ownership';
import type { PlacedWork } from './place';

type Status = Readonly<Record<string, unknown>>;

/**
 * Reports whether a claim suffices as a record of a new object: it is delivered as a file, and status names
 * no present or former object.
 */
export function canClaim<R extends Child, S extends ConfigEntitySpec>(
  entityType: EntityType<R, S>,
  { resource, place }: PlacedWork<R, S>,
): boolean {
  const { status } = resource;
  const isKnown = [entityType.idField, 'adopted', 'appliedHash', 'entityId'].some(
    (field) => (status?.[field] ?? undefined) !== undefined,
  );
  return place.delivery !== null && !isKnown && formerIds(resource).length === 0;
}

/**
 * Claims of new objects that are delivered as files. Such an object belongs to its resource before status
 * says so: this process knows it, and the ConfigMap names the resource from the request that writes the
 * definition. A burst of new resources then needs no additional status writes (rules.md, "Delivery").
 */
export class Claims<R extends Child> {
  constructor(
    private readonly entityType: Pick<EntityType<Child, ConfigEntitySpec>, 'type' | 'definition' | 'idField'>,
    private readonly services: Pick<Services, 'cache'>,
    private readonly contexts: EntityContexts,
  ) {}

  /**
   * The id that is claimed for a resource.
   *
   * @returns undefined when there is no claim, or status is known to have recorded the id
   */
  of(resource: R, client: HubClient): string | undefined {
    const { uid } = resource.metadata;
    const { cache, places } = this.contexts.of(client, resource);
    return cache.find(uid)?.claim ?? places.claims.claimOf(this.entityType.type, uid);
  }

  /** Another resource that owns this object in the hub or has claimed it, and is not being deleted. */
  ownerOf(id: string, resource: R, client: HubClient): R | undefined {
    const { metadata, spec } = resource;
    const hub = { namespace: metadata.namespace, name: spec.hubRef.name };
    const recorded = recordedBy<R>(this.services, this.entityType, hub, id);
    return [...recorded, ...this.claiming(id, resource, client)].find(
      ({ metadata: { deletionTimestamp, uid } }) => uid !== metadata.uid && !deletionTimestamp,
    );
  }

  /**
   * Reports whether the object is one that this or another resource had and is about to remove. Its entity may
   * have no label: a failed removal has taken that away, and a Hub may ask for none.
   */
  isFormer(id: string, resource: R): boolean {
    const others = othersOf<R>(this.services, this.entityType.definition, resource);
    return [resource, ...others].some((each) => formerIds(each).includes(id));
  }

  /**
   * Other resources that claim this object. Resources are only listed if there is a claim for the id, since
   * each step of a removal calls this.
   */
  private claiming(id: string, resource: R, client: HubClient): R[] {
    const { definition, type } = this.entityType;
    const { cache, places } = this.contexts.of(client, resource);
    if (!cache.isClaimed(id) && !places.claims.isClaimed(type, id)) return [];
    return othersOf<R>(this.services, definition, resource).filter(
      (other) => this.ownId(other, client) === id,
    );
  }

  /** The id that status records or, before that, the claimed id. */
  ownId(resource: R, client: HubClient): string | undefined {
    return recordedId(this.entityType, resource) ?? this.of(resource, client);
  }

  /** Like {@link with}, but includes claims of a former process. */
  async known(resource: R, client: HubClient): Promise<R> {
    await this.contexts.of(client, resource).places.load();
    return this.with(resource, client);
  }

  /** The resource, with the claim added to its status. */
  with(resource: R, client: HubClient): R {
    const claim = this.unrecorded(resource, client);
    return claim ? { ...resource, status: { ...resource.status, ...claim } } : resource;
  }

  /**
   * The claim of the resource, as fields of status. If status has recorded it, the claim ends.
   *
   * @returns undefined when there is no claim, or it has ended
   */
  unrecorded(resource: R, client: HubClient): Status | undefined {
    const id = this.of(resource, client);
    if (id === undefined) return undefined;
    const { type, idField } = this.entityType;
    const { metadata, spec } = resource;
    const recorded = recordedId(this.entityType, resource);
    if (recorded === undefined) {
      const volume = hubVolume(this.services, metadata.namespace, spec.hubRef.name);
      return { [idField]: id, delivery: 'File', ...volumeStatus(volume) };
    }
    const { cache, places } = this.contexts.of(client, resource);
    const formers = formerIds(resource);
    // The resource has since taken over the object of another resource. The claimed object becomes a former
    // one.
    if (![recorded, ...formers].includes(id) && !places.whereIs(type, id).isShared)
      return { formerIds: [...formers, id] };
    cache.get(metadata.uid).claim = undefined;
    places.claims.unclaim(metadata.uid);
    return undefined;
  }
}
