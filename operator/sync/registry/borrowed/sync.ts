import { isDeepStrictEqual } from 'node:util';
import { timestamp } from '../../../base/clock';
import {
  AREA_DEPENDENCY_REQUEUE,
  DEPENDENCY_REQUEUE,
  MIN_WRITE_INTERVAL,
  RESYNC,
} from '../../../base/limits';
import { stateOf } from '../../../client/config-entities/states';
import { HubRejected, isNotFound } from '../../../client/connection/errors';
import type { HubClient } from '../../../client/hub-client';
import type { Configurable, Settings, SettingsEntries } from '../../../client/registries/settings';
import type { Hub, HubIntegration } from '../../../kinds';
import { isReady } from '../../../runtime/conditions';
import type { EventSpec } from '../../../runtime/event-spec';
import { type Outcome, ready, stalled, type Waiting, waiting } from '../../../runtime/outcome';
import type { ReconcileContext } from '../../../runtime/sync-module';
import { hubErrorOutcome, rejectedMessage } from '../../hub-connection/hub-errors';
import { hubVolume, volumeStatus } from '../../hub-pod/hub-volume';
import { DriftPolicy } from '../../objects/drift-policy';
import { type FieldDiff, formatDiff } from '../../objects/field-diff';
import { isComplete, type ObjectReconcile, ObjectSync, untilLoaded } from '../../objects/object-sync';
import { hasAccepted, recordedBy, recordedId } from '../../objects/ownership';
import { payloadHash } from '../../objects/payload-hash';
import { cleanupSkipped } from '../../objects/removal';
import { WritePacing } from '../../objects/write-pacing';
import type { CachedEntry, EntryContext, EntryContexts } from '../entry-contexts';
import type { EntryResource } from '../entry-types';
import { resolveReferences } from '../locate-entry';
import { whileMissing } from '../reference-grace';
import type { Services } from '../../services';
import type { Borrower, BorrowedType, Lookup, Refusal } from './borrowed-type';
import { ambiguousText, changesOf, declaredSettings, ownerAmong } from './declared';
import { formatPrevious, type Previous, recordedAfter, recordedBefore, settingsDiff } from './previous';

/** Bytes of `status.previous`, which is written with each status. */
const LARGEST_PREVIOUS = 4096;

/** The inputs of one reconcile of one resource. */
interface Work extends ObjectReconcile<Borrower> {
  readonly context: ReconcileContext;
  readonly cached: CachedEntry;
  readonly hub: EntryContext;
  readonly lookup: Lookup;
}

/** The entry of a resource, and where it differs. */
interface Seen<R extends Configurable> {
  readonly record: R;
  readonly all: SettingsEntries<R>;
  /** The settings of the spec, as the hub has them. */
  readonly declared: Settings;
  readonly hash: string;
  /** The record in status of this entry. */
  readonly previous: Previous;
  /** That record with all declared settings, as it stands in status before a write. */
  readonly recorded: Previous;
  readonly differences: readonly FieldDiff[];
}

/**
 * Reconciles settings of entities or devices (rules.md, "Settings of entities and devices"). The entry is never created or
 * removed, and its former settings are in status before anything is written.
 */
export class BorrowedSync<R extends Configurable> extends ObjectSync<Borrower, Work, Seen<R>> {
  /** An entity that gets its former id back for a moment would be lost to what refers to it. */
  readonly isReferenced = true;
  private readonly drift: DriftPolicy;
  private readonly pacing: WritePacing;

  constructor(
    private readonly type: BorrowedType<R>,
    private readonly services: Pick<Services, 'cache' | 'clock' | 'metrics' | 'requeue'>,
    private readonly contexts: EntryContexts,
  ) {
    super();
    this.drift = new DriftPolicy(services, type.definition);
    // Each refused write is an error in the hub's log: it is repeated when the entry or the spec changes.
    this.pacing = new WritePacing(services.clock, RESYNC);
  }

  protected override async begin(
    resource: Borrower,
    client: HubClient,
    context: ReconcileContext,
  ): Promise<Work | Outcome> {
    const { uid, namespace } = resource.metadata;
    const hubName = resource.spec.hubRef.name;
    const hub = this.contexts.of(client, resource);
    const volume = hubVolume(this.services, namespace, hubName);
    const cached = hub.cached.get(uid);
    const lookup = this.lookup(resource, client, cached);
    return (
      (await untilLoaded(client, 'config')) ?? { resource, client, context, hub, cached, lookup, volume }
    );
  }

  private lookup(
    { metadata: { namespace }, spec: { hubRef } }: Borrower,
    client: HubClient,
    cached: CachedEntry,
  ): Lookup {
    const { cache } = this.services;
    return {
      client,
      configEntryOf: (name) => {
        const integration = cache.get<HubIntegration>('HubIntegration', namespace, name);
        return integration?.spec.hubRef.name === hubRef.name ? integration.status?.entryID : undefined;
      },
      hasState: (entityId) => this.hasState(client, cached, entityId),
      version: cache.get<Hub>('Hub', namespace, hubRef.name)?.status?.version,
    };
  }

  /** Each event of the registry reconciles all that wait for an entity: the hub is not asked for a state each time. */
  private async hasState({ rest }: HubClient, cached: CachedEntry, entityId: string): Promise<boolean> {
    const at = this.services.clock.monotonic();
    const isKnown = cached.state?.entityId === entityId && at - cached.state.at < DEPENDENCY_REQUEUE;
    if (!isKnown) cached.state = { entityId, at, isThere: (await stateOf(rest, entityId)) !== undefined };
    return cached.state!.isThere;
  }

  /** The former settings are those of another hub: they are dropped. */
  protected override forgetObject({ volume }: Work): Outcome {
    const { idField, type } = this.type;
    const status = { [idField]: null, previous: null, appliedHash: null, ...volumeStatus(volume) };
    return waiting(this.type.reason, `The settings of the ${type} are being written to the hub.`, 0, {
      status,
    });
  }

  protected override async observe(work: Work): Promise<Seen<R> | Outcome> {
    const { type, services } = this;
    const { resource, client, cached, context, hub } = work;
    const { namespace } = resource.metadata;
    if (context.forced) hub.refresh();
    const references = await resolveReferences(type, resource, {
      entries: ({ type: registry }) => client.registries[registry].entries(),
      resources: ({ definition }) => [
        ...services.cache.ofHub<EntryResource>(definition.kind, namespace, resource.spec.hubRef.name),
      ],
    });
    if ('outcome' in references) return whileMissing(references, cached, services.clock, context);
    cached.waiting = undefined;
    const restorable = await this.restorable(previousOf(resource), client);
    // Read last: a list is replaced as a whole, and a person may have added to it meanwhile.
    const all = await type.registryOf(client).entries();
    const record = await this.find(work, all);
    if ('reason' in record) return record;
    const owner = this.ownerOf(resource, record.id);
    if (owner) return heldBy(type, record, owner);
    this.requeueOthers(resource, record.id);
    const declared = declaredSettings(type, resource.spec, references.ids);
    const previous = recordedId(type, resource) === record.id ? restorable : {};
    const recorded = recordedBefore(record.settings, declared, previous);
    const differences = settingsDiff(record.settings, declared, previous);
    return { record, all, declared, hash: payloadHash(declared), previous, recorded, differences };
  }

  /** A record with what can be put back. A former area that the hub does not have any more is none: the hub would take its id all the same. */
  private async restorable(previous: Previous, client: HubClient): Promise<Previous> {
    const all = Object.entries(previous).map(async ([name, setting]) => {
      const { was, ...withoutFormer } = setting;
      const entryType = this.type.fields[name]?.refersTo?.entryType;
      if (!entryType || typeof was !== 'string') return [name, setting] as const;
      const isThere = (await client.registries[entryType.type].entries()).has(was);
      return [name, isThere ? setting : withoutFormer] as const;
    });
    return Object.fromEntries(await Promise.all(all));
  }

  /** The entry that status has, also after it was renamed, else the one that the selector fits. */
  private async find({ resource, lookup }: Work, all: SettingsEntries<R>): Promise<R | Outcome> {
    const { type } = this;
    const recorded = all.get(recordedId(type, resource) ?? '');
    if (recorded) return recorded;
    const selected = await type.select(resource, all.all, lookup);
    if ('missing' in selected)
      return waiting(type.notFound, `Waiting for the ${type.type}: ${selected.missing}.`, DEPENDENCY_REQUEUE);
    const [first, second] = selected.found;
    if (!first) {
      const message = `Waiting for the ${type.type}: the hub has none that fits spec.select. Its integration may not have added it yet.`;
      return waiting(type.notFound, message, AREA_DEPENDENCY_REQUEUE);
    }
    return second ? this.ambiguous(selected.found) : first;
  }

  private ambiguous(found: readonly R[]): Outcome {
    return stalled('Ambiguous', ambiguousText(found.map((record) => this.type.nameOf(record))));
  }

  /** Another resource that has the entry. */
  private ownerOf(resource: Borrower, id: string): Borrower | undefined {
    return ownerAmong(this.othersWith(resource, id), this.type, resource, id);
  }

  /** Two resources that were applied together may both have recorded an entry, and the younger one may be Ready. */
  private requeueOthers(resource: Borrower, id: string): void {
    for (const other of this.othersWith(resource, id))
      if (isReady(other)) this.services.requeue(other.kind, other.metadata.namespace, other.metadata.name);
  }

  private othersWith({ metadata: { namespace, uid }, spec: { hubRef } }: Borrower, id: string): Borrower[] {
    const hub = { namespace, name: hubRef.name };
    return [...recordedBy<Borrower>(this.services, this.type, hub, id)].filter(
      ({ metadata }) => metadata.uid !== uid,
    );
  }

  protected override dryRun(work: Work, seen: Seen<R>): Outcome {
    const { client } = work;
    const { record, differences } = seen;
    const obstacle = this.obstacle(work, seen);
    if (obstacle) return obstacle;
    const name = this.type.nameOf(record);
    return differences.length === 0
      ? ready('DryRun', `Nothing would be sent: ${name} has all of these settings.`)
      : stalled(
          'DryRun',
          `Would write ${name} (${formatDiff(differences, client.rest.redact)}). Remove the annotation to apply it.`,
        );
  }

  /** Why the settings cannot be written; undefined: they can. */
  private obstacle({ lookup }: Work, { record, all, declared, recorded, differences }: Seen<R>) {
    const kept = recordedAfter(declared, recorded);
    if (Buffer.byteLength(JSON.stringify(kept)) > LARGEST_PREVIOUS)
      return stalled(
        'InvalidSpec',
        `labels, aliases: what is to be remembered of ${this.type.nameOf(record)} exceeds ${LARGEST_PREVIOUS} bytes. Set fewer or shorter ones.`,
      );
    const refusal = this.type.refusal(record, changesOf(differences), all.all, lookup);
    return refusal && refused(refusal);
  }

  /** A difference that is left or refused is not recorded: it is not written either. */
  protected override acquire(work: Work, seen: Seen<R>): Outcome | undefined {
    const { resource, cached, volume } = work;
    const { record, previous, recorded, differences } = seen;
    const { type } = this;
    if (differences.length === 0) {
      const obstacle = this.obstacle(work, seen);
      if (!obstacle) this.drift.clear(cached);
      return obstacle;
    }
    const difference = this.difference(work, seen);
    const obstacle = this.drift.leave(resource, cached, difference) ?? this.obstacle(work, seen);
    if (obstacle) return obstacle;
    const rejection = this.pacing.rejectionOf(cached, difference.correction.key);
    if (rejection) return rejected(rejection);
    const isOther = recordedId(type, resource) !== record.id;
    if (!isOther && isDeepStrictEqual(recorded, previous)) return undefined;
    return this.inProgress(record, 0, {
      [type.idField]: record.id,
      ...type.statusOf(record),
      previous: recorded,
      ...(isOther && { appliedHash: null }),
      ...volumeStatus(volume),
    });
  }

  protected override async ensure(work: Work, seen: Seen<R>): Promise<Outcome> {
    const { cached, context } = work;
    const { record, differences } = seen;
    if (differences.length === 0) return this.asDesired(work, seen, record);
    const { type, pacing } = this;
    const { change, drifted, correction } = this.difference(work, seen);
    const after = pacing.pause(cached, correction.key);
    if (after > 0) return this.inProgress(record, after);
    context.signal.throwIfAborted();
    try {
      const updated = await type.registryOf(work.client).update(record, changesOf(differences));
      this.drift.count(cached, correction.key);
      const outcome = await this.written(work, seen, updated);
      if (!drifted) return outcome;
      return { ...outcome, events: [this.drift.reportCorrected(`${change} The change is reverted.`)] };
    } catch (error) {
      if (!(error instanceof HubRejected)) throw error;
      pacing.record(cached, correction.key, error);
      return rejected(error);
    } finally {
      pacing.mark(cached);
    }
  }

  private difference({ resource, client }: Work, { record, hash, differences }: Seen<R>) {
    const { type } = this;
    const text = formatDiff(differences, client.rest.redact);
    return {
      change: `${type.nameOf(record)} was changed in the hub (${text}).`,
      // An entry that was made again, or another one, was never as specified.
      drifted: recordedId(type, resource) === record.id && hasAccepted(resource, hash),
      left: 'it is not corrected',
      // A rejection of one entry, or of its former id, does not hold for another.
      correction: { key: JSON.stringify([record.id, type.nameOf(record), hash, differences]), text },
    };
  }

  /** The hub has accepted the settings, and may have others all the same. */
  private async written(work: Work, seen: Seen<R>, updated: R | undefined): Promise<Outcome> {
    const { type } = this;
    const status = { lastAppliedTime: timestamp(this.services.clock.now()) };
    if (!updated) return this.inProgress(seen.record, MIN_WRITE_INTERVAL, status);
    const left = settingsDiff(updated.settings, seen.declared, seen.recorded);
    if (left.length === 0) return this.asDesired(work, seen, updated, status);
    const refusal = type.refusal(updated, changesOf(left), seen.all.all, work.lookup);
    if (refusal) return { ...refused(refusal), status };
    const message = `The hub did not take over all of it (${formatDiff(left, work.client.rest.redact)}).`;
    return waiting(type.reason, message, MIN_WRITE_INTERVAL, { status });
  }

  private async asDesired(
    { resource, cached, volume, lookup }: Work,
    { declared, hash, recorded }: Seen<R>,
    record: R,
    status: Readonly<Record<string, unknown>> = {},
  ): Promise<Outcome> {
    const { type } = this;
    cached.seen = record;
    const kept = recordedAfter(declared, recorded);
    const all = {
      ...status,
      [type.idField]: record.id,
      ...type.statusOf(record),
      previous: Object.keys(kept).length > 0 ? kept : null,
      appliedHash: hash,
      ...volumeStatus(volume),
    };
    const awaited = await type.awaited?.(resource, record, lookup);
    if (awaited) return { ...awaited, status: all };
    return ready(type.reason, `${type.nameOf(record)} has these settings.`, { status: all });
  }

  private inProgress(record: R, after: number, status: Readonly<Record<string, unknown>> = {}): Waiting {
    const message = `The settings of ${this.type.nameOf(record)} are being written to the hub.`;
    return waiting(this.type.reason, message, after, { status });
  }

  /** The former settings are put back where the hub still has those of the resource. */
  override async remove(resource: Borrower, client: HubClient): Promise<readonly EventSpec[]> {
    const { type } = this;
    const object = this.objectOf(resource);
    const id = recordedId(type, resource);
    if (object === undefined || id === undefined) return [];
    const owner = this.ownerOf(resource, id);
    const ofOwner = owner ? previousOf(owner) : {};
    const previous = await this.restorable(withoutThose(previousOf(resource), ofOwner), client);
    const registry = type.registryOf(client);
    const all = await registry.entries();
    const record = all.get(id);
    if (!record)
      return (await isComplete(client))
        ? []
        : [cleanupSkipped(object, 'the hub is starting or in recovery mode and does not show it')];
    const lookup = this.lookup(resource, client, {});
    const events: EventSpec[] = [];
    let changes = formerSettings(record, previous);
    for (;;) {
      const refusal = type.refusal(record, changes, all.all, lookup);
      if (!refusal) break;
      const setting = `setting ${refusal.setting} of ${type.nameOf(record)}`;
      events.push(cleanupSkipped(setting, withoutStop(refusal.message)));
      const { [refusal.setting]: _, ...others } = changes;
      changes = others;
    }
    try {
      if (Object.keys(changes).length > 0) await registry.update(record, changes);
    } catch (error) {
      if (!(error instanceof HubRejected)) throw error;
      if (!isNotFound(error))
        events.push(cleanupSkipped(object, `the hub says “${withoutStop(error.message)}”`));
    }
    return events;
  }

  /** With the former settings, for the event of a removal that does not reach the hub. */
  override objectOf(resource: Borrower): string | undefined {
    const { idField, type } = this.type;
    const previous = previousOf(resource);
    if (resource.spec.deletionPolicy === 'Orphan' || Object.keys(previous).length === 0) return undefined;
    const id = resource.status?.['entityId'] ?? resource.status?.[idField];
    return `${type} ${String(id)} with the settings of this resource (before: ${formatPrevious(previous)})`;
  }

  override forget(resource: Borrower, client: HubClient): void {
    this.contexts.of(client, resource).cached.delete(resource.metadata.uid);
  }
}

const previousOf = ({ status }: Borrower): Previous => (status?.['previous'] as Previous | undefined) ?? {};

/** The settings that another resource does not have. */
const withoutThose = (previous: Previous, others: Previous): Previous =>
  Object.fromEntries(Object.entries(previous).filter(([name]) => !(name in others)));

/** The settings that a removal writes. */
function formerSettings({ settings }: Configurable, previous: Previous): Settings {
  return changesOf(settingsDiff(settings, {}, previous));
}

const withoutStop = (message: string): string => message.replace(/\.$/, '');

const refused = ({ reason, message }: Refusal): Outcome => stalled(reason, message);

function rejected(error: HubRejected): Outcome {
  if (error.message.includes(OWN_AREA_REFUSED))
    return stalled('AreaBelongsToDevice', rejectedMessage(`${error.message}.`));
  return hubErrorOutcome(error, 'object');
}

/** Words of a hub whose version is not known to have this rule. */
const OWN_AREA_REFUSED = 'without a name of its own';

function heldBy<R extends Configurable>(
  type: BorrowedType<R>,
  record: R,
  { kind, metadata }: Borrower,
): Outcome {
  const message =
    `The ${kind} ${metadata.name} already has the settings of ${type.nameOf(record)}: delete one of the two, or move the ` +
    'settings into that one.';
  return waiting('DuplicateId', message, AREA_DEPENDENCY_REQUEUE);
}
