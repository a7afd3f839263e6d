import { hubColumn, hubObjectSpec, hubOfChild, readyColumn, talksToHub } from './child';
import { entityId, icon } from './entity';
import { registryName } from './ids';
import { defineKind } from './kind';
import { aliases, entryName } from './registry-entry';
import type { Resource } from './resource';
import type { Defaulted, Infer, Schema } from './schema';
import { hubObjectStatus } from './status';

const spec = {
  type: 'object',
  description: 'One area (room) of the home.',
  properties: {
    ...hubObjectSpec,
    name: {
      ...entryName,
      description:
        'Name of the area. The hub compares names without case and blanks; one that is there is adopted.',
    },
    floorName: {
      ...entryName,
      description:
        'The floor of the area: the name of a HubFloor’s floor, or the name of a HubFloor, or of a floor in the hub. ' +
        'The area waits for it. Absent: none.',
    },
    labels: {
      type: 'array',
      description:
        'Labels of the area: names of HubLabels’ labels, or of HubLabels, or of labels in the hub. The area waits for ' +
        'them. Default: none.',
      items: entryName,
      maxItems: 64,
      'x-kubernetes-list-type': 'set',
    },
    icon,
    aliases,
    picture: {
      type: 'string',
      description: 'Address of a picture of the area, such as `/local/kitchen.jpg`. Absent: none.',
      minLength: 1,
      maxLength: 2048,
    },
    temperatureEntityId: {
      ...entityId,
      description: 'The sensor that shows the area’s temperature. Absent: none.',
    },
    humidityEntityId: {
      ...entityId,
      description: 'The sensor that shows the area’s humidity. Absent: none.',
    },
  },
  required: ['hubRef', 'name'],
} as const satisfies Schema;

const status = {
  type: 'object',
  description: 'What the operator last saw and did.',
  properties: {
    ...hubObjectStatus,
    areaID: { type: 'string', description: 'Id of the area in the hub.' },
  },
} as const satisfies Schema;

export const area = defineKind({
  kind: 'HubArea',
  plural: 'hubareas',
  singular: 'hubarea',
  shortNames: ['haar'],
  description: 'HubArea is one area (room) of the home, in the registry of a hub.',
  spec,
  status,
  columns: [
    hubColumn,
    { name: 'Name', type: 'string', jsonPath: '.spec.name' },
    { name: 'Floor', type: 'string', jsonPath: '.spec.floorName' },
    readyColumn,
  ],
  hubName: hubOfChild,
  // By the name that the hub compares, which is the identity of the floor or label; the `metadata.name` of one, as people
  // may write it too, is its own normalised form.
  references: (resource) => {
    const { floorName, labels = [] } = resource.spec;
    return [
      ...talksToHub(resource),
      ...(floorName === undefined ? [] : [{ kind: 'HubFloor', name: registryName(floorName) }]),
      ...labels.map((name) => ({ kind: 'HubLabel', name: registryName(name) })),
    ];
  },
  identity: ({ spec: { name } }) => registryName(name),
  access: [],
});

export type HubArea = Resource<Infer<typeof spec>, Infer<typeof status>>;
export type HubAreaSpec = Defaulted<typeof spec>;
export type HubAreaStatus = Infer<typeof status>;
