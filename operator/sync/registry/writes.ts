import type { RegistryFields, RegistryRecord } from '../../client/connection/api-types';
import { HubRejected } from '../../client/connection/errors';
import { timestamp } from '../../base/clock';
import { MIN_WRITE_INTERVAL } from '../../base/limits';
import type { Outcome } from '../../runtime/outcome';
import { type FieldDiff, formatDiff } from '../objects/field-diff';
import { WritePacing } from '../objects/write-pacing';
import { volumeStatus } from '../hub-workload/hub-volume';
import type { Services } from '../services';
import { inProgress, partlyWritten, readyOutcome, rejected } from './conditions';
import { entryDiff } from './desired';
import type { EntryType } from './entry-type';
import type { HubContexts } from './hub-contexts';
import type { EntryReconcile } from './entry-reconcile';

/** Writes entries of one registry to the hub, and compares the hub's answers with the desired entries. */
export class EntryWrites {
  private readonly pacing: WritePacing;

  constructor(
    private readonly entryType: EntryType,
    private readonly services: Pick<Services, 'clock'>,
    private readonly contexts: HubContexts,
  ) {
    // Next to no cost for the hub, and no event tells when an entity appears.
    this.pacing = new WritePacing(services.clock, MIN_WRITE_INTERVAL);
  }

  async update(reconcile: EntryReconcile, id: string, differences: readonly FieldDiff[]): Promise<Outcome> {
    const { resource, client } = reconcile;
    const { type } = this.entryType;
    const changes: RegistryFields = Object.fromEntries(
      differences.map(({ field, desired }) => [field, desired as RegistryFields[string]]),
    );
    const record = await client.registries[type].update(id, changes);
    if ('name' in changes) this.contexts.of(client, resource).watch.requeueAfterOwnChange(type);
    return this.written(reconcile, record);
  }

  /** Gives the entry a name in between, so that another resource can have its present one. */
  async moveAside({ resource, client }: EntryReconcile, id: string): Promise<Outcome> {
    const { type } = this.entryType;
    await client.registries[type].update(id, { name: `${resource.spec.name} (${id})` });
    this.contexts.of(client, resource).watch.requeueAfterOwnChange(type);
    return inProgress(this.entryType, resource, MIN_WRITE_INTERVAL);
  }

  /** Runs a write, unless the last one was a moment ago. */
  async send(reconcile: EntryReconcile, write: () => Promise<Outcome>): Promise<Outcome> {
    const { resource, desired, cached } = reconcile;
    const { entryType, pacing } = this;
    const after = pacing.pause(cached, desired.hash);
    if (after > 0) {
      const error = pacing.rejectionOf(cached, desired.hash);
      return error ? { ...rejected(entryType, error), after } : inProgress(entryType, resource, after);
    }
    cached.rejection = undefined;
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof HubRejected)) throw error;
      pacing.record(cached, desired.hash, error);
      return rejected(entryType, error);
    } finally {
      pacing.mark(cached);
    }
  }

  /** The hub has accepted the entry. Its answer may differ from the request. */
  async written(
    reconcile: EntryReconcile,
    record: RegistryRecord,
    status: Readonly<Record<string, unknown>> = {},
  ): Promise<Outcome> {
    const { client, desired } = reconcile;
    const fields = { ...status, lastAppliedTime: timestamp(this.services.clock.now()) };
    const left = entryDiff(record, desired);
    if (left.length === 0) return this.asDesired(reconcile, record, fields);
    const text = formatDiff(left, client.rest.redact);
    return partlyWritten(this.entryType, record, text, MIN_WRITE_INTERVAL, fields);
  }

  /** The entry is as desired. */
  async asDesired(
    { client, desired, cached, volume }: EntryReconcile,
    record: RegistryRecord,
    status?: Readonly<Record<string, unknown>>,
  ): Promise<Outcome> {
    cached.seen = record;
    const { entryType } = this;
    const { component, type } = entryType;
    const entity = component && (await client.entityRegistry.find(component, record[`${type}_id`] as string));
    const entityId = component && { entityId: entity?.entity_id ?? null };
    return readyOutcome(entryType, desired, record, { ...status, ...entityId, ...volumeStatus(volume) });
  }
}
