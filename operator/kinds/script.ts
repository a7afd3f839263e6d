import { blueprintReference } from './blueprint';
import { ownEntity, ownEntityReferences } from './borrowed';
import { defineChild, hubObjectSpec } from './child';
import { referencesColumn } from './columns';
import {
  actionList,
  anyValue,
  autoReload,
  configId,
  freeObject,
  wholeMap,
  hubId,
  icon,
  idRules,
  maxNeedsMode,
  neededWithoutBlueprint,
  runFields,
} from './entity';
import { flag, nonEmptyText, text, textUpTo } from './fields';
import { MARKER_SCRIPT, scriptId } from './ids';
import type { Resource } from './resource';
import type { Defaulted, Infer, Schema } from './schema';
import { configEntityStatusWith } from './status';

const reservedIds = <const Name extends string>(field: Name) =>
  [
    {
      rule: "!(self in ['reload', 'toggle', 'turn_on', 'turn_off'])",
      message: `${field}: reload, toggle, turn_on and turn_off are services of the hub: choose another id`,
    },
    {
      rule: `self != '${MARKER_SCRIPT}'`,
      message: `${field}: ${MARKER_SCRIPT} is the operator’s own script in every hub: choose another id`,
    },
  ] as const;

const spec = {
  type: 'object',
  description: 'Desired script: a sequence of actions with a name.',
  properties: {
    ...hubObjectSpec,
    id: {
      ...configId,
      description:
        'Id of the script in the hub: a lower-case letter, then lower-case letters and digits, separated by single ' +
        'underscores; not reload, toggle, turn_on, turn_off, hub_operator_configuration. It becomes `script.<id>`. Default: `metadata.name` with _ ' +
        'for - and dots. A changed id creates the new script, then removes the old one; one that was adopted stays in the hub.',
      'x-kubernetes-validations': [
        {
          rule: "!self.contains('__') && !self.endsWith('_')",
          message: 'id of a script is a slug: no double underscore and none at the end',
        },
        ...reservedIds('id'),
      ],
    },
    hubId: {
      ...hubId,
      // The hub accepts only slugs as ids of scripts.
      pattern: '^[a-z0-9]+(_[a-z0-9]+)*$',
      description:
        'Id of a script that exists in the hub, verbatim, such as "1699999999999": lower-case letters and digits, separated by single ' +
        'underscores. Instead of `id`; it cannot be changed. Quote digits: YAML reads them as a number.',
      'x-kubernetes-validations': [hubId['x-kubernetes-validations'][0], ...reservedIds('hubId')],
    },
    alias: nonEmptyText(255, 'Name shown in the hub.'),
    description: textUpTo(65536, 'Description shown in the hub. Absent: none.'),
    icon,
    sequence: actionList,
    fields: {
      ...wholeMap,
      description: 'Parameters of the script, by name, as the hub’s UI shows them. Default: none.',
      additionalProperties: {
        type: 'object',
        properties: {
          name: textUpTo(255, 'Name of the field in the UI.'),
          description: textUpTo(65536, 'What the field means.'),
          advanced: flag('True: shown to advanced users only.'),
          required: flag('True: the UI demands a value.'),
          default: { ...anyValue, description: 'Value that the UI suggests.' },
          example: { ...anyValue, description: 'An example of a value.' },
          selector: {
            ...freeObject,
            description: 'Input control of the UI, such as `entity: {domain: light}`.',
          },
        },
        'x-kubernetes-preserve-unknown-fields': true,
      },
      maxProperties: 256,
    },
    ...runFields,
    autoReload: {
      ...autoReload,
      description:
        'Accepted as for the other kinds, without effect: the hub loads a written script by itself. Default true.',
    },
    entity: ownEntity('script', 'Scripts'),
  },
  required: ['hubRef', 'alias'],
  anyOf: neededWithoutBlueprint('sequence'),
  'x-kubernetes-validations': [maxNeedsMode, ...idRules],
} as const satisfies Schema;

const status = configEntityStatusWith({
  mode: text('Mode in which the script runs. Absent: that of its blueprint.'),
  scriptId: text('Id of the script in the hub.'),
  entityId: text('Entity of the script in the hub, such as `script.good_night`.'),
});

export const script = defineChild({
  kind: 'HubScript',
  rank: 2,
  shortNames: ['hascp'],
  description:
    'HubScript is one script of a Home Assistant instance (the hub). It is kept in sync; drift is reverted.',
  spec,
  status,
  rules: [
    {
      rule: "has(self.spec.id) || has(self.spec.hubId) || !self.metadata.name.matches('^(reload|toggle|turn[-.]+(on|off))$')",
      message:
        'metadata.name gives a script id that is a service of the hub: set spec.id, or choose another name',
      fieldPath: '.metadata.name',
    },
    {
      rule: `has(self.spec.id) || has(self.spec.hubId) || !self.metadata.name.matches('^${MARKER_SCRIPT.replaceAll('_', '[-.]+')}$')`,
      message: `metadata.name gives the id ${MARKER_SCRIPT}, which is the operator’s own script in every hub: set spec.id, or choose another name`,
      fieldPath: '.metadata.name',
    },
  ],
  columns: [
    { name: 'Alias', type: 'string', jsonPath: '.spec.alias' },
    { name: 'Mode', type: 'string', jsonPath: '.status.mode' },
    referencesColumn,
  ],
  references: (resource) => [
    ...ownEntityReferences(resource),
    ...blueprintReference('script', resource.spec),
  ],
  validated: true,
  identity: scriptId,
  ownEntity: { integrations: { script: 'script' }, idField: 'scriptId', category: 'script' },
});

export type HubScript = Resource<Infer<typeof spec>, Infer<typeof status>>;
export type HubScriptSpec = Defaulted<typeof spec>;
