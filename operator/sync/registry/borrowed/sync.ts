import { AREA_DEPENDENCY_REQUEUE, DEPENDENCY_REQUEUE } from '../../../base/limits';
import type { HubClient } from '../../../client/hub-client';
import type { Configurable, SettingsEntries } from '../../../client/registries/settings';
import { isReady } from '../../../runtime/conditions';
import type { EventSpec } from '../../../runtime/event-spec';
import { type Outcome, stalled, waiting } from '../../../runtime/outcome';
import type { ReconcileContext } from '../../../runtime/sync-module';
import type { Child } from '../../objects/child';
import { ObjectSync, untilLoaded } from '../../objects/object-sync';
import { recordedBy, recordedId } from '../../objects/ownership';
import type { EntryContexts } from '../entry-contexts';
import type { Services } from '../../services';
import type { Borrower, BorrowedType, SettingsResource } from './borrowed-type';
import { ambiguousText, madeText, ownerAmong } from './declared';
import { EntrySettings, type SeenSettings, type SettingsWork } from './entry-settings';
import { previousOf } from './former-settings';

type Work = SettingsWork<Borrower>;

/**
 * Reconciles settings of entities or devices (rules.md, "Settings of entities and devices"). The entry is
 * never created or removed. Its former settings are recorded in status before anything is written.
 */
export class BorrowedSync<R extends Configurable> extends ObjectSync<Borrower, Work, SeenSettings<R>> {
  /**
   * If an entity got its former id back, even for a moment, objects that refer to it would lose the entity.
   */
  readonly isReferenced = true;
  private readonly settings: EntrySettings<R>;

  constructor(
    private readonly type: BorrowedType<R>,
    private readonly services: Pick<Services, 'cache' | 'clock' | 'metrics' | 'requeue'>,
    contexts: EntryContexts,
  ) {
    super();
    this.settings = new EntrySettings(type, services, contexts);
  }

  protected override async begin(
    resource: Borrower,
    client: HubClient,
    context: ReconcileContext,
  ): Promise<Work | Outcome> {
    const work = this.settings.workOn(resource, client, context);
    return (await untilLoaded(client, 'config')) ?? work;
  }

  protected override forgetObject(work: Work): Outcome {
    const message = `The settings of the ${this.type.type} are being written to the hub.`;
    return waiting(this.type.reason, message, 0, { status: this.settings.forgotten(work) });
  }

  protected override observe(work: Work): Promise<SeenSettings<R> | Outcome> {
    return this.settings.observe(work, async (all) => {
      const record = await this.find(work, all);
      if ('reason' in record) return record;
      const { resource } = work;
      const maker = this.makerOf(resource, record);
      if (maker)
        return stalled('DuplicateId', madeText(this.type.nameOf(record), maker), {
          after: AREA_DEPENDENCY_REQUEUE,
        });
      const owner = this.ownerOf(resource, record.id);
      if (owner) return heldBy(this.type, record, owner);
      this.requeueOthers(resource, record.id);
      return record;
    });
  }

  /** The entry in status, even if it was renamed, or else the entry that the selector matches. */
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

  /** The resource that creates the entry. */
  private makerOf({ metadata: { namespace }, spec: { hubRef } }: Borrower, record: R): Child | undefined {
    const made = this.type.madeBy?.(record);
    if (!made) return undefined;
    const makers = recordedBy<Child>(this.services, made, { namespace, name: hubRef.name }, made.id);
    return [...makers].find((each) => each.metadata.deletionTimestamp === undefined && made.isMaker(each));
  }

  /** The resource that creates the entry with this id, if it has recorded settings of the entry. */
  private makerWith(
    { metadata: { namespace }, spec: { hubRef } }: Borrower,
    id: string,
  ): SettingsResource | undefined {
    const hub = { namespace, name: hubRef.name };
    return this.type.makers
      .flatMap((definition) => [
        ...recordedBy<SettingsResource>(this.services, { definition, idField: 'registryId' }, hub, id),
      ])
      .at(0);
  }

  private ambiguous(found: readonly R[]): Outcome {
    return stalled('Ambiguous', ambiguousText(found.map((record) => this.type.nameOf(record))));
  }

  /** Another resource that has the entry. */
  private ownerOf(resource: Borrower, id: string): Borrower | undefined {
    return ownerAmong(this.othersWith(resource, id), this.type, resource, id);
  }

  /**
   * Requeues other resources with the same entry. If two resources were applied together, both may have
   * recorded it, and the younger one may be Ready.
   */
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

  protected override dryRun(work: Work, seen: SeenSettings<R>): Outcome {
    return this.settings.dryRun(work, seen);
  }

  protected override acquire(work: Work, seen: SeenSettings<R>): Outcome | undefined {
    return this.settings.acquire(work, seen);
  }

  protected override ensure(work: Work, seen: SeenSettings<R>): Promise<Outcome> {
    return this.settings.ensure(work, seen);
  }

  override remove(resource: Borrower, client: HubClient): Promise<readonly EventSpec[]> {
    const id = recordedId(this.type, resource);
    const owner = id === undefined ? undefined : (this.ownerOf(resource, id) ?? this.makerWith(resource, id));
    return this.settings.putBack(resource, client, owner && previousOf(owner));
  }

  /** Names the entry and its former settings, for the event of a removal that does not reach the hub. */
  override objectOf(resource: Borrower): string | undefined {
    return this.settings.objectOf(resource);
  }

  override forget(resource: Borrower, client: HubClient): void {
    this.settings.forget(resource, client);
  }
}

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
