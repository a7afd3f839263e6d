import { communityRepository as definition, type HubCommunityRepository } from '../../kinds';
import type { Child } from '../objects/child';
import { othersOf } from '../objects/ownership';
import type { Services } from '../services';

/**
 * The resources that own the targets on the volumes of hubs. The first one keeps a target until it is removed
 * (rules.md, "Ownership of objects in the hub"). The target is only known after a download, so it cannot be
 * an identity of the kind.
 */
export class Targets {
  /** Targets that are being installed and are not in status yet, by the uid of their resource. */
  private readonly reserved = new Map<string, string>();

  constructor(private readonly services: Pick<Services, 'cache' | 'requeue'>) {}

  /** Another resource that has the target. */
  ownerOf(resource: HubCommunityRepository, target: string): HubCommunityRepository | undefined {
    return this.others(resource).find(
      ({ metadata: { uid }, status }) => same(status?.target, target) || same(this.reserved.get(uid), target),
    );
  }

  /** Reserves a target, or returns the resource that has it. */
  reserve(resource: HubCommunityRepository, target: string): HubCommunityRepository | undefined {
    const owner = this.ownerOf(resource, target);
    if (!owner) this.reserved.set(resource.metadata.uid, target);
    return owner;
  }

  /** Ends a reservation, since the target is in status now or was not installed. */
  clearReservation({ metadata }: HubCommunityRepository): void {
    this.reserved.delete(metadata.uid);
  }

  /** Frees the targets of a resource, and requeues the resources that may wait for one. */
  release(resource: HubCommunityRepository): void {
    this.clearReservation(resource);
    for (const { kind, metadata } of this.others(resource))
      this.services.requeue(kind, metadata.namespace, metadata.name);
  }

  private others(resource: HubCommunityRepository): HubCommunityRepository[] {
    return othersOf<HubCommunityRepository & Child>(this.services, definition, resource);
  }
}

/** Compares targets without case, since some volumes ignore it. */
const same = (one: string | undefined, other: string): boolean => one?.toLowerCase() === other.toLowerCase();
