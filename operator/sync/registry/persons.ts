import type { RegistryFields } from '../../client/connection/api-types';
import type { HubClient } from '../../client/hub-client';
import { DEPENDENCY_REQUEUE } from '../../base/limits';
import { person } from '../../kinds';
import { registryName } from '../../kinds/ids';
import { type Outcome, waiting } from '../../runtime/outcome';
import type { EntryResource, EntryType } from './entry-type';
import { byId } from './identity';

export const persons: EntryType = {
  type: 'person',
  definition: person,
  idField: 'id',
  reason: 'PersonRegistered',
  component: 'person',
  identity: byId,
  isWhole: true,
  // An update without `device_trackers` empties them. A person without `user_id` makes the hub fail when any
  // user is removed.
  sent: { user_id: null, device_trackers: [], picture: null },
  shown: { userId: 'user_id' },
  fields: {
    username: {
      name: 'user_id',
      cleared: 'kept',
      isUnique: true,
      lookup: {
        noun: 'user',
        reason: 'UserNotFound',
        valueOf: async ({ users }, name) => (name === '' ? null : users.find(name)),
        names: ({ users }) => users.names(),
        onChange: ({ users }, listener) => users.onChange(listener),
      },
    },
    deviceTrackers: { name: 'device_trackers', cleared: 'kept', isSet: true, default: [], ofEntities: true },
  },
  conflict: inYaml,
};

/**
 * The outcome if the hub's YAML has the person, by the same rules by which one is adopted. The hub refuses a
 * second person of the same user, and gives another id to one of the same id.
 */
async function inYaml(
  { connection }: HubClient,
  resource: EntryResource,
  { user_id: userId = null }: RegistryFields,
): Promise<Outcome | undefined> {
  const { config } = await connection.command('person/list');
  const found = config.find(
    ({ id, name, user_id: user }) =>
      id === byId.of(resource) ||
      registryName(name) === registryName(resource.spec.name) ||
      (userId !== null && user === userId),
  );
  if (!found) return undefined;
  const message =
    `The person “${found.name}” with the id ${String(found['id'])} is part of the hub’s YAML, so it cannot be edited in the hub: ` +
    'remove it from the section person of the configuration, or give this resource another id, name and username.';
  return waiting('NameConflict', message, DEPENDENCY_REQUEUE);
}
