import { hubColumn, hubObjectSpec, hubOfChild, readyColumn, talksToHub } from './child';
import { icon } from './entity';
import { registryName } from './ids';
import { defineKind } from './kind';
import { entryName } from './registry-entry';
import type { Resource } from './resource';
import type { Defaulted, Infer, Schema } from './schema';
import { hubObjectStatus } from './status';

const spec = {
  type: 'object',
  description: 'One label.',
  properties: {
    ...hubObjectSpec,
    name: {
      ...entryName,
      description:
        'Name of the label. The hub compares names without case and blanks; one that is there is adopted.',
    },
    icon,
    color: {
      type: 'string',
      description:
        'Colour: `#rrggbb` with six hex digits, or a name that the hub knows: primary, accent, disabled, red, pink, ' +
        'purple, deep-purple, indigo, blue, light-blue, cyan, teal, green, light-green, lime, yellow, amber, orange, ' +
        'deep-orange, brown, light-grey, grey, dark-grey, blue-grey, black, white. Absent: none.',
      pattern: '^(#[0-9a-fA-F]{6}|[a-z]+(-[a-z]+)*)$',
      maxLength: 32,
    },
    description: { type: 'string', description: 'What the label means.', maxLength: 1024 },
  },
  required: ['hubRef', 'name'],
} as const satisfies Schema;

const status = {
  type: 'object',
  description: 'What the operator last saw and did.',
  properties: {
    ...hubObjectStatus,
    labelID: { type: 'string', description: 'Id of the label in the hub.' },
  },
} as const satisfies Schema;

export const label = defineKind({
  kind: 'HubLabel',
  plural: 'hublabels',
  singular: 'hublabel',
  shortNames: ['halb'],
  description: 'HubLabel is one label in the registry of a hub. Areas carry it by `labels`.',
  spec,
  status,
  columns: [
    hubColumn,
    { name: 'Name', type: 'string', jsonPath: '.spec.name' },
    { name: 'Color', type: 'string', jsonPath: '.spec.color' },
    readyColumn,
  ],
  hubName: hubOfChild,
  references: talksToHub,
  identity: ({ spec: { name } }) => registryName(name),
  access: [],
});

export type HubLabel = Resource<Infer<typeof spec>, Infer<typeof status>>;
export type HubLabelSpec = Defaulted<typeof spec>;
export type HubLabelStatus = Infer<typeof status>;
