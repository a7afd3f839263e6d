import { HubFailed, HubRejected } from '../../client/connection/errors';
import type { EntityPayload } from '../../client/connection/config-entity';
import type { HubClient } from '../../client/hub-client';
import { truncate } from '../../base/truncate';
import {
  FINALIZER_TRY,
  MIN_WRITE_INTERVAL,
  POD_NOT_READY_REQUEUE,
  REJECTED_WRITE_RETRY_INTERVAL,
  RESYNC,
} from '../../base/limits';
import type { EventSpec } from '../../runtime/event-spec';
import { type Outcome, stalled, type Waiting, waiting } from '../../runtime/outcome';
import { conditionOf } from '../../runtime/conditions';
import type { ReconcileContext } from '../../runtime/sync-module';
import type { Child, ChildModule } from '../objects/child';
import { formatDiff } from '../objects/field-diff';
import { isMarker } from '../../kinds/ids';
import { hubErrorOutcome } from '../hub-access/hub-errors';
import { hubVolume, isOnOtherVolume } from '../hub-workload/hub-volume';
import { DriftPolicy } from '../objects/drift-policy';
import type { Services } from '../services';
import { acquire, forgetObject } from './acquisition';
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
import { observeDelivered } from './delivery/observe-delivered';
import { diff, hashOf, unexpressed } from './diff';
import type { ConfigEntitySpec, EntityType, EntityWork } from './entity-type';
import type { HubContexts } from './hub-contexts';
import { hasJustFailed, loadPolicyOf, nextLoadStep } from './load';
import { type Observation, observe } from './observe';
import { Operations } from './operations';
import { formerIds, isAccepted, isNew, ownedId, ownsId, wasAccepted } from './ownership';
import { cleanupSkipped, shouldDelete } from '../objects/removal';
import { blueprintAppeared, blueprintRecheck } from './blueprint';
import { withHint } from './rejection-hint';
import { unmark } from './ownership-label';

/** The end of a removal queues the resource that it is for, but not another one that takes the id (milliseconds). */
const REMOVAL_POLL_INTERVAL = 1_000;

/** Characters of the hub's words about a definition, which may quote all of it. */
const LONGEST_WORDS = 500;

/**
 * Reconciles automations, scenes or scripts: the id is recorded in status, the payload written when the hub has another
 * one, reloaded, and observed to be in use. A reconcile never waits for a write or a reload: it starts one and returns,
 * and the end of it queues the resource again. After a crash the next reconcile compares again and continues.
 */
export class ConfigEntitySync<R extends Child, S extends ConfigEntitySpec> implements ChildModule<R> {
  private readonly operations: Operations<R, S>;
  private readonly drift: DriftPolicy;
  private readonly completion: Completion<R, S>;

  constructor(
    private readonly entityType: EntityType<R, S>,
    private readonly services: Pick<Services, 'cache' | 'clock' | 'log' | 'metrics' | 'requeue'>,
    private readonly contexts: HubContexts,
  ) {
    this.drift = new DriftPolicy(services, entityType.definition);
    this.operations = new Operations(entityType, services, contexts, this.drift);
    this.completion = new Completion(entityType, services, this.operations, this.drift);
  }

  async sync(resource: R, client: HubClient, context: ReconcileContext): Promise<Outcome> {
    const { entityType } = this;
    const problem = entityType.validate?.(entityType.spec(resource));
    if (problem !== undefined) return stalled('InvalidSpec', problem);
    const { cache, drift, delivery } = this.contexts.of(client, resource);
    await drift.watchEvents();
    await delivery.files.load();
    if (!(await client.components.isLoaded(entityType.type))) {
      const message = `The hub has not loaded its ${entityType.type} component yet.`;
      return waiting('HubNotReady', message, POD_NOT_READY_REQUEUE);
    }
    const work = this.workOn(resource, client, context);
    if (context.forced) this.invalidate(work);
    this.recordResult(work);
    const { operation } = work.cached;
    if (operation && !operation.end && !context.dryRun) return inProgress(entityType, work);
    if (isOnOtherVolume(resource, work.volume) && !context.dryRun) return forgetObject(entityType, work);
    const delivered = delivery.files.get(entityType.type, work.id);
    if (delivered && !work.isByFile && ownsId(entityType, work)) return this.returnToHubFile(work, delivered);
    const observation = await this.observe(work);
    if (context.dryRun) return dryRun(entityType, work, observation);
    if (!ownsId(entityType, work)) {
      // The object in the hub is about to be removed by another resource: no person made it, so it is not adopted.
      if (cache.isBeingRemoved(entityType.type, work.id))
        return inProgress(entityType, work, REMOVAL_POLL_INTERVAL);
      const former = ownedId(entityType, resource);
      const stays = former !== undefined && !shouldDelete(resource);
      if (stays && !(await this.operations.ensureReturned(resource, client, former)))
        return inProgress(entityType, work);
      return acquire(entityType, work, observation, {
        clock: this.services.clock,
        ownerOf: (id) => this.operations.ownerOf(id, resource),
      });
    }
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

  async remove(resource: R, client: HubClient): Promise<Waiting | readonly EventSpec[]> {
    const { type, reason } = this.entityType;
    const id = ownedId(this.entityType, resource);
    const ids = this.idsToRemove(resource);
    if (ids.length > 0 && !(await this.operations.ensureRemoved(resource, client, ids)))
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
    const isDeleted = id !== undefined && shouldDelete(resource);
    return [...(isDeleted ? [id] : []), ...formerIds(resource)];
  }

  private async observe(work: EntityWork<R, S>): Promise<Observation> {
    const { entityType } = this;
    const { fileReads, delivery } = this.contexts.of(work.client, work.resource);
    const { files } = delivery;
    const isDelivered = ownsId(entityType, work) || files.get(entityType.type, work.id) !== undefined;
    return work.isByFile && isDelivered
      ? observeDelivered(entityType, work, files)
      : observe(entityType, work, fileReads, this.services.clock);
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
    const stored = await client.entities.read(entityType.type, id);
    if (stored && diff(entityType, id, stored, payload).length === 0) {
      this.operations.returnToHubFile(work, undefined);
      return inProgress(entityType, work);
    }
    const now = this.services.clock.monotonic();
    const rejected = await this.stillRejected(work, now);
    if (rejected) return rejected;
    const pause = this.writePause(work, now);
    if (pause > 0) return inProgress(entityType, work, pause);
    work.cached.lastWriteAt = now;
    this.operations.returnToHubFile(work, unexpressed(entityType, stored ?? delivered));
    return inProgress(entityType, work);
  }

  private writePause(work: EntityWork<R, S>, now: number): number {
    return (work.cached.lastWriteAt ?? -Infinity) + writeInterval(work) - now;
  }

  private workOn(resource: R, client: HubClient, context: ReconcileContext): EntityWork<R, S> {
    const { entityType } = this;
    const spec = entityType.spec(resource);
    const payload = entityType.payload(spec);
    const { cache, delivery } = this.contexts.of(client, resource);
    const cached = cache.get(resource.metadata.uid);
    const { isByFile } = delivery;
    if (!isByFile) cached.leftHubFile = false;
    const id = entityType.id(resource);
    const volume = hubVolume(this.services, resource.metadata.namespace, resource.spec.hubRef.name);
    return {
      resource,
      client,
      context,
      cached,
      spec,
      payload,
      id,
      hash: hashOf(entityType, id, payload),
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
  private recordResult({ cached, hash, payload }: EntityWork<R, S>): void {
    const { operation, failure } = cached;
    if (!operation?.end) return;
    const { hash: sent, end } = operation;
    if (end.error === undefined && sent === hash) return;
    cached.operation = undefined;
    const { error } = end;
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

  /** Writes the payload, unless the drift may only be reported or the hub has just rejected the same payload. */
  private async correct(
    work: EntityWork<R, S>,
    observation: Observation & { readonly type: 'Absent' | 'Different' },
  ): Promise<Outcome> {
    const { differences, type } = observation;
    const { client, cached, hash } = work;
    const now = this.services.clock.monotonic();
    const drifted = differences.length > 0 && this.isDrift(work);
    const text = formatDiff(differences, client.rest.redact);
    const kind = this.entityType.type;
    const change =
      type === 'Different'
        ? `The ${kind} was changed in the hub (${text}).`
        : `The ${kind} was removed from the hub.`;
    const key = type === 'Different' ? `${hash} ${JSON.stringify(differences)}` : undefined;
    const left = this.drift.leave(work.resource, cached, {
      change,
      drifted,
      left: 'it is not corrected',
      ...(key !== undefined && { correction: { key, text } }),
    });
    const rejected = left ?? this.undeliverable(work) ?? (await this.stillRejected(work, now));
    if (rejected) return rejected;
    const pause = this.writePause(work, now);
    if (pause > 0) return inProgress(this.entityType, work, pause);
    const details =
      type === 'Absent' && (await this.replacesAdopted(work)) ? { status: { adopted: null } } : {};
    cached.lastWriteAt = now;
    const kept = type === 'Different' ? observation.kept : {};
    const inHubFile = type === 'Different' && observation.inHubFile === true;
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
    const { files } = this.contexts.of(client, resource).delivery;
    if (files.hasRoom(this.entityType.type, id, payload)) return undefined;
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
    if (work.isByFile && !isAccepted(this.entityType, work)) return this.takeBack(work, observation.error);
    return this.completion.finish(work, { observation }, (accepted) => ({
      ...disabledAsInvalid(this.entityType, work, observation.error, accepted),
      ...blueprintRecheck(work),
    }));
  }

  private async ensureLoaded(work: EntityWork<R, S>, observation: Observation): Promise<Outcome> {
    const { entityType } = this;
    const { cached, spec, hash } = work;
    const now = this.services.clock.monotonic();
    const step = nextLoadStep(loadPolicyOf(entityType, spec, work.isByFile), cached, now);
    switch (step.type) {
      case 'Reload':
        this.operations.reload(work);
        return inProgress(entityType, work);
      case 'Wait':
        return inProgress(entityType, work, step.after);
      case 'AtNextStart':
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

  /**
   * The hub has loaded its files without a delivered definition, perhaps since a person has made one with its id: the hub uses that
   * one. Undefined: it was accepted before.
   */
  private async onDeliveredNotLoaded(
    work: EntityWork<R, S>,
    { entity }: Observation,
  ): Promise<Outcome | undefined> {
    const { entityType } = this;
    const { client, id, payload } = work;
    const stored = await client.entities.read(entityType.type, id);
    if (stored) {
      const differences = diff(entityType, id, stored, payload);
      const kept = unexpressed(entityType, stored);
      return this.correct(work, { type: 'Different', entity, differences, kept, inHubFile: true });
    }
    if (isAccepted(entityType, work)) return undefined;
    return this.takeBack(work, await whyNotLoaded(client, entityType.type, payload));
  }

  private takeBack(work: EntityWork<R, S>, words: string): Outcome {
    this.operations.takeBack(work, new HubRejected('400', truncate(words, LONGEST_WORDS)));
    return inProgress(this.entityType, work);
  }

  /** The payload is in use. The entity is enabled and its component reloaded as the spec says. */
  private async ensureInUse(
    work: EntityWork<R, S>,
    observation: Observation & { readonly type: 'InUse' },
  ): Promise<Outcome> {
    const { entityType } = this;
    const { client, cached, spec, resource } = work;
    const { entity } = observation;
    if (work.isByFile) this.contexts.of(client, resource).delivery.confirm(entityType.type, work.id);
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

/** Milliseconds between two writes. While the hub cannot read its file, every write fails: the interval doubles. */
function writeInterval({ cached: { failure }, hash }: EntityWork): number {
  return failure?.hash === hash
    ? Math.min(MIN_WRITE_INTERVAL * 2 ** failure.count, RESYNC / 2)
    : MIN_WRITE_INTERVAL;
}
