import { hubColumn, hubObjectSpec, hubOfChild, readyColumn, talksToHub } from './child';
import { autoReload, configId, entityId, icon } from './entity';
import { effectiveId } from './ids';
import { defineKind } from './kind';
import type { Resource } from './resource';
import type { Defaulted, Infer, Schema } from './schema';
import { hubObjectStatus } from './status';

const spec = {
  type: 'object',
  description: 'One scene: states that entities are given together.',
  properties: {
    ...hubObjectSpec,
    id: {
      ...configId,
      description:
        'Id of the scene in the hub: a lower-case letter, then lower-case letters, digits and underscores. Default: ' +
        '`metadata.name`. A changed id removes the old scene.',
    },
    name: {
      type: 'string',
      description:
        'Name shown in the hub. The entity id is made from it once: Movie Night is `scene.movie_night`.',
      minLength: 1,
      maxLength: 255,
    },
    icon,
    entities: {
      type: 'array',
      description: 'The entities of the scene and their states, each entity once.',
      items: {
        type: 'object',
        properties: {
          entity_id: entityId,
          state: {
            type: 'string',
            description:
              'State that the entity is given, such as "on", closed, heat. Quote on/off/yes/no: kubectl reads them as booleans.',
            minLength: 1,
            maxLength: 255,
          },
          attributes: {
            type: 'object',
            description:
              'Attributes that the entity is given with the state, such as `brightness: 128` or `rgb_color: [255, 160, 0]`: ' +
              'scalars and lists. Quote on/off/yes/no: kubectl reads them as booleans. `state` cannot be an attribute. ' +
              'Default: none.',
            additionalProperties: { 'x-kubernetes-preserve-unknown-fields': true },
            maxProperties: 64,
          },
        },
        required: ['entity_id', 'state'],
      },
      maxItems: 1000,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['entity_id'],
    },
    autoReload: {
      ...autoReload,
      description:
        'Reload the hub’s scenes after a change. False drops only the operator’s own reload: the hub itself reloads ' +
        'after a scene is written. Default true.',
    },
  },
  required: ['hubRef', 'name', 'entities'],
} as const satisfies Schema;

const status = {
  type: 'object',
  description: 'What the operator last saw and did.',
  properties: {
    ...hubObjectStatus,
    sceneId: { type: 'string', description: 'Id under which the scene is in the hub.' },
    entityId: { type: 'string', description: 'Entity of the scene in the hub, such as `scene.movie_night`.' },
    entityCount: { type: 'integer', format: 'int32', description: 'How many entities the scene sets.' },
  },
} as const satisfies Schema;

/** Conditions: `Ready` (`SceneGenerated`), `ReloadReady` (`ReloadSuccessful`). */
export const scene = defineKind({
  kind: 'HubScene',
  plural: 'hubscenes',
  singular: 'hubscene',
  shortNames: ['hasc'],
  description: 'HubScene is one scene of a hub. What stands here is in the hub, and stays so.',
  spec,
  status,
  columns: [
    hubColumn,
    { name: 'Name', type: 'string', jsonPath: '.spec.name' },
    { name: 'Entities', type: 'integer', jsonPath: '.status.entityCount' },
    readyColumn,
  ],
  hubName: hubOfChild,
  references: talksToHub,
  identity: effectiveId,
  access: [],
});

export type HubScene = Resource<Infer<typeof spec>, Infer<typeof status>>;
export type HubSceneSpec = Defaulted<typeof spec>;
export type HubSceneStatus = Infer<typeof status>;
