import { ownEntity, ownEntityReferences } from './borrowed';
import { defineChild, hubObjectSpec } from './child';
import { referencesColumn } from './columns';
import { anyValue, autoReload, configId, entityId, hubId, icon, idRules, quoteStates } from './entity';
import { int32, nonEmptyText, text } from './fields';
import { effectiveId } from './ids';
import type { Resource } from './resource';
import type { Defaulted, Infer, Schema } from './schema';
import { configEntityStatusWith } from './status';

const spec = {
  type: 'object',
  description: 'Desired scene: states that several entities are set to together.',
  properties: {
    ...hubObjectSpec,
    id: {
      ...configId,
      description:
        'Id of the scene in the hub: a lower-case letter, then lower-case letters, digits and underscores. Default: ' +
        '`metadata.name`. A changed id creates the new scene, then removes the old one; one that was adopted stays in the hub.',
    },
    hubId: {
      ...hubId,
      description:
        'Id of a scene that exists in the hub, verbatim, such as "1699999999999": 1 to 255 printable characters. Instead of `id`; it ' +
        'cannot be changed. Quote digits: YAML reads them as a number.',
    },
    name: nonEmptyText(
      255,
      'Name shown in the hub. The hub derives the entity id from it once: Movie Night becomes `scene.movie_night`.',
    ),
    icon,
    entities: {
      type: 'array',
      description: 'The entities of the scene and their states, each entity once.',
      items: {
        type: 'object',
        properties: {
          entity_id: entityId,
          state: nonEmptyText(
            255,
            `State that the entity is set to, such as "on", closed, heat. ${quoteStates}`,
          ),
          attributes: {
            type: 'object',
            description:
              'Attributes that the entity is set to, such as `brightness: 128` or `rgb_color: [255, 160, 0]`: scalars, ' +
              `lists and null. \`state\` cannot be an attribute. Default: none. ${quoteStates}`,
            additionalProperties: anyValue,
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
    entity: ownEntity('scene', 'Scenes'),
  },
  required: ['hubRef', 'name', 'entities'],
  'x-kubernetes-validations': [...idRules],
} as const satisfies Schema;

const status = configEntityStatusWith({
  sceneId: text('Id of the scene in the hub.'),
  entityId: text('Entity of the scene in the hub, such as `scene.movie_night`.'),
  entityCount: int32('Number of entities that the scene sets.'),
});

export const scene = defineChild({
  kind: 'HubScene',
  rank: 2,
  shortNames: ['hasc'],
  description:
    'HubScene is one scene of a Home Assistant instance (the hub). It is kept in sync; drift is reverted.',
  spec,
  status,
  columns: [
    { name: 'Name', type: 'string', jsonPath: '.spec.name' },
    { name: 'Entities', type: 'integer', jsonPath: '.status.entityCount' },
    referencesColumn,
  ],
  validated: true,
  identity: effectiveId,
  references: ownEntityReferences,
  ownEntity: { integrations: { scene: 'homeassistant' }, idField: 'sceneId', category: 'scene' },
});

export type HubScene = Resource<Infer<typeof spec>, Infer<typeof status>>;
export type HubSceneSpec = Defaulted<typeof spec>;
