import type { EntityPayload } from '../../client/connection/config-entity';
import { incompleteContent } from '../../runtime/json';
import type { Child } from '../objects/child';
import type { DriftPolicy } from '../objects/drift-policy';
import type { WritePacing } from '../objects/write-pacing';
import type { Services } from '../services';
import { stillDesired } from '../still-desired';
import type { Claims } from './claim';
import { hashOf } from './diff';
import { EntityOperation, recordObserved } from './entity-cache';
import type { ConfigEntitySpec, EntityType } from './entity-type';
import type { EntityContexts } from './entity-contexts';
import { USUAL_LOAD_TIME } from './load';
import { appliedHash } from './ownership';
import type { PlacedWork, TakenBack } from './place';

interface Write {
  /** Key of the differences that the write corrects. Undefined if they are not counted. */
  readonly correction: string | undefined;
  /** Keys of the object in the hub that are kept. */
  readonly kept: EntityPayload;
}

interface Move {
  readonly correction: string | undefined;
  /**
   * Keys of the object that are kept in a write. Undefined if the destination already has the desired object.
   */
  readonly kept: EntityPayload | undefined;
  /** The definition in the place that the object leaves. */
  readonly elsewhere: EntityPayload;
}

/**
 * Operations that may take longer than a reconcile: writes, which are queued per file of the hub, and
 * reloads. Each is recorded in the cache, and requeues its resource when it has ended.
 */
export class Operations<R extends Child, S extends ConfigEntitySpec> {
  constructor(
    private readonly entityType: EntityType<R, S>,
    private readonly services: Pick<Services, 'cache' | 'clock' | 'requeue'>,
    private readonly contexts: EntityContexts,
    private readonly claims: Claims<R>,
    private readonly drift: DriftPolicy,
    private readonly pacing: WritePacing,
  ) {}

  /** Writes the desired payload, then reloads if the kind and its spec require it. */
  write(work: PlacedWork<R, S>, { correction, kept }: Write): void {
    const { reloads } = this.entityType;
    this.start(work, correction, async (operation) => {
      const written = await this.writeLatest(work, kept, operation);
      if (written) this.succeed(work, operation);
      if (reloads && written?.autoReload) await this.reloadNow(work, operation, true);
    });
  }

  /** Writes the desired payload into its place, then takes the object out of the other place. */
  move(work: PlacedWork<R, S>, { correction, kept, elsewhere }: Move): void {
    const { client, resource, id, place, cached } = work;
    this.start(work, correction, async (operation) => {
      const { places } = this.contexts.of(client, resource);
      const write = async () => !kept || !!(await this.writeLatest(work, kept, operation, elsewhere));
      const mayLeave = () => places.desired === place && this.latest(resource) !== undefined;
      const moved = await places.move(place, this.entityType.type, id, { write, mayLeave });
      if (!moved) return;
      this.succeed(work, operation);
      operation.reload = moved.reload;
      if (mayLeave()) cached.movedTo = place;
    });
  }

  /**
   * Takes out a definition that the hub does not load. The operation ends with the given error of the hub.
   */
  withdraw(work: PlacedWork<R, S>, error: TakenBack, withdraw: () => Promise<void>): void {
    this.start(work, undefined, async () => {
      await withdraw();
      throw error;
    });
  }

  reload(work: PlacedWork<R, S>): void {
    this.start(work, undefined, (operation) => this.reloadNow(work, operation, false));
  }

  private start(
    work: PlacedWork<R, S>,
    correction: string | undefined,
    run: (operation: EntityOperation) => Promise<void>,
  ): void {
    const { cached, resource, client, hash, place } = work;
    const { isShared } = place;
    const { clock } = this.services;
    const operation = new EntityOperation(clock, client.presence.epoch, hash, correction);
    cached.operation = operation.start(run, () => {
      // A write may load changes that others have made to the same file.
      if (isShared) this.contexts.of(client, resource).drift.recheckAfterOwnWork(this.entityType.type);
      const hubIsLoading = operation.wroteAt !== undefined && !operation.reload && isShared;
      clock.after(hubIsLoading ? USUAL_LOAD_TIME : 0, () => this.requeue(resource));
    });
  }

  /**
   * Sends the payload that is desired when the write leaves the queue, so that several edits cause one write.
   *
   * @returns undefined when nothing has to be written any more
   */
  private async writeLatest(
    { cached, resource, client, id, place }: PlacedWork<R, S>,
    kept: EntityPayload,
    operation: EntityOperation,
    elsewhere?: EntityPayload,
  ): Promise<S | undefined> {
    const { type } = this.entityType;
    const isClaimed = this.claims.of(resource, client) === id;
    const claimedBy = isClaimed ? resource.metadata.uid : undefined;
    const replaced = { accepted: appliedHash(resource), elsewhere, claimedBy };
    let written: S | undefined;
    const payloadNow = () => {
      const latest = this.latest(resource);
      if (!latest || this.entityType.id(latest) !== id) return undefined;
      written = this.entityType.spec(latest);
      const payload = this.entityType.payload(written);
      operation.hash = hashOf(this.entityType, id, payload);
      return { ...kept, ...payload };
    };
    const isAccepted = await place.write(type, id, payloadNow, replaced);
    if (!isAccepted) return undefined;
    operation.wroteAt = this.services.clock.now();
    const now = this.services.clock.monotonic();
    this.pacing.mark(cached);
    recordObserved(cached, 'write', operation.hash, now);
    return written;
  }

  /**
   * Records a successful write. A correction counts from here on. A move is counted only after it: while the
   * object is still in the other place, no client can have reverted the correction.
   */
  private succeed({ cached }: PlacedWork<R, S>, { correction }: EntityOperation): void {
    cached.failure = undefined;
    if (correction !== undefined) this.drift.count(cached, correction);
  }

  private async reloadNow(
    { cached, place }: PlacedWork<R, S>,
    operation: EntityOperation,
    isAfterWrite: boolean,
  ): Promise<void> {
    operation.reload = await place.reload(this.entityType.type, isAfterWrite);
    cached.reloadFailedAt = operation.reload.ok ? undefined : this.services.clock.monotonic();
  }

  /**
   * The latest version of the resource.
   *
   * @returns undefined when the resource must no longer be written
   */
  private latest(resource: R): R | undefined {
    const current = stillDesired(this.services, resource);
    return current && incompleteContent(current) === undefined ? current : undefined;
  }

  private requeue({ kind, metadata }: R): void {
    this.services.requeue(kind, metadata.namespace, metadata.name);
  }
}
