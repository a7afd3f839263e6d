import { HubFailed, HubRejected } from '../../client/errors';
import type { HubClient } from '../../client/hub-client';
import {
  FINALIZER_TRY,
  POD_NOT_READY_REQUEUE,
  REJECTED_WRITE_RETRY_INTERVAL,
  RESYNC,
  MIN_WRITE_INTERVAL,
} from '../../limits';
import type { EventSpec } from '../../runtime/events';
import { type Outcome, stalled, type Waiting, waiting } from '../../runtime/outcome';
import { conditionOf } from '../../runtime/conditions';
import type { ReconcileContext } from '../../runtime/sync-module';
import type { Child, ChildModule } from '../child';
import type { Services } from '../services';
import { payloadHash } from './payload';
import { formatDiff } from './diff';
import type { ConfigEntitySpec, EntityType, EntityWork } from './entity-type';
import { Operations, LOADED_SOON } from './operations';
import type { HubContexts } from './hub-contexts';
import { isAccepted, ownsId, isNew, observe, type Observation } from './observe';
import { invalidate, type CachedEntity } from './entity-cache';
import { dryRun, readyOutcome, inProgress } from './conditions';

/** Longer than this the hub never takes to load what it was sent: something keeps it from it. */
const LOADED_WITHIN = 10_000;

/**
 * One automation, scene or script ("Automation, scene and script lifecycle", spec.md): claimed in status, written when
 * the hub has something else, reloaded, and seen to be in use. A pass never waits for a write or a reload: it begins
 * one and ends, and what has ended works the resource again. A crash between two steps is made good by the next pass,
 * which compares anew.
 */
export class ConfigEntitySync<R extends Child, S extends ConfigEntitySpec> implements ChildModule<R> {
  private readonly operations: Operations<R, S>;

  constructor(
    private readonly entityType: EntityType<R, S>,
    private readonly services: Services,
    private readonly contexts: HubContexts,
  ) {
    this.operations = new Operations(entityType, services, contexts);
  }

  async sync(resource: R, client: HubClient, context: ReconcileContext): Promise<Outcome> {
    const { entityType } = this;
    const problem = entityType.validate?.(entityType.spec(resource));
    if (problem !== undefined) return stalled('InvalidSpec', problem);
    await this.contexts.of(client, resource).watch.ready();
    if (!(await client.components.isLoaded(entityType.type))) {
      return waiting(
        'HubNotReady',
        `The hub has not loaded its ${entityType.type} component yet.`,
        POD_NOT_READY_REQUEUE,
      );
    }
    const work = this.workOn(resource, client, context);
    this.recordResult(work);
    if (work.cached.operation?.ended === false && !context.dryRun) return inProgress(entityType, work);
    const found = await observe(entityType, work, this.services.clock);
    if (context.dryRun) return dryRun(entityType, work, found);
    if (!ownsId(entityType, work)) return this.acquire(work, found);
    if (found.differences.length > 0) return this.correct(work, found);
    if (!found.loaded) return this.ensureLoaded(work, found);
    return this.ensureInUse(work, found);
  }

  async remove(
    resource: R,
    client: HubClient,
    context: ReconcileContext,
  ): Promise<Waiting | readonly EventSpec[]> {
    const id = this.ownedId(resource);
    const shouldDelete = id !== undefined && this.shouldDelete(resource, this.entityType.spec(resource));
    if (shouldDelete && !context.dryRun && !(await this.operations.ensureRemoved(resource, client, id))) {
      return waiting(this.entityType.reason, `${id} is on its way out of the hub.`, FINALIZER_TRY);
    }
    this.contexts.of(client, resource).cache.delete(resource.metadata.uid);
    if (!shouldDelete || !context.dryRun) return [];
    const message = `The ${this.entityType.type} ${id} stays in the hub: nothing is sent with the annotation dry-run.`;
    return [{ type: 'Warning', reason: 'CleanupSkipped', message }];
  }

  private workOn(resource: R, client: HubClient, context: ReconcileContext): EntityWork<R, S> {
    const { entityType } = this;
    const spec = entityType.spec(resource);
    const payload = entityType.payload(spec);
    const cached = this.contexts.of(client, resource).cache.get(resource.metadata.uid);
    return {
      resource,
      client,
      context,
      cached,
      spec,
      payload,
      id: entityType.id(resource),
      hash: payloadHash(payload),
    };
  }

  /** How the operation of an earlier pass ended; one for what is not wanted any more does not count. */
  private recordResult({ cached, hash, context }: EntityWork<R, S>): void {
    if (context.forced) {
      invalidate(cached);
      cached.rejection = undefined;
    }
    const { operation, failure } = cached;
    if (!operation?.ended || (operation.error === undefined && operation.hash === hash)) return;
    cached.operation = undefined;
    if (operation.error instanceof HubRejected) {
      cached.rejection = {
        hash: operation.hash,
        error: operation.error,
        at: this.services.clock.monotonic(),
      };
    } else if (operation.error !== undefined) {
      const count = (failure?.hash === operation.hash ? failure.count : 0) + 1;
      const { message } = operation.error;
      if (operation.error instanceof HubFailed) cached.failure = { hash: operation.hash, count, message };
      throw operation.error;
    }
  }

  /**
   * The id goes into status before anything goes to the hub, so that a crash in between leaves nothing behind that
   * nobody feels responsible for. What a person made before is adopted; what another resource of ours made is not.
   */
  private async acquire(work: EntityWork<R, S>, { exists }: Observation): Promise<Outcome> {
    const { resource, client, id, spec } = work;
    const { idField, type } = this.entityType;
    const former = this.ownedId(resource);
    if (former !== undefined && this.shouldDelete(resource, spec)) {
      if (!(await this.operations.ensureRemoved(resource, client, former)))
        return inProgress(this.entityType, work);
    }
    const holder = exists ? this.operations.ownerOf(id, resource) : undefined;
    const adopted = holder ? holder.status?.['adopted'] === true : exists;
    const message = `The hub had the ${type} ${id} already: it belongs to this resource now.`;
    return inProgress(this.entityType, work, 0, {
      status: { [idField]: id, adopted: adopted || null, appliedHash: null, entityId: null },
      events: adopted && !holder ? [{ type: 'Warning', reason: 'Adopted', message }] : [],
    });
  }

  /** Writes what is wanted, unless somebody's change may only be reported, or the hub has just refused the same. */
  private correct(work: EntityWork<R, S>, { differences, exists }: Observation): Outcome {
    const { client, cached, spec, hash } = work;
    const { clock } = this.services;
    const drifted = isAccepted(this.entityType, work);
    const change = exists
      ? `Somebody changed it in the hub (${formatDiff(differences)})`
      : 'Somebody removed it from the hub';
    if (drifted && spec.driftPolicy === 'Warn') return this.report(work, `${change}.`);
    const { rejection } = cached;
    if (rejection?.hash === hash && clock.monotonic() - rejection.at < REJECTED_WRITE_RETRY_INTERVAL)
      throw rejection.error;
    const pause =
      Math.max(cached.writtenAt ?? -Infinity, cached.triedAt ?? -Infinity) + paceOf(work) - clock.monotonic();
    if (pause > 0) return inProgress(this.entityType, work, pause);
    cached.triedAt = clock.monotonic();
    this.operations.write(work);
    if (!drifted) return inProgress(this.entityType, work);
    const note = this.corrected(client.rest.redact(`${change}: it is put back.`));
    return inProgress(this.entityType, work, undefined, { events: [note] });
  }

  /** It is in the hub's file as wanted, and not in use (yet). */
  private ensureLoaded(work: EntityWork<R, S>, found: Observation): Outcome {
    const { cached, spec, hash, id } = work;
    const { reason, reloads } = this.entityType;
    if (reloads && spec.autoReload) {
      if (!cached.operation?.reload && cached.unloaded !== hash && !this.hasJustFailed(cached)) {
        this.operations.reload(work);
        return inProgress(this.entityType, work);
      }
      if (cached.operation?.reload?.ok) cached.unloaded = hash;
    } else {
      const now = this.services.clock.monotonic();
      const waited = now - (cached.writtenAt ?? -Infinity);
      if (waited < LOADED_WITHIN) return inProgress(this.entityType, work, Math.max(LOADED_SOON, waited / 2));
      if (!reloads) {
        // Each look reads the hub's file; the hub tells when it loads a script.
        const soFar = now - (cached.writtenAt ?? cached.since);
        const after = Math.min(Math.max(POD_NOT_READY_REQUEUE, soFar), RESYNC / 2);
        return waiting(reason, `The hub has ${id} in its file and has not loaded it.`, after);
      }
    }
    return this.finish(work, found);
  }

  /** The hub has what is wanted: it is enabled and reloaded as it should be, the kind does what is left. */
  private async ensureInUse(work: EntityWork<R, S>, found: Observation): Promise<Outcome> {
    const { entityType } = this;
    const { client, cached, spec, resource } = work;
    const entity = found.entity!;
    if (entity.disabled_by !== null && (isNew(work) || entityType.shouldEnable?.(work))) {
      await client.entityRegistry.enable(entity.entity_id);
      this.operations.reload(work);
      return inProgress(entityType, work);
    }
    const told = isAccepted(entityType, work) ? conditionOf(resource, 'ReloadReady')?.reason : undefined;
    const counts = told !== undefined && told !== 'ReloadDisabled';
    const isReloaded = counts && (told === 'ReloadSuccessful' || this.hasJustFailed(cached));
    if (entityType.reloads && spec.autoReload && !isReloaded && !cached.operation?.reload) {
      this.operations.reload(work);
      return inProgress(entityType, work);
    }
    const settled = (await entityType.ensureState?.(work, entity)) ?? {};
    if (settled.mayNotCorrect !== undefined) return this.report(work, settled.mayNotCorrect);
    const events = settled.corrected === undefined ? [] : [this.corrected(settled.corrected)];
    return this.finish(work, found, events);
  }

  /** A reload that failed may go well after a while; with every look it would be asked for without end. */
  private hasJustFailed({ reloadFailedAt }: CachedEntity): boolean {
    return (
      reloadFailedAt !== undefined &&
      this.services.clock.monotonic() - reloadFailedAt < REJECTED_WRITE_RETRY_INTERVAL
    );
  }

  private finish(work: EntityWork<R, S>, found: Observation, events: readonly EventSpec[] = []): Outcome {
    const outcome = readyOutcome(this.entityType, work, found, events);
    work.cached.operation = undefined;
    return outcome;
  }

  private corrected(message: string): EventSpec {
    this.services.metrics.driftFound(this.entityType.definition.kind, 'corrected');
    return { type: 'Warning', reason: 'DriftDetected', message };
  }

  /** `driftPolicy: Warn`. */
  private report({ resource, client }: EntityWork<R, S>, change: string): Outcome {
    const isTold = conditionOf(resource, 'Ready')?.reason === 'DriftDetected';
    if (!isTold) this.services.metrics.driftFound(this.entityType.definition.kind, 'reported');
    return stalled('DriftDetected', client.rest.redact(`${change} driftPolicy is Warn: it stays so.`));
  }

  private ownedId({ status }: R): string | undefined {
    return status?.[this.entityType.idField] as string | undefined;
  }

  /** `deletionPolicy`: absent removes what we made and leaves what was there before. */
  private shouldDelete({ status }: R, { deletionPolicy }: S): boolean {
    return deletionPolicy === 'Delete' || (deletionPolicy === undefined && !status?.['adopted']);
  }
}

/** A file that the hub cannot read fails every write to it, until somebody mends it: the same is tried ever less often. */
function paceOf({ cached: { failure }, hash }: EntityWork): number {
  return failure?.hash === hash
    ? Math.min(MIN_WRITE_INTERVAL * 2 ** failure.count, RESYNC / 2)
    : MIN_WRITE_INTERVAL;
}
