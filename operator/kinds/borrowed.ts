import { childSpec, hubAndToken, hubObjectSpec } from './child';
import { anyValue } from './entity';
import { immutable, nonEmptyText, objectName } from './fields';
import { registryName } from './ids';
import type { Reference } from './kind';
import { entryName } from './registry-entry';
import type { Resource } from './resource';
import type { CelRule, Field, Schema } from './schema';
import { borrowedStatusWith } from './status';

/**
 * Schemas that HubEntity and HubDevice share. Both have settings of an object in the hub that the operator
 * neither creates nor removes; such kinds are called borrowed.
 */

/** Text that the description of every setting has to contain. */
export const keptOrPutBack =
  'Absent: the value in the hub is kept. Removed from the spec: the hub gets back the value from before, unless it was changed since.';

/** Spec fields of a borrowed kind. The kind must list `hubRef` and `select` in `required`. */
export const borrowedSpec = {
  ...childSpec,
  driftPolicy: hubObjectSpec.driftPolicy,
  deletionPolicy: {
    type: 'string',
    description:
      'What happens to the settings when this resource is deleted. Absent (default): the hub gets back the values from ' +
      'before, unless they were changed since. Orphan: they stay.',
    enum: ['Orphan'],
  },
} as const satisfies Record<string, Field>;

/** Settings that both entities and devices have. @param noun `entity` or `device` */
export const placeSettings = (noun: string) =>
  ({
    areaName: {
      ...entryName,
      description:
        `The area of the ${noun}: \`spec.name\` of a HubArea, else \`metadata.name\` of a HubArea, else the name of an area in ` +
        `the hub. The settings wait for it. ${keptOrPutBack}`,
    },
    labels: {
      type: 'array',
      description:
        'Labels, beside those that it has: each is `spec.name` of a HubLabel, else `metadata.name` of a HubLabel, else the ' +
        'name of a label in the hub. The settings wait for them. Labels that others gave it stay.',
      items: entryName,
      maxItems: 64,
      'x-kubernetes-list-type': 'set',
    },
  }) as const satisfies Record<string, Field>;

/** Selectors of a device by properties that remain after the hub is set up again. */
const deviceSelectors = {
  identifier: {
    type: 'object',
    description: 'An identifier that its integration gave to the device.',
    properties: {
      integration: nonEmptyText(64, 'The integration, such as `hue`.'),
      id: nonEmptyText(255, 'The identifier, such as a serial number.'),
    },
    required: ['integration', 'id'],
  },
  connection: {
    type: 'object',
    description: 'An address of the device.',
    properties: {
      type: nonEmptyText(64, 'Kind of the address, such as `mac`.'),
      value: nonEmptyText(255, 'The address. A `mac` is compared without case and separators.'),
    },
    required: ['type', 'value'],
  },
  serialNumber: nonEmptyText(255, 'The serial number of the device.'),
  name: nonEmptyText(
    255,
    'The name that the integration gave to the device. Needs `integrationRef`: integrations choose equal names.',
  ),
  integrationRef: {
    type: 'object',
    description: 'The device belongs to the config entry of this HubIntegration. Absent: to any.',
    properties: { name: objectName('Name of the HubIntegration, in the namespace of this resource.') },
    required: ['name'],
  },
} as const satisfies Record<string, Field>;

/** CEL rule for a selector that must have exactly one of these fields. */
export function exactlyOneOf(fields: readonly string[]): CelRule {
  return {
    rule: `[${fields.map((field) => `has(self.${field})`).join(', ')}].filter(each, each).size() == 1`,
    message: `set exactly one of ${fields.join(', ')}`,
  };
}

const deviceRules = [
  exactlyOneOf(['identifier', 'connection', 'serialNumber', 'name']),
  {
    rule: '!has(self.name) || has(self.integrationRef)',
    message: 'name needs integrationRef: several integrations may have a device of this name',
    fieldPath: '.name',
  },
] as const satisfies readonly CelRule[];

/** A selector of one device, with further fields. */
export function deviceSelector<const Fields extends Record<string, Field>>(
  description: string,
  fields: Fields,
) {
  return {
    type: 'object',
    description,
    properties: { ...deviceSelectors, ...fields },
    'x-kubernetes-validations': deviceRules,
  } as const satisfies Schema;
}

export const selectStays = immutable(
  'select cannot be changed: delete this resource, which puts the former settings back, and create it for the other one',
);

/** The status of a borrowed kind: its entry in the hub, and the settings before the operator changed them. */
export function borrowedStatus<const Fields extends Record<string, Field>>(fields: Fields) {
  return borrowedStatusWith({
    ...fields,
    previous: {
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
    },
  });
}

interface Borrowing {
  readonly hubRef: { readonly name: string };
  readonly areaName?: string;
  readonly labels?: readonly string[];
}

/** The objects that a borrowed kind depends on: hub, area, labels, and the integration in its selector. */
export function borrowedReferences(
  resource: Resource<Borrowing>,
  integrationRef: { readonly name: string } | undefined,
): readonly Reference[] {
  const { areaName, labels = [] } = resource.spec;
  return [
    ...hubAndToken(resource),
    ...(integrationRef ? [{ kind: 'HubIntegration', name: integrationRef.name }] : []),
    ...(areaName === undefined ? [] : [{ kind: 'HubArea', name: registryName(areaName) }]),
    ...labels.map((name) => ({ kind: 'HubLabel', name: registryName(name) })),
  ];
}

/** The identity of a selector, independent of the order of its fields. */
export function identityOfSelect(select: object): string {
  const sorted = (value: unknown): unknown =>
    typeof value === 'object' && value !== null
      ? Object.entries(value)
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([key, inner]) => [key, sorted(inner)])
      : value;
  return JSON.stringify(sorted(select));
}

interface SelectedDevice {
  readonly identifier?: { readonly integration: string; readonly id: string };
  readonly connection?: { readonly type: string; readonly value: string };
  readonly serialNumber?: string;
  readonly name?: string;
}

/** Names a selected device in messages. */
export function deviceText({ identifier, connection, serialNumber, name }: SelectedDevice): string {
  if (identifier) return `the device ${identifier.integration} ${identifier.id}`;
  if (connection) return `the device ${connection.type} ${connection.value}`;
  return serialNumber === undefined ? `the device “${name}”` : `the device ${serialNumber}`;
}
