import type { RegistryFields, RegistryRecord } from '../../client/api-types';
import { HubRejected } from '../../client/errors';
import type { HubClient } from '../../client/hub-client';
import type { RegistryEntries } from '../../client/registry';
import { timestamp } from '../../clock';
import { registryName } from '../../kinds/ids';
import { MIN_WRITE_INTERVAL, POD_NOT_READY_REQUEUE } from '../../limits';
import { conditionOf } from '../../runtime/conditions';
import type { EventSpec } from '../../runtime/event-spec';
import { type Outcome, stalled, waiting } from '../../runtime/outcome';
import type { ReconcileContext } from '../../runtime/sync-module';
import type { ChildModule } from '../child';
import { correctionsOf, countCorrection, MAX_EQUAL_CORRECTIONS } from '../corrections';
import { type Difference, formatDiff } from '../difference';
import type { Services } from '../services';
import { dryRun, heldBy, inProgress, partlyWritten, readyOutcome, rejected } from './conditions';
import { appliedFields, type DesiredEntry, desiredEntry, entryDiff } from './desired';
import { type EntryResource, type EntryType, entryId } from './entry-type';
import type { EntryMemory, HubContexts } from './hub-contexts';
import { type Located, locate, nameConflict, shouldDelete } from './ownership';
import { resolveReferences } from './resolve';

/** One reconcile of one resource. */
interface Work {
  readonly resource: EntryResource;
  readonly client: HubClient;
  readonly desired: DesiredEntry;
  readonly entries: RegistryEntries;
  readonly memory: EntryMemory;
}

/** A correction that has lasted this long (milliseconds) was not in vain. */
const CORRECTION_LASTED = 10_000;

/**
 * Reconciles floors, labels or areas (rules.md, "Floors, labels and areas"). A write is answered within a millisecond,
 * so a reconcile awaits it. What it is about to do is recorded in status first: an operator that is killed in between
 * recognizes what it has created.
 */
export class RegistrySync implements ChildModule<EntryResource> {
  constructor(
    private readonly entryType: EntryType,
    private readonly services: Services,
    private readonly contexts: HubContexts,
  ) {}

  async sync(resource: EntryResource, client: HubClient, context: ReconcileContext): Promise<Outcome> {
    const { entryType } = this;
    if (!(await client.components.isLoaded('config'))) {
      const message = 'The hub has not loaded its config component yet.';
      return waiting('HubNotReady', message, POD_NOT_READY_REQUEUE);
    }
    const memory = this.memoryOf(resource, client);
    if (context.forced) this.contexts.of(client, resource).refresh();
    const references = await resolveReferences(entryType, resource, {
      entries: ({ type }) => client.registries[type].entries(),
      resources: (each) => this.resourcesOf(each, resource),
    });
    if ('outcome' in references) return references.outcome;
    const desired = desiredEntry(entryType, resource, references.ids);
    const entries = await client.registries[entryType.type].entries();
    const work: Work = { resource, client, desired, entries, memory };
    const located = locate(entryType, resource, entries, this.others(resource));
    if (located.type === 'OfOther') return heldBy(entryType, located.owner, resource);
    if (context.dryRun) return this.dryRun(work, located);
    switch (located.type) {
      case 'Owned':
        return this.ensureAsDesired(work, located.id);
      case 'Created':
        return this.acquire(work, located.id, false);
      case 'Foreign':
        return this.acquire(work, located.id, true);
      case 'Absent':
        return this.create(work);
    }
  }

  async remove(
    resource: EntryResource,
    client: HubClient,
    context: ReconcileContext,
  ): Promise<readonly EventSpec[]> {
    const { entryType } = this;
    const { type } = entryType;
    const { watch } = this.contexts.of(client, resource);
    this.forget(resource, client);
    if (!shouldDelete(resource)) return [];
    const registry = client.registries[type];
    const located = locate(entryType, resource, await registry.entries(), this.others(resource));
    const recorded = entryId(entryType, resource);
    if (located.type !== 'Owned' && located.type !== 'Created')
      return recorded === undefined || (await isComplete(client))
        ? []
        : [this.cleanupSkipped(recorded, 'the hub is starting or in recovery mode and does not show it')];
    const { id } = located;
    if (context.dryRun) return [this.cleanupSkipped(id, 'nothing is sent with the annotation dry-run')];
    await registry.remove(id);
    watch.ownChange(type);
    return [];
  }

  private async create(work: Work): Promise<Outcome> {
    const { resource, client, desired } = work;
    const { entryType } = this;
    const { type } = entryType;
    const wasThere = entryId(entryType, resource) !== undefined;
    if (wasThere && !(await isComplete(client))) {
      const message = `The hub is starting or in recovery mode: it may not show all of its ${type}s.`;
      return waiting('HubNotReady', message, POD_NOT_READY_REQUEUE);
    }
    const change = `The ${type} was removed from the hub.`;
    const drifted = wasThere && this.isAccepted(work);
    if (drifted && resource.spec.driftPolicy === 'Warn')
      return this.report(work, `${change} driftPolicy is Warn: it is not created again.`);
    if (!this.isAnnounced(work)) {
      const status = { pendingName: registryName(resource.spec.name), appliedFields: this.recorded(work) };
      return inProgress(entryType, resource, 0, { status });
    }
    return this.send(work, async () => {
      const record = await client.registries[type].create(desired.fields);
      if (wasThere) this.contexts.of(client, resource).watch.ownChange(type);
      const events = drifted ? [this.corrected(`${change} It is created again.`)] : [];
      return { ...this.written(work, record, { adopted: null }), events };
    });
  }

  /** Records the entry in status before it is written, so that after a crash its owner is known. */
  private acquire(work: Work, id: string, adopted: boolean): Outcome {
    const message = `The hub already had the ${this.entryType.type} ${id}: it now belongs to this resource.`;
    return inProgress(this.entryType, work.resource, 0, {
      status: {
        [this.entryType.idField]: id,
        adopted: adopted || null,
        pendingName: null,
        appliedHash: null,
        // What was set before was set in another entry.
        appliedFields: adopted ? work.desired.declared : this.recorded(work),
      },
      events: adopted ? [{ type: 'Warning', reason: 'Adopted', message }] : [],
    });
  }

  private async ensureAsDesired(work: Work, id: string): Promise<Outcome> {
    const { resource, client, desired, entries, memory } = work;
    const { entryType } = this;
    const record = entries.get(id)!;
    const now = this.services.clock.monotonic();
    const differences = entryDiff(record, desired);
    if (differences.length === 0) {
      if (now - (memory.lastWriteAt ?? -Infinity) > CORRECTION_LASTED) memory.correction = undefined;
      return this.finish(work, record);
    }
    const text = formatDiff(differences, client.rest.redact);
    const change = `The ${entryType.type} was changed in the hub (${text}).`;
    const drifted = this.isAccepted(work);
    if (drifted && resource.spec.driftPolicy === 'Warn')
      return this.report(work, `${change} driftPolicy is Warn: it is not corrected.`);
    const correction = `${desired.hash} ${JSON.stringify(differences)}`;
    if (correctionsOf(memory, correction, now) >= MAX_EQUAL_CORRECTIONS) {
      return this.report(
        work,
        `Each correction is reverted in the hub (${text}): it is not corrected again for an hour. ` +
          'Copy the value of the hub into the spec, or report a value that the hub rewrites.',
      );
    }
    if (!this.isRecorded(work))
      return inProgress(entryType, resource, 0, { status: { appliedFields: this.recorded(work) } });
    const conflict = nameConflict(entryType, resource, id, entries, this.others(resource));
    if (conflict.type === 'Held') return heldBy(entryType, conflict.owner, resource);
    return this.send(work, async () => {
      if (conflict.type === 'Cycle') return this.moveAside(work, id);
      const outcome = await this.update(work, id, differences);
      countCorrection(memory, correction, now);
      return drifted
        ? { ...outcome, events: [this.corrected(`${change} The change is reverted.`)] }
        : outcome;
    });
  }

  private async update(work: Work, id: string, differences: readonly Difference[]): Promise<Outcome> {
    const { resource, client } = work;
    const { type } = this.entryType;
    const changes: RegistryFields = Object.fromEntries(
      differences.map(({ field, desired }) => [field, desired as RegistryFields[string]]),
    );
    const record = await client.registries[type].update(id, changes);
    if ('name' in changes) this.contexts.of(client, resource).watch.ownChange(type);
    return this.written(work, record);
  }

  /** Gives the entry a name in between, so that another resource can have its present one. */
  private async moveAside({ resource, client }: Work, id: string): Promise<Outcome> {
    const { type } = this.entryType;
    await client.registries[type].update(id, { name: `${resource.spec.name} (${id})` });
    this.contexts.of(client, resource).watch.ownChange(type);
    return inProgress(this.entryType, resource, MIN_WRITE_INTERVAL);
  }

  /** Runs a write, unless the last one was a moment ago. */
  private async send(work: Work, write: () => Promise<Outcome>): Promise<Outcome> {
    const { resource, desired, memory } = work;
    const { clock } = this.services;
    const { lastWriteAt = -Infinity, rejection } = memory;
    const after = lastWriteAt + MIN_WRITE_INTERVAL - clock.monotonic();
    if (after > 0) {
      if (rejection?.hash === desired.hash) return { ...rejection.outcome, after };
      return inProgress(this.entryType, resource, after);
    }
    memory.rejection = undefined;
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof HubRejected)) throw error;
      const outcome = rejected(this.entryType, error);
      memory.rejection = { hash: desired.hash, outcome };
      return outcome;
    } finally {
      memory.lastWriteAt = clock.monotonic();
    }
  }

  /** The hub has accepted the entry. Its answer shows what it made of it. */
  private written(
    work: Work,
    record: RegistryRecord,
    status: Readonly<Record<string, unknown>> = {},
  ): Outcome {
    const { client, desired } = work;
    const fields = { ...status, lastAppliedTime: timestamp(this.services.clock.now()) };
    const left = entryDiff(record, desired);
    if (left.length === 0) return this.finish(work, record, fields);
    const text = formatDiff(left, client.rest.redact);
    return partlyWritten(this.entryType, record, text, MIN_WRITE_INTERVAL, fields);
  }

  private finish(
    { desired, memory }: Work,
    record: RegistryRecord,
    status?: Readonly<Record<string, unknown>>,
  ): Outcome {
    memory.seen = record;
    return readyOutcome(this.entryType, desired, record, status);
  }

  private dryRun(
    { resource, client, desired, entries }: Work,
    located: Exclude<Located, { type: 'OfOther' }>,
  ): Outcome {
    const existing =
      located.type === 'Absent'
        ? undefined
        : { id: located.id, differences: entryDiff(entries.get(located.id)!, desired) };
    return dryRun(this.entryType, resource, existing, client.rest.redact);
  }

  /** The hub had accepted what is desired now. */
  private isAccepted({ resource, desired }: Work): boolean {
    return resource.status?.['appliedHash'] === desired.hash;
  }

  /**
   * Status says that the entry is about to be created. A retry of what the hub rejected is not announced again: that would
   * be two writes of status each time.
   */
  private isAnnounced(work: Work): boolean {
    const { metadata, spec, status } = work.resource;
    if (status?.['pendingName'] !== registryName(spec.name) || !this.isRecorded(work)) return false;
    const ready = conditionOf(work.resource, 'Ready');
    return ready?.reason !== 'RejectedByHub' || ready.observedGeneration === metadata.generation;
  }

  /** Status has all fields that a write would set, so that they can be cleared even after a crash. */
  private isRecorded({ resource, desired }: Work): boolean {
    return desired.declared.every((field) => appliedFields(resource).includes(field));
  }

  private recorded({ resource, desired }: Work): readonly string[] {
    return [...new Set([...appliedFields(resource), ...desired.declared])].sort();
  }

  private cleanupSkipped(id: string, why: string): EventSpec {
    const message = `The ${this.entryType.type} ${id} stays in the hub: ${why}.`;
    return { type: 'Warning', reason: 'CleanupSkipped', message };
  }

  private corrected(message: string): EventSpec {
    this.services.metrics.driftFound(this.entryType.definition.kind, 'corrected');
    return { type: 'Warning', reason: 'DriftDetected', message };
  }

  /** Drift that is not corrected (rules.md, "Drift"). */
  private report({ resource }: Work, message: string): Outcome {
    const isReported = conditionOf(resource, 'Ready')?.reason === 'DriftDetected';
    if (!isReported) this.services.metrics.driftFound(this.entryType.definition.kind, 'reported');
    return stalled('DriftDetected', message);
  }

  forget(resource: EntryResource, client: HubClient): void {
    this.contexts.of(client, resource).memory.delete(resource.metadata.uid);
  }

  private memoryOf(resource: EntryResource, client: HubClient): EntryMemory {
    const { memory } = this.contexts.of(client, resource);
    const { uid } = resource.metadata;
    const known = memory.get(uid) ?? {};
    memory.set(uid, known);
    return known;
  }

  private others(resource: EntryResource): readonly EntryResource[] {
    const { uid } = resource.metadata;
    return this.resourcesOf(this.entryType, resource).filter(({ metadata }) => metadata.uid !== uid);
  }

  /** The resources of a kind that belong to the same hub. */
  private resourcesOf({ definition }: EntryType, { metadata, spec }: EntryResource): EntryResource[] {
    const { cache } = this.services;
    return [...cache.ofHub<EntryResource>(definition.kind, metadata.namespace, spec.hubRef.name)];
  }
}

/** The registries of a hub in recovery mode are empty. */
async function isComplete({ connection }: HubClient): Promise<boolean> {
  const { state, recovery_mode: recoveryMode } = await connection.command('get_config');
  return state === 'RUNNING' && !recoveryMode;
}
