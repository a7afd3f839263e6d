import { childSpec, hubAndToken, hubObjectSpec } from './child';
import { icon } from './entity';
import { flag, immutable, nonEmptyText, objectName } from './fields';
import { registryName } from './ids';
import type { Reference } from './kind';
import { entryName } from './registry-entry';
import type { Resource } from './resource';
import type { CelRule, Field, Schema } from './schema';
import { borrowedStatusWith, previousSettings } from './status';

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

const assistant = (name: string) => flag(`Whether ${name} may see and control the entity. ${keptOrPutBack}`);

/** Settings of entities alone. */
export const entitySettings = {
  aliases: {
    type: 'array',
    description:
      'Other names for voice assistants, beside those that it has. Names that others gave it stay.',
    items: { type: 'string', pattern: '^\\S(.*\\S)?$', maxLength: 255 },
    maxItems: 64,
    'x-kubernetes-list-type': 'set',
  },
  hidden: flag(`True: dashboards do not show it by themselves. ${keptOrPutBack}`),
  expose: {
    type: 'object',
    description: 'Which assistants may see and control the entity. Absent: the settings in the hub are kept.',
    properties: {
      conversation: assistant('the assistant of the hub'),
      alexa: assistant('Amazon Alexa'),
      googleAssistant: assistant('Google Assistant'),
    },
  },
} as const satisfies Record<string, Field>;

/** A category of a page of the hub. */
const category = (page: string) => ({
  ...entryName,
  description: `Category on the page ${page} of the hub: its name there. One that does not exist is made, and stays in the hub. ${keptOrPutBack}`,
});

/** Categories of an entity by the pages that have some. */
export const categories = {
  type: 'object',
  description: 'Categories by the pages of the hub that list the entity. Absent: those in the hub are kept.',
  properties: {
    automation: category('Automations'),
    scene: category('Scenes'),
    script: category('Scripts'),
    helpers: category('Helpers'),
  },
} as const satisfies Field;

/** The settings of the entity that a resource makes, which no page of the hub sorts. `noun`: `person` */
export const ownUnsortedEntity = (noun: string) =>
  ({
    type: 'object',
    description:
      `Beta: Settings of the entity of the ${noun} in the hub, beside its definition. They are written once the hub uses the ` +
      'definition, which never waits for them. Absent: the settings in the hub are kept.',
    properties: {
      ...placeSettings(noun),
      ...entitySettings,
      icon: {
        ...icon,
        description: `Icon that the hub shows instead of the default one, of the form \`<prefix>:<name>\`. ${keptOrPutBack}`,
      },
    },
  }) as const satisfies Field;

/** The settings of the entity that a resource makes. `noun`: `automation`; `page`: the one that lists it. */
export const ownEntity = (noun: string, page: string) => {
  const { properties, ...entity } = ownUnsortedEntity(noun);
  const { icon: ownIcon, ...others } = properties;
  const all = { ...others, category: category(page), icon: ownIcon };
  return { ...entity, properties: all } as const satisfies Field;
};

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
  return borrowedStatusWith({ ...fields, previous: previousSettings });
}

interface Placed {
  readonly areaName?: string;
  readonly labels?: readonly string[];
}

/** The area and the labels that settings name. */
const placeReferences = ({ areaName, labels = [] }: Placed): readonly Reference[] => [
  ...(areaName === undefined ? [] : [{ kind: 'HubArea', name: registryName(areaName) }]),
  ...labels.map((name) => ({ kind: 'HubLabel', name: registryName(name) })),
];

/** The objects that a borrowed kind depends on: hub, area, labels, and the integration in its selector. */
export function borrowedReferences(
  resource: Resource<Placed & { readonly hubRef: { readonly name: string } }>,
  integrationRef: { readonly name: string } | undefined,
): readonly Reference[] {
  return [
    ...hubAndToken(resource),
    ...(integrationRef ? [{ kind: 'HubIntegration', name: integrationRef.name }] : []),
    ...placeReferences(resource.spec),
  ];
}

/** The objects that a resource with `entity` depends on: hub, area and labels. */
export function ownEntityReferences(
  resource: Resource<{ readonly hubRef: { readonly name: string }; readonly entity?: Placed }>,
): readonly Reference[] {
  return [...hubAndToken(resource), ...placeReferences(resource.spec.entity ?? {})];
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
