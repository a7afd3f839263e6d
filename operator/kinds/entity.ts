import { BLUEPRINT_PATH_RULE, celIsBlueprintPath } from './blueprint-path';
import { immutable } from './fields';
import type { CelRule, Schema } from './schema';

/** Fields that several kinds of hub objects share. */

/** Text that the description of every field with states of the hub has to contain. */
export const quoteStates =
  'Quote states such as "on", "off", "yes" and "no": kubectl reads them as booleans.';

export const entityId = {
  type: 'string',
  description: 'Id of an entity of the hub, of the form `<domain>.<object_id>`, such as `light.kitchen`.',
  pattern: '^[a-z_]+\\.[a-z0-9_]+$',
  maxLength: 255,
} as const satisfies Schema;

export const icon = {
  type: 'string',
  description:
    'Icon, of the form `<prefix>:<name>`, such as `mdi:sofa`. Absent: the default icon of the hub.',
  pattern: '^[a-z][a-z0-9_-]*:[A-Za-z0-9_-]+$',
  maxLength: 128,
} as const satisfies Schema;

/**
 * A map that one field manager owns as a whole. If a granular map becomes `{}`, server-side apply makes it
 * null, which the schema refuses.
 */
export const wholeMap = { type: 'object', 'x-kubernetes-map-type': 'atomic' } as const satisfies Schema;

/** An object in the syntax of Home Assistant, stored as written. */
export const freeObject = {
  ...wholeMap,
  'x-kubernetes-preserve-unknown-fields': true,
} as const satisfies Schema;

/**
 * An object in the syntax of Home Assistant, or a template as a string (`'{{ … }}'`, the short form of a
 * template condition). The hub decides where it accepts a string. A structural schema has no type for both,
 * and CEL cannot read lists with such items.
 */
export const objectOrTemplate = { 'x-kubernetes-preserve-unknown-fields': true } as const satisfies Schema;

const HUB_ID_STAYS =
  'hubId cannot be set, changed or removed later: delete this resource and create it with the other id';

/** Id of an automation, a scene or a script that the operator creates. */
export const configId = {
  type: 'string',
  pattern: '^[a-z][a-z0-9_]*$',
  maxLength: 128,
} as const satisfies Schema;

/** Any value in the syntax of Home Assistant, including null. */
export const anyValue = {
  'x-kubernetes-preserve-unknown-fields': true,
  nullable: true,
} as const satisfies Schema;

/** Id of an object that exists in the hub, as the hub's editor or a user chose it. */
export const hubId = {
  type: 'string',
  // Like Python's `isprintable`: no control or format characters, and no separators except the space.
  pattern: '^([^\\p{C}\\p{Z}]| )+$',
  maxLength: 255,
  'x-kubernetes-validations': [
    immutable(HUB_ID_STAYS),
    { rule: "!(self in ['.', '..'])", message: 'hubId: . and .. are no ids that the hub can be asked for' },
  ],
} as const satisfies Schema;

/** CEL rules of a spec with `id` and `hubId`. */
export const idRules = [
  {
    rule: '!has(self.hubId) || !has(self.id)',
    message: 'hubId and id exclude each other: hubId is for an object that exists in the hub under this id',
    fieldPath: '.hubId',
  },
  { rule: '!has(self.hubId) || has(oldSelf.hubId)', message: HUB_ID_STAYS, fieldPath: '.hubId' },
  { rule: '!has(oldSelf.hubId) || has(self.hubId)', message: HUB_ID_STAYS, fieldPath: '.hubId' },
] as const satisfies readonly CelRule[];

export const autoReload = { type: 'boolean', default: true } as const satisfies Schema;

/** The actions of an automation, or the sequence of a script. */
export const actionList = {
  type: 'array',
  description:
    'Actions, run in order, in the syntax of Home Assistant: `action` (such as `light.turn_on`) with `target` and ' +
    '`data`, or `delay`, `choose`, `if`, `repeat` and so on. Needed unless `useBlueprint` is set; `[]`: none. ' +
    quoteStates,
  items: objectOrTemplate,
  maxItems: 1000,
} as const satisfies Schema;

/** Fields that automations and scripts share. */
export const runFields = {
  mode: {
    type: 'string',
    description:
      'What happens when it is started while it still runs. single: the new start is ignored. restart: the ' +
      'old run is stopped. queued: the new run starts after the old one. parallel: both run. Absent: single, or the ' +
      'mode of the blueprint.',
    enum: ['single', 'restart', 'queued', 'parallel'],
  },
  max: {
    type: 'integer',
    description:
      'Maximum number of queued or parallel runs; only with mode queued or parallel. Absent: 10, the default of the hub.',
    minimum: 2,
    maximum: 10000,
  },
  maxExceeded: {
    type: 'string',
    description:
      'Level at which the hub logs a start beyond `max`; silent logs nothing. Absent: warning, or the level of the ' +
      'blueprint.',
    enum: ['silent', 'info', 'warning', 'error'],
  },
  variables: { ...freeObject, description: 'Variables for all templates, by name. Default: none.' },
  trace: {
    type: 'object',
    description: 'Traces of past runs. Absent: the defaults of the hub.',
    properties: {
      storedTraces: {
        type: 'integer',
        description: 'Number of traces that are kept. Absent: 5, the default of the hub.',
        minimum: 0,
        maximum: 1000,
      },
    },
  },
  useBlueprint: {
    type: 'object',
    description:
      'Creates it from a blueprint in the hub, instead of triggers, actions or a sequence. Absent: no blueprint.',
    properties: {
      path: {
        type: 'string',
        description:
          'Path of the blueprint below the blueprint folder of its domain, such as `homeassistant/motion_light.yaml`.',
        pattern: '^[^/].*\\.yaml$',
        maxLength: 512,
        // CRD ratcheting: the API server evaluates the rule only for a new or changed path.
        'x-kubernetes-validations': [{ rule: celIsBlueprintPath('self'), message: BLUEPRINT_PATH_RULE }],
      },
      input: { ...freeObject, description: 'Inputs of the blueprint, by name. Default: none.' },
    },
    required: ['path'],
  },
} as const satisfies Record<string, Schema>;

export const maxNeedsMode = {
  rule: "!has(self.max) || (has(self.mode) && self.mode in ['queued', 'parallel'])",
  message: 'max works only with mode queued or parallel: set one of these, or remove max',
  fieldPath: '.max',
} as const satisfies CelRule;

/**
 * CEL rule: `triggers` is required unless a blueprint supplies it. The hub's editor saves an automation
 * without triggers as `[]`.
 */
export const triggersNeeded = {
  rule: 'has(self.useBlueprint) || has(self.triggers)',
  message:
    'triggers is missing: add triggers, or set useBlueprint; [] for an automation that only others start',
  fieldPath: '.triggers',
} as const satisfies CelRule;

/** A required list that a blueprint may supply instead, for lists that CEL cannot read. */
export function neededWithoutBlueprint<const Name extends string>(list: Name) {
  return [
    // If neither is set, the API server's error names the field of the first alternative.
    { required: [list] },
    { required: ['useBlueprint'] },
  ] as const satisfies Schema['anyOf'];
}
