import { HubFailed, HubRejected } from '../../client/errors';
import type { HubClient } from '../../client/hub';
import {
  FINALIZER_TRY,
  POD_NOT_READY_REQUEUE,
  REJECTED_WRITE_RETRY_INTERVAL,
  RESYNC,
  MIN_WRITE_INTERVAL,
} from '../../limits';
import type { EventSpec } from '../../runtime/events';
import { type Outcome, stalled, type Waiting, waiting } from '../../runtime/outcome';
import { conditionOf } from '../../runtime/resource';
import type { ReconcileContext } from '../../runtime/sync-module';
import type { Child, ChildModule } from '../child';
import type { Services } from '../services';
import { bodyHash } from './payload';
import { describe } from './diff';
import type { ConfigSpec, Family, Work } from './entity-type';
import { Jobs, LOADED_SOON } from './operations';
import type { KnownHubs } from './hub-contexts';
import { isAccepted, isClaimed, isNew, look, type Look } from './observe';
import { doubt, type EntityMemory } from './entity-cache';
import { dryRun, inPlace, underWay } from './conditions';

/** Longer than this the hub never takes to load what it was sent: something keeps it from it. */
const LOADED_WITHIN = 10_000;

/**
 * One automation, scene or script ("Automation, scene and script lifecycle", spec.md): claimed in status, written when
 * the hub has something else, reloaded, and seen to be in use. A pass never waits for a write or a reload: it begins
 * one and ends, and what has ended works the resource again. A crash between two steps is made good by the next pass,
 * which compares anew.
 */
export class ConfigEntitySync<R extends Child, S extends ConfigSpec> implements ChildModule<R> {
  private readonly jobs: Jobs<R, S>;

  constructor(
    private readonly family: Family<R, S>,
    private readonly services: Services,
    private readonly known: KnownHubs,
  ) {
    this.jobs = new Jobs(family, services, known);
  }

  async sync(resource: R, client: HubClient, context: ReconcileContext): Promise<Outcome> {
    const { family } = this;
    const problem = family.problem?.(family.spec(resource));
    if (problem !== undefined) return stalled('InvalidSpec', problem);
    await this.known.of(client, resource).watch.ready();
    if (!(await client.components.isLoaded(family.type))) {
      return waiting(
        'HubNotReady',
        `The hub has not loaded its ${family.type} component yet.`,
        POD_NOT_READY_REQUEUE,
      );
    }
    const work = this.workOn(resource, client, context);
    this.takeNote(work);
    if (work.memory.job?.ended === false && !context.dryRun) return underWay(family, work);
    const found = await look(family, work, this.services.clock);
    if (context.dryRun) return dryRun(family, work, found);
    if (!isClaimed(family, work)) return this.claim(work, found);
    if (found.differs.length > 0) return this.correct(work, found);
    if (!found.loaded) return this.load(work, found);
    return this.settle(work, found);
  }

  async remove(
    resource: R,
    client: HubClient,
    context: ReconcileContext,
  ): Promise<Waiting | readonly EventSpec[]> {
    const id = this.claimedId(resource);
    const isToGo = id !== undefined && this.isToGo(resource, this.family.spec(resource));
    if (isToGo && !context.dryRun && !(await this.jobs.removed(resource, client, id))) {
      return waiting(this.family.reason, `${id} is on its way out of the hub.`, FINALIZER_TRY);
    }
    this.known.of(client, resource).memory.forget(resource.metadata.uid);
    if (!isToGo || !context.dryRun) return [];
    const message = `The ${this.family.type} ${id} stays in the hub: nothing is sent with the annotation dry-run.`;
    return [{ type: 'Warning', reason: 'CleanupSkipped', message }];
  }

  private workOn(resource: R, client: HubClient, context: ReconcileContext): Work<R, S> {
    const { family } = this;
    const spec = family.spec(resource);
    const body = family.body(spec);
    const memory = this.known.of(client, resource).memory.of(resource.metadata.uid);
    return { resource, client, context, memory, spec, body, id: family.id(resource), hash: bodyHash(body) };
  }

  /** How the job of an earlier pass ended; one for what is not wanted any more does not count. */
  private takeNote({ memory, hash, context }: Work<R, S>): void {
    if (context.forced) {
      doubt(memory);
      memory.refusal = undefined;
    }
    const { job, failure } = memory;
    if (!job?.ended || (job.error === undefined && job.hash === hash)) return;
    memory.job = undefined;
    if (job.error instanceof HubRejected) {
      memory.refusal = { hash: job.hash, error: job.error, at: this.services.clock.monotonic() };
    } else if (job.error !== undefined) {
      const count = (failure?.hash === job.hash ? failure.count : 0) + 1;
      const { message } = job.error;
      if (job.error instanceof HubFailed) memory.failure = { hash: job.hash, count, message };
      throw job.error;
    }
  }

  /**
   * The id goes into status before anything goes to the hub, so that a crash in between leaves nothing behind that
   * nobody feels responsible for. What a person made before is adopted; what another resource of ours made is not.
   */
  private async claim(work: Work<R, S>, { there }: Look): Promise<Outcome> {
    const { resource, client, id, spec } = work;
    const { idField, type } = this.family;
    const former = this.claimedId(resource);
    if (former !== undefined && this.isToGo(resource, spec)) {
      if (!(await this.jobs.removed(resource, client, former))) return underWay(this.family, work);
    }
    const holder = there ? this.jobs.holderOf(id, resource) : undefined;
    const adopted = holder ? holder.status?.['adopted'] === true : there;
    const message = `The hub had the ${type} ${id} already: it belongs to this resource now.`;
    return underWay(this.family, work, 0, {
      status: { [idField]: id, adopted: adopted || null, appliedHash: null, entityId: null },
      events: adopted && !holder ? [{ type: 'Warning', reason: 'Adopted', message }] : [],
    });
  }

  /** Writes what is wanted, unless somebody's change may only be reported, or the hub has just refused the same. */
  private correct(work: Work<R, S>, { differs, there }: Look): Outcome {
    const { client, memory, spec, hash } = work;
    const { clock } = this.services;
    const drifted = isAccepted(this.family, work);
    const change = there
      ? `Somebody changed it in the hub (${describe(differs)})`
      : 'Somebody removed it from the hub';
    if (drifted && spec.driftPolicy === 'Warn') return this.report(work, `${change}.`);
    const { refusal } = memory;
    if (refusal?.hash === hash && clock.monotonic() - refusal.at < REJECTED_WRITE_RETRY_INTERVAL)
      throw refusal.error;
    const pause =
      Math.max(memory.writtenAt ?? -Infinity, memory.triedAt ?? -Infinity) + paceOf(work) - clock.monotonic();
    if (pause > 0) return underWay(this.family, work, pause);
    memory.triedAt = clock.monotonic();
    this.jobs.write(work);
    if (!drifted) return underWay(this.family, work);
    const note = this.corrected(client.rest.scrub(`${change}: it is put back.`));
    return underWay(this.family, work, undefined, { events: [note] });
  }

  /** It is in the hub's file as wanted, and not in use (yet). */
  private load(work: Work<R, S>, found: Look): Outcome {
    const { memory, spec, hash, id } = work;
    const { reason, reloads } = this.family;
    if (reloads && spec.autoReload) {
      if (!memory.job?.reload && memory.unloaded !== hash && !this.hasJustFailed(memory)) {
        this.jobs.reload(work);
        return underWay(this.family, work);
      }
      if (memory.job?.reload?.ok) memory.unloaded = hash;
    } else {
      const now = this.services.clock.monotonic();
      const waited = now - (memory.writtenAt ?? -Infinity);
      if (waited < LOADED_WITHIN) return underWay(this.family, work, Math.max(LOADED_SOON, waited / 2));
      if (!reloads) {
        // Each look reads the hub's file; the hub tells when it loads a script.
        const soFar = now - (memory.writtenAt ?? memory.since);
        const after = Math.min(Math.max(POD_NOT_READY_REQUEUE, soFar), RESYNC / 2);
        return waiting(reason, `The hub has ${id} in its file and has not loaded it.`, after);
      }
    }
    return this.conclude(work, found);
  }

  /** The hub has what is wanted: it is enabled and reloaded as it should be, the kind does what is left. */
  private async settle(work: Work<R, S>, found: Look): Promise<Outcome> {
    const { family } = this;
    const { client, memory, spec, resource } = work;
    const entity = found.entity!;
    if (entity.disabled_by !== null && (isNew(work) || family.enables?.(work))) {
      await client.entityRegistry.enable(entity.entity_id);
      this.jobs.reload(work);
      return underWay(family, work);
    }
    const told = isAccepted(family, work) ? conditionOf(resource, 'ReloadReady')?.reason : undefined;
    const counts = told !== undefined && told !== 'ReloadDisabled';
    const isReloaded = counts && (told === 'ReloadSuccessful' || this.hasJustFailed(memory));
    if (family.reloads && spec.autoReload && !isReloaded && !memory.job?.reload) {
      this.jobs.reload(work);
      return underWay(family, work);
    }
    const settled = (await family.settle?.(work, entity)) ?? {};
    if (settled.mayNotCorrect !== undefined) return this.report(work, settled.mayNotCorrect);
    const events = settled.corrected === undefined ? [] : [this.corrected(settled.corrected)];
    return this.conclude(work, found, events);
  }

  /** A reload that failed may go well after a while; with every look it would be asked for without end. */
  private hasJustFailed({ reloadFailedAt }: EntityMemory): boolean {
    return (
      reloadFailedAt !== undefined &&
      this.services.clock.monotonic() - reloadFailedAt < REJECTED_WRITE_RETRY_INTERVAL
    );
  }

  private conclude(work: Work<R, S>, found: Look, events: readonly EventSpec[] = []): Outcome {
    const outcome = inPlace(this.family, work, found, events);
    work.memory.job = undefined;
    return outcome;
  }

  private corrected(message: string): EventSpec {
    this.services.metrics.driftFound(this.family.definition.kind, 'corrected');
    return { type: 'Warning', reason: 'DriftDetected', message };
  }

  /** `driftPolicy: Warn`. */
  private report({ resource, client }: Work<R, S>, change: string): Outcome {
    const isTold = conditionOf(resource, 'Ready')?.reason === 'DriftDetected';
    if (!isTold) this.services.metrics.driftFound(this.family.definition.kind, 'reported');
    return stalled('DriftDetected', client.rest.scrub(`${change} driftPolicy is Warn: it stays so.`));
  }

  private claimedId({ status }: R): string | undefined {
    return status?.[this.family.idField] as string | undefined;
  }

  /** `deletionPolicy`: absent removes what we made and leaves what was there before. */
  private isToGo({ status }: R, { deletionPolicy }: S): boolean {
    return deletionPolicy === 'Delete' || (deletionPolicy === undefined && !status?.['adopted']);
  }
}

/** A file that the hub cannot read fails every write to it, until somebody mends it: the same is tried ever less often. */
function paceOf({ memory: { failure }, hash }: Work): number {
  return failure?.hash === hash
    ? Math.min(MIN_WRITE_INTERVAL * 2 ** failure.count, RESYNC / 2)
    : MIN_WRITE_INTERVAL;
}
