import { isDeepStrictEqual } from 'node:util';
import { DEPENDENCY_REQUEUE } from '../../../base/limits';
import { HubError } from '../../../client/connection/errors';
import type { HubClient } from '../../../client/hub-client';
import { categorySetting, type EntityRecord } from '../../../client/registries/entity-settings';
import { isList } from '../../../client/registries/settings';
import type { KindDefinition } from '../../../kinds/kind';
import type { EventSpec } from '../../../runtime/event-spec';
import { type Outcome, type Ready, stalled, type Waiting, waiting } from '../../../runtime/outcome';
import type { ReconcileContext } from '../../../runtime/sync-module';
import { hubVolume, isOnOtherVolume, leftOnOtherVolume } from '../../hub-pod/hub-volume';
import type { Child } from '../../objects/child';
import type { OwnEntitySettings } from '../../objects/own-entity';
import { ownLabels } from '../../objects/own-labels';
import { type ObjectType, recordedId } from '../../objects/ownership';
import { shouldDelete } from '../../objects/removal';
import type { Services } from '../../services';
import type { EntryContexts } from '../entry-contexts';
import type { SettingsKind, SettingsResource } from './borrowed-type';
import { entities } from './entities';
import { EntrySettings, type SeenSettings, type SettingsWork } from './entry-settings';

/**
 * The settings that an entity may get from the resource that creates it. The name of the entity is part of
 * the definition instead.
 */
const SETTINGS = [
  'areaName',
  'labels',
  'aliases',
  'icon',
  'hidden',
  'expose.conversation',
  'expose.alexa',
  'expose.googleAssistant',
] as const;

/** The description of `spec.entity`: the settings of the entities that resources of a kind create. */
export const ownSettings = ({
  definition,
  reason,
}: Pick<ObjectType, 'definition' | 'reason'>): SettingsKind<EntityRecord> => ({
  type: entities.type,
  definition,
  idField: 'registryId',
  hashField: 'settingsHash',
  isOptional: true,
  reason,
  fields: {
    ...Object.fromEntries(SETTINGS.map((name) => [name, { ...entities.fields[name], at: `entity.${name}` }])),
    ...categoryField(definition),
  },
  registryOf: (client) => entities.registryOf(client),
  nameOf: (record) => entities.nameOf(record),
  statusOf: () => ({}),
  refusal: (...given) => entities.refusal(...given),
});

/** The field for the category. Each page of the hub has its own categories. */
function categoryField({ ownEntity }: Pick<KindDefinition, 'ownEntity'>): SettingsKind['fields'] {
  const { category } = ownEntity ?? {};
  return category ? { [categorySetting(category)]: { category, at: 'entity.category' } } : {};
}

/**
 * Settings of the entities that resources of one kind create. {@link EntrySettings} writes them, as for a
 * HubEntity.
 */
export class OwnEntity implements OwnEntitySettings {
  private readonly settings: EntrySettings<EntityRecord>;
  private readonly type: SettingsKind<EntityRecord>;

  constructor(
    object: Pick<ObjectType, 'definition' | 'reason'>,
    private readonly services: Pick<Services, 'cache' | 'clock' | 'metrics'>,
    contexts: EntryContexts,
  ) {
    this.type = ownSettings(object);
    this.settings = new EntrySettings(this.type, services, contexts);
  }

  async settle(
    made: Ready,
    registryId: string | undefined,
    given: Child,
    client: HubClient,
    context: ReconcileContext,
  ): Promise<Outcome> {
    const resource = given as SettingsResource;
    const isRecorded = recordedId(this.type, resource) !== undefined;
    if (!isRecorded && Object.keys((resource.spec['entity'] as object | undefined) ?? {}).length === 0)
      return made;
    const work = this.settings.workOn(resource, client, context);
    try {
      return completed(made, await this.outcome(work, registryId), resource);
    } catch (error) {
      // Status records the result of a write first, since it must not be lost. The next reconcile meets the
      // error again.
      if (!(error instanceof HubError) || hasStatus(resource, made)) throw error;
      return completed(made, this.inProgress(0), resource);
    }
  }

  private async outcome(work: SettingsWork, registryId: string | undefined): Promise<Outcome> {
    const { settings } = this;
    const seen = await settings.observe(
      work,
      (all) =>
        (registryId === undefined ? undefined : all.get(registryId)) ?? this.inProgress(DEPENDENCY_REQUEUE),
    );
    if ('reason' in seen) return seen;
    const refused = await this.ownLabel(work, seen);
    if (refused) return refused;
    if (work.context.dryRun) return settings.dryRun(work, seen);
    const outcome = settings.acquire(work, seen) ?? (await settings.ensure(work, seen));
    const isOver = outcome.type === 'Ready' && Object.keys(seen.declared).length === 0;
    return isOver ? { ...outcome, status: { ...outcome.status, ...settings.forgotten(work) } } : outcome;
  }

  private inProgress(after: number): Waiting {
    return waiting(this.type.reason, 'The settings of the entity are being written to the hub.', after);
  }

  /** Refuses the operator's own labels, since the operator itself adds and removes them. */
  private async ownLabel(
    { client }: SettingsWork,
    { declared }: SeenSettings<EntityRecord>,
  ): Promise<Outcome | undefined> {
    const { labels } = declared;
    if (!isList(labels)) return undefined;
    for (const name of Object.values(ownLabels)) {
      const id = await client.labels.find(name);
      if (id !== undefined && labels.includes(id))
        return stalled(
          'InvalidSpec',
          `entity.labels: the operator itself gives and takes the label “${name}”: remove it.`,
        );
    }
    return undefined;
  }

  async putBack(given: Child, client: HubClient): Promise<readonly EventSpec[]> {
    const resource = given as SettingsResource;
    const object = this.objectOf(resource);
    if (object === undefined) return [];
    const { metadata, spec } = resource;
    const volume = hubVolume(this.services, metadata.namespace, spec.hubRef.name);
    // A definition in a ConfigMap is removed on any volume, but the former settings belong to one.
    if (isOnOtherVolume(resource, volume)) return [leftOnOtherVolume(object)];
    return this.settings.putBack(resource, client);
  }

  /** The settings of an object that is removed need no restoring. */
  objectOf(resource: Child): string | undefined {
    return shouldDelete(resource) ? undefined : this.settings.objectOf(resource as SettingsResource);
  }

  forget(resource: Child, client: HubClient): void {
    this.settings.forget(resource as SettingsResource, client);
  }
}

/** The outcome of an object, combined with the outcome of its entity's settings. */
function completed(made: Ready, settings: Outcome, resource: Child): Outcome {
  const status = { ...made.status, ...settings.status };
  const events = [...(made.events ?? []), ...(settings.events ?? [])];
  if (settings.type === 'Ready') return { ...made, status, events };
  const conditions = made.conditions && { conditions: made.conditions };
  const reported = settings.type === 'Waiting' && !hasStatus(resource, made) && { unreported: false };
  // The definition may have to be checked again sooner than the settings.
  const after = Math.min(settings.after ?? Infinity, made.after ?? Infinity);
  const sooner = after < Infinity && { after };
  return { ...settings, ...sooner, ...conditions, ...reported, status, events };
}

/** Reports whether status already has all fields of an outcome. */
const hasStatus = (resource: Child, { status = {} }: Ready): boolean =>
  Object.entries(status).every(([field, value]) =>
    isDeepStrictEqual(resource.status?.[field] ?? null, value ?? null),
  );
