import type { RegistryFields, RegistryRecord } from '../../client/connection/api-types';
import { HubRejected } from '../../client/connection/errors';
import type { HubClient } from '../../client/hub-client';
import type { RegistryEntries } from '../../client/registries/registry';
import type { KindDefinition } from '../../kinds/kind';
import { timestamp } from '../../base/clock';
import { MIN_WRITE_INTERVAL, POD_NOT_READY_REQUEUE } from '../../base/limits';
import type { EventSpec } from '../../runtime/event-spec';
import { type Outcome, type Ready, stalled, waiting } from '../../runtime/outcome';
import type { ReconcileContext } from '../../runtime/sync-module';
import { formatDiff } from '../objects/field-diff';
import { DriftPolicy } from '../objects/drift-policy';
import { isComplete, ObjectSync } from '../objects/object-sync';
import { ownEntityRecord, type OwnEntitySettings } from '../objects/own-entity';
import { adoptedEvent, forgottenStatus, hasAccepted, othersOf, recordedId } from '../objects/ownership';
import { cleanupSkipped, shouldDelete } from '../objects/removal';
import { WritePacing } from '../objects/write-pacing';
import { hubVolume, volumeStatus } from '../hub-pod/hub-volume';
import type { Services } from '../services';
import {
  ambiguous,
  dryRun,
  heldBy,
  idIn,
  inProgress,
  notLoaded,
  partlyWritten,
  readyOutcome,
  rejected,
  withEvent,
} from './conditions';
import {
  changesOf,
  desiredEntry,
  entryDiff,
  isAnnounced,
  isRecorded,
  recordedFields,
  withoutRemoved,
} from './desired';
import { entityProblem, missingEntities, removedInUse, valueConflict } from './entity-state';
import type { EntryResource, EntryType } from './entry-type';
import { entryTypeOf, isOfType } from './entry-types';
import type { EntryContexts } from './entry-contexts';
import { exchangeOf } from './exchange';
import { announcedEntry, locate, lookupOf, resolveReferences } from './locate-entry';
import type { EntryReconcile, EntryWork } from './reconcile';
import { whileMissing } from './reference-grace';

/**
 * Reconciles floors, labels, areas, zones, helpers or persons (rules.md, "Floors, labels and areas",
 * "Zones", "Helpers", "Persons"). The hub answers a write within a millisecond, so a reconcile waits for it. A creation is
 * announced in status before it is sent. After a crash the next process can then report an entry that the
 * former one may have created under another name.
 */
export class RegistrySync extends ObjectSync<EntryResource, EntryWork, EntryReconcile> {
  readonly isReferenced = true;
  private readonly drift: DriftPolicy;
  private readonly pacing: WritePacing;

  constructor(
    private readonly definition: KindDefinition,
    private readonly services: Pick<Services, 'cache' | 'clock' | 'metrics'>,
    private readonly contexts: EntryContexts,
    /** The settings of the entities of a kind that has `spec.entity`. */
    private readonly settings?: OwnEntitySettings,
  ) {
    super();
    this.drift = new DriftPolicy(services, definition);
    // A rejected write costs the hub almost nothing, and no event reports that an entity appears, so it is
    // retried soon.
    this.pacing = new WritePacing(services.clock, MIN_WRITE_INTERVAL);
  }

  protected override async begin(
    resource: EntryResource,
    client: HubClient,
    context: ReconcileContext,
  ): Promise<EntryWork | Outcome> {
    const { uid, namespace } = resource.metadata;
    const hub = this.contexts.of(client, resource);
    const cached = hub.cached.get(uid);
    const volume = hubVolume(this.services, namespace, resource.spec.hubRef.name);
    const entryType = typeOf(resource);
    const problem = entryType.validate?.(resource);
    if (problem !== undefined) return stalled('InvalidSpec', problem);
    const { component } = entryType;
    if (!(await client.components.isLoaded(component ?? 'config')))
      return notLoaded(client, component ?? 'config', component !== undefined);
    return { entryType, resource, client, context, hub, cached, volume };
  }

  protected override forgetObject({ entryType, cached, resource, volume }: EntryWork): Outcome {
    cached.created = undefined;
    const shown = Object.keys(entryType.shown ?? {});
    const ofEntity = this.settings ? ownEntityRecord : [];
    const fields = ['pendingName', 'entityId', 'appliedFields', ...shown, ...ofEntity];
    const status = forgottenStatus(entryType, fields, volume);
    return inProgress(entryType, resource, 0, { status });
  }

  protected override async observe(work: EntryWork): Promise<EntryReconcile | Outcome> {
    const { entryType, resource, client, cached, context, hub } = work;
    if (context.forced) hub.refresh();
    const lookup = lookupOf(this.services, resource, client);
    const references = await resolveReferences(entryType, resource, lookup);
    if ('outcome' in references) return whileMissing(references, cached, this.services.clock, context);
    cached.waiting = undefined;
    const desired = desiredEntry(entryType, resource, references.ids);
    const missing = await missingEntities(entryType, resource, client);
    cached.missing = missing;
    // The entries are read last, since persons and other clients change them meanwhile.
    const entries = await client.registries[entryType.type].entries();
    if (recordedId(entryType, resource) !== undefined) cached.created = undefined;
    const known = { created: cached.created, desired: desired.fields };
    const located = locate(entryType, resource, entries, this.others(resource), known);
    if (located.type === 'OfOther') return heldBy(entryType, located.owner, resource);
    if (located.type === 'Ambiguous') return ambiguous(entryType, resource, located.ids);
    if (located.type === 'Absent') {
      const conflict = await entryType.conflict?.(client, resource, desired.fields);
      return conflict ?? { ...work, desired, missing, entries, located };
    }
    const possible = hasAccepted(resource, desired.hash)
      ? withoutRemoved(entryType, entries.get(located.id)!, desired, missing)
      : desired;
    return { ...work, desired: possible, missing, entries, located };
  }

  protected override async dryRun(
    { entryType, resource, client }: EntryWork,
    reconcile: EntryReconcile,
  ): Promise<Outcome> {
    const { desired, entries, located } = reconcile;
    const existing =
      located.type === 'Absent'
        ? undefined
        : { id: located.id, differences: entryDiff(entryType, entries.get(located.id)!, desired) };
    const outcome = dryRun(entryType, resource, existing, client.rest.redact);
    if (!this.settings || outcome.type !== 'Ready' || !existing) return outcome;
    const entity = await client.entityRegistry.find(entryType.component!, existing.id);
    return this.withSettings(reconcile, outcome, entity?.id);
  }

  /** The outcome of the entry, and of the settings of its entity once the hub has loaded that. */
  private withSettings(
    { resource, client, context }: EntryReconcile,
    outcome: Ready,
    registryId: string | undefined,
  ): Outcome | Promise<Outcome> {
    return this.settings?.settle(outcome, registryId, resource, client, context) ?? outcome;
  }

  protected override acquire(_work: EntryWork, reconcile: EntryReconcile): Outcome | undefined {
    const { entryType, resource, volume, located, desired } = reconcile;
    if (located.type === 'Owned' || located.type === 'Absent') return undefined;
    const { type, idField } = entryType;
    const adopted = located.type === 'Unmanaged';
    return inProgress(entryType, resource, 0, {
      status: {
        [idField]: located.id,
        adopted: adopted || null,
        pendingName: null,
        appliedHash: null,
        // Fields that were set before were set in another entry.
        appliedFields: adopted ? desired.declared : recordedFields(reconcile),
        ...volumeStatus(volume),
      },
      events: [
        ...this.unclear(resource, reconcile.entries, located.id),
        ...(adopted ? [adoptedEvent(`${type} ${located.id}`)] : []),
      ],
    });
  }

  protected override ensure(_work: EntryWork, reconcile: EntryReconcile): Promise<Outcome> {
    const { located } = reconcile;
    return located.type === 'Absent' ? this.create(reconcile) : this.ensureAsDesired(reconcile, located.id);
  }

  override async remove(resource: EntryResource, client: HubClient): Promise<readonly EventSpec[]> {
    const entryType = typeOf(resource);
    const { type } = entryType;
    if (!shouldDelete(resource)) return (await this.settings?.putBack(resource, client)) ?? [];
    const registry = client.registries[type];
    const entries = await registry.entries();
    const { created } = this.contexts.of(client, resource).cached.get(resource.metadata.uid);
    const located = locate(entryType, resource, entries, this.others(resource), { created });
    const object = this.objectOf(resource);
    if (located.type !== 'Owned' && located.type !== 'Created')
      return object === undefined || (await isComplete(client))
        ? this.unclear(resource, entries)
        : [cleanupSkipped(object, 'the hub is starting or in recovery mode and does not show it')];
    const events = await removedInUse(entryType, located.id, client);
    await registry.remove(located.id);
    this.contexts.of(client, resource).watch.requeueAfterOwnChange(type);
    return events;
  }

  override objectOf(resource: EntryResource): string | undefined {
    const entryType = typeOf(resource);
    const id = recordedId(entryType, resource);
    if (id === undefined || !shouldDelete(resource)) return this.settings?.objectOf(resource);
    return `${entryType.type} ${id}`;
  }

  /**
   * The event about an entry that either a killed operator or a user created.
   *
   * @param taken id of the entry that is adopted
   */
  private unclear(resource: EntryResource, entries: RegistryEntries, taken?: string): readonly EventSpec[] {
    const entryType = typeOf(resource);
    const found = announcedEntry(entryType, resource, entries, this.others(resource));
    if (!found || found.id === taken) return [];
    const why = 'the operator was interrupted when it was about to create it, or a person made it';
    return [cleanupSkipped(`${entryType.type} “${found.name}”`, why)];
  }

  private async create(reconcile: EntryReconcile): Promise<Outcome> {
    const { entryType, resource, client, desired, hub } = reconcile;
    const { type, identity } = entryType;
    const wasThere = recordedId(entryType, resource) !== undefined;
    if (wasThere && !(await isComplete(client))) {
      const message = `The hub is starting or in recovery mode: it may not show all of its ${type}s.`;
      return waiting('HubNotReady', message, POD_NOT_READY_REQUEUE);
    }
    const change = `The ${type} was removed from the hub.`;
    const drifted = wasThere && hasAccepted(resource, desired.hash);
    const difference = { change, drifted, left: 'it is not created again' };
    const left = this.drift.leave(resource, reconcile.cached, difference);
    if (left) return left;
    if (!isAnnounced(reconcile)) {
      const status = {
        pendingName: identity.of(resource),
        appliedFields: recordedFields(reconcile),
        ...volumeStatus(reconcile.volume),
      };
      return inProgress(entryType, resource, 0, {
        status,
        events: this.unclear(resource, reconcile.entries),
      });
    }
    return this.send(reconcile, async () => {
      const record = await this.sendNew(reconcile);
      if (wasThere) hub.watch.requeueAfterOwnChange(type);
      const outcome = await this.written(reconcile, record, { adopted: null });
      if (!drifted) return outcome;
      return withEvent(outcome, this.drift.reportCorrected(`${change} It is created again.`));
    });
  }

  /**
   * Creates the entry. The hub derives the id from the name, so if another id is desired, the entry is
   * created under a name for that id and renamed afterwards.
   */
  private async sendNew({ entryType, resource, client, desired, cached }: EntryReconcile) {
    const registry = client.registries[entryType.type];
    const name = entryType.identity.newName(resource);
    const created = await registry.create({ ...entryType.sent, ...desired.fields, name });
    const id = idIn(entryType, created);
    cached.created = id;
    if (name === desired.fields.name) return created;
    return registry.update(
      id,
      changesOf(entryType, created, desired, entryDiff(entryType, created, desired)),
    );
  }

  private async ensureAsDesired(reconcile: EntryReconcile, id: string): Promise<Outcome> {
    const { entryType, resource, client, desired, entries, cached, hub } = reconcile;
    const { type } = entryType;
    const record = entries.get(id)!;
    const differences = entryDiff(entryType, record, desired);
    if (differences.length === 0) {
      this.drift.clear(cached);
      return this.asDesired(reconcile, record);
    }
    const text = formatDiff(differences, client.rest.redact);
    const change = `The ${type} was changed in the hub (${text}).`;
    const drifted = hasAccepted(resource, desired.hash);
    const correction = { key: `${desired.hash} ${JSON.stringify(differences)}`, text };
    const difference = { change, drifted, left: 'it is not corrected', correction };
    const left = this.drift.leave(resource, cached, difference);
    if (left) return left;
    if (!isRecorded(reconcile))
      return inProgress(entryType, resource, 0, { status: { appliedFields: recordedFields(reconcile) } });
    const lookup = lookupOf(this.services, resource, client);
    const exchange = await exchangeOf({ ...reconcile, id, others: this.others(resource) }, lookup);
    if (exchange.type === 'Held') return heldBy(entryType, exchange.owner, resource, record);
    const refused = await valueConflict(entryType, resource, id, client);
    if (refused) return refused;
    const reported = (outcome: Outcome) =>
      drifted ? withEvent(outcome, this.drift.reportCorrected(`${change} The change is reverted.`)) : outcome;
    if (exchange.type === 'Cycle') {
      // The free field is no drift, even if the spec is changed back before the exchange has ended.
      if (resource.status?.['appliedHash'] !== undefined)
        return reported(inProgress(entryType, resource, 0, { status: { appliedHash: null } }));
      return this.giveUp(reconcile, id, exchange.released, correction.key);
    }
    return this.send(reconcile, async () => {
      const changes = changesOf(entryType, record, desired, differences);
      const updated = await client.registries[type].update(id, changes);
      if ('name' in changes) hub.watch.requeueAfterOwnChange(type);
      const outcome = await this.written(reconcile, updated);
      this.drift.count(cached, correction.key);
      return reported(outcome);
    });
  }

  /** Gives up a value of the entry, which another resource waits for. */
  private giveUp(
    reconcile: EntryReconcile,
    id: string,
    released: RegistryFields,
    correction: string,
  ): Promise<Outcome> {
    const { entryType, resource, client, cached, hub } = reconcile;
    return this.send(reconcile, async () => {
      await client.registries[entryType.type].update(id, released);
      this.drift.begin(cached, correction);
      hub.watch.requeueAfterOwnChange(entryType.type);
      return inProgress(entryType, resource, MIN_WRITE_INTERVAL);
    });
  }

  /** Runs a write, unless the last one was a moment ago. */
  private async send(reconcile: EntryReconcile, write: () => Promise<Outcome>): Promise<Outcome> {
    const { entryType, resource, desired, cached, entries, located } = reconcile;
    const present = located.type === 'Absent' ? undefined : entries.get(located.id);
    const after = this.pacing.pause(cached, desired.hash);
    if (after > 0) {
      const error = this.pacing.rejectionOf(cached, desired.hash);
      if (!error) return inProgress(entryType, resource, after);
      return { ...rejected(entryType, desired, error, present), after };
    }
    cached.rejection = undefined;
    reconcile.context.signal.throwIfAborted();
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof HubRejected)) throw error;
      this.pacing.record(cached, desired.hash, error);
      return rejected(entryType, desired, error, present);
    } finally {
      this.pacing.mark(cached);
    }
  }

  /** The outcome after the hub has accepted the entry. Its answer may differ from the request. */
  private async written(
    reconcile: EntryReconcile,
    record: RegistryRecord,
    status: Readonly<Record<string, unknown>> = {},
  ): Promise<Outcome> {
    const { entryType, client, desired } = reconcile;
    const fields = { ...status, lastAppliedTime: timestamp(this.services.clock.now()) };
    const left = entryDiff(entryType, record, desired);
    if (left.length === 0) return this.asDesired(reconcile, record, fields);
    return partlyWritten(entryType, record, formatDiff(left, client.rest.redact), fields);
  }

  private async asDesired(
    reconcile: EntryReconcile,
    record: RegistryRecord,
    status?: Readonly<Record<string, unknown>>,
  ): Promise<Outcome> {
    const { entryType, resource, client, desired, missing, cached, volume } = reconcile;
    cached.seen = record;
    const { component } = entryType;
    const entity = component && (await client.entityRegistry.find(component, idIn(entryType, record)));
    const entityId = component && { entityId: entity?.entity_id ?? null };
    const shown = Object.entries(entryType.shown ?? {}).map(([name, field]): [string, unknown] => [
      name,
      record[field] ?? null,
    ]);
    const all = { ...status, ...entityId, ...Object.fromEntries(shown), ...volumeStatus(volume) };
    const outcome = readyOutcome(entryType, desired, record, missing, all);
    const problem = component && (await entityProblem(entryType, resource, entity, client));
    if (problem) return { ...problem, status: outcome.status ?? {} };
    return this.withSettings(reconcile, outcome, entity?.id);
  }

  override forget(resource: EntryResource, client: HubClient): void {
    this.contexts.of(client, resource).cached.delete(resource.metadata.uid);
    this.settings?.forget(resource, client);
  }

  private others(resource: EntryResource): readonly EntryResource[] {
    const others = othersOf<EntryResource>(this.services, this.definition, resource);
    const { typeFields } = typeOf(resource);
    return typeFields ? others.filter(({ spec }) => isOfType({ typeFields }, spec)) : others;
  }
}

/** Every resource of these kinds has a type. */
const typeOf = (resource: EntryResource): EntryType => entryTypeOf(resource)!;
