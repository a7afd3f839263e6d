import type { ConfigEntityKind, EntityPayload } from '../../client/connection/config-entity';
import type { ReloadResult } from '../../client/config-entities/reload-retry';
import type { HubClient } from '../../client/hub-client';
import { incompleteContent } from '../../runtime/json';
import type { Child } from '../objects/child';
import type { DriftPolicy } from '../objects/drift-policy';
import { ensureRemoved } from '../objects/removal';
import type { WritePacing } from '../objects/write-pacing';
import type { Services } from '../services';
import { stillDesired } from '../still-desired';
import type { Claims } from './claim';
import { hashOf } from './diff';
import { appliedHash } from './ownership';
import { unmark } from './ownership-label';
import type { ConfigEntitySpec, EntityType, EntityWork } from './entity-type';
import type { HubContexts } from './hub-contexts';
import type { Former } from './delivery/former-definitions';
import type { TakenBack } from './delivery/taken-back';
import { EntityOperation, recordObserved, staying } from './entity-cache';
import { USUAL_LOAD_TIME } from './load';

interface Write {
  readonly correction: string | undefined;
  readonly kept: EntityPayload;
  readonly inHubFile: EntityPayload | undefined;
}

/** Writes a definition into the files of the hub. Resolves with whether it did. */
type Writer = (
  kind: ConfigEntityKind,
  id: string,
  payload: () => EntityPayload | undefined,
) => Promise<boolean>;

const byApi =
  ({ entities }: Pick<HubClient, 'entities'>): Writer =>
  (kind, id, payload) =>
    entities.write(kind, id, payload);

/**
 * Operations that may take longer than a reconcile: writes and removals, which are queued per file of the hub, and
 * reloads. Each is recorded in the cache and enqueues its resource when it has ended.
 */
export class Operations<R extends Child, S extends ConfigEntitySpec> {
  constructor(
    private readonly entityType: EntityType<R, S>,
    private readonly services: Pick<Services, 'cache' | 'clock' | 'requeue'>,
    private readonly contexts: HubContexts,
    private readonly claims: Claims<R>,
    private readonly drift: DriftPolicy,
    private readonly pacing: WritePacing,
  ) {}

  /**
   * Writes the desired payload, then reloads if the kind and its spec ask for it.
   *
   * @param correction key of the differences that it corrects; absent: they are not counted
   * @param kept keys of the object in the hub that stay
   * @param inHubFile it is delivered, and this is its definition in the hub's own file, where it is taken out
   */
  write(work: EntityWork<R, S>, { correction, kept, inHubFile }: Write): void {
    const { type, reloads } = this.entityType;
    this.start(work, correction, async (operation) => {
      const { delivery } = this.contexts.of(work.client, work.resource);
      const { isByFile } = delivery;
      const isClaimed = this.claims.of(work.resource, work.client) === work.id;
      // The hub's own file gets it once status says that it may be there.
      if (!isByFile && (isClaimed || work.resource.status?.['delivery'] === 'File')) return;
      const claimedBy = isClaimed ? work.resource.metadata.uid : undefined;
      const replaced = { accepted: appliedHash(work.resource), inHubFile, claimedBy };
      const deliver: Writer = (kind, id, payload) => delivery.write(kind, id, payload, replaced);
      const written = await this.writeLatest(work, kept, operation, isByFile ? deliver : byApi(work.client));
      if (!written) return;
      if (inHubFile && delivery.isByFile) {
        const shouldRemove = () => delivery.isByFile && this.latest(work.resource) !== undefined;
        operation.reload = await delivery.leaveHubFile(type, work.id, shouldRemove);
        work.cached.leftHubFile = true;
      } else if (reloads && written.autoReload) {
        // A hub that has read delivered files is not asked to once more.
        const { reloads: requests } = work.client;
        await this.reloadNow(
          work,
          operation,
          delivery.isByFile ? requests.request(type, 0) : requests.request(type),
        );
      }
    });
  }

  /** Writes a delivered definition into the hub's own file, then takes it out of the delivered ones. */
  returnToHubFile(work: EntityWork<R, S>, kept: EntityPayload | undefined): void {
    const { type } = this.entityType;
    this.start(work, undefined, async (operation) => {
      const { delivery } = this.contexts.of(work.client, work.resource);
      if (kept && !(await this.writeLatest(work, kept, operation, byApi(work.client)))) return;
      if (!delivery.isByFile) await delivery.leaveFiles(type, work.id);
    });
  }

  /**
   * Takes a delivered definition that the hub does not load out again. The operation ends with this error of the hub. False: it stays,
   * as the former one is not known.
   */
  takeBack(work: EntityWork<R, S>, error: TakenBack): boolean {
    const { client, resource, id } = work;
    const { type } = this.entityType;
    const { delivery } = this.contexts.of(client, resource);
    const fallback = this.fallback(work);
    if (!fallback) return false;
    this.start(work, undefined, async () => {
      await delivery.takeBack(type, id, fallback);
      throw error;
    });
    return true;
  }

  /** What takes the place of the delivered definition if the hub does not load it; undefined: the definition stays. */
  fallback({ client, resource, id }: EntityWork<R, S>): Former | undefined {
    const { delivery } = this.contexts.of(client, resource);
    return delivery.fallback(this.entityType.type, id, appliedHash(resource));
  }

  /** Status records the delivered definition before the hub has loaded it: the replaced one stays known. */
  keepFormer(work: EntityWork<R, S>): void {
    if (!this.fallback(work)) return;
    const { delivery } = this.contexts.of(work.client, work.resource);
    delivery.keepFormer(this.entityType.type, work.id, work.hash);
  }

  reload(work: EntityWork<R, S>): void {
    const { type } = this.entityType;
    this.start(work, undefined, (operation) => {
      const { delivery } = this.contexts.of(work.client, work.resource);
      return this.reloadNow(
        work,
        operation,
        delivery.isByFile ? delivery.reload(type) : work.client.reloads.request(type),
      );
    });
  }

  /**
   * Moves the delivered definition of a resource that leaves its object into the hub's own file. False: not done yet.
   *
   * @throws the error that it ended with
   */
  async ensureReturned(resource: R, client: HubClient, id: string): Promise<boolean> {
    const { clock } = this.services;
    const { type } = this.entityType;
    const { cache, delivery } = this.contexts.of(client, resource);
    await delivery.files.load();
    const cached = cache.get(resource.metadata.uid);
    const kind = staying(type);
    const isDelivered = delivery.definitions.get(type, id) !== undefined || delivery.files.isBehind;
    if (!isDelivered && cached.removal?.kind !== kind) return true;
    const shouldReturn = () => this.claims.ownerOf(id, resource, client) === undefined;
    const run = () => delivery.returnToHubFile(type, id, shouldReturn);
    const removal = { clock, run, onEnd: () => this.requeue(resource) };
    return ensureRemoved(cached, { kind, ids: [id] }, removal);
  }

  /**
   * Removes the objects with these ids from the hub, unless they belong to another resource by then. False: not done
   * yet.
   *
   * @throws the error that the removal ended with, such as HubUnreachable
   */
  ensureRemoved(resource: R, client: HubClient, ids: readonly string[]): boolean {
    const { clock } = this.services;
    const { type } = this.entityType;
    const { cache, delivery } = this.contexts.of(client, resource);
    const reload = this.entityType.spec(resource).autoReload;
    const run = async () => {
      for (const id of ids) {
        const shouldRemove = () => !this.isOwned(id, resource, client);
        if (shouldRemove()) await unmark(client, type, id);
        await delivery.remove(type, id, { shouldRemove, reload });
      }
    };
    const removal = { clock, run, onEnd: () => this.requeue(resource) };
    return ensureRemoved(cache.get(resource.metadata.uid), { kind: type, ids }, removal);
  }

  /** Another resource owns this object, or this one owns it again since its id was changed back. */
  private isOwned(id: string, resource: R, client: HubClient): boolean {
    const { kind, metadata } = resource;
    const current = this.services.cache.get<R>(kind, metadata.namespace, metadata.name);
    const isSame = current?.metadata.uid === metadata.uid && !current.metadata.deletionTimestamp;
    const isOwnedAgain = isSame && this.claims.ownId(current, client) === id;
    return isOwnedAgain || this.claims.ownerOf(id, resource, client) !== undefined;
  }

  private start(
    work: EntityWork<R, S>,
    correction: string | undefined,
    run: (operation: EntityOperation) => Promise<void>,
  ): void {
    const { cached, resource, client, hash } = work;
    const { clock } = this.services;
    const operation = new EntityOperation(clock, client.presence.epoch, hash, correction);
    cached.operation = operation.start(run, () => {
      const { drift, delivery } = this.contexts.of(client, resource);
      // Delivered definitions cannot be changed in the hub.
      if (!delivery.isByFile) drift.recheckAfterOwnWork(this.entityType.type);
      const hubIsLoading = operation.wroteAt !== undefined && !operation.reload && !delivery.isByFile;
      clock.after(hubIsLoading ? USUAL_LOAD_TIME : 0, () => this.requeue(resource));
    });
  }

  /** Sends the payload that is desired when the write leaves the queue: many edits meanwhile are one write. */
  private async writeLatest(
    { cached, resource, id }: EntityWork<R, S>,
    kept: EntityPayload,
    operation: EntityOperation,
    write: Writer,
  ): Promise<S | undefined> {
    let written: S | undefined;
    const isAccepted = await write(this.entityType.type, id, () => {
      const latest = this.latest(resource);
      if (!latest || this.entityType.id(latest) !== id) return undefined;
      written = this.entityType.spec(latest);
      const payload = this.entityType.payload(written);
      operation.hash = hashOf(this.entityType, id, payload);
      return { ...kept, ...payload };
    });
    if (!isAccepted) return undefined;
    operation.wroteAt = this.services.clock.now();
    const now = this.services.clock.monotonic();
    this.pacing.mark(cached);
    cached.failure = undefined;
    recordObserved(cached, 'write', operation.hash, now);
    if (operation.correction !== undefined) this.drift.count(cached, operation.correction);
    return written;
  }

  private async reloadNow(
    { cached }: EntityWork<R, S>,
    operation: EntityOperation,
    reload: Promise<ReloadResult>,
  ): Promise<void> {
    operation.reload = await reload;
    cached.reloadFailedAt = operation.reload.ok ? undefined : this.services.clock.monotonic();
  }

  /** The latest version of the resource; undefined: it must no longer be written. */
  private latest(resource: R): R | undefined {
    const current = stillDesired(this.services, resource);
    return current && incompleteContent(current) === undefined ? current : undefined;
  }

  private requeue({ kind, metadata }: R): void {
    this.services.requeue(kind, metadata.namespace, metadata.name);
  }
}
