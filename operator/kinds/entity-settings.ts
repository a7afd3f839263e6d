import {
  borrowedReferences,
  borrowedSpec,
  borrowedStatus,
  categories,
  deviceSelector,
  deviceText,
  entitySettings,
  exactlyOneOf,
  identityOfSelect,
  keptOrPutBack,
  placeSettings,
  selectStays,
} from './borrowed';
import { defineChild } from './child';
import { entityId, icon } from './entity';
import { flag, nonEmptyText, text } from './fields';
import type { Resource } from './resource';
import type { Infer, Schema } from './schema';

const domain = {
  type: 'string',
  description: 'Domain of the entity, such as `light`.',
  pattern: '^[a-z_]+$',
  maxLength: 64,
} as const satisfies Schema;

const spec = {
  type: 'object',
  description: 'Desired settings of the entity.',
  properties: {
    ...borrowedSpec,
    select: {
      type: 'object',
      description: 'The entity. It cannot be changed.',
      properties: {
        entityId: {
          ...entityId,
          description:
            'Its present id, such as `light.kitchen`. When someone renames it in the hub, this resource follows. After a new ' +
            'set-up of the hub it may be another entity: `unique` and `device` are better in Git.',
        },
        unique: {
          type: 'object',
          description: 'Its unique id, which stays the same when the hub is set up again.',
          properties: {
            integration: nonEmptyText(64, 'The integration that provides it, such as `hue`.'),
            domain,
            uniqueId: nonEmptyText(255, 'The id that the integration gave it.'),
          },
          required: ['integration', 'domain', 'uniqueId'],
        },
        device: {
          ...deviceSelector('An entity of a device, for many devices of one sort.', {
            domain,
            deviceClass: nonEmptyText(64, 'Its device class, such as `battery`. Absent: any.'),
            translationKey: nonEmptyText(
              128,
              'The key of its name in its integration, which is equal in all languages. Absent: any.',
            ),
            originalName: nonEmptyText(
              255,
              'The name that its integration gave it, in the language of the hub. Absent: any.',
            ),
          }),
          required: ['domain'],
        },
      },
      'x-kubernetes-validations': [selectStays, exactlyOneOf(['entityId', 'unique', 'device'])],
    },
    name: nonEmptyText(255, `Name of the entity. ${keptOrPutBack}`),
    icon: { ...icon, description: `Icon, of the form \`<prefix>:<name>\`. ${keptOrPutBack}` },
    ...placeSettings('entity'),
    aliases: entitySettings.aliases,
    categories,
    hidden: entitySettings.hidden,
    disabled: flag(
      `True: the hub does not set it up. False: it does, unless its device or config entry is disabled. ${keptOrPutBack}`,
    ),
    deviceClass: nonEmptyText(
      64,
      `Device class, such as \`window\`, which the hub does not check. ${keptOrPutBack}`,
    ),
    unit: nonEmptyText(64, `Unit in which a sensor or a number is shown, such as \`°F\`. ${keptOrPutBack}`),
    precision: {
      type: 'integer',
      description: `Number of decimals that a sensor is shown with. ${keptOrPutBack}`,
      minimum: 0,
      maximum: 10,
    },
    expose: entitySettings.expose,
    entityId: {
      ...entityId,
      description:
        'New id of the entity, of the same domain. The hub does not rewrite what refers to the former id. ' +
        keptOrPutBack,
    },
  },
  required: ['hubRef', 'select'],
  'x-kubernetes-validations': [
    {
      rule: '!has(self.entityId) || !has(self.select.entityId)',
      message:
        'entityId needs select.unique or select.device: an entity that is selected by its id would be lost',
      fieldPath: '.entityId',
    },
  ],
} as const satisfies Schema;

const status = borrowedStatus({
  entityId: text('Id of the entity.'),
  registryId: text('Id of its entry in the registry of the hub, which stays when it is renamed.'),
});

/** Names a selected entity in messages. */
function selectedText({ entityId, unique, device }: Infer<typeof spec>['select']): string {
  if (unique) return `the ${unique.domain} ${unique.uniqueId} of ${unique.integration}`;
  return device ? `the ${device.domain} of ${deviceText(device)}` : String(entityId);
}

export const entity = defineChild({
  kind: 'HubEntity',
  rank: 7,
  plural: 'hubentities',
  shortNames: ['haen'],
  description:
    'Beta: Settings of an entity that exists; deleting this puts the former settings back and never removes the entity. The ' +
    'entity belongs to a Home Assistant instance (the hub).',
  spec,
  status,
  columns: [
    { name: 'Entity', type: 'string', jsonPath: '.status.entityId' },
    { name: 'Name', type: 'string', jsonPath: '.spec.name' },
    { name: 'Area', type: 'string', jsonPath: '.spec.areaName' },
  ],
  identity: ({ spec: { select } }) => identityOfSelect(select),
  identityField: 'spec.select',
  subject: ({ spec: { select }, status }) => `settings of ${status?.entityId ?? selectedText(select)}`,
  references: (resource) => borrowedReferences(resource, resource.spec.select.device?.integrationRef),
});

export type HubEntity = Resource<Infer<typeof spec>, Infer<typeof status>>;
