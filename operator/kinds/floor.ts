import { hubColumn, hubObjectSpec, hubOfChild, readyColumn, talksToHub } from './child';
import { icon } from './entity';
import { registryName } from './ids';
import { defineKind } from './kind';
import { aliases, entryName } from './registry-entry';
import type { Resource } from './resource';
import type { Defaulted, Infer, Schema } from './schema';
import { hubObjectStatus } from './status';

const spec = {
  type: 'object',
  description: 'One floor of the home.',
  properties: {
    ...hubObjectSpec,
    name: {
      ...entryName,
      description:
        'Name of the floor. The hub compares names without case and blanks; one that is there is adopted.',
    },
    level: {
      type: 'integer',
      format: 'int32',
      description: 'Which storey it is: 0 is the ground floor, -1 the one below. Absent: none.',
      minimum: -1000,
      maximum: 1000,
    },
    icon,
    aliases,
  },
  required: ['hubRef', 'name'],
} as const satisfies Schema;

const status = {
  type: 'object',
  description: 'What the operator last saw and did.',
  properties: {
    ...hubObjectStatus,
    floorID: { type: 'string', description: 'Id of the floor in the hub.' },
  },
} as const satisfies Schema;

export const floor = defineKind({
  kind: 'HubFloor',
  plural: 'hubfloors',
  singular: 'hubfloor',
  shortNames: ['hafl'],
  description:
    'HubFloor is one floor of the home, in the registry of a hub. Areas belong to it by `floorName`.',
  spec,
  status,
  columns: [
    hubColumn,
    { name: 'Name', type: 'string', jsonPath: '.spec.name' },
    { name: 'Level', type: 'integer', jsonPath: '.spec.level' },
    readyColumn,
  ],
  hubName: hubOfChild,
  references: talksToHub,
  identity: ({ spec: { name } }) => registryName(name),
  access: [],
});

export type HubFloor = Resource<Infer<typeof spec>, Infer<typeof status>>;
export type HubFloorSpec = Defaulted<typeof spec>;
export type HubFloorStatus = Infer<typeof status>;
