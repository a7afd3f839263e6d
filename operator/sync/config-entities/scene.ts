import type { EntityPayload } from '../../client/config-entities';
import type { RegistryEntity } from '../../client/entity-registry';
import { getEntityState } from '../../client/states';
import { type HubScene, type HubSceneSpec, scene as definition } from '../../kinds';
import { effectiveId } from '../../kinds/ids';
import { defaulted } from '../../kinds/schema';
import { defined } from './payload';
import type { EntityType, LiveConfig, EntityWork } from './entity-type';

export const scenes: EntityType<HubScene, HubSceneSpec> = {
  type: 'scene',
  definition,
  idField: 'sceneId',
  reason: 'SceneGenerated',
  reloads: true,
  id: effectiveId,
  spec: (resource) => defaulted(definition.spec, resource.spec),
  validate: attributesProblem,
  payload: scenePayload,
  normalize: (stored) => ({ ...stored, entities: normalisedStates(stored['entities']) }),
  readLive: shownByState,
  status: ({ entities }) => ({ entityCount: entities.length }),
};

/** The scene as the hub's config API takes it: a map of entities, each with its attributes beside the state. */
export function scenePayload({ name, icon, entities }: HubSceneSpec): EntityPayload {
  const states = entities.map(({ entity_id: entityId, state, attributes }) => [
    entityId,
    { ...attributes, state },
  ]);
  return defined({ name, icon, entities: Object.fromEntries(states) });
}

/**
 * The hub keeps state and attributes in one map, so one of the two would be lost. No CEL rule can say so: values of
 * any type keep it from seeing the attributes at all.
 */
function attributesProblem({ entities }: HubSceneSpec): string | undefined {
  const wrong = entities.find(({ attributes }) => attributes && 'state' in attributes);
  if (!wrong) return undefined;
  return `The attributes of ${wrong.entity_id} hold state: put it into the field state beside them, and take it out there.`;
}

/** A state may stand in the file alone, and on and off without quotes. */
function normalisedStates(entities: unknown): unknown {
  if (typeof entities !== 'object' || entities === null) return entities;
  return Object.fromEntries(
    Object.entries(entities).map(([entityId, value]) => {
      const whole =
        typeof value === 'object' && value !== null ? (value as object) : { state: value as unknown };
      const { state } = whole as { state?: unknown };
      return [entityId, { ...whole, state: typeof state === 'boolean' ? (state ? 'on' : 'off') : state }];
    }),
  );
}

/** Of a scene the hub shows in its memory only name, icon and which entities it sets. */
async function shownByState({ client, payload }: EntityWork, entity: RegistryEntity): Promise<LiveConfig> {
  const { name, icon = null, entities } = payload as { name: string; icon?: string; entities: object };
  if (entity.original_name !== name || (entity.original_icon ?? null) !== icon) return undefined;
  if (entity.disabled_by !== null) return 'hidden';
  const shown = (await getEntityState(client.rest, entity.entity_id))?.attributes['entity_id'];
  const wanted = new Set(Object.keys(entities));
  const same =
    Array.isArray(shown) && shown.length === wanted.size && shown.every((each) => wanted.has(each as string));
  return same ? 'hidden' : undefined;
}
