import { immutable } from './fields';
import type { CelRule, Schema } from './schema';

/** Fields that several kinds of hub objects share. */

/** Belongs into the description of every field that holds states of the hub. */
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
 * A map that one manager of fields owns as a whole: of a granular one that becomes `{}`, server-side apply makes null, which the schema
 * refuses.
 */
export const wholeMap = { type: 'object', 'x-kubernetes-map-type': 'atomic' } as const satisfies Schema;

/** An object in the syntax of Home Assistant, kept as it is written. */
export const freeObject = {
  ...wholeMap,
  'x-kubernetes-preserve-unknown-fields': true,
} as const satisfies Schema;

/**
 * An object in the syntax of Home Assistant, or a template as a string (`'{{ … }}'`, short for a template condition). The
 * hub decides where it accepts a string. No schema type stands for both; a list with such items is invisible to CEL.
 */
export const objectOrTemplate = { 'x-kubernetes-preserve-unknown-fields': true } as const satisfies Schema;

const HUB_ID_STAYS =
  'hubId cannot be set, changed or removed later: delete this resource and create it with the other id';

/** An id of an automation, a scene or a script that the operator creates. */
export const configId = {
  type: 'string',
  pattern: '^[a-z][a-z0-9_]*$',
  maxLength: 128,
} as const satisfies Schema;

/** Any value in the syntax of Home Assistant, null as well. */
export const anyValue = {
  'x-kubernetes-preserve-unknown-fields': true,
  nullable: true,
} as const satisfies Schema;

/** An id that an object in the hub has already, as its editor or a person made it. */
export const hubId = {
  type: 'string',
  // As Python's `isprintable`: no control or format characters, and no separators but the space.
  pattern: '^([^\\p{C}\\p{Z}]| )+$',
  maxLength: 255,
  'x-kubernetes-validations': [
    immutable(HUB_ID_STAYS),
    { rule: "!(self in ['.', '..'])", message: 'hubId: . and .. are no ids that the hub can be asked for' },
  ],
} as const satisfies Schema;

/** Rules of a spec with `id` and `hubId`. */
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

/** The actions of an automation, the sequence of a script. */
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

/** `triggers` must be there, unless a blueprint has them. The hub's editor saves an automation without any as `[]`. */
export const triggersNeeded = {
  rule: 'has(self.useBlueprint) || has(self.triggers)',
  message:
    'triggers is missing: add triggers, or set useBlueprint; [] for an automation that only others start',
  fieldPath: '.triggers',
} as const satisfies CelRule;

/** The list must be there, unless a blueprint has it. For lists that CEL cannot see. */
export function neededWithoutBlueprint<const Name extends string>(list: Name) {
  return [
    // The API server names the field of the first alternative.
    { required: [list] },
    { required: ['useBlueprint'] },
  ] as const satisfies Schema['anyOf'];
}
