import { userAnnotations } from './annotations';
import { conditions } from './condition';
import { anyValue } from './entity';
import { atomicTexts, flag, moment, text } from './fields';
import type { Field, Schema } from './schema';

/** Status fields of every kind. */
const commonStatus = {
  observedGeneration: {
    type: 'integer',
    format: 'int64',
    description: 'The `metadata.generation` that was last reconciled; -1: none yet.',
  },
  conditions,
  lastHandledReconcileAt: text(
    `The value of the annotation \`${userAnnotations.reconcileAt}\` that was last handled.`,
  ),
} as const satisfies Record<string, Field>;

/** Status fields of the kinds that write to the hub. */
const appliedToHub = {
  appliedHash: text('Hash (`sha256:<hex>`) of what the hub last accepted.'),
  lastAppliedTime: moment('When the hub last accepted a change.'),
} as const satisfies Record<string, Field>;

/** Status fields of the kinds that have an object in the hub. */
const hubObjectFields = {
  ...appliedToHub,
  volumeID: text(
    'The `volumeID` of the Hub when the object was last seen. On another volume the object is created or adopted again.',
  ),
  adopted: flag(
    'True: the object existed in the hub before this resource. Deleting the resource leaves it there, unless `deletionPolicy` is Delete.',
  ),
} as const satisfies Record<string, Field>;

/**
 * The status of a kind: the common fields and the kind's own. With the default of `observedGeneration`,
 * kstatus reports a resource as InProgress until the operator has written the first status. Without a default
 * it would report Current.
 */
export function statusWith<const Fields extends Record<string, Field>>(fields: Fields) {
  return {
    type: 'object',
    description: 'Observed state.',
    default: { observedGeneration: -1 },
    properties: { ...commonStatus, ...fields },
  } as const satisfies Schema;
}

/**
 * For objects whose registry keeps fields that are absent from an update: the fields that the operator set
 * are recorded, so that removed ones can be cleared.
 */
const partlyOwnedFields = {
  appliedFields: atomicTexts(
    'The fields that the operator set. A field that is removed from the spec is cleared in the hub only if it is listed here.',
  ),
} as const satisfies Record<string, Field>;

/** Former values of settings, by setting. */
export const previousSettings = {
  type: 'object',
  description:
    'By setting: what the hub had before this resource. It is recorded before the first write, and put back when the ' +
    'setting leaves the spec or the resource is deleted.',
  additionalProperties: {
    type: 'object',
    description: 'One setting.',
    properties: {
      was: {
        ...anyValue,
        description:
          'The value from before; absent: none. Of labels and aliases: those of `ours` that were there before.',
      },
      ours: {
        type: 'array',
        description:
          'The values that this resource sets, or has asked for. A value that is none of these was set by another, and stays.',
        items: anyValue,
      },
    },
  },
  'x-kubernetes-map-type': 'atomic',
} as const satisfies Field;

/** The record of the settings of the entity that a resource makes. Resources that never had `spec.entity` do not have it. */
export const ownEntityFields = {
  registryId: text(
    'Id of the entity’s entry in the registry of the hub, which `previous` belongs to; only with `spec.entity`.',
  ),
  previous: previousSettings,
  settingsHash: text('Hash (`sha256:<hex>`) of the settings in `spec.entity` that the hub last accepted.'),
} as const satisfies Record<string, Field>;

/**
 * For automations, scenes and scripts, which the hub replaces as a whole: a field that is removed from the
 * spec disappears from the hub without a record.
 */
const configEntityFields = {
  formerIds: atomicTexts(
    'Earlier ids, whose objects are removed from the hub once the present one is in use.',
  ),
  delivery: {
    type: 'string',
    description:
      'File: the definition is in a ConfigMap that the hub’s pod mounts, and nowhere else. Absent: in the hub’s own file, which its API writes, or on its way.',
    enum: ['File'],
  },
  ...ownEntityFields,
  missingReferences: {
    type: 'array',
    description:
      'Beta: what the definition refers to and the hub does not have, the first 50 by type and id. The condition `ReferencesFound` says since when.',
    items: {
      type: 'object',
      properties: {
        type: {
          type: 'string',
          description: 'What the id is of.',
          enum: ['action', 'area', 'device', 'entity', 'floor', 'label'],
        },
        id: text('The id as it is written in the definition, such as `light.sofaa`.'),
        suggestion: text('The nearest id that the hub has. Absent: none is near.'),
      },
      required: ['type', 'id'],
    },
    maxItems: 50,
    'x-kubernetes-list-type': 'atomic',
  },
} as const satisfies Record<string, Field>;

/** The status of a kind that has an object in a registry of the hub, or a config entry. */
export function hubObjectStatusWith<const Fields extends Record<string, Field>>(fields: Fields) {
  return statusWith({ ...hubObjectFields, ...partlyOwnedFields, ...fields });
}

/** The status of automations, scenes and scripts. */
export function configEntityStatusWith<const Fields extends Record<string, Field>>(fields: Fields) {
  return statusWith({ ...hubObjectFields, ...configEntityFields, ...fields });
}

/** The status of a kind with settings of an object in the hub that the operator does not create. */
export function borrowedStatusWith<const Fields extends Record<string, Field>>(fields: Fields) {
  return statusWith({
    ...appliedToHub,
    volumeID: text(
      'The `volumeID` of the Hub when the settings were last seen. On another volume nothing is put back.',
    ),
    ...fields,
  });
}
