import { randomBytes } from 'node:crypto';
import type { Clock } from '../../base/clock';
import { undefinedIf } from '../../base/undefined-if';
import type { HubConnection } from '../connection/connection';
import { isUnknownCommand, LoginFailed } from '../connection/errors';
import { authorize, createUser, type FirstUser, type Login } from './onboarding';
import type { RestClient } from '../connection/rest';
import { currentUser, listTokens } from './tokens';
import type { PersonRecord, UserRecord } from '../connection/api-types';

// The hub cancels a request whose client disconnects. If that happens while it creates the owner, a login (user name
// and password) remains, with or without a user, and the onboarding step `user` stays open. The same login cannot be
// created again, so the step is completed with a temporary user, who then either becomes the owner or is deleted.

const TEMPORARY_USER_PREFIX = 'hub-operator-set-up-';

/**
 * Completes an interrupted creation of the owner. Can be repeated after a crash.
 *
 * @param connect creates a connection with that login; the caller closes it
 * @returns the owner's login if the hub had no user yet; undefined if the owner can log in, and {@link
 * removeTemporaryUsers} must follow
 * @throws LoginFailed the existing login has another password: another client began the onboarding
 */
export async function resumeOwnerCreation(
  rest: RestClient,
  owner: FirstUser,
  { clock, connect }: { clock: Clock; connect: (login: Login) => HubConnection },
): Promise<Login | undefined> {
  await authorize(rest, owner, clock); // a full login would create a user who is not the owner
  const username = `${TEMPORARY_USER_PREFIX}${randomBytes(4).toString('hex')}`;
  const login = await createUser(rest, { ...owner, username });
  if (!login) return undefined;
  const connection = connect(login);
  if (!(await currentUser(connection)).is_owner) return undefined;
  await transferUsername(connection, owner.username);
  return login;
}

/** A temporary user who is the owner of the hub. */
export interface TemporaryOwner {
  readonly username: string;
  /**
   * Id of the user that was created by the operator's login in addition to the temporary user. This user has
   * the name that the owner should have.
   */
  readonly replaces: string;
}

/**
 * Deletes temporary users, over a connection of the owner, who takes over their persons. @returns a temporary
 * user who is the owner and so cannot be deleted: log in as that user, with the owner's password, and call
 * {@link transferUsername}
 *
 * @throws LoginFailed a temporary user is the owner, and the connection's user is in use: neither is deleted
 */
export async function removeTemporaryUsers(connection: HubConnection): Promise<TemporaryOwner | undefined> {
  const me = await currentUser(connection);
  const accounts = await listAccounts(connection);
  const temporary = accounts.filter(
    ({ id, username }) => id !== me.id && username?.startsWith(TEMPORARY_USER_PREFIX),
  );
  const owner = temporary.find((account) => account.is_owner);
  if (owner) {
    const username = owner.username!;
    if (await isInUse(connection, me.id))
      throw new LoginFailed(
        `the user ${me.name} has a person or other logins, so it is not deleted, and it is not the owner of the hub: that is ${username}, with the same password`,
      );
    return { username, replaces: me.id };
  }
  for (const { id } of temporary) {
    await transferPerson(connection, id, me.id);
    await connection.command('config/auth/delete', { user_id: id });
  }
  return undefined;
}

/**
 * Gives the user name to the connection's user, who must be an owner.
 *
 * @param replaces id of the user who may have that name and is deleted; if absent, the name must be free
 * @throws LoginFailed another user has the name
 */
export async function transferUsername(
  connection: HubConnection,
  name: string,
  replaces?: string,
): Promise<void> {
  const username = name.trim().toLowerCase();
  const accounts = await connection.command('config/auth/list');
  const holder = accounts.find((account) => account.username === username);
  if (holder && holder.id !== replaces)
    throw new LoginFailed(
      `the user ${username} of the hub was not created by the operator, so it is not deleted`,
    );
  if (holder) await connection.command('config/auth/delete', { user_id: holder.id });
  else await connection.command('config/auth_provider/homeassistant/delete', { username });
  const { id } = await currentUser(connection);
  await connection.command('config/auth_provider/homeassistant/admin_change_username', {
    user_id: id,
    username,
  });
}

/**
 * The user accounts. For a hub that does not list them, the result is empty, and users of an interrupted
 * onboarding remain.
 */
async function listAccounts(connection: HubConnection): Promise<readonly UserRecord[]> {
  const accounts = await undefinedIf(isUnknownCommand, connection.command('config/auth/list'));
  if (accounts) return accounts;
  await connection.command('config/area_registry/list'); // also unknown until the hub has loaded `config`
  return [];
}

/** Whether the connection's user has a person, or a token of another client than the operator. */
async function isInUse(connection: HubConnection, id: string): Promise<boolean> {
  const tokens = await listTokens(connection);
  const ours = tokens.find((token) => token.is_current)?.client_id;
  if (tokens.some(({ type, client_id: client }) => type !== 'normal' || client !== ours)) return true;
  return (await personsOf(connection)).some(({ user_id: user }) => user === id);
}

async function transferPerson(connection: HubConnection, from: string, to: string): Promise<void> {
  const persons = await personsOf(connection);
  const theirs = persons.find(({ user_id: user }) => user === from);
  if (!theirs) return;
  if (persons.some(({ user_id: user }) => user === to)) {
    await connection.command('person/delete', { person_id: theirs['id'] as string });
  } else {
    const { id, device_trackers = [] } = theirs;
    await connection.command('person/update', { person_id: id as string, user_id: to, device_trackers });
  }
}

/**
 * The persons of the hub. A user without a person may be deleted, so a list that cannot be read must be an
 * error, not an empty list.
 *
 * @throws HubRejected `unknown_command` while the integration `person` is not loaded
 */
async function personsOf(connection: HubConnection): Promise<readonly PersonRecord[]> {
  return (await connection.command('person/list')).storage;
}
