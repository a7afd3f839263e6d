import { HubFailed, HubRejected } from '../../client/errors';
import type { RegistryEntity } from '../../client/api-types';
import type { HubClient } from '../../client/hub-client';
import type { Hub } from '../../kinds';
import {
  FINALIZER_TRY,
  MIN_WRITE_INTERVAL,
  POD_NOT_READY_REQUEUE,
  REJECTED_WRITE_RETRY_INTERVAL,
  RESYNC,
} from '../../limits';
import type { EventSpec } from '../../runtime/event-spec';
import { type Outcome, stalled, type Waiting, waiting } from '../../runtime/outcome';
import { conditionOf } from '../../runtime/conditions';
import type { ReconcileContext } from '../../runtime/sync-module';
import type { Child, ChildModule } from '../child';
import { correctionsOf, MAX_EQUAL_CORRECTIONS } from '../corrections';
import { type Difference, formatDiff } from '../difference';
import { hubErrorOutcome } from '../hub-errors';
import { payloadHash } from '../payload-hash';
import { DriftReports } from '../drift-reports';
import type { Services } from '../services';
import { type Accepted, disabledAsInvalid, dryRun, inProgress, notLoaded, readyOutcome } from './conditions';
import { invalidate, recordObserved } from './entity-cache';
import type { ConfigEntitySpec, EntityType, EntityWork } from './entity-type';
import type { HubContexts } from './hub-contexts';
import { hasJustFailed, loadPolicyOf, nextLoadStep } from './load';
import { type Observation, observe } from './observe';
import { Operations } from './operations';
import { formerIds, isAccepted, isNew, ownedId, ownsId, shouldDelete } from './ownership';
import { blueprintAppeared, blueprintRecheck } from './blueprint';
import { withHint } from './rejection-hint';
import { isCreatedByOperator, markEntity, unmark } from './ownership-label';

/** The end of a removal queues the resource that it is for, but not another one that takes the id (milliseconds). */
const REMOVAL_POLL_INTERVAL = 1_000;

/**
 * Reconciles automations, scenes or scripts: the id is recorded in status, the payload written when the hub has another
 * one, reloaded, and observed to be in use. A reconcile never waits for a write or a reload: it starts one and returns,
 * and the end of it queues the resource again. After a crash the next reconcile compares again and continues.
 */
export class ConfigEntitySync<R extends Child, S extends ConfigEntitySpec> implements ChildModule<R> {
  private readonly operations: Operations<R, S>;
  private readonly drift: DriftReports;

  constructor(
    private readonly entityType: EntityType<R, S>,
    private readonly services: Services,
    private readonly contexts: HubContexts,
  ) {
    this.operations = new Operations(entityType, services, contexts);
    this.drift = new DriftReports(services, entityType.definition);
  }

  async sync(resource: R, client: HubClient, context: ReconcileContext): Promise<Outcome> {
    const { entityType } = this;
    const problem = entityType.validate?.(entityType.spec(resource));
    if (problem !== undefined) return stalled('InvalidSpec', problem);
    const { cache, drift, fileReads } = this.contexts.of(client, resource);
    await drift.ready();
    if (!(await client.components.isLoaded(entityType.type))) {
      const message = `The hub has not loaded its ${entityType.type} component yet.`;
      return waiting('HubNotReady', message, POD_NOT_READY_REQUEUE);
    }
    const work = this.workOn(resource, client, context);
    if (context.forced) this.invalidate(work);
    this.recordResult(work);
    if (work.cached.operation?.ended === false && !context.dryRun) return inProgress(entityType, work);
    const observation = await observe(entityType, work, fileReads, this.services.clock);
    if (context.dryRun) return dryRun(entityType, work, observation);
    if (!ownsId(entityType, work)) {
      // What is there is about to go, and belongs to no person.
      if (cache.isBeingRemoved(entityType.type, work.id))
        return inProgress(entityType, work, REMOVAL_POLL_INTERVAL);
      return this.acquire(work, observation);
    }
    switch (observation.type) {
      case 'Absent':
      case 'Different':
        return this.correct(work, observation.type, observation.differences);
      case 'NotLoaded':
        return this.ensureLoaded(work, observation);
      case 'Invalid':
        return this.onInvalid(work, observation);
      case 'InUse':
        return this.ensureInUse(work, observation);
    }
  }

  async remove(
    resource: R,
    client: HubClient,
    context: ReconcileContext,
  ): Promise<Waiting | readonly EventSpec[]> {
    const { type, reason } = this.entityType;
    const id = ownedId(this.entityType, resource);
    const ids = this.idsToRemove(resource);
    const isDeleted = id !== undefined && ids.includes(id);
    if (ids.length > 0 && !context.dryRun && !(await this.operations.ensureRemoved(resource, client, ids))) {
      return waiting(reason, `The ${type} ${ids.join(', ')} is being removed from the hub.`, FINALIZER_TRY);
    }
    if (id !== undefined && !isDeleted && !context.dryRun) await unmark(client, type, id);
    this.forget(resource, client);
    if (ids.length === 0 || !context.dryRun) return [];
    const message = `The ${type} ${ids.join(', ')} stays in the hub: nothing is sent with the annotation dry-run.`;
    return [{ type: 'Warning', reason: 'CleanupSkipped', message }];
  }

  objectOf(resource: R): string | undefined {
    const ids = this.idsToRemove(resource);
    return ids.length === 0 ? undefined : `${this.entityType.type} ${ids.join(', ')}`;
  }

  forget(resource: R, client: HubClient): void {
    this.contexts.of(client, resource).cache.delete(resource.metadata.uid);
  }

  /** The ids of the objects that go with the resource. */
  private idsToRemove(resource: R): readonly string[] {
    const id = ownedId(this.entityType, resource);
    const isDeleted = id !== undefined && shouldDelete(resource, this.entityType.spec(resource));
    return [...(isDeleted ? [id] : []), ...formerIds(resource)];
  }

  private workOn(resource: R, client: HubClient, context: ReconcileContext): EntityWork<R, S> {
    const { entityType } = this;
    const spec = entityType.spec(resource);
    const payload = entityType.payload(spec);
    const cached = this.contexts.of(client, resource).cache.get(resource.metadata.uid);
    const id = entityType.id(resource);
    return { resource, client, context, cached, spec, payload, id, hash: payloadHash(payload) };
  }

  /** `reconcile-requested-at`: cached answers are not used. */
  private invalidate({ cached }: EntityWork<R, S>): void {
    invalidate(cached, this.services.clock.monotonic());
    cached.rejection = undefined;
  }

  /**
   * Takes over the result of the operation that an earlier reconcile started. The result for a payload that is no
   * longer desired does not count.
   *
   * @throws the operation's error, unless the hub rejected the payload
   */
  private recordResult({ cached, hash, payload }: EntityWork<R, S>): void {
    const { operation, failure } = cached;
    if (!operation?.ended || (operation.error === undefined && operation.hash === hash)) return;
    cached.operation = undefined;
    const { error, hash: sent } = operation;
    if (error instanceof HubRejected) {
      cached.rejection = { hash: sent, error: withHint(error, payload), at: this.services.clock.monotonic() };
      return;
    }
    if (error instanceof HubFailed) {
      const count = (failure?.hash === sent ? failure.count : 0) + 1;
      cached.failure = { hash: sent, count, message: error.message };
    }
    if (error !== undefined) throw error;
  }

  /**
   * Records the id in status before anything is sent to the hub, so that a crash in between leaves no object that
   * belongs to no resource. An object that a person made is adopted; one that the operator made is taken over. The
   * object under a former id goes once the new one is in use: the hub may reject the new one.
   */
  private async acquire(work: EntityWork<R, S>, observation: Observation): Promise<Outcome> {
    const { resource, id, spec, cached } = work;
    const { idField, type } = this.entityType;
    const exists = observation.type !== 'Absent';
    const owner = exists ? this.operations.ownerOf(id, resource) : undefined;
    const { entity } = observation;
    // A removal that failed has taken the label away already.
    const isFormer = formerIds(resource).includes(id);
    const isOurs = isFormer || (entity !== undefined && (await isCreatedByOperator(work.client, entity)));
    const adopted = owner ? owner.status?.['adopted'] === true : exists && !isOurs;
    const events: EventSpec[] = [];
    if (adopted && !owner) {
      const message = `The hub already had the ${type} ${id}: it now belongs to this resource.`;
      events.push({ type: 'Warning', reason: 'Adopted', message });
    }
    const former = ownedId(this.entityType, resource);
    const leftovers = formerIds(resource).filter((each) => each !== id);
    cached.formerEntityId = undefined;
    if (former !== undefined && shouldDelete(resource, spec)) {
      leftovers.push(former);
      cached.formerEntityId = resource.status?.['entityId'] as string | undefined;
    } else if (former !== undefined) {
      const message =
        `The ${type} ${former} stays in the hub beside ${id}, ` +
        `${spec.deletionPolicy ? 'as deletionPolicy is Orphan' : 'since it was adopted'}: remove it in the hub if it is not wanted.`;
      events.push({ type: 'Warning', reason: 'CleanupSkipped', message });
    }
    cached.observed = { source: 'status', at: this.services.clock.monotonic() };
    cached.removal = undefined;
    return inProgress(this.entityType, work, 0, {
      status: {
        [idField]: id,
        formerIds: leftovers.length > 0 ? leftovers : null,
        adopted: adopted || null,
        appliedHash: null,
        entityId: null,
      },
      events,
    });
  }

  /** Writes the payload, unless the drift may only be reported or the hub has just rejected the same payload. */
  private async correct(
    work: EntityWork<R, S>,
    type: 'Absent' | 'Different',
    differences: readonly Difference[],
  ): Promise<Outcome> {
    const { client, cached, spec, hash } = work;
    const now = this.services.clock.monotonic();
    const drifted = this.isDrift(work);
    const text = formatDiff(differences, client.rest.redact);
    const kind = this.entityType.type;
    const change =
      type === 'Different'
        ? `The ${kind} was changed in the hub (${text}).`
        : `The ${kind} was removed from the hub.`;
    if (drifted && spec.driftPolicy === 'Warn')
      return this.drift.left(
        conditionOf(work.resource, 'Ready'),
        `${change} driftPolicy is Warn: it is not corrected.`,
      );
    const rejected = await this.stillRejected(work, now);
    if (rejected) return rejected;
    const correction = type === 'Different' ? `${hash} ${JSON.stringify(differences)}` : undefined;
    if (correction !== undefined && correctionsOf(cached, correction, now) >= MAX_EQUAL_CORRECTIONS) {
      return this.drift.left(
        conditionOf(work.resource, 'Ready'),
        `Each correction is reverted in the hub (${text}): it is not corrected again for an hour. ` +
          'Copy the value of the hub into the spec, or report a value that the hub rewrites.',
      );
    }
    const pause = (cached.lastWriteAt ?? -Infinity) + writeInterval(work) - now;
    if (pause > 0) return inProgress(this.entityType, work, pause);
    cached.lastWriteAt = now;
    this.operations.write(work, correction);
    if (!drifted) return inProgress(this.entityType, work);
    const event = this.drift.corrected(
      `${change} ${type === 'Different' ? 'The change is reverted.' : 'It is created again.'}`,
    );
    return inProgress(this.entityType, work, undefined, { events: [event] });
  }

  /** The outcome while the hub would reject the payload again; undefined: it may be sent. */
  private async stillRejected(work: EntityWork<R, S>, now: number): Promise<Outcome | undefined> {
    const { cached, hash } = work;
    const { rejection } = cached;
    if (rejection?.hash !== hash || now - rejection.at >= REJECTED_WRITE_RETRY_INTERVAL) return undefined;
    if (await blueprintAppeared(this.entityType.type, work)) return undefined;
    return hubErrorOutcome(rejection.error, 'object', blueprintRecheck(work));
  }

  /** The hub had accepted the desired payload, and no write of ours replaced it. */
  private isDrift(work: EntityWork<R, S>): boolean {
    const { observed } = work.cached;
    const isReplaced = 'hash' in observed && observed.hash !== work.hash;
    return isAccepted(this.entityType, work) && !isReplaced;
  }

  /** The hub disabled the payload. A blueprint that was imported since is used after a reload. */
  private async onInvalid(
    work: EntityWork<R, S>,
    observation: Observation & { readonly type: 'Invalid' },
  ): Promise<Outcome> {
    if (await blueprintAppeared(this.entityType.type, work)) {
      this.operations.reload(work);
      return inProgress(this.entityType, work);
    }
    return this.finish(work, { observation }, (accepted) => ({
      ...disabledAsInvalid(this.entityType, work, observation.error, accepted),
      ...blueprintRecheck(work),
    }));
  }

  private async ensureLoaded(work: EntityWork<R, S>, observation: Observation): Promise<Outcome> {
    const { entityType } = this;
    const { cached, spec, hash } = work;
    const now = this.services.clock.monotonic();
    const step = nextLoadStep(loadPolicyOf(entityType, spec), cached, now);
    switch (step.type) {
      case 'Reload':
        this.operations.reload(work);
        return inProgress(entityType, work);
      case 'Wait':
        return inProgress(entityType, work, step.after);
      case 'ReloadFailed':
        return this.finishWithState(work, observation, (accepted) =>
          readyOutcome(entityType, work, accepted),
        );
      case 'NotLoaded':
        if (cached.operation?.reload?.ok) recordObserved(cached, 'reload', hash, now);
        return this.finishWithState(work, observation, (accepted) =>
          notLoaded(entityType, work, accepted, step.after),
        );
    }
  }

  /** The payload is in use. The entity is enabled and its component reloaded as the spec says. */
  private async ensureInUse(
    work: EntityWork<R, S>,
    observation: Observation & { readonly type: 'InUse' },
  ): Promise<Outcome> {
    const { entityType } = this;
    const { client, cached, spec } = work;
    const { entity } = observation;
    if (entity.disabled_by !== null && (isNew(work) || entityType.shouldEnable?.(work))) {
      await client.entityRegistry.enable(entity.entity_id);
      this.operations.reload(work);
      return inProgress(entityType, work);
    }
    const needsReload = entityType.reloads && spec.autoReload && !this.isReloaded(work);
    if (needsReload && !cached.operation?.reload) {
      this.operations.reload(work);
      return inProgress(entityType, work);
    }
    return this.finishWithState(work, observation, (accepted) => readyOutcome(entityType, work, accepted));
  }

  /** Whether status records that the payload was reloaded, or that the reload failed too recently for a retry. */
  private isReloaded(work: EntityWork<R, S>): boolean {
    if (!isAccepted(this.entityType, work)) return false;
    const reason = conditionOf(work.resource, 'ReloadReady')?.reason;
    if (reason === undefined || reason === 'ReloadDisabled') return false;
    return reason === 'ReloadSuccessful' || hasJustFailed(work.cached, this.services.clock.monotonic());
  }

  /** Removes the objects of former ids, corrects the state of the entity, then finishes. */
  private async finishWithState(
    work: EntityWork<R, S>,
    observation: Observation,
    outcome: (accepted: Accepted) => Outcome,
  ): Promise<Outcome> {
    const isInUse = observation.type === 'InUse';
    const entity = isInUse ? await this.replaceFormer(work, observation.entity) : observation.entity;
    if (entity === 'in progress') return inProgress(this.entityType, work);
    const context = { inUse: isInUse, now: this.services.clock.monotonic() };
    const state = (entity && (await this.entityType.ensureState?.(work, entity, context))) ?? {};
    if (state.left) {
      const { message, after } = state.left;
      return after === undefined
        ? this.drift.left(conditionOf(work.resource, 'Ready'), message)
        : stalled('DriftDetected', message, { after });
    }
    const events = state.corrected === undefined ? [] : [this.drift.corrected(state.corrected)];
    if (isInUse && entity) await this.mark(work, entity);
    const carriedOut = { ...state.status, ...(isInUse && { formerIds: null }) };
    return this.finish(
      work,
      { observation: { ...observation, entity } as Observation, carriedOut, events },
      outcome,
    );
  }

  /**
   * Removes the objects under former ids. The entity then gets the entity id of the former one, which the hub could not
   * give it while both existed: dashboards refer to it.
   */
  private async replaceFormer(
    { resource, client, cached }: EntityWork<R, S>,
    entity: RegistryEntity,
  ): Promise<RegistryEntity | 'in progress'> {
    const ids = formerIds(resource);
    if (ids.length === 0) return entity;
    if (!(await this.operations.ensureRemoved(resource, client, ids))) return 'in progress';
    const former = cached.formerEntityId;
    cached.formerEntityId = undefined;
    if (former === undefined || !/^_\d+$/.test(entity.entity_id.replace(former, ''))) return entity;
    try {
      await client.entityRegistry.rename(entity.entity_id, former);
      return { ...entity, entity_id: former };
    } catch (error) {
      if (error instanceof HubRejected) return entity; // another entity took it
      throw error;
    }
  }

  /** `Hub.spec.markManaged`. A hub without labels keeps the object all the same. */
  private async mark({ client, resource }: EntityWork<R, S>, entity: RegistryEntity): Promise<void> {
    const { namespace } = resource.metadata;
    const hub = this.services.cache.get<Hub>('Hub', namespace, resource.spec.hubRef.name);
    const mark = resource.status?.['adopted'] ? 'adopted' : 'managed';
    try {
      await markEntity(client, entity, hub?.spec.markManaged === false ? 'none' : mark);
    } catch (error) {
      if (!(error instanceof HubRejected)) throw error;
      const fields = { kind: resource.kind, namespace, name: resource.metadata.name, error };
      this.services.log.warn(fields, 'failed to label entity');
    }
  }

  /** Discards the result of the operation when the outcome has it. */
  private finish(
    { cached }: EntityWork<R, S>,
    accepted: Accepted,
    outcome: (accepted: Accepted) => Outcome,
  ): Outcome {
    const result = outcome(accepted);
    cached.operation = undefined;
    return result;
  }
}

/** Milliseconds between two writes. While the hub cannot read its file, every write fails: the interval doubles. */
function writeInterval({ cached: { failure }, hash }: EntityWork): number {
  return failure?.hash === hash
    ? Math.min(MIN_WRITE_INTERVAL * 2 ** failure.count, RESYNC / 2)
    : MIN_WRITE_INTERVAL;
}
