import { HubFailed, HubRejected } from '../../client/connection/errors';
import type { HubClient } from '../../client/hub-client';
import { REJECTED_WRITE_RETRY_INTERVAL } from '../../base/limits';
import type { EventSpec } from '../../runtime/event-spec';
import { type Outcome, stalled, type Waiting, waiting } from '../../runtime/outcome';
import { conditionOf } from '../../runtime/conditions';
import type { ReconcileContext } from '../../runtime/sync-module';
import type { Child } from '../objects/child';
import { hubVolume } from '../hub-pod/hub-volume';
import { DriftPolicy } from '../objects/drift-policy';
import type { OwnEntitySettings } from '../objects/own-entity';
import { ObjectSync, untilLoaded } from '../objects/object-sync';
import { recordedId } from '../objects/ownership';
import { WritePacing } from '../objects/write-pacing';
import type { Services } from '../services';
import { acquire, forgetFormer, forgetObject, untilAnnounced } from './acquisition';
import { canClaim, Claims } from './claim';
import { Completion } from './completion';
import {
  conflictInConfiguration,
  detailsOf,
  disabledAsInvalid,
  disabledMessage,
  dryRun,
  inProgress,
  notLoaded,
  readyOutcome,
} from './conditions';
import { invalidate, recordObserved } from './entity-cache';
import { Corrections } from './correction';
import { hashOf } from './diff';
import type { ConfigEntitySpec, EntityType } from './entity-type';
import type { EntityContexts } from './entity-contexts';
import { hasJustFailed } from './load';
import type { Observation } from './observation';
import { Operations } from './operations';
import { isAccepted, isNew, ownsId, wasAccepted } from './ownership';
import { type PlacedWork, type Remedy, TakenBack } from './place';
import { Removals } from './removals';
import { shouldDelete } from '../objects/removal';
import { blueprintAppeared, blueprintRecheck, untilBlueprintReady } from './blueprint';
import type { ReferenceCheck } from './references';
import { withHint } from './rejection-hint';

/**
 * Milliseconds between checks whether a removal has ended. The end of a removal requeues its own resource,
 * but not another one that takes the id.
 */
const REMOVAL_POLL_INTERVAL = 1_000;

/**
 * Reconciles automations, scenes or scripts. The id is recorded in status. The payload is written if the hub
 * has another one, then reloaded, and observed to be in use. A reconcile never waits for a write or reload:
 * it starts one and returns, and the end requeues the resource. After a crash the next reconcile compares
 * again and continues.
 */
export class ConfigEntitySync<R extends Child, S extends ConfigEntitySpec> extends ObjectSync<
  R,
  PlacedWork<R, S>,
  Observation
> {
  private readonly claims: Claims<R>;
  private readonly removals: Removals<R, S>;
  private readonly operations: Operations<R, S>;
  private readonly drift: DriftPolicy;
  private readonly pacing: WritePacing;
  private readonly corrections: Corrections<R, S>;
  private readonly completion: Completion<R, S>;

  constructor(
    private readonly entityType: EntityType<R, S>,
    private readonly services: Pick<Services, 'cache' | 'clock' | 'log' | 'metrics' | 'requeue'>,
    private readonly contexts: EntityContexts,
    private readonly settings: OwnEntitySettings,
    private readonly references: Pick<ReferenceCheck, 'complete' | 'forget'>,
  ) {
    super();
    this.drift = new DriftPolicy(services, entityType.definition);
    this.pacing = new WritePacing(services.clock, REJECTED_WRITE_RETRY_INTERVAL);
    this.claims = new Claims(entityType, services, contexts);
    this.operations = new Operations(entityType, services, contexts, this.claims, this.drift, this.pacing);
    this.corrections = new Corrections(entityType, this.operations, this.drift, this.pacing, services);
    this.removals = new Removals(entityType, services, contexts, this.claims);
    this.completion = new Completion(entityType, services, this.removals, this.drift);
  }

  protected override async known(
    resource: R,
    client: HubClient,
    { dryRun }: ReconcileContext,
  ): Promise<R | Outcome> {
    const { reason, type } = this.entityType;
    const claimed = await this.claims.known(resource, client);
    const status = dryRun ? undefined : this.claims.unrecorded(resource, client);
    return status && recordedId(this.entityType, resource) !== undefined
      ? waiting(reason, `The ${type} is being sent to the hub.`, 0, { status })
      : claimed;
  }

  protected override recorded(
    outcome: Outcome,
    resource: R,
    client: HubClient,
    { dryRun }: ReconcileContext,
  ): Outcome {
    const claim = dryRun ? undefined : this.claims.unrecorded(resource, client);
    return claim ? { ...outcome, status: { ...claim, ...outcome.status } } : outcome;
  }

  protected override async begin(
    resource: R,
    client: HubClient,
    context: ReconcileContext,
  ): Promise<PlacedWork<R, S> | Outcome> {
    const { entityType } = this;
    const problem = entityType.validate?.(entityType.spec(resource));
    if (problem !== undefined) return stalled('InvalidSpec', problem);
    const conflict = conflictInConfiguration(entityType, resource, this.services);
    if (conflict) return conflict;
    const { drift } = this.contexts.of(client, resource);
    await drift.watchEvents();
    const notLoaded = await untilLoaded(client, entityType.type);
    if (notLoaded) return notLoaded;
    const work = this.workOn(resource, client, context);
    if (context.forced) this.invalidate(work);
    await this.recordResult(work);
    return work;
  }

  protected override follow(work: PlacedWork<R, S>): Promise<Outcome | undefined> {
    const { operation } = work.cached;
    const isRunning = operation && !operation.end;
    return Promise.resolve(isRunning ? inProgress(this.entityType, work) : undefined);
  }

  protected override forgetObject(work: PlacedWork<R, S>): Outcome {
    return forgetObject(this.entityType, work);
  }

  protected override observe(work: PlacedWork<R, S>): Promise<Observation> {
    return work.place.observe(this.entityType, work);
  }

  protected override dryRun(work: PlacedWork<R, S>, observation: Observation): Outcome | Promise<Outcome> {
    return this.withSettings(work, observation, dryRun(this.entityType, work, observation));
  }

  protected override async acquire(
    work: PlacedWork<R, S>,
    observation: Observation,
  ): Promise<Outcome | undefined> {
    const { entityType } = this;
    const { client, id, resource } = work;
    if (ownsId(entityType, work)) return untilAnnounced(entityType, work, work.place);
    const { cache, places } = this.contexts.of(client, resource);
    // Another resource is about to remove this object, so it was not made by a user and must not be adopted.
    if (cache.isBeingRemoved(entityType.type, id)) return inProgress(entityType, work, REMOVAL_POLL_INTERVAL);
    const { clock } = this.services;
    if (observation.type === 'Absent' && !observation.entity && canClaim(entityType, work)) {
      forgetFormer(work.cached, clock.monotonic());
      work.cached.claim = id;
      return undefined;
    }
    const former = recordedId(entityType, resource);
    if (former !== undefined && !shouldDelete(resource)) {
      const announced = untilAnnounced(entityType, work, places.own);
      if (announced) return announced;
      if (!(await this.removals.leave(resource, client, former))) return inProgress(entityType, work);
      await this.settings.putBack(resource, client);
    }
    const present = places.whereIs(entityType.type, id);
    return acquire(entityType, work, observation, { clock, claims: this.claims, present });
  }

  protected override async ensure(work: PlacedWork<R, S>, observation: Observation): Promise<Outcome> {
    switch (observation.type) {
      case 'Absent':
      case 'Different':
        return this.corrections.correct(work, observation);
      case 'Elsewhere':
        return this.corrections.moveHere(work, observation.definition);
      case 'NotLoaded':
        return this.ensureLoaded(work, observation);
      case 'Invalid':
        return this.onInvalid(work, observation);
      case 'InUse':
        return this.ensureInUse(work, observation);
    }
  }

  override async remove(resource: R, client: HubClient): Promise<Waiting | readonly EventSpec[]> {
    const removed = await this.removals.remove(resource, client);
    return 'type' in removed ? removed : [...removed, ...(await this.settings.putBack(resource, client))];
  }

  isOutsideVolume(resource: R, client: HubClient): Promise<boolean> {
    return this.removals.isOutsideVolume(resource, client);
  }

  isWorking(resource: R, client: HubClient): boolean {
    return this.contexts.of(client, resource).cache.get(resource.metadata.uid).operation !== undefined;
  }

  override objectOf(resource: R, client: HubClient | undefined): string | undefined {
    return this.removals.objectOf(resource, client) ?? this.settings.objectOf(resource);
  }

  override forget(resource: R, client: HubClient): void {
    const { cache, places } = this.contexts.of(client, resource);
    cache.delete(resource.metadata.uid);
    places.claims.unclaim(resource.metadata.uid);
    this.settings.forget(resource, client);
    this.references.forget(resource, client);
  }

  private workOn(resource: R, client: HubClient, context: ReconcileContext): PlacedWork<R, S> {
    const { entityType } = this;
    const { cache, places } = this.contexts.of(client, resource);
    const cached = cache.get(resource.metadata.uid);
    const place = places.desired;
    if (cached.movedTo !== place) cached.movedTo = undefined;
    const spec = entityType.spec(resource);
    const payload = entityType.payload(spec);
    const id = entityType.id(resource);
    const volume = hubVolume(this.services, resource.metadata.namespace, resource.spec.hubRef.name);
    const { generation } = resource.metadata;
    if (cached.desired?.generation !== generation)
      cached.desired = { generation, hash: hashOf(entityType, id, payload) };
    const { hash } = cached.desired;
    // If the spec has changed, a former rejection is forgotten. The hub is asked again, even if the spec is
    // changed back later.
    if (cached.rejection?.hash !== hash) cached.rejection = undefined;
    return {
      resource,
      client,
      context,
      cached,
      spec,
      payload,
      id,
      hash,
      volume,
      place,
    };
  }

  /** Invalidates cached answers when `reconcile-requested-at` is set. */
  private invalidate({ cached }: PlacedWork<R, S>): void {
    invalidate(cached, this.services.clock.monotonic());
    cached.rejection = undefined;
  }

  /**
   * Records the result of the operation that an earlier reconcile started. A result for a payload that is no
   * longer desired is ignored.
   *
   * @throws the operation's error, unless the hub rejected the payload
   */
  private async recordResult({ cached, client, hash, payload }: PlacedWork<R, S>): Promise<void> {
    const { operation } = cached;
    if (!operation?.end) return;
    const { hash: sent, error, reload } = operation;
    const isFailure = error instanceof HubRejected || error instanceof HubFailed || reload?.ok === false;
    // A hub that has restarted since loads its files on its own, and may accept the same write now.
    if (isFailure && !(await client.presence.hasRunSince(operation.epoch))) {
      operation.reload = undefined;
      cached.reloadFailedAt = undefined;
      if (error !== undefined || sent !== hash) cached.operation = undefined;
      return;
    }
    if (error === undefined && sent === hash) return;
    cached.operation = undefined;
    const isRejected = error instanceof HubRejected;
    this.pacing.record(
      cached,
      sent,
      isRejected ? withHint(error, payload) : error,
      error instanceof TakenBack,
    );
    if (error !== undefined && !isRejected) throw error;
  }

  /**
   * Handles a payload that the hub has disabled. If its blueprint was imported since, a reload makes the hub
   * use it.
   */
  private async onInvalid(
    work: PlacedWork<R, S>,
    observation: Observation & { readonly type: 'Invalid' },
  ): Promise<Outcome> {
    if (await blueprintAppeared(this.entityType.type, work)) {
      this.operations.reload(work);
      return inProgress(this.entityType, work);
    }
    const awaited = untilBlueprintReady(this.services, this.entityType.type, work);
    if (awaited) return awaited;
    const remedy = await work.place.verify(this.entityType, work, observation);
    if (remedy) return this.apply(work, remedy);
    return this.completion.finish(work, { observation }, (accepted) => ({
      ...disabledAsInvalid(this.entityType, work, observation.error, accepted),
      ...blueprintRecheck(work),
    }));
  }

  private async ensureLoaded(work: PlacedWork<R, S>, observation: Observation): Promise<Outcome> {
    const { entityType } = this;
    const { cached, hash } = work;
    const step = await work.place.loadStep(entityType, work);
    switch (step.type) {
      case 'Reload':
        this.operations.reload(work);
        return inProgress(entityType, work);
      case 'Wait':
        return inProgress(entityType, work, step.after);
    }
    const remedy = await work.place.verify(entityType, work, observation, step);
    if (remedy) return this.apply(work, remedy);
    if (step.type === 'AtNextStart')
      return this.completion.finishWithState(work, observation, (accepted) =>
        readyOutcome(entityType, work, accepted),
      );
    if (cached.operation?.reload?.ok) recordObserved(cached, 'reload', hash, this.services.clock.monotonic());
    return this.completion.finishWithState(work, observation, (accepted) =>
      notLoaded(entityType, work, accepted, step.after),
    );
  }

  private apply(work: PlacedWork<R, S>, remedy: Remedy): Outcome | Promise<Outcome> {
    switch (remedy.type) {
      case 'WriteAgain':
        return this.corrections.send(work, () => {
          this.operations.write(work, { correction: undefined, kept: remedy.kept });
          return {};
        });
      case 'Correct':
        return this.corrections.correct(work, remedy.observation);
      case 'Withdraw':
        this.operations.withdraw(work, new TakenBack(remedy.reason), remedy.withdraw);
        return inProgress(this.entityType, work);
    }
  }

  /**
   * Handles a payload that is in use. If the spec requires it, the entity is enabled and its component
   * reloaded.
   */
  private async ensureInUse(
    work: PlacedWork<R, S>,
    observation: Observation & { readonly type: 'InUse' },
  ): Promise<Outcome> {
    const { entityType } = this;
    const { client, cached, spec } = work;
    const { entity } = observation;
    await work.place.verify(entityType, work, observation);
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
    const outcome = await this.completion.finishWithState(work, observation, (accepted) =>
      entity.disabled_by === null
        ? readyOutcome(entityType, work, accepted)
        : {
            ...this.drift.reportLeft(work.resource, disabledMessage(entityType, entity)),
            ...detailsOf(entityType, work, accepted),
          },
    );
    const checked = await this.references.complete(entityType, work, observation, outcome);
    return this.withSettings(work, observation, checked);
  }

  /** The outcome of the definition, and of the settings of its entity once the hub uses that. */
  private withSettings(
    { resource, client, context }: PlacedWork<R, S>,
    observation: Observation,
    outcome: Outcome,
  ): Outcome | Promise<Outcome> {
    if (outcome.type !== 'Ready' || observation.type !== 'InUse') return outcome;
    return this.settings.settle(outcome, observation.entity.id, resource, client, context);
  }

  /**
   * Reports whether status records that the payload was reloaded, or that the reload failed too recently for
   * a retry.
   */
  private isReloaded(work: PlacedWork<R, S>): boolean {
    if (!wasAccepted(this.entityType, work)) return true; // a user made it
    if (!isAccepted(this.entityType, work)) return false;
    const reason = conditionOf(work.resource, 'ReloadReady')?.reason;
    if (reason === undefined || reason === 'ReloadDisabled') return false;
    const isDone = reason === 'ReloadSuccessful' || reason === 'ReloadNotNeeded';
    return isDone || hasJustFailed(work.cached, this.services.clock.monotonic());
  }
}
