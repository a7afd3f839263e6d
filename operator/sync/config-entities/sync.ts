import { HubFailed, HubRejected } from '../../client/connection/errors';
import type { EntityPayload } from '../../client/connection/config-entity';
import type { HubClient } from '../../client/hub-client';
import { DEPENDENCY_REQUEUE, FINALIZER_TRY, REJECTED_WRITE_RETRY_INTERVAL } from '../../base/limits';
import type { EventSpec } from '../../runtime/event-spec';
import { type Outcome, stalled, type Waiting, waiting } from '../../runtime/outcome';
import { conditionOf } from '../../runtime/conditions';
import type { ReconcileContext } from '../../runtime/sync-module';
import type { Child } from '../objects/child';
import { type FieldDiff, formatDiff } from '../objects/field-diff';
import { isMarker } from '../../kinds/ids';
import { hubErrorOutcome } from '../hub-access/hub-errors';
import { hubVolume } from '../hub-workload/hub-volume';
import { isInConfiguration } from '../hub-workload/own-definitions';
import { DriftPolicy, isDriftLeft } from '../objects/drift-policy';
import { ObjectSync, untilLoaded } from '../objects/object-sync';
import { recordedId } from '../objects/ownership';
import { WritePacing } from '../objects/write-pacing';
import type { Services } from '../services';
import { acquire, forgetFormer, forgetObject } from './acquisition';
import { canClaim, Claims } from './claim';
import { Completion } from './completion';
import {
  detailsOf,
  disabledAsInvalid,
  disabledMessage,
  dryRun,
  inProgress,
  notLoaded,
  readyOutcome,
} from './conditions';
import { invalidate, recordObserved } from './entity-cache';
import { whyNotLoaded } from './delivery/why-not-loaded';
import { undeliverable } from './delivery/item-text';
import { TakenBack } from './delivery/taken-back';
import { followStart } from './delivery/follow-start';
import { observeDelivered } from './delivery/observe-delivered';
import { diff, hashOf, unexpressed } from './diff';
import type { ConfigEntitySpec, EntityType, EntityWork } from './entity-type';
import type { HubContexts } from './hub-contexts';
import { hasJustFailed, loadPolicyOf, nextLoadStep } from './load';
import { type Observation, observe } from './observe';
import { Operations } from './operations';
import { formerIds, isAccepted, isNew, ownsId, wasAccepted } from './ownership';
import { cleanupSkipped, shouldDelete } from '../objects/removal';
import { blueprintAppeared, blueprintRecheck } from './blueprint';
import { withHint } from './rejection-hint';
import { unmark } from './ownership-label';

/** The end of a removal queues the resource that it is for, but not another one that takes the id (milliseconds). */
const REMOVAL_POLL_INTERVAL = 1_000;

/**
 * Reconciles automations, scenes or scripts: the id is recorded in status, the payload written when the hub has another
 * one, reloaded, and observed to be in use. A reconcile never waits for a write or a reload: it starts one and returns,
 * and the end of it queues the resource again. After a crash the next reconcile compares again and continues.
 */
export class ConfigEntitySync<R extends Child, S extends ConfigEntitySpec> extends ObjectSync<
  R,
  EntityWork<R, S>,
  Observation
> {
  private readonly claims: Claims<R>;
  private readonly operations: Operations<R, S>;
  private readonly drift: DriftPolicy;
  private readonly pacing: WritePacing;
  private readonly completion: Completion<R, S>;

  constructor(
    private readonly entityType: EntityType<R, S>,
    private readonly services: Pick<Services, 'cache' | 'clock' | 'log' | 'metrics' | 'requeue'>,
    private readonly contexts: HubContexts,
  ) {
    super();
    this.drift = new DriftPolicy(services, entityType.definition);
    this.pacing = new WritePacing(services.clock, REJECTED_WRITE_RETRY_INTERVAL);
    this.claims = new Claims(entityType, services, contexts);
    this.operations = new Operations(entityType, services, contexts, this.claims, this.drift, this.pacing);
    this.completion = new Completion(entityType, services, this.operations, this.drift);
  }

  protected override async known(
    resource: R,
    client: HubClient,
    { dryRun }: ReconcileContext,
  ): Promise<R | Outcome> {
    const { reason, type } = this.entityType;
    const claimed = await this.claimed(resource, client);
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
  ): Promise<EntityWork<R, S> | Outcome> {
    const { entityType } = this;
    const problem = entityType.validate?.(entityType.spec(resource));
    if (problem !== undefined) return stalled('InvalidSpec', problem);
    const conflict = this.conflictInConfiguration(resource);
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

  /** The hub runs only one of two with the same id, and its API cannot write the one in the configuration. */
  private conflictInConfiguration(resource: R): Outcome | undefined {
    const { type } = this.entityType;
    const id = this.entityType.id(resource);
    const { name: hub } = resource.spec.hubRef;
    const { namespace } = resource.metadata;
    if (!isInConfiguration(this.services, { namespace, hub }, type, id)) return undefined;
    const message = `The configuration of the hub has the ${type} ${id} itself, in a package or a section of its own: remove it from the HubConfiguration, or give this resource another id.`;
    return stalled('NameConflict', message, { after: DEPENDENCY_REQUEUE });
  }

  protected override follow(work: EntityWork<R, S>): Promise<Outcome | undefined> {
    const { operation } = work.cached;
    const isRunning = operation && !operation.end;
    return Promise.resolve(isRunning ? inProgress(this.entityType, work) : undefined);
  }

  protected override forgetObject(work: EntityWork<R, S>): Outcome {
    return forgetObject(this.entityType, work);
  }

  protected override async observe(work: EntityWork<R, S>): Promise<Observation | Outcome> {
    const { entityType } = this;
    const { fileReads, delivery } = this.contexts.of(work.client, work.resource);
    const isOurs = ownsId(entityType, work);
    const delivered = delivery.definitions.get(entityType.type, work.id);
    if (delivered && isOurs && !work.isByFile) return this.returnToHubFile(work, delivered);
    return work.isByFile && (isOurs || delivered)
      ? observeDelivered(entityType, work, delivery.definitions)
      : observe(entityType, work, fileReads, this.services.clock);
  }

  protected override dryRun(work: EntityWork<R, S>, observation: Observation): Outcome {
    return dryRun(this.entityType, work, observation);
  }

  protected override async acquire(
    work: EntityWork<R, S>,
    observation: Observation,
  ): Promise<Outcome | undefined> {
    const { entityType } = this;
    const { client, id, resource } = work;
    if (ownsId(entityType, work)) {
      // Before the hub's own file gets it: with File again, the object is looked for there.
      const isRecorded = work.isByFile || resource.status?.['delivery'] !== 'File';
      return isRecorded ? undefined : inProgress(entityType, work, 0, { status: { delivery: null } });
    }
    const { cache, delivery } = this.contexts.of(client, resource);
    // The object in the hub is about to be removed by another resource: no person made it, so it is not adopted.
    if (cache.isBeingRemoved(entityType.type, id)) return inProgress(entityType, work, REMOVAL_POLL_INTERVAL);
    if (observation.type === 'Absent' && !observation.entity && canClaim(entityType, work)) {
      forgetFormer(work.cached, this.services.clock.monotonic());
      work.cached.claim = id;
      return undefined;
    }
    const former = recordedId(entityType, resource);
    const stays = former !== undefined && !shouldDelete(resource);
    // Before the hub's own file gets it: with the former id again, the object is looked for there.
    if (stays && resource.status?.['delivery'] === 'File')
      return inProgress(entityType, work, 0, { status: { delivery: null } });
    if (stays && !(await this.operations.ensureReturned(resource, client, former)))
      return inProgress(entityType, work);
    const ownerOf = (each: string) => this.claims.ownerOf(each, resource, client);
    const isDelivered = delivery.definitions.get(entityType.type, id) !== undefined;
    return acquire(entityType, work, observation, { clock: this.services.clock, ownerOf, isDelivered });
  }

  protected override async ensure(work: EntityWork<R, S>, observation: Observation): Promise<Outcome> {
    switch (observation.type) {
      case 'Absent':
      case 'Different':
        return this.correct(work, observation);
      case 'NotLoaded':
        return this.ensureLoaded(work, observation);
      case 'Invalid':
        return this.onInvalid(work, observation);
      case 'InUse':
        return this.ensureInUse(work, observation);
    }
  }

  override async remove(resource: R, client: HubClient): Promise<Waiting | readonly EventSpec[]> {
    const { type, reason } = this.entityType;
    const claimed = await this.claimed(resource, client);
    const id = recordedId(this.entityType, claimed);
    const ids = this.idsToRemove(claimed);
    // The ConfigMap tells of it no more long before the hub is without it.
    const status = this.claims.unrecorded(resource, client);
    if (status) return waiting(reason, `The ${type} ${id} is about to be removed.`, 0, { status });
    if (ids.length > 0 && !this.operations.ensureRemoved(resource, client, ids))
      return waiting(reason, `The ${type} ${ids.join(', ')} is being removed from the hub.`, FINALIZER_TRY);
    if (id === undefined || ids.includes(id)) return [];
    try {
      if (!(await this.operations.ensureReturned(resource, client, id)))
        return waiting(reason, `The ${type} ${id} is moved into the hub’s own file.`, FINALIZER_TRY);
    } catch (error) {
      if (!(error instanceof HubRejected)) throw error;
      const why = `it stays in a ConfigMap of the operator, since the hub does not take it into its own file (${error.message})`;
      return [cleanupSkipped(`${type} ${id}`, why)];
    }
    await unmark(client, type, id);
    return [];
  }

  async isOutsideVolume(resource: R, client: HubClient): Promise<boolean> {
    const { cache, delivery } = this.contexts.of(client, resource);
    await delivery.files.load();
    const ids = [recordedId(this.entityType, resource), ...formerIds(resource)];
    const isDelivered = ids.some((id) => id && delivery.definitions.get(this.entityType.type, id));
    // A removal takes it out of these long before the hub is without it.
    return (cache.get(resource.metadata.uid).isRemovedFromFiles ||= isDelivered);
  }

  isWorking(resource: R, client: HubClient): boolean {
    return this.contexts.of(client, resource).cache.get(resource.metadata.uid).operation !== undefined;
  }

  override objectOf(resource: R, client: HubClient | undefined): string | undefined {
    const ids = this.idsToRemove(client ? this.claims.with(resource, client) : resource);
    return ids.length === 0 ? undefined : `${this.entityType.type} ${ids.join(', ')}`;
  }

  override forget(resource: R, client: HubClient): void {
    const { cache, delivery } = this.contexts.of(client, resource);
    cache.delete(resource.metadata.uid);
    delivery.definitions.unclaim(resource.metadata.uid);
  }

  /** The resource with the object that this process or a former one has claimed for it. */
  private async claimed(resource: R, client: HubClient): Promise<R> {
    await this.contexts.of(client, resource).delivery.files.load();
    return this.claims.with(resource, client);
  }

  /** The ids of the objects that go with the resource. */
  private idsToRemove(resource: R): readonly string[] {
    const id = recordedId(this.entityType, resource);
    const isDeleted = id !== undefined && shouldDelete(resource);
    return [...(isDeleted ? [id] : []), ...formerIds(resource)];
  }

  /** `Hub.spec.delivery` is `Api`, and the object is still delivered as a file: first the hub's own file gets it. */
  private async returnToHubFile(work: EntityWork<R, S>, delivered: EntityPayload): Promise<Outcome> {
    const { entityType } = this;
    const { client, id, payload, context } = work;
    if (context.dryRun)
      return stalled(
        'DryRun',
        `Would move ${id} into the hub’s own file. Remove the annotation to apply it.`,
      );
    // Before the hub's own file gets it: with File again, the object is looked for there.
    if (work.resource.status?.['delivery'] === 'File')
      return inProgress(entityType, work, 0, { status: { delivery: null } });
    const stored = await client.entities.read(entityType.type, id);
    const differences = stored ? diff(entityType, id, stored, payload) : [];
    const isEqual = stored && differences.length === 0;
    // A person has made the one in the hub's own file.
    const drifted = differences.length > 0 && this.isDrift(work);
    // An object that is left is compared as drift once it is the only one.
    if (isEqual || isDriftLeft(work.resource, drifted)) {
      this.operations.returnToHubFile(work, undefined);
      return inProgress(entityType, work);
    }
    const rejected = await this.stillRejected(work);
    if (rejected) return rejected;
    const pause = this.pacing.pause(work.cached, work.hash);
    if (pause > 0) return inProgress(entityType, work, pause);
    this.pacing.mark(work.cached);
    this.operations.returnToHubFile(work, unexpressed(entityType, stored ?? delivered));
    if (!drifted) return inProgress(entityType, work);
    const change = this.changedInHub(work, differences);
    return inProgress(entityType, work, undefined, {
      events: [this.drift.reportCorrected(`${change} The change is reverted.`)],
    });
  }

  /** A sentence. */
  private changedInHub({ client }: EntityWork<R, S>, differences: readonly FieldDiff[]): string {
    return `The ${this.entityType.type} was changed in the hub (${formatDiff(differences, client.rest.redact)}).`;
  }

  private workOn(resource: R, client: HubClient, context: ReconcileContext): EntityWork<R, S> {
    const { entityType } = this;
    const { cache, delivery } = this.contexts.of(client, resource);
    const cached = cache.get(resource.metadata.uid);
    const spec = entityType.spec(resource);
    const payload = entityType.payload(spec);
    const { isByFile } = delivery;
    if (!isByFile) cached.leftHubFile = false;
    const id = entityType.id(resource);
    const volume = hubVolume(this.services, resource.metadata.namespace, resource.spec.hubRef.name);
    const { generation } = resource.metadata;
    if (cached.desired?.generation !== generation)
      cached.desired = { generation, hash: hashOf(entityType, id, payload) };
    const { hash } = cached.desired;
    // A definition that was taken back is tried again with another spec, and not with time.
    if (isByFile && cached.rejection?.hash !== hash) cached.rejection = undefined;
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
      isByFile,
    };
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
  private async recordResult({ cached, client, hash, payload }: EntityWork<R, S>): Promise<void> {
    const { operation } = cached;
    if (!operation?.end) return;
    const { hash: sent, error, reload } = operation;
    const isFailure = error instanceof HubRejected || error instanceof HubFailed || reload?.ok === false;
    // A hub that was restarted meanwhile loads its files by itself, and may accept the same write now.
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

  /** Writes the payload, unless the drift may only be reported or the hub has just rejected the same payload. */
  private async correct(
    work: EntityWork<R, S>,
    observation: Observation & { readonly type: 'Absent' | 'Different' },
  ): Promise<Outcome> {
    const { differences, type } = observation;
    const { client, cached, hash } = work;
    const inHubFile = type === 'Different' ? observation.inHubFile : undefined;
    // Only the operator writes delivered definitions: a different one is a former one, or its ConfigMap was lost.
    const isByOthers = !work.isByFile || inHubFile !== undefined;
    const isOther = type === 'Absent' || differences.length > 0;
    const drifted = isByOthers && isOther && this.isDrift(work);
    const text = formatDiff(differences, client.rest.redact);
    const kind = this.entityType.type;
    const change =
      type === 'Different' ? this.changedInHub(work, differences) : `The ${kind} was removed from the hub.`;
    const key = isByOthers && type === 'Different' ? `${hash} ${JSON.stringify(differences)}` : undefined;
    const left = this.drift.leave(work.resource, cached, {
      change,
      drifted,
      left: 'it is not corrected',
      ...(key !== undefined && { correction: { key, text } }),
    });
    const rejected = left ?? this.undeliverable(work) ?? (await this.stillRejected(work));
    if (rejected) return rejected;
    const pause = this.pacing.pause(cached, hash);
    if (pause > 0) return inProgress(this.entityType, work, pause);
    const details =
      type === 'Absent' && (await this.replacesAdopted(work)) ? { status: { adopted: null } } : {};
    this.pacing.mark(cached);
    const kept = type === 'Different' ? observation.kept : {};
    this.operations.write(work, { correction: key, kept, inHubFile });
    if (!drifted) return inProgress(this.entityType, work, undefined, details);
    const event = this.drift.reportCorrected(
      `${change} ${type === 'Different' ? 'The change is reverted.' : 'It is created again.'}`,
    );
    return inProgress(this.entityType, work, undefined, { ...details, events: [event] });
  }

  /** The outcome of a definition that cannot be delivered as a file; undefined: it can, or is sent by the hub's API. */
  private undeliverable({ client, resource, payload, id, isByFile }: EntityWork<R, S>): Outcome | undefined {
    if (!isByFile) return undefined;
    if (this.entityType.type === 'script' && isMarker(id))
      return stalled('InvalidSpec', `${id} is the id of a script of the operator’s own: choose another one.`);
    const problem = undeliverable(payload);
    if (problem !== undefined)
      return stalled(
        'InvalidSpec',
        `${problem} With delivery: File of the Hub it cannot be sent: simplify it.`,
      );
    const { definitions } = this.contexts.of(client, resource).delivery;
    if (definitions.hasRoom(this.entityType.type, id, payload)) return undefined;
    const message =
      'The ConfigMaps with the definitions of this hub have no room for it: what the hub has stays. ' +
      'Remove or shorten some, or set spec.delivery of the Hub to Api.';
    return stalled('DeliveryFull', message);
  }

  /** An adopted object is not in the hub's file any more: the one that replaces it is the operator's. */
  private async replacesAdopted({ resource, client, id }: EntityWork<R, S>): Promise<boolean> {
    return !!resource.status?.['adopted'] && !(await client.entities.read(this.entityType.type, id));
  }

  /** The outcome while the hub would reject the payload again; undefined: it may be sent. */
  private async stillRejected(work: EntityWork<R, S>): Promise<Outcome | undefined> {
    const error = this.pacing.rejectionOf(work.cached, work.hash);
    if (!error || (await blueprintAppeared(this.entityType.type, work))) return undefined;
    return hubErrorOutcome(error, 'object', blueprintRecheck(work));
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
    const taken = work.isByFile ? this.takeBack(work, observation.error) : undefined;
    if (taken) return taken;
    return this.completion.finish(work, { observation }, (accepted) => ({
      ...disabledAsInvalid(this.entityType, work, observation.error, accepted),
      ...blueprintRecheck(work),
    }));
  }

  private async ensureLoaded(work: EntityWork<R, S>, observation: Observation): Promise<Outcome> {
    const { entityType } = this;
    const { cached, spec, hash } = work;
    const policy = loadPolicyOf(entityType, spec, work.isByFile);
    if (policy === 'NextStart') {
      const { files } = this.contexts.of(work.client, work.resource).delivery;
      await followStart(work, files, this.isWritten(work), this.services.clock);
    }
    const now = this.services.clock.monotonic();
    const step = nextLoadStep(policy, cached, now);
    switch (step.type) {
      case 'Reload':
        this.operations.reload(work);
        return inProgress(entityType, work);
      case 'Wait':
        return inProgress(entityType, work, step.after);
      case 'AtNextStart':
        // A ConfigMap that is not written, or that the pod has not got, is not loaded at the next start either.
        if (work.isByFile) {
          if (!this.isWritten(work)) return this.deliverAgain(work);
          const inHubFile = await this.correctInHubFile(work, observation);
          if (inHubFile) return inHubFile;
        }
        if (work.isByFile && observation.type === 'NotLoaded' && !observation.disabled)
          this.operations.keepFormer(work);
        return this.completion.finishWithState(work, observation, (accepted) =>
          readyOutcome(entityType, work, accepted),
        );
      case 'NotLoaded': {
        const taken = work.isByFile ? await this.onDeliveredNotLoaded(work, observation) : undefined;
        if (taken) return taken;
        if (cached.operation?.reload?.ok) recordObserved(cached, 'reload', hash, now);
        return this.completion.finishWithState(work, observation, (accepted) =>
          notLoaded(entityType, work, accepted, step.after),
        );
      }
    }
  }

  /** The definition is known to be in the files of the hub. */
  private isWritten(work: EntityWork<R, S>): boolean {
    const { observed } = work.cached;
    return isAccepted(this.entityType, work) || ('hash' in observed && observed.hash === work.hash);
  }

  /** The delivered definition is as it is to be, and the hub was not seen to have it: a write has failed, or its end was not seen. */
  private deliverAgain(work: EntityWork<R, S>): Outcome {
    const { client, cached, id, hash, resource } = work;
    const pause = this.pacing.pause(cached, hash);
    if (pause > 0) return inProgress(this.entityType, work, pause);
    const { definitions } = this.contexts.of(client, resource).delivery;
    this.pacing.mark(cached);
    const kept = unexpressed(this.entityType, definitions.get(this.entityType.type, id) ?? {});
    this.operations.write(work, { correction: undefined, kept, inHubFile: undefined });
    return inProgress(this.entityType, work);
  }

  /**
   * The hub has loaded its files without a delivered definition. Undefined: the definition stays, as the hub has used it before, or
   * the former one is not known.
   */
  private async onDeliveredNotLoaded(
    work: EntityWork<R, S>,
    observation: Observation,
  ): Promise<Outcome | undefined> {
    const inHubFile = await this.correctInHubFile(work, observation);
    if (inHubFile || !this.operations.fallback(work)) return inHubFile;
    return this.takeBack(work, await whyNotLoaded(work.client, this.entityType.type, work.payload));
  }

  /** A person has made an object with the id of a delivered one: the hub uses that. Undefined: there is none. */
  private async correctInHubFile(
    work: EntityWork<R, S>,
    { entity }: Observation,
  ): Promise<Outcome | undefined> {
    const { entityType } = this;
    const { client, id, payload } = work;
    const stored = await client.entities.read(entityType.type, id);
    if (!stored) return undefined;
    const differences = diff(entityType, id, stored, payload);
    const kept = unexpressed(entityType, stored);
    return this.correct(work, { type: 'Different', entity, differences, kept, inHubFile: stored });
  }

  private takeBack(work: EntityWork<R, S>, words: string): Outcome | undefined {
    return this.operations.takeBack(work, new TakenBack(words))
      ? inProgress(this.entityType, work)
      : undefined;
  }

  /** The payload is in use. The entity is enabled and its component reloaded as the spec says. */
  private async ensureInUse(
    work: EntityWork<R, S>,
    observation: Observation & { readonly type: 'InUse' },
  ): Promise<Outcome> {
    const { entityType } = this;
    const { client, cached, spec, resource } = work;
    const { entity } = observation;
    if (work.isByFile)
      this.contexts.of(client, resource).delivery.confirm(entityType.type, work.id, work.hash);
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
    return this.completion.finishWithState(work, observation, (accepted) =>
      entity.disabled_by === null
        ? readyOutcome(entityType, work, accepted)
        : {
            ...this.drift.reportLeft(work.resource, disabledMessage(entityType, entity)),
            ...detailsOf(entityType, work, accepted),
          },
    );
  }

  /** Whether status records that the payload was reloaded, or that the reload failed too recently for a retry. */
  private isReloaded(work: EntityWork<R, S>): boolean {
    if (!wasAccepted(this.entityType, work)) return true; // a person made it
    if (!isAccepted(this.entityType, work)) return false;
    const reason = conditionOf(work.resource, 'ReloadReady')?.reason;
    if (reason === undefined || reason === 'ReloadDisabled') return false;
    const isDone = reason === 'ReloadSuccessful' || reason === 'ReloadNotNeeded';
    return isDone || hasJustFailed(work.cached, this.services.clock.monotonic());
  }
}
