import type { RegistryEntity } from '../../client/connection/api-types';
import type { ConfigEntityKind } from '../../client/connection/config-entity';
import type { LabelledEntity } from '../../client/registries/entity-registry';
import { HubError, isUnknownCommand } from '../../client/connection/errors';
import type { HubClient } from '../../client/hub-client';
import { ownLabels } from '../objects/own-labels';
import type { LabelDefinition } from '../../client/registries/label-registry';

// Labels show the household which entities are managed. By them a resource that was restored without status recognizes its own.

const MANAGED: LabelDefinition = {
  name: ownLabels.managed,
  icon: 'mdi:kubernetes',
  color: 'indigo',
  description: 'Defined in Kubernetes. Changes that are made here are reverted.',
};

/** Beside the first one: deleting the resource leaves what a person made. */
const ADOPTED: LabelDefinition = {
  name: ownLabels.adopted,
  icon: 'mdi:kubernetes',
  color: 'blue-grey',
  description: 'Existed before it was defined in Kubernetes.',
};

/** Which labels of ours an entity should have. */
type Mark = 'none' | 'managed' | 'adopted';

const LABELS: Readonly<Record<Mark, readonly LabelDefinition[]>> = {
  none: [],
  managed: [MANAGED],
  adopted: [MANAGED, ADOPTED],
};

/**
 * Whether the labels say that the operator created the entity. Without any they say nothing: it is a person's, unless its definition
 * is delivered, which only the operator does.
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

/** Gives the entity the labels of the mark and takes other labels of ours away. The household's labels stay. */
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
 * Takes our labels from an object that the operator removes or leaves: the hub restores the labels of a deleted entity when
 * a person creates one with its id. Best effort: the removal does not depend on it.
 */
export async function unmark(client: HubClient, kind: ConfigEntityKind, id: string): Promise<void> {
  try {
    const entity = await client.entityRegistry.findToRemove(kind, id);
    if (entity?.labels?.length) await markEntity(client, entity, 'none');
  } catch (error) {
    if (!(error instanceof HubError)) throw error;
  }
}
