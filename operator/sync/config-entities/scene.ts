import { getEntityState } from '../../client/config-entities/states';
import { type HubScene, type HubSceneSpec, scene as definition } from '../../kinds';
import { effectiveId } from '../../kinds/ids';
import { defaulted } from '../../kinds/schema';
import { isObject } from '../../base/is-object';
import { mapOf, normalizer } from './normal-form';
import { defined } from './payload';
import type { EntityType, LiveConfig, EntityWork } from './entity-type';
import type { EntityPayload } from '../../client/connection/config-entity';
import type { RegistryEntity } from '../../client/connection/api-types';

/** In the hub's file a state may be written without attributes, and on and off without quotes. */
const normalScene = normalizer({
  values: {
    entities: mapOf((value) => {
      const whole = isObject(value) ? value : { state: value };
      const { state } = whole;
      return { ...whole, state: typeof state === 'boolean' ? (state ? 'on' : 'off') : state };
    }),
  },
});

export const scenes: EntityType<HubScene, HubSceneSpec> = {
  type: 'scene',
  definition,
  idField: 'sceneId',
  reason: 'SceneGenerated',
  reloads: true,
  id: effectiveId,
  spec: (resource) => defaulted(definition.spec, resource.spec),
  validate: validateAttributes,
  payload: scenePayload,
  nameOf: ({ name }) => name,
  keys: ['name', 'icon', 'entities'],
  normal: (whole) => normalScene(whole) as EntityPayload,
  readLive: readLiveScene,
  status: ({ entities }) => ({ entityCount: entities.length }),
};

/** The scene in the form of the hub's config API: a map of entities, with attributes beside the state. */
export function scenePayload({ name, icon, entities }: HubSceneSpec): EntityPayload {
  const states = entities.map(({ entity_id: entityId, state, attributes }) => [
    entityId,
    { ...attributes, state },
  ]);
  return defined({ name, icon, entities: Object.fromEntries(states) });
}

/**
 * Checks that no attribute is named `state`. The hub keeps state and attributes in one map, so one of the two
 * would be lost. A CEL rule cannot check this, since CEL cannot read attributes, whose values have any type.
 */
function validateAttributes({ entities }: HubSceneSpec): string | undefined {
  const wrong = entities.find(({ attributes }) => attributes && 'state' in attributes);
  if (!wrong) return undefined;
  return `The attributes of ${wrong.entity_id} contain "state": move it to the field state beside them.`;
}

/**
 * The live config of a scene. The hub returns only the name, the icon and the entities of a running scene.
 */
async function readLiveScene({ client, payload }: EntityWork, entity: RegistryEntity): Promise<LiveConfig> {
  const { name, icon = null, entities } = payload as { name: string; icon?: string; entities: object };
  // An entry in the list of the whole registry has no icon, so the icon is not compared then.
  const { original_name: actualName, original_icon: actualIcon = icon } = entity;
  if (actualName !== name || actualIcon !== icon) return { type: 'Part', matches: false };
  if (entity.disabled_by !== null) return { type: 'Part', matches: true };
  const state = await getEntityState(client.rest, entity.entity_id);
  const actual = state?.attributes['entity_id'];
  const desired = new Set(Object.keys(entities));
  const matches =
    Array.isArray(actual) &&
    actual.length === desired.size &&
    actual.every((each) => desired.has(each as string));
  // A reload recreates the entity, which updates its state.
  return { type: 'Part', matches, ...(state && { revision: `${state.last_updated} ${state.context.id}` }) };
}
