import { hubColumn, hubObjectSpec, hubOfChild, readyColumn, talksToHub } from './child';
import { autoReload, configId, freeObject, icon, maxNeedsMode, runFields } from './entity';
import { scriptId } from './ids';
import { defineKind } from './kind';
import type { Resource } from './resource';
import type { Defaulted, Infer, Schema } from './schema';
import { hubObjectStatus } from './status';

const anyValue = { 'x-kubernetes-preserve-unknown-fields': true } as const satisfies Schema;

const spec = {
  type: 'object',
  description: 'One script: a sequence of actions with a name.',
  properties: {
    ...hubObjectSpec,
    id: {
      ...configId,
      description:
        'Id of the script in the hub: a lower-case letter, then lower-case letters and digits, parted by single ' +
        'underscores; not reload, toggle, turn_on, turn_off. It becomes `script.<id>`. Default: `metadata.name` with _ ' +
        'for - and dots. A changed id removes the old script.',
      'x-kubernetes-validations': [
        {
          rule: "!self.contains('__') && !self.endsWith('_')",
          message: 'id of a script is a slug: no double underscore and none at the end',
        },
        {
          rule: "!(self in ['reload', 'toggle', 'turn_on', 'turn_off'])",
          message: 'id: reload, toggle, turn_on and turn_off are services of the hub: choose another id',
        },
      ],
    },
    alias: { type: 'string', description: 'Name shown in the hub.', minLength: 1, maxLength: 255 },
    description: {
      type: 'string',
      description: 'What the script is for, shown in the hub.',
      maxLength: 65536,
    },
    icon,
    sequence: {
      type: 'array',
      description:
        'What is done, in order, in the hub’s own syntax: `action` (a service such as `light.turn_on`) with `target` ' +
        'and `data`, or `delay`, `choose`, `if`, `repeat` and the like. At least one is needed, unless `useBlueprint` ' +
        'is set. Quote states such as "on", "off", "yes", "no": kubectl reads them as booleans.',
      items: freeObject,
      maxItems: 1000,
    },
    fields: {
      type: 'object',
      description: 'What a caller can hand over, by name, as the hub’s UI shows it. Default: nothing.',
      additionalProperties: {
        type: 'object',
        properties: {
          name: { type: 'string', description: 'Name of the field in the UI.', maxLength: 255 },
          description: { type: 'string', description: 'What the field means.', maxLength: 65536 },
          advanced: { type: 'boolean', description: 'True: shown to advanced users only.' },
          required: { type: 'boolean', description: 'True: the UI asks for it.' },
          default: { ...anyValue, description: 'Value that the UI proposes.' },
          example: { ...anyValue, description: 'An example of a value.' },
          selector: {
            ...freeObject,
            description: 'How the UI asks for it, such as `entity: {domain: light}`.',
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
        'Accepted like that of the other kinds. The hub loads a written script by itself. Default true.',
    },
  },
  required: ['hubRef', 'alias'],
  'x-kubernetes-validations': [
    maxNeedsMode,
    {
      rule: 'has(self.useBlueprint) || (has(self.sequence) && size(self.sequence) > 0)',
      message: 'sequence needs at least one entry: add an action, or set useBlueprint',
      fieldPath: '.sequence',
    },
  ],
} as const satisfies Schema;

const status = {
  type: 'object',
  description: 'What the operator last saw and did.',
  properties: {
    ...hubObjectStatus,
    scriptId: { type: 'string', description: 'Id under which the script is in the hub.' },
    entityId: {
      type: 'string',
      description: 'Entity of the script in the hub, such as `script.good_night`.',
    },
  },
} as const satisfies Schema;

export const script = defineKind({
  kind: 'HubScript',
  plural: 'hubscripts',
  singular: 'hubscript',
  shortNames: ['hascp'],
  description: 'HubScript is one script of a hub. What stands here is in the hub, and stays so.',
  spec,
  status,
  rules: [
    {
      rule: "has(self.spec.id) || !self.metadata.name.matches('^(reload|toggle|turn[-.]+(on|off))$')",
      message:
        'metadata.name gives a script id that is a service of the hub: set spec.id, or choose another name',
      fieldPath: '.metadata.name',
    },
  ],
  columns: [
    hubColumn,
    { name: 'Alias', type: 'string', jsonPath: '.spec.alias' },
    { name: 'Mode', type: 'string', jsonPath: '.spec.mode' },
    readyColumn,
  ],
  hubName: hubOfChild,
  references: talksToHub,
  identity: scriptId,
  access: [],
});

export type HubScript = Resource<Infer<typeof spec>, Infer<typeof status>>;
export type HubScriptSpec = Defaulted<typeof spec>;
export type HubScriptStatus = Infer<typeof status>;
