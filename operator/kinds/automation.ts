import { blueprintReference } from './blueprint';
import { ownEntity, ownEntityReferences } from './borrowed';
import { defineChild, hubObjectSpec } from './child';
import { referencesColumn } from './columns';
import {
  actionList,
  autoReload,
  configId,
  freeObject,
  hubId,
  idRules,
  maxNeedsMode,
  neededWithoutBlueprint,
  objectOrTemplate,
  quoteStates,
  runFields,
  triggersNeeded,
} from './entity';
import { flag, flagWithDefault, nonEmptyText, text, textUpTo } from './fields';
import { effectiveId } from './ids';
import type { Resource } from './resource';
import type { Defaulted, Infer, Schema } from './schema';
import { configEntityStatusWith } from './status';

const spec = {
  type: 'object',
  description: 'Desired automation: when a trigger fires and all conditions hold, the actions run.',
  properties: {
    ...hubObjectSpec,
    id: {
      ...configId,
      description:
        'Id of the automation in the hub: a lower-case letter, then lower-case letters, digits and underscores. ' +
        'Default: `metadata.name`. A changed id creates the new automation, then removes the old one; one that was adopted stays in the hub.',
    },
    hubId: {
      ...hubId,
      description:
        'Id of an automation that exists in the hub, verbatim, such as "1699999999999": 1 to 255 printable characters. Instead of `id`; ' +
        'it cannot be changed. Quote digits: YAML reads them as a number.',
    },
    alias: nonEmptyText(255, 'Name shown in the hub.'),
    description: textUpTo(65536, 'Description shown in the hub. Absent: none.'),
    triggers: {
      type: 'array',
      description:
        'Triggers, in the syntax of Home Assistant: each entry has the key `trigger` (such as `state`, `sun`, `time`) and ' +
        `the keys of that type. Needed unless \`useBlueprint\` is set; \`[]\`: none. ${quoteStates}`,
      items: freeObject,
      maxItems: 1000,
    },
    conditions: {
      type: 'array',
      description:
        'Conditions that must hold when a trigger fires, in the syntax of Home Assistant: each entry has the key ' +
        `\`condition\` (such as \`state\`, \`time\`, \`template\`), or is a template in quotes. All must pass. Default: none. ${quoteStates}`,
      items: objectOrTemplate,
      maxItems: 1000,
    },
    actions: actionList,
    ...runFields,
    triggerVariables: {
      ...freeObject,
      description:
        'Variables for templates in triggers, by name; they may not use states. Written as a template or a plain value. Default: none.',
    },
    initialState: flag(
      'Whether the automation is on after the hub starts. Absent: its last state. `enabled: false` overrides it.',
    ),
    enabled: flagWithDefault(
      true,
      'False: the automation stays in the hub but is turned off, also after a restart of the hub. A change to true ' +
        'turns it on once; while true, people may toggle it in the hub. Default true.',
    ),
    autoReload: {
      ...autoReload,
      description:
        'Reload the hub’s automations after a change. False drops only the operator’s own reload: the hub itself ' +
        'reloads an automation that is written. Default true.',
    },
    entity: ownEntity('automation', 'Automations'),
  },
  required: ['hubRef', 'alias'],
  anyOf: neededWithoutBlueprint('actions'),
  'x-kubernetes-validations': [maxNeedsMode, triggersNeeded, ...idRules],
} as const satisfies Schema;

const status = configEntityStatusWith({
  automationId: text('Id of the automation in the hub.'),
  entityId: text('Entity of the automation in the hub, such as `automation.movie_night`.'),
  enabled: flag('The value of `spec.enabled` that was last applied.'),
});

export const automation = defineChild({
  kind: 'HubAutomation',
  rank: 2,
  shortNames: ['haauto'],
  description:
    'HubAutomation is one automation of a Home Assistant instance (the hub). It is kept in sync; drift is reverted.',
  spec,
  status,
  columns: [
    { name: 'Alias', type: 'string', jsonPath: '.spec.alias', wide: true },
    { name: 'Enabled', type: 'boolean', jsonPath: '.spec.enabled', wide: true },
    referencesColumn,
  ],
  references: (resource) => [
    ...ownEntityReferences(resource),
    ...blueprintReference('automation', resource.spec),
  ],
  validated: true,
  identity: effectiveId,
  ownEntity: { integrations: { automation: 'automation' }, idField: 'automationId', category: 'automation' },
});

export type HubAutomation = Resource<Infer<typeof spec>, Infer<typeof status>>;
export type HubAutomationSpec = Defaulted<typeof spec>;
