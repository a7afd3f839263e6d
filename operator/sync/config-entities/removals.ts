import { FINALIZER_TRY } from '../../base/limits';
import { HubRejected } from '../../client/connection/errors';
import type { HubClient } from '../../client/hub-client';
import type { EventSpec } from '../../runtime/event-spec';
import { type Waiting, waiting } from '../../runtime/outcome';
import type { Child } from '../objects/child';
import { recordedId } from '../objects/ownership';
import { cleanupSkipped, ensureRemoved, shouldDelete } from '../objects/removal';
import type { Services } from '../services';
import type { Claims } from './claim';
import { staying } from './entity-cache';
import type { ConfigEntitySpec, EntityType } from './entity-type';
import type { EntityContexts } from './entity-contexts';
import { formerIds } from './ownership';
import { unmark } from './ownership-label';

/** Ends the management of a resource's objects in a hub: they are removed, or stay in the hub's own file. */
export class Removals<R extends Child, S extends ConfigEntitySpec> {
  constructor(
    private readonly entityType: EntityType<R, S>,
    private readonly services: Pick<Services, 'cache' | 'clock' | 'requeue'>,
    private readonly contexts: EntityContexts,
    private readonly claims: Claims<R>,
  ) {}

  /** Removes the objects of a deleted resource. */
  async remove(resource: R, client: HubClient): Promise<Waiting | readonly EventSpec[]> {
    const { type, reason } = this.entityType;
    const known = await this.claims.known(resource, client);
    const id = recordedId(this.entityType, known);
    const ids = this.idsToRemove(known);
    // The claim in the ConfigMap ends long before the hub has removed the object, so status records the id
    // first.
    const status = this.claims.unrecorded(resource, client);
    if (status) return waiting(reason, `The ${type} ${id} is about to be removed.`, 0, { status });
    if (ids.length > 0 && !this.ensureRemoved(resource, client, ids))
      return waiting(reason, `The ${type} ${ids.join(', ')} is being removed from the hub.`, FINALIZER_TRY);
    if (id === undefined || ids.includes(id)) return [];
    try {
      if (!(await this.leave(resource, client, id)))
        return waiting(reason, `The ${type} ${id} is moved into the hub’s own file.`, FINALIZER_TRY);
    } catch (error) {
      if (!(error instanceof HubRejected)) throw error;
      const why = `it stays in a ConfigMap of the operator, since the hub does not take it into its own file (${error.message})`;
      return [cleanupSkipped(`${type} ${id}`, why)];
    }
    return [];
  }

  /** Reports whether an object of the resource is in the cluster, or was when its removal began. */
  async isOutsideVolume(resource: R, client: HubClient): Promise<boolean> {
    const { cache, places } = this.contexts.of(client, resource);
    await places.load();
    const ids = [recordedId(this.entityType, resource), ...formerIds(resource)];
    const isInCluster = ids.some((id) => id && !places.whereIs(this.entityType.type, id).isOnVolume);
    // A removal takes the object out of the cluster long before the hub has removed it.
    return (cache.get(resource.metadata.uid).isRemovedFromFiles ||= isInCluster);
  }

  /** The objects that a deletion removes, such as `automation porch`. Undefined if there are none. */
  objectOf(resource: R, client: HubClient | undefined): string | undefined {
    const ids = this.idsToRemove(client ? this.claims.with(resource, client) : resource);
    return ids.length === 0 ? undefined : `${this.entityType.type} ${ids.join(', ')}`;
  }

  /**
   * Leaves an object in the hub's own file, without the operator's labels: it then counts as one that a user
   * made.
   *
   * @returns false while this is not done
   * @throws the error with which it ended
   */
  async leave(resource: R, client: HubClient, id: string): Promise<boolean> {
    if (!(await this.ensureSettled(resource, client, id))) return false;
    if (!this.claims.ownerOf(id, resource, client)) await unmark(client, this.entityType.type, id);
    return true;
  }

  /**
   * Moves an object that its resource leaves into the hub's own file.
   *
   * @returns false while this is not done
   * @throws the error with which it ended
   */
  private async ensureSettled(resource: R, client: HubClient, id: string): Promise<boolean> {
    const { clock } = this.services;
    const { type } = this.entityType;
    const { cache, places } = this.contexts.of(client, resource);
    await places.load();
    const cached = cache.get(resource.metadata.uid);
    const kind = staying(type);
    if (places.isSettled(type, id) && cached.removal?.kind !== kind) return true;
    const mayLeave = () => this.claims.ownerOf(id, resource, client) === undefined;
    const run = () => places.settle(type, id, mayLeave);
    return ensureRemoved(cached, { kind, ids: [id] }, { clock, run, onEnd: () => this.requeue(resource) });
  }

  /**
   * Removes the objects with these ids from the hub, unless they belong to another resource by then.
   *
   * @returns false while this is not done
   * @throws the error with which the removal ended, such as HubUnreachable
   */
  ensureRemoved(resource: R, client: HubClient, ids: readonly string[]): boolean {
    const { clock } = this.services;
    const { type } = this.entityType;
    const { cache, places } = this.contexts.of(client, resource);
    const reload = this.entityType.spec(resource).autoReload;
    const run = async () => {
      for (const id of ids) {
        const shouldRemove = () => !this.isOwned(id, resource, client);
        // An object whose removal is cut keeps the label, by which it is found as left behind.
        const prepare = () => unmark(client, type, id);
        await places.remove(type, id, { shouldRemove, reload, prepare });
      }
    };
    const removal = { clock, run, onEnd: () => this.requeue(resource) };
    return ensureRemoved(cache.get(resource.metadata.uid), { kind: type, ids }, removal);
  }

  /** The ids of the objects that are removed with the resource. */
  private idsToRemove(resource: R): readonly string[] {
    const id = recordedId(this.entityType, resource);
    const isDeleted = id !== undefined && shouldDelete(resource);
    return [...(isDeleted ? [id] : []), ...formerIds(resource)];
  }

  /**
   * Reports whether another resource owns this object, or this resource owns it again since its id was
   * changed back.
   */
  private isOwned(id: string, resource: R, client: HubClient): boolean {
    const { kind, metadata } = resource;
    const current = this.services.cache.get<R>(kind, metadata.namespace, metadata.name);
    const isSame = current?.metadata.uid === metadata.uid && !current.metadata.deletionTimestamp;
    const isOwnedAgain = isSame && this.claims.ownId(current, client) === id;
    return isOwnedAgain || this.claims.ownerOf(id, resource, client) !== undefined;
  }

  private requeue({ kind, metadata }: R): void {
    this.services.requeue(kind, metadata.namespace, metadata.name);
  }
}
