import { hubColumn, hubObjectSpec, hubOfChild, readyColumn, talksToHub } from './child';
import { autoReload, configId, freeObject, maxNeedsMode, runFields } from './entity';
import { effectiveId } from './ids';
import { defineKind } from './kind';
import type { Resource } from './resource';
import type { Defaulted, Infer, Schema } from './schema';
import { hubObjectStatus } from './status';

const spec = {
  type: 'object',
  description: 'One automation: when a trigger fires and all conditions hold, the actions run.',
  properties: {
    ...hubObjectSpec,
    id: {
      ...configId,
      description:
        'Id of the automation in the hub: a lower-case letter, then lower-case letters, digits and underscores. ' +
        'Default: `metadata.name`. A changed id removes the old automation.',
    },
    alias: { type: 'string', description: 'Name shown in the hub.', minLength: 1, maxLength: 255 },
    description: {
      type: 'string',
      description: 'What the automation is for, shown in the hub.',
      maxLength: 65536,
    },
    triggers: {
      type: 'array',
      description:
        'What starts the automation, in the hub’s own syntax: each entry has the key `trigger` (such as `state`, `sun`, ' +
        '`time`) and the keys of that type. At least one is needed, unless `useBlueprint` is set. Quote states such as ' +
        '"on", "off", "yes", "no": kubectl reads them as booleans.',
      items: freeObject,
      maxItems: 1000,
    },
    conditions: {
      type: 'array',
      description:
        'What must hold when a trigger fires, in the hub’s own syntax: each entry has the key `condition` (such as ' +
        '`state`, `time`, `template`). All must pass. Default: none. Quote states such as "on", "off", "yes", "no": ' +
        'kubectl reads them as booleans.',
      items: freeObject,
      maxItems: 1000,
    },
    actions: {
      type: 'array',
      description:
        'What is done, in order, in the hub’s own syntax: `action` (a service such as `light.turn_on`) with `target` ' +
        'and `data`, or `delay`, `choose`, `if`, `repeat` and the like. At least one is needed, unless `useBlueprint` ' +
        'is set. Quote states such as "on", "off", "yes", "no": kubectl reads them as booleans.',
      items: freeObject,
      maxItems: 1000,
    },
    ...runFields,
    trace: {
      type: 'object',
      description: 'What the hub remembers of past runs.',
      properties: {
        storedTraces: {
          type: 'integer',
          description: 'How many runs are kept. Absent: 5, the hub’s default.',
          minimum: 0,
          maximum: 1000,
        },
      },
    },
    initialState: {
      type: 'boolean',
      description:
        'Whether the automation is on after the hub starts. Absent: as it was before. `enabled: false` wins over it.',
    },
    enabled: {
      type: 'boolean',
      description:
        'False: the automation stays in the hub but is switched off, and stays off over restarts of the hub. Switched ' +
        'to true, it is turned on once; while it is true, people may toggle it in the hub. Default true.',
      default: true,
    },
    autoReload: {
      ...autoReload,
      description:
        'Reload the hub’s automations after a change. False drops only the operator’s own reload: the hub itself ' +
        'reloads an automation that is written. Default true.',
    },
  },
  required: ['hubRef', 'alias'],
  'x-kubernetes-validations': [
    maxNeedsMode,
    {
      rule: 'has(self.useBlueprint) || (has(self.triggers) && size(self.triggers) > 0)',
      message: 'triggers needs at least one entry: add a trigger, or set useBlueprint',
      fieldPath: '.triggers',
    },
    {
      rule: 'has(self.useBlueprint) || (has(self.actions) && size(self.actions) > 0)',
      message: 'actions needs at least one entry: add an action, or set useBlueprint',
      fieldPath: '.actions',
    },
  ],
} as const satisfies Schema;

const status = {
  type: 'object',
  description: 'What the operator last saw and did.',
  properties: {
    ...hubObjectStatus,
    automationId: { type: 'string', description: 'Id under which the automation is in the hub.' },
    entityId: {
      type: 'string',
      description: 'Entity of the automation in the hub, such as `automation.movie_night`.',
    },
    enabled: { type: 'boolean', description: 'The value of `spec.enabled` that was last carried out.' },
  },
} as const satisfies Schema;

/** Conditions: `Ready` (`AutomationGenerated`), `ReloadReady`. Event: `ReloadSuccessful`. */
export const automation = defineKind({
  kind: 'HubAutomation',
  plural: 'hubautomations',
  singular: 'hubautomation',
  shortNames: ['haauto'],
  description: 'HubAutomation is one automation of a hub. What stands here is in the hub, and stays so.',
  spec,
  status,
  columns: [
    hubColumn,
    { name: 'Alias', type: 'string', jsonPath: '.spec.alias', wide: true },
    { name: 'Enabled', type: 'boolean', jsonPath: '.spec.enabled', wide: true },
    readyColumn,
  ],
  hubName: hubOfChild,
  references: talksToHub,
  identity: effectiveId,
  access: [],
});

export type HubAutomation = Resource<Infer<typeof spec>, Infer<typeof status>>;
export type HubAutomationSpec = Defaulted<typeof spec>;
export type HubAutomationStatus = Infer<typeof status>;
