import type { HubClient } from '../../client/hub-client';
import { errorOf } from '../../errors';
import { userAnnotations } from '../../kinds/annotations';
import { FINALIZER_TRY } from '../../limits';
import type { Child } from '../child';
import type { Services } from '../services';
import { payloadHash } from './payload';
import type { ConfigEntitySpec, EntityType, EntityWork } from './entity-type';
import type { HubContexts } from './hub-contexts';
import { confirm, type Operation, type Removal } from './entity-cache';

/** The hub loads what it was sent by itself, mostly within this time (milliseconds). */
export const LOADED_SOON = 300;

/**
 * What takes longer than a pass may: writes and removals, which wait for their turn at the hub's file, and reloads.
 * Each is noted in the resource’s cache entry, and works the resource again when it has ended.
 */
export class Operations<R extends Child, S extends ConfigEntitySpec> {
  constructor(
    private readonly entityType: EntityType<R, S>,
    private readonly services: Services,
    private readonly contexts: HubContexts,
  ) {}

  /** Writes the wish, and reloads if the kind and its spec want that. */
  write(work: EntityWork<R, S>): void {
    this.start(work, async (operation) => {
      const written = await this.writeLatest(work, operation);
      if (this.entityType.reloads && written?.autoReload) await this.reloadNow(work, operation);
    });
  }

  reload(work: EntityWork<R, S>): void {
    this.start(work, (operation) => this.reloadNow(work, operation));
  }

  /**
   * Removes what is in the hub under `id`, unless it belongs to another resource by then. False: it is under way.
   *
   * @throws HubUnreachable, … what it ended with
   */
  async ensureRemoved(resource: R, client: HubClient, id: string): Promise<boolean> {
    const hub = this.contexts.of(client, resource).cache;
    const cached = hub.get(resource.metadata.uid);
    if (cached.removal?.id !== id) {
      cached.removal = this.remove(resource, client, id);
      return false;
    }
    const { ended, error, startedAt } = cached.removal;
    if (!ended) {
      // Behind others in the lane, or behind one that hangs? A hub that answers this is only busy.
      const silentFor = this.services.clock.monotonic() - Math.max(startedAt, hub.answeredAt);
      if (silentFor >= FINALIZER_TRY)
        await client.rest.get('/manifest.json', { token: null, timeout: FINALIZER_TRY });
      return false;
    }
    cached.removal = undefined;
    if (error !== undefined) throw error;
    return true;
  }

  /** Another resource that has this object in the hub, as its status says, and is there to stay. */
  ownerOf(id: string, { metadata, spec }: R): R | undefined {
    const { definition, idField } = this.entityType;
    for (const other of this.services.cache.list<R>(definition.kind, metadata.namespace)) {
      const isOther = other.metadata.uid !== metadata.uid && !other.metadata.deletionTimestamp;
      const sameHub = other.spec.hubRef.name === spec.hubRef.name;
      if (isOther && sameHub && other.status?.[idField] === id) return other;
    }
    return undefined;
  }

  private start(work: EntityWork<R, S>, carryOut: (operation: Operation) => Promise<void>): void {
    const { cached, resource, client, hash } = work;
    const operation: Operation = { hash, wrote: false, ended: false };
    cached.operation = operation;
    void carryOut(operation)
      .catch((error: unknown) => (operation.error = errorOf(error)))
      .then(() => {
        operation.ended = true;
        operation.endedAt = this.services.clock.monotonic();
        this.contexts.of(client, resource).watch.ownWorkEnded(this.entityType.type);
        const loadsByItself = operation.wrote && !operation.reload;
        this.services.clock.after(loadsByItself ? LOADED_SOON : 0, () => this.requeue(resource));
      });
  }

  /** When its turn has come, it is the latest wish that is written: many edits meanwhile are one write. */
  private async writeLatest(
    { cached, resource, client, id }: EntityWork<R, S>,
    operation: Operation,
  ): Promise<S | undefined> {
    let written: S | undefined;
    operation.wrote = await client.entities.write(this.entityType.type, id, () => {
      const latest = this.latest(resource);
      if (!latest || this.entityType.id(latest) !== id) return undefined;
      written = this.entityType.spec(latest);
      const payload = this.entityType.payload(written);
      operation.hash = payloadHash(payload);
      return payload;
    });
    if (!operation.wrote) return undefined;
    operation.wroteAt = this.services.clock.now();
    cached.writtenAt = this.services.clock.monotonic();
    cached.failure = undefined;
    confirm(cached, operation.hash);
    this.contexts.of(client, resource).cache.answeredAt = cached.writtenAt;
    return written;
  }

  private async reloadNow({ client, cached }: EntityWork<R, S>, operation: Operation): Promise<void> {
    operation.reload = await client.reloads.request(this.entityType.type);
    cached.reloadFailedAt = operation.reload.ok ? undefined : this.services.clock.monotonic();
  }

  private remove(resource: R, client: HubClient, id: string): Removal {
    const removal: Removal = { id, startedAt: this.services.clock.monotonic(), ended: false };
    const stillWanted = () => this.ownerOf(id, resource) === undefined;
    void client.entities
      .remove(this.entityType.type, id, { timeout: FINALIZER_TRY, stillWanted })
      .then(() => (this.contexts.of(client, resource).cache.answeredAt = this.services.clock.monotonic()))
      .catch((error: unknown) => (removal.error = errorOf(error)))
      .then(() => {
        removal.ended = true;
        removal.endedAt = this.services.clock.monotonic();
        this.requeue(resource);
      });
    return removal;
  }

  /** The resource as it is now, as long as it may be written. */
  private latest({ kind, metadata }: R): R | undefined {
    const present = this.services.cache.get<R>(kind, metadata.namespace, metadata.name);
    if (present?.metadata.uid !== metadata.uid || present?.metadata.deletionTimestamp) return undefined;
    const isHeld = present.spec.suspend || present.metadata.annotations?.[userAnnotations.dryRun] === 'true';
    return isHeld ? undefined : present;
  }

  private requeue({ kind, metadata }: R): void {
    this.services.requeue(kind, metadata.namespace, metadata.name);
  }
}
