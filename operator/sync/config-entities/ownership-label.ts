import type { RegistryEntity } from '../../client/connection/api-types';
import type { ConfigEntityKind } from '../../client/connection/config-entity';
import type { LabelledEntity } from '../../client/registries/entity-registry';
import { HubError, isUnknownCommand } from '../../client/connection/errors';
import type { HubClient } from '../../client/hub-client';
import { ownLabels } from '../objects/own-labels';
import type { LabelDefinition } from '../../client/registries/label-registry';

// Handles the labels that show users which entities are managed. A resource that was restored without status
// recognizes its object by them.

const MANAGED: LabelDefinition = {
  name: ownLabels.managed,
  icon: 'mdi:kubernetes',
  color: 'indigo',
  description: 'Defined in Kubernetes. Changes that are made here are reverted.',
};

/** The label beside MANAGED for an object that a user made, which stays when the resource is deleted. */
const ADOPTED: LabelDefinition = {
  name: ownLabels.adopted,
  icon: 'mdi:kubernetes',
  color: 'blue-grey',
  description: 'Existed before it was defined in Kubernetes.',
};

/** The set of the operator's labels that an entity should have. */
type Mark = 'none' | 'managed' | 'adopted';

const LABELS: Readonly<Record<Mark, readonly LabelDefinition[]>> = {
  none: [],
  managed: [MANAGED],
  adopted: [MANAGED, ADOPTED],
};

/**
 * Reports whether the operator created the entity, according to its labels. An entity without labels counts
 * as a user's, unless its definition is delivered, which only the operator does.
 */
export async function isCreatedByOperator(
  { labels }: HubClient,
  entity: RegistryEntity,
  isDelivered: boolean,
): Promise<boolean> {
  if (!entity.labels?.length) return isDelivered;
  const has = async ({ name }: LabelDefinition) => {
    const id = await labels.find(name);
    return id !== undefined && entity.labels!.includes(id);
  };
  try {
    return (isDelivered || (await has(MANAGED))) && !(await has(ADOPTED));
  } catch (error) {
    if (isUnknownCommand(error)) return isDelivered;
    throw error;
  }
}

/** All automations, scenes and scripts whose labels say that the operator created them. */
export async function createdByOperator({
  labels,
  entityRegistry,
}: HubClient): Promise<readonly LabelledEntity[]> {
  const [managed, adopted] = [await labels.find(MANAGED.name), await labels.find(ADOPTED.name)];
  if (managed === undefined) return [];
  const entities = await entityRegistry.withLabel(managed);
  return entities.filter((entity) => adopted === undefined || !entity.labels.includes(adopted));
}

/** Sets the operator's labels for the mark and removes its other labels. Labels of users stay. */
export async function markEntity(client: HubClient, entity: RegistryEntity, mark: Mark): Promise<void> {
  const { labels = [], entity_id: entityId } = entity;
  const ours = await Promise.all([MANAGED, ADOPTED].map(({ name }) => client.labels.find(name)));
  const desired = await Promise.all(LABELS[mark].map((label) => client.labels.ensure(label)));
  const isSame =
    ours.every((id) => id === undefined || labels.includes(id) === desired.includes(id)) &&
    desired.every((id) => labels.includes(id));
  if (isSame) return;
  const others = labels.filter((id) => !ours.includes(id));
  await client.entityRegistry.setLabels(entityId, [...others, ...desired]);
}

/**
 * Removes the operator's labels from an object that it removes or leaves: the hub would restore them when a
 * user creates an entity with the same id. A failure is ignored, since the removal does not depend on this.
 */
export async function unmark(client: HubClient, kind: ConfigEntityKind, id: string): Promise<void> {
  try {
    const entity = await client.entityRegistry.findToRemove(kind, id);
    if (entity?.labels?.length) await markEntity(client, entity, 'none');
  } catch (error) {
    if (!(error instanceof HubError)) throw error;
  }
}
