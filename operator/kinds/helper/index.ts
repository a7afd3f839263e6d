import { ownEntity, ownEntityReferences } from '../borrowed';
import { chosenIdRules, slugId } from '../chosen-id';
import { icon } from '../entity';
import { immutable, text } from '../fields';
import { chosenId } from '../ids';
import { defineRegistryEntry, entryName, registryEntrySpec } from '../registry-entry';
import type { Resource } from '../resource';
import type { CelRule, Infer } from '../schema';
import { hubObjectStatusWith, ownEntityFields } from '../status';
import { helperDomains, type HelperType } from './domains';
import { members } from './members';

const types = Object.keys(helperDomains) as readonly HelperType[];
const NEEDED = ['number', 'select', 'datetime'] as const;

const memberRules: readonly CelRule[] = [
  {
    rule: `[${Object.keys(members)
      .map((member) => `has(self.${member}) ? '${member}' : self.type`)
      .join(', ')}].all(each, each == self.type)`,
    message: 'set the settings of the sort that type names, and no others',
  },
  ...NEEDED.map((member) => ({
    rule: `self.type != '${member}' || has(self.${member})`,
    message: `${member} is missing: type ${member} needs it`,
    fieldPath: `.${member}`,
  })),
  ...chosenIdRules,
];

const entry = registryEntrySpec('helper', {
  name: {
    ...entryName,
    description: 'Name of the helper. A changed name renames the helper, which keeps its id and its entity.',
  },
  type: {
    type: 'string',
    description: 'The sort of the helper. It cannot be changed.',
    enum: types,
    'x-kubernetes-validations': [
      immutable('type cannot be changed: delete this resource and create another one'),
    ],
  },
  id: {
    ...slugId,
    description:
      'Id of the helper in the hub, from which its entity has its id: `guest_mode` becomes `input_boolean.guest_mode`. A helper that the hub ' +
      'has under this id is adopted, else the only one of this name. Default: `metadata.name` with `_` for `-` and `.`. It cannot be changed.',
  },
  icon: {
    ...icon,
    description:
      'Icon, of the form `<prefix>:<name>`, such as `mdi:palm-tree`. Absent: the default icon of the hub.',
  },
  ...members,
  entity: ownEntity('helper', 'Helpers'),
});

const spec = {
  ...entry,
  required: [...entry.required, 'type'],
  'x-kubernetes-validations': memberRules,
} as const;

const status = hubObjectStatusWith({
  id: text('Id of the helper in the hub.'),
  entityId: text('Entity of the helper, for automations, such as `input_boolean.guest_mode`.'),
  pendingName: text(
    'The id under which the operator is creating the helper. Recorded before the helper is created: an operator that was killed meanwhile ' +
      'adopts the helper of that id, which a person may have made.',
  ),
  ...ownEntityFields,
});

type Spec = Infer<typeof spec>;

const identity = (resource: Resource<Pick<Spec, 'id' | 'type'>>): string =>
  `${helperDomains[resource.spec.type]}.${chosenId(resource)}`;

export const helper = defineRegistryEntry({
  kind: 'HubHelper',
  rank: 6,
  shortNames: ['hahp'],
  description:
    'Beta: HubHelper is one helper of a Home Assistant instance (the hub): a value that people and automations set, such as a switch, a number ' +
    'or a timer.',
  spec,
  status,
  rules: [
    {
      rule: 'size(self.metadata.name) <= 64 || has(self.spec.id)',
      message: 'metadata.name has more than 64 characters, and is the id of the helper: set spec.id',
      fieldPath: '.metadata.name',
    },
  ],
  columns: [
    { name: 'Type', type: 'string', jsonPath: '.spec.type' },
    { name: 'Name', type: 'string', jsonPath: '.spec.name' },
    { name: 'Entity', type: 'string', jsonPath: '.status.entityId' },
  ],
  selectableFields: ['.spec.type'],
  validated: true,
  identity,
  identityField: 'spec.id',
  references: ownEntityReferences,
  ownEntity: {
    integrations: Object.fromEntries(Object.values(helperDomains).map((domain) => [domain, domain])),
    domainOf: (resource) => helperDomains[(resource as HubHelper).spec.type],
    uniqueIdOf: (resource) => chosenId(resource as HubHelper),
    idField: 'id',
    category: 'helpers',
  },
});

export type HubHelper = Resource<Spec, Infer<typeof status>>;
