import type { RegistryFields, RegistryRecord } from '../../client/api-types';
import { HubRejected } from '../../client/errors';
import type { HubClient } from '../../client/hub-client';
import type { RegistryEntries } from '../../client/registry';
import { timestamp } from '../../clock';
import { registryName } from '../../kinds/ids';
import {
  AREA_DEPENDENCY_REQUEUE,
  DEPENDENCY_REQUEUE,
  MIN_WRITE_INTERVAL,
  POD_NOT_READY_REQUEUE,
} from '../../limits';
import { conditionOf } from '../../runtime/conditions';
import type { EventSpec } from '../../runtime/event-spec';
import { type Outcome, ready, stalled, type Waiting, waiting } from '../../runtime/outcome';
import type { ReconcileContext } from '../../runtime/sync-module';
import type { ChildModule } from '../child';
import { correctionsOf, countCorrection, MAX_EQUAL_CORRECTIONS } from '../corrections';
import { type Difference, formatDiff } from '../difference';
import { hubErrorOutcome } from '../hub-errors';
import type { Services } from '../services';
import { appliedFields, type DesiredEntry, desiredEntry, entryDiff, type References } from './desired';
import { type EntryResource, type EntryType, entryId } from './entry-type';
import type { EntryMemory, HubContexts } from './hub-contexts';
import { type Located, locate, nameConflict, shouldDelete } from './ownership';
import { resolveName } from './resolve';

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
    if (!(await client.components.isLoaded('config'))) {
      const message = 'The hub has not loaded its config component yet.';
      return waiting('HubNotReady', message, POD_NOT_READY_REQUEUE);
    }
    const { memory: memories } = this.contexts.of(client, resource);
    if (context.forced) for (const registry of Object.values(client.registries)) registry.invalidate();
    const references = await this.resolveReferences(resource, client);
    if ('outcome' in references) return references.outcome;
    const { uid } = resource.metadata;
    const memory = memories.get(uid) ?? {};
    memories.set(uid, memory);
    const desired = desiredEntry(this.entryType, resource, references.ids);
    const entries = await client.registries[this.entryType.type].entries();
    const work: Work = { resource, client, desired, entries, memory };
    const located = locate(this.entryType, resource, entries, this.others(resource));
    if (context.dryRun) return this.dryRun(work, located);
    switch (located.type) {
      case 'Owned':
        return this.ensureAsDesired(work, located.id);
      case 'Created':
      case 'Foreign':
        return this.acquire(work, located);
      case 'OfOther':
        return this.heldBy(located.owner, resource.spec.name);
      case 'Absent':
        return this.create(work);
    }
  }

  async remove(
    resource: EntryResource,
    client: HubClient,
    { dryRun }: ReconcileContext,
  ): Promise<readonly EventSpec[]> {
    const { type } = this.entryType;
    const { memory, watch } = this.contexts.of(client, resource);
    memory.delete(resource.metadata.uid);
    const registry = client.registries[type];
    const located = locate(this.entryType, resource, await registry.entries(), this.others(resource));
    if ((located.type !== 'Owned' && located.type !== 'Created') || !shouldDelete(resource)) return [];
    const { id } = located;
    if (dryRun) {
      const message = `The ${type} ${id} stays in the hub: nothing is sent with the annotation dry-run.`;
      return [{ type: 'Warning', reason: 'CleanupSkipped', message }];
    }
    await registry.remove(id);
    watch.ownChange(type);
    return [];
  }

  /** The ids for the fields that refer to other registries, or what the resource waits for. */
  private async resolveReferences(
    resource: EntryResource,
    client: HubClient,
  ): Promise<{ readonly ids: References } | { readonly outcome: Waiting }> {
    const ids: Record<string, References[string]> = {};
    for (const [field, { refersTo, isSet }] of Object.entries(this.entryType.fields)) {
      const value = resource.spec[field];
      if (!refersTo || value === undefined) continue;
      const { entryType, reason } = refersTo;
      const entries = await client.registries[entryType.type].entries();
      const resources = this.resourcesOf(entryType, resource);
      const names = isSet ? (value as readonly string[]) : [value as string];
      const found: string[] = [];
      for (const name of names) {
        const resolved = resolveName(entryType, name, resources, entries);
        if ('missing' in resolved) {
          const message = `Waiting for the ${entryType.type} “${name}” in ${field}: ${resolved.missing}.`;
          return { outcome: waiting(reason, message, AREA_DEPENDENCY_REQUEUE) };
        }
        found.push(resolved.id);
      }
      ids[field] = isSet ? found : found[0]!;
    }
    return { ids };
  }

  private async create(work: Work): Promise<Outcome> {
    const { resource, client, desired } = work;
    const { type } = this.entryType;
    const { name } = resource.spec;
    const wasThere = entryId(this.entryType, resource) !== undefined;
    if (wasThere && !(await isComplete(client))) {
      const message = `The hub is starting or in recovery mode: it may not show all of its ${type}s.`;
      return waiting('HubNotReady', message, POD_NOT_READY_REQUEUE);
    }
    const drifted = wasThere && this.isAccepted(work);
    if (drifted && resource.spec.driftPolicy === 'Warn')
      return this.report(
        work,
        `The ${type} was removed from the hub. driftPolicy is Warn: it is not created again.`,
      );
    const pendingName = registryName(name);
    if (resource.status?.['pendingName'] !== pendingName || !this.isRecorded(work))
      return this.inProgress(work, 0, { pendingName, appliedFields: this.recorded(work) });
    const paused = this.paused(work);
    if (paused) return paused;
    let record: RegistryRecord;
    try {
      record = await client.registries[type].create(desired.fields);
    } catch (error) {
      return this.rejected(work, error, { pendingName: null });
    }
    const events = drifted
      ? [this.corrected(`The ${type} was removed from the hub. It is created again.`)]
      : [];
    if (wasThere) this.contexts.of(client, resource).watch.ownChange(type);
    return this.written(work, record, events, { adopted: null });
  }

  /** Records the entry in status before it is written, so that after a crash its owner is known. */
  private acquire(work: Work, { type, id }: Located & { readonly type: 'Created' | 'Foreign' }): Outcome {
    const adopted = type === 'Foreign';
    const message = `The hub already had the ${this.entryType.type} ${id}: it now belongs to this resource.`;
    return this.inProgress(
      work,
      0,
      {
        [this.entryType.idField]: id,
        adopted: adopted || null,
        pendingName: null,
        appliedHash: null,
        // What was set before was set in another entry.
        appliedFields: adopted ? work.desired.declared : this.recorded(work),
      },
      adopted ? [{ type: 'Warning', reason: 'Adopted', message }] : [],
    );
  }

  private async ensureAsDesired(work: Work, id: string): Promise<Outcome> {
    const { resource, client, desired, entries, memory } = work;
    const record = entries.get(id)!;
    const now = this.services.clock.monotonic();
    const differences = entryDiff(record, desired);
    if (differences.length === 0) {
      if (now - (memory.lastWriteAt ?? -Infinity) > CORRECTION_LASTED) memory.correction = undefined;
      return this.finish(work, record);
    }
    const text = formatDiff(differences, client.rest.redact);
    const change = `The ${this.entryType.type} was changed in the hub (${text}).`;
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
    if (!this.isRecorded(work)) return this.inProgress(work, 0, { appliedFields: this.recorded(work) });
    const paused = this.paused(work);
    if (paused) return paused;
    const outcome = await this.update(work, id, differences);
    if (outcome.type === 'Stalled') return outcome;
    countCorrection(memory, correction, now);
    if (!drifted) return outcome;
    const event = this.corrected(`${change} The change is reverted.`);
    return { ...outcome, events: [...(outcome.events ?? []), event] };
  }

  private async update(work: Work, id: string, differences: readonly Difference[]): Promise<Outcome> {
    const { resource, client, desired, entries, memory } = work;
    const { type } = this.entryType;
    const { watch } = this.contexts.of(client, resource);
    const changes = Object.fromEntries(
      differences.map(({ field, desired: value }) => [field, value as RegistryFields[string]]),
    );
    const renames = 'name' in changes;
    const conflict = renames
      ? nameConflict(this.entryType, resource, id, entries, this.others(resource))
      : undefined;
    if (conflict?.type === 'Held') return this.heldBy(conflict.owner, resource.spec.name);
    memory.lastWriteAt = this.services.clock.monotonic();
    if (conflict?.type === 'Cycle') {
      await client.registries[type].update(id, { name: `${desired.fields.name} (${id})` });
      watch.ownChange(type);
      return this.inProgress(work, MIN_WRITE_INTERVAL);
    }
    let record: RegistryRecord;
    try {
      record = await client.registries[type].update(id, changes);
    } catch (error) {
      return this.rejected(work, error);
    }
    if (renames) watch.ownChange(type);
    return this.written(work, record);
  }

  /** The hub has accepted the entry. Its answer shows what it made of it. */
  private written(
    work: Work,
    record: RegistryRecord,
    events: readonly EventSpec[] = [],
    status: Readonly<Record<string, unknown>> = {},
  ): Outcome {
    const { client, desired, memory } = work;
    memory.lastWriteAt = this.services.clock.monotonic();
    const written = { ...status, lastAppliedTime: timestamp(this.services.clock.now()) };
    const left = entryDiff(record, desired);
    if (left.length === 0) return this.finish(work, record, events, written);
    const text = formatDiff(left, client.rest.redact);
    const message = `The hub did not take over all of it (${text}).`;
    return waiting(this.entryType.reason, message, MIN_WRITE_INTERVAL, {
      status: { ...written, [this.entryType.idField]: this.entryIdOf(record), pendingName: null },
      events,
    });
  }

  private finish(
    work: Work,
    record: RegistryRecord,
    events: readonly EventSpec[] = [],
    status: Readonly<Record<string, unknown>> = {},
  ): Outcome {
    const { desired, memory } = work;
    const { type, idField, reason } = this.entryType;
    const id = this.entryIdOf(record);
    memory.seen = record;
    memory.rejection = undefined;
    return ready(reason, `The hub has it as ${type} ${id}.`, {
      status: {
        ...status,
        [idField]: id,
        pendingName: null,
        appliedHash: desired.hash,
        appliedFields: desired.declared.length > 0 ? desired.declared : null,
      },
      events,
    });
  }

  /** @throws error itself unless the hub rejected the entry */
  private rejected(
    { memory, desired }: Work,
    error: unknown,
    status: Readonly<Record<string, unknown>> = {},
  ): Outcome {
    if (!(error instanceof HubRejected)) throw error;
    const { type } = this.entryType;
    const hint = / is already in use$/.test(error.message)
      ? `. Rename or delete the other ${type} in the hub, or change spec.name.`
      : '';
    const message = `The hub rejected it: ${error.message}${hint}`;
    // A rejected write costs the hub next to nothing, and no event tells when an entity appears.
    const outcome = hubErrorOutcome(error, 'object', { message, status, after: DEPENDENCY_REQUEUE });
    memory.lastWriteAt = this.services.clock.monotonic();
    memory.rejection = { hash: desired.hash, outcome };
    return outcome;
  }

  private heldBy(owner: EntryResource, name: string): Outcome {
    const { kind, metadata } = owner;
    const { type } = this.entryType;
    const message =
      `The ${type} “${name}” in the hub belongs to the ${kind} ${metadata.name}, which is to have another name. ` +
      `This one waits until that is renamed or deleted.`;
    return waiting('DuplicateId', message, AREA_DEPENDENCY_REQUEUE);
  }

  private inProgress(
    { resource }: Work,
    after: number,
    status: Readonly<Record<string, unknown>> = {},
    events: readonly EventSpec[] = [],
  ): Waiting {
    const { reason, type } = this.entryType;
    return waiting(reason, `The ${type} “${resource.spec.name}” is being written to the hub.`, after, {
      status,
      events,
    });
  }

  /** The annotation `dry-run` (rules.md, "Suspend and dry-run"). */
  private dryRun({ resource, client, desired, entries }: Work, located: Located): Outcome {
    const { type } = this.entryType;
    const remove = 'Remove the annotation to have it written.';
    if (located.type === 'OfOther') return this.heldBy(located.owner, resource.spec.name);
    if (located.type === 'Absent')
      return stalled('DryRun', `Would create the ${type} “${resource.spec.name}”. ${remove}`);
    const { id } = located;
    const differences = entryDiff(entries.get(id)!, desired);
    if (differences.length === 0)
      return ready('DryRun', `Nothing would be sent: the hub already has the ${type} ${id} as specified.`);
    const text = formatDiff(differences, client.rest.redact);
    return stalled('DryRun', `Would write the ${type} ${id} (${text}). ${remove}`);
  }

  /** The hub had accepted what is desired now. */
  private isAccepted({ resource, desired }: Work): boolean {
    return resource.status?.['appliedHash'] === desired.hash;
  }

  /** Status has all fields that a write would set, so that they can be cleared even after a crash. */
  private isRecorded({ resource, desired }: Work): boolean {
    return desired.declared.every((field) => appliedFields(resource).includes(field));
  }

  private recorded({ resource, desired }: Work): readonly string[] {
    return [...new Set([...appliedFields(resource), ...desired.declared])].sort();
  }

  /** The outcome until the entry may be written again; undefined: it may be. */
  private paused(work: Work): Outcome | undefined {
    const { memory, desired } = work;
    const { lastWriteAt = -Infinity, rejection } = memory;
    const after = lastWriteAt + MIN_WRITE_INTERVAL - this.services.clock.monotonic();
    if (after <= 0) return undefined;
    return rejection?.hash === desired.hash ? { ...rejection.outcome, after } : this.inProgress(work, after);
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

  private others(resource: EntryResource): readonly EntryResource[] {
    const { uid } = resource.metadata;
    return this.resourcesOf(this.entryType, resource).filter(({ metadata }) => metadata.uid !== uid);
  }

  /** The resources of a kind that belong to the same hub. */
  private resourcesOf({ definition }: EntryType, { metadata, spec }: EntryResource): EntryResource[] {
    const { cache } = this.services;
    return [...cache.ofHub<EntryResource>(definition.kind, metadata.namespace, spec.hubRef.name)];
  }

  private entryIdOf(record: RegistryRecord): string {
    return record[`${this.entryType.type}_id`] as string;
  }
}

/** The registries of a hub in recovery mode are empty. */
async function isComplete({ connection }: HubClient): Promise<boolean> {
  const { state, recovery_mode: recoveryMode } = await connection.command('get_config');
  return state === 'RUNNING' && !recoveryMode;
}
