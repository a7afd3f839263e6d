import { ownEntityReferences, ownUnsortedEntity } from './borrowed';
import { chosenIdRules, slugId } from './chosen-id';
import { text } from './fields';
import { chosenId } from './ids';
import { defineRegistryEntry, entryName, registryEntrySpec } from './registry-entry';
import type { Resource } from './resource';
import type { Infer } from './schema';
import { hubObjectStatusWith, ownEntityFields } from './status';

const STAYS = 'Absent: what the hub has is kept, also when the field is removed from the spec.';

const spec = {
  ...registryEntrySpec('person', {
    name: {
      ...entryName,
      description:
        'Name of the person. A changed name renames the person, who keeps the id and the entity. People may change the name of their own ' +
        'person in their profile: with `driftPolicy: Correct` that is reverted.',
    },
    id: {
      ...slugId,
      description:
        'Id of the person in the hub, from which the entity has its id: `anna` becomes `person.anna`. A person that the hub has under this id ' +
        'is adopted, else the one of the user in `username`, else the only one of this name who has no other user. Default: `metadata.name` ' +
        'with `_` for `-` and `.`. It cannot be changed.',
    },
    username: {
      type: 'string',
      nullable: true,
      description:
        'Name with which the user of this person logs in. The user must exist in the hub: the resource waits for one. `""`: the person has no ' +
        `user. Without a value it is absent. ${STAYS}`,
      maxLength: 255,
      pattern: '^$|\\S',
    },
    deviceTrackers: {
      type: 'array',
      description:
        'Entities that show where the person is, such as `device_tracker.anna_phone`; an empty list: none. The hub takes one away when its ' +
        `entity is removed; it is put back when the entity exists again. ${STAYS}`,
      items: {
        type: 'string',
        pattern: '^device_tracker\\.[a-z0-9]+(_[a-z0-9]+)*$',
        maxLength: 255,
      },
      maxItems: 16,
      'x-kubernetes-list-type': 'set',
    },
    entity: ownUnsortedEntity('person'),
  }),
  'x-kubernetes-validations': chosenIdRules,
} as const;

const status = hubObjectStatusWith({
  id: text('Id of the person in the hub.'),
  entityId: text('Entity of the person, for automations, such as `person.anna`.'),
  userId: text('Id of the user of the person in the hub.'),
  pendingName: text(
    'The id under which the operator is creating the person. Recorded before the person is created: an operator that was killed meanwhile ' +
      'adopts the person of that id, which another client may have made.',
  ),
  ...ownEntityFields,
});

type Spec = Infer<typeof spec>;

export const person = defineRegistryEntry({
  kind: 'HubPerson',
  rank: 6,
  shortNames: ['hapr'],
  description:
    'Beta: HubPerson is one person of a Home Assistant instance (the hub): someone whose place is known by device trackers, and who may have ' +
    'a user.',
  spec,
  status,
  rules: [
    {
      rule: 'size(self.metadata.name) <= 64 || has(self.spec.id)',
      message: 'metadata.name has more than 64 characters, and is the id of the person: set spec.id',
      fieldPath: '.metadata.name',
    },
  ],
  columns: [
    { name: 'Name', type: 'string', jsonPath: '.spec.name' },
    { name: 'User', type: 'string', jsonPath: '.spec.username' },
  ],
  identity: (resource: Resource<Pick<Spec, 'id'>>): string => chosenId(resource),
  identityField: 'spec.id',
  references: ownEntityReferences,
  ownEntity: {
    integrations: { person: 'person' },
    idField: 'id',
  },
});

export type HubPerson = Resource<Spec, Infer<typeof status>>;
