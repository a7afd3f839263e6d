import type { CelRule, Schema } from './schema';

/** Fields that several kinds of hub objects share. */

export const entityId = {
  type: 'string',
  description: 'Id of an entity of the hub, of the form `<domain>.<object_id>`, such as `light.kitchen`.',
  pattern: '^[a-z_]+\\.[a-z0-9_]+$',
  maxLength: 255,
} as const satisfies Schema;

export const icon = {
  type: 'string',
  description:
    'Icon, of the form `<prefix>:<name>`, such as `mdi:sofa`. Absent: the hub shows its usual one.',
  pattern: '^[a-z][a-z0-9_-]*:[A-Za-z0-9_-]+$',
  maxLength: 128,
} as const satisfies Schema;

/** An object in the hub's own syntax, kept as it is written. */
export const freeObject = {
  type: 'object',
  'x-kubernetes-preserve-unknown-fields': true,
} as const satisfies Schema;

/** An id of an automation, a scene or a script. Ids made in the hub's UI are digits: they fit as `metadata.name`. */
export const configId = {
  type: 'string',
  pattern: '^[a-z][a-z0-9_]*$',
  maxLength: 128,
} as const satisfies Schema;

export const autoReload = { type: 'boolean', default: true } as const satisfies Schema;

/** What the runs of an automation and of a script have in common. */
export const runFields = {
  mode: {
    type: 'string',
    description:
      'What happens when it is started while it still runs. single (default): the new start is ignored. restart: the ' +
      'old run is stopped. queued: the new one waits for its turn. parallel: both run. With `useBlueprint`, single leaves ' +
      'the blueprint its own mode.',
    enum: ['single', 'restart', 'queued', 'parallel'],
    default: 'single',
  },
  max: {
    type: 'integer',
    description:
      'How many runs may wait or run at once; only with mode queued or parallel. Absent: 10, the hub’s default.',
    minimum: 2,
    maximum: 10000,
  },
  maxExceeded: {
    type: 'string',
    description:
      'Level at which the hub logs a start beyond `max`; silent logs nothing. Default warning, which with ' +
      '`useBlueprint` leaves the blueprint its own level.',
    enum: ['silent', 'info', 'warning', 'error'],
    default: 'warning',
  },
  variables: { ...freeObject, description: 'Variables for all templates, by name, in the hub’s own syntax.' },
  useBlueprint: {
    type: 'object',
    description: 'Makes it from a blueprint that is in the hub, in place of triggers, actions or a sequence.',
    properties: {
      path: {
        type: 'string',
        description:
          'Path of the blueprint below the hub’s blueprint folder of its domain, such as `homeassistant/motion_light.yaml`.',
        pattern: '^[^/].*\\.yaml$',
        maxLength: 512,
      },
      input: { ...freeObject, description: 'The blueprint’s inputs, by name.' },
    },
    required: ['path'],
  },
} as const satisfies Record<string, Schema>;

export const maxNeedsMode = {
  rule: "!has(self.max) || (has(self.mode) && self.mode in ['queued', 'parallel'])",
  message: 'max works only with mode queued or parallel: set one of these, or remove max',
  fieldPath: '.max',
} as const satisfies CelRule;
