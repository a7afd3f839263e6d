import {
  borrowedReferences,
  borrowedSpec,
  borrowedStatus,
  deviceSelector,
  deviceText,
  identityOfSelect,
  keptOrPutBack,
  placeSettings,
  selectStays,
} from './borrowed';
import { defineChild } from './child';
import { flag, nonEmptyText, text } from './fields';
import type { Resource } from './resource';
import type { Infer, Schema } from './schema';

const selector = deviceSelector('The device. It cannot be changed.', {});

const spec = {
  type: 'object',
  description: 'Desired settings of the device.',
  properties: {
    ...borrowedSpec,
    select: {
      ...selector,
      'x-kubernetes-validations': [selectStays, ...selector['x-kubernetes-validations']],
    },
    name: nonEmptyText(
      255,
      'Name of the device, which is part of the names of its entities; their ids stay. Integrations of the old form write ' +
        `it into the names of their entities. ${keptOrPutBack}`,
    ),
    ...placeSettings('device'),
    disabled: flag(
      'True: the hub sets up neither the device nor its entities. False: it does, unless its config entry or the device that ' +
        `it belongs to is disabled. ${keptOrPutBack}`,
    ),
  },
  required: ['hubRef', 'select'],
} as const satisfies Schema;

const status = borrowedStatus({
  deviceId: text('Id of the device in the registry of the hub.'),
  configEntryId: text('Id of the config entry that the device belongs to.'),
});

export const device = defineChild({
  kind: 'HubDevice',
  rank: 7,
  shortNames: ['hadv'],
  description:
    'Beta: Settings of a device that exists; deleting this puts the former settings back and never removes the device. The ' +
    'device belongs to a Home Assistant instance (the hub).',
  spec,
  status,
  columns: [
    { name: 'Name', type: 'string', jsonPath: '.spec.name' },
    { name: 'Area', type: 'string', jsonPath: '.spec.areaName' },
  ],
  identity: ({ spec: { select } }) => identityOfSelect(select),
  identityField: 'spec.select',
  subject: ({ spec: { select } }) => `settings of ${deviceText(select)}`,
  references: (resource) => borrowedReferences(resource, resource.spec.select.integrationRef),
});

export type HubDevice = Resource<Infer<typeof spec>, Infer<typeof status>>;
