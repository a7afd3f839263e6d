import { isDeepStrictEqual } from 'node:util';
import { timestamp } from '../../../base/clock';
import { DEPENDENCY_REQUEUE, MIN_WRITE_INTERVAL, RESYNC } from '../../../base/limits';
import { stateOf } from '../../../client/config-entities/states';
import { HubRejected, isNotFound } from '../../../client/connection/errors';
import type { HubClient } from '../../../client/hub-client';
import type { Configurable, Settings, SettingsEntries } from '../../../client/registries/settings';
import type { Hub, HubIntegration } from '../../../kinds';
import { foldCase } from '../../../kinds/ids';
import type { EventSpec } from '../../../runtime/event-spec';
import { type Outcome, ready, stalled, type Waiting, waiting } from '../../../runtime/outcome';
import type { ReconcileContext } from '../../../runtime/sync-module';
import { hubErrorOutcome, rejectedMessage } from '../../hub-connection/hub-errors';
import { hubVolume, volumeStatus } from '../../hub-pod/hub-volume';
import { DriftPolicy } from '../../objects/drift-policy';
import { type FieldDiff, formatDiff } from '../../objects/field-diff';
import { isComplete, type ObjectReconcile } from '../../objects/object-sync';
import { hasAccepted, recordedId } from '../../objects/ownership';
import { payloadHash } from '../../objects/payload-hash';
import { cleanupSkipped } from '../../objects/removal';
import { WritePacing } from '../../objects/write-pacing';
import type { CachedEntry, EntryContext, EntryContexts } from '../entry-contexts';
import type { EntryResource } from '../entry-types';
import { resolveReferences } from '../locate-entry';
import { whileMissing } from '../reference-grace';
import type { Services } from '../../services';
import type { Lookup, Refusal, SettingsKind, SettingsResource } from './borrowed-type';
import { type NamedCategory, resolveCategories } from './categories';
import { changesOf, declaredSettings } from './declared';
import { formerSettings, previousOf, restorable } from './former-settings';
import {
  formatPrevious,
  type Previous,
  recordedAfter,
  recordedBefore,
  settingsDiff,
  withoutThose,
} from './previous';

/** Limit for the bytes of `status.previous`, since it is written with each status. */
const LARGEST_PREVIOUS = 4096;

/** The inputs of one reconcile of the settings of one resource. */
export interface SettingsWork<S extends SettingsResource = SettingsResource> extends ObjectReconcile<S> {
  readonly context: ReconcileContext;
  readonly cached: CachedEntry;
  readonly hub: EntryContext;
  readonly lookup: Lookup;
}

/** The entry of a resource, and its differences. */
export interface SeenSettings<R extends Configurable> {
  readonly record: R;
  readonly all: SettingsEntries<R>;
  /** The settings of the spec, with ids as in the hub. */
  readonly declared: Settings;
  readonly hash: string;
  /** The record of this entry in status. */
  readonly previous: Previous;
  /** The record extended by all declared settings, as in status before a write. */
  readonly recorded: Previous;
  readonly differences: readonly FieldDiff[];
  /** Categories that the spec names and the hub does not have yet. */
  readonly newCategories: readonly NamedCategory[];
}

/**
 * Writes the settings that a resource declares to an entry of the hub (rules.md, "Settings of entities and
 * devices"). The methods are steps of a reconcile, and the caller finds the entry.
 */
export class EntrySettings<R extends Configurable> {
  readonly drift: DriftPolicy;
  private readonly pacing: WritePacing;

  constructor(
    private readonly type: SettingsKind<R>,
    private readonly services: Pick<Services, 'cache' | 'clock' | 'metrics'>,
    private readonly contexts: EntryContexts,
  ) {
    this.drift = new DriftPolicy(services, type.definition);
    // Each rejected write causes an error in the hub's log, so it is only repeated when the entry or the spec
    // changes.
    this.pacing = new WritePacing(services.clock, RESYNC);
  }

  /** Collects the inputs of a reconcile, without a request to the hub. */
  workOn<S extends SettingsResource>(
    resource: S,
    client: HubClient,
    context: ReconcileContext,
  ): SettingsWork<S> {
    const { uid, namespace } = resource.metadata;
    const hub = this.contexts.of(client, resource);
    const volume = hubVolume(this.services, namespace, resource.spec.hubRef.name);
    const cached = hub.settings.get(uid);
    const lookup = this.lookup(resource, client, cached);
    return { resource, client, context, hub, cached, lookup, volume };
  }

  private lookup(
    { metadata: { namespace }, spec: { hubRef } }: SettingsResource,
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

  /**
   * Reports whether an entity has a state. The answer is cached, since each event of the registry reconciles
   * all resources that wait for an entity.
   */
  private async hasState({ rest }: HubClient, cached: CachedEntry, entityId: string): Promise<boolean> {
    const at = this.services.clock.monotonic();
    const isKnown = cached.state?.entityId === entityId && at - cached.state.at < DEPENDENCY_REQUEUE;
    if (!isKnown) cached.state = { entityId, at, isThere: (await stateOf(rest, entityId)) !== undefined };
    return cached.state!.isThere;
  }

  /** Status fields that forget the entry. The former settings of an entry in another hub are dropped. */
  forgotten({ volume }: SettingsWork): Readonly<Record<string, unknown>> {
    const { idField, hashField } = this.type;
    return { [idField]: null, previous: null, [hashField]: null, ...volumeStatus(volume) };
  }

  /**
   * Compares the settings of an entry with the declared ones.
   *
   * @param find returns the entry of the resource, or the outcome if there is none
   */
  async observe<S extends SettingsResource>(
    work: SettingsWork<S>,
    find: (all: SettingsEntries<R>, work: SettingsWork<S>) => R | Outcome | Promise<R | Outcome>,
  ): Promise<SeenSettings<R> | Outcome> {
    const { type, services } = this;
    const { resource, client, cached, context, hub } = work;
    const { namespace } = resource.metadata;
    if (context.forced) hub.refresh();
    const references = await resolveReferences(type, resource, {
      client,
      entries: ({ type: registry }) => client.registries[registry].entries(),
      resources: ({ definition }) => [
        ...services.cache.ofHub<EntryResource>(definition.kind, namespace, resource.spec.hubRef.name),
      ],
    });
    if ('outcome' in references) return whileMissing(references, cached, services.clock, context);
    cached.waiting = undefined;
    const former = await restorable(type, previousOf(resource), client);
    // The entries are read last, since a list is replaced as a whole, and a user may have added an item at
    // the same time.
    const all = await type.registryOf(client).entries();
    const record = await find(all, work);
    if ('reason' in record) return record;
    const categories = await resolveCategories(type, resource.spec, (scope) =>
      client.categories.entries(scope),
    );
    const declared = declaredSettings(type, resource.spec, { ...references.ids, ...categories.ids });
    const previous = recordedId(type, resource) === record.id ? former : {};
    const recorded = recordedBefore(record.settings, declared, previous);
    const differences = settingsDiff(record.settings, declared, previous);
    // Ids of categories are left out of the hash: a category that a user removed gets a new id, which is a
    // change in the hub, not of the spec.
    const hash = payloadHash(declaredSettings(type, resource.spec, references.ids));
    return {
      record,
      all,
      declared,
      hash,
      previous,
      recorded,
      differences,
      newCategories: categories.missing,
    };
  }

  dryRun(work: SettingsWork, seen: SeenSettings<R>): Outcome {
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

  /**
   * The outcome when the settings cannot be written.
   *
   * @returns undefined when they can
   */
  private obstacle(
    { lookup }: SettingsWork,
    { record, all, declared, recorded, differences }: SeenSettings<R>,
  ) {
    const kept = recordedAfter(declared, recorded);
    if (Buffer.byteLength(JSON.stringify(kept)) > LARGEST_PREVIOUS)
      return stalled(
        'InvalidSpec',
        `labels, aliases: what is to be remembered of ${this.type.nameOf(record)} exceeds ${LARGEST_PREVIOUS} bytes. Set fewer or shorter ones.`,
      );
    const refusal = this.type.refusal(record, changesOf(differences), all.all, lookup);
    return refusal && refused(refusal);
  }

  /**
   * Records the former settings. A difference that is left or refused is not recorded, since it is not
   * written.
   */
  acquire(work: SettingsWork, seen: SeenSettings<R>): Outcome | undefined {
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
    // A missing category is created first. Creating one changes no entity.
    if (seen.newCategories.length > 0) return undefined;
    const isOther = recordedId(type, resource) !== record.id;
    if (!isOther && isDeepStrictEqual(recorded, previous)) return undefined;
    return this.inProgress(record, 0, {
      [type.idField]: record.id,
      ...type.statusOf(record),
      previous: recorded,
      ...(isOther && { [type.hashField]: null }),
      ...volumeStatus(volume),
    });
  }

  async ensure(work: SettingsWork, seen: SeenSettings<R>): Promise<Outcome> {
    const { cached, context } = work;
    const { record, differences } = seen;
    if (differences.length === 0) return this.asDesired(work, seen, record);
    const { type, pacing } = this;
    const { change, drifted, correction } = this.difference(work, seen);
    const after = pacing.pause(cached, correction.key);
    if (after > 0) return this.inProgress(record, after);
    context.signal.throwIfAborted();
    try {
      for (const { scope, name } of seen.newCategories)
        await work.client.categories.ensure(scope, name, foldCase);
      if (seen.newCategories.length > 0) return this.inProgress(record, MIN_WRITE_INTERVAL);
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

  private difference({ resource, client }: SettingsWork, { record, hash, differences }: SeenSettings<R>) {
    const { type } = this;
    const text = formatDiff(differences, client.rest.redact);
    return {
      change: `${type.nameOf(record)} was changed in the hub (${text}).`,
      // A recreated or different entry never matched the spec.
      drifted: recordedId(type, resource) === record.id && hasAccepted(resource, hash, type.hashField),
      left: 'it is not corrected',
      // A rejection for one entry, or for its former id, does not apply to another.
      correction: { key: JSON.stringify([record.id, type.nameOf(record), hash, differences]), text },
    };
  }

  /** The outcome after the hub has accepted the settings. The hub may still have other values. */
  private async written(work: SettingsWork, seen: SeenSettings<R>, updated: R | undefined): Promise<Outcome> {
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
    { resource, cached, volume, lookup }: SettingsWork,
    { declared, hash, recorded }: SeenSettings<R>,
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
      [type.hashField]: hash,
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

  /**
   * Restores the former settings, except those that were changed in the hub after the resource wrote them.
   *
   * @param kept record of another resource that has the entry now
   */
  async putBack(
    resource: SettingsResource,
    client: HubClient,
    kept: Previous = {},
  ): Promise<readonly EventSpec[]> {
    const { type } = this;
    const object = this.objectOf(resource);
    const id = recordedId(type, resource);
    if (object === undefined || id === undefined) return [];
    const previous = await restorable(type, withoutThose(previousOf(resource), kept), client);
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

  /** Names the entry and its former settings, for the event of a removal that does not reach the hub. */
  objectOf(resource: SettingsResource): string | undefined {
    const { idField, type } = this.type;
    const previous = previousOf(resource);
    if (resource.spec.deletionPolicy === 'Orphan' || Object.keys(previous).length === 0) return undefined;
    const id = resource.status?.['entityId'] ?? resource.status?.[idField];
    return `${type} ${String(id)} with the settings of this resource (before: ${formatPrevious(previous)})`;
  }

  forget(resource: SettingsResource, client: HubClient): void {
    this.contexts.find(client)?.settings.delete(resource.metadata.uid);
  }
}

const withoutStop = (message: string): string => message.replace(/\.$/, '');

const refused = ({ reason, message }: Refusal): Outcome => stalled(reason, message);

function rejected(error: HubRejected): Outcome {
  if (error.message.includes(OWN_AREA_REFUSED))
    return stalled('AreaBelongsToDevice', rejectedMessage(`${error.message}.`));
  return hubErrorOutcome(error, 'object');
}

/**
 * The text of the rejection by a hub whose version is not known, so that the rule could not be checked
 * before.
 */
const OWN_AREA_REFUSED = 'without a name of its own';
