import { randomBytes } from 'node:crypto';
import type { Clock } from '../clock';
import type { HubConnection } from './connection';
import { HubRejected } from './errors';
import { authorize, createUser, type FirstUser, type Login } from './onboarding';
import type { RestClient } from './rest';
import { currentUser } from './tokens';
import { type PersonRecord } from './api-types';

// The hub breaks off what its caller does not wait for. A caller that dies while the hub makes the owner leaves a user
// name with its password, with or without a user, and a first step that is not done. The same user cannot be made again;
// the step is only done by making another: a stand-in, who takes the owner's place or leaves.

const TEMPORARY_USER_PREFIX = 'hub-operator-set-up-';

/**
 * Ends the making of an owner that was cut off. Resolves with the owner's login if there was no user yet, and else with
 * nothing: then the owner can log in, and {@link removeTemporaryUsers} is left to do. A crash in between costs no more.
 *
 * @param connect opens a connection for a login; the caller closes it
 * @throws LoginFailed the password that is there is not this one: somebody else has begun
 */
export async function resumeOwnerCreation(
  rest: RestClient,
  owner: FirstUser,
  { clock, connect }: { clock: Clock; connect: (login: Login) => HubConnection },
): Promise<Login | undefined> {
  await authorize(rest, owner, clock); // no more: a full login would make a user of it who is not the owner
  const username = `${TEMPORARY_USER_PREFIX}${randomBytes(4).toString('hex')}`;
  const login = await createUser(rest, { ...owner, username });
  if (!login) return undefined;
  const connection = connect(login);
  if (!(await currentUser(connection)).is_owner) return undefined;
  await transferUsername(connection, owner.username);
  return login;
}

/**
 * Removes stand-ins, as the owner, who takes their place as a person. Resolves with the user name of one that is the
 * owner himself and cannot be removed: he has the owner's password, and is to {@link transferUsername} of the present user.
 */
export async function removeTemporaryUsers(connection: HubConnection): Promise<string | undefined> {
  const accounts = await connection.command('config/auth/list');
  const standIns = accounts.filter(({ username }) => username?.startsWith(TEMPORARY_USER_PREFIX));
  const rightful = standIns.find((account) => account.is_owner);
  if (rightful) return rightful.username!;
  for (const { id } of standIns) {
    await transferPerson(connection, id, (await currentUser(connection)).id);
    await connection.command('config/auth/delete', { user_id: id });
  }
  return undefined;
}

/** The connection's user, an owner, gets this name, and whoever had it goes. */
export async function transferUsername(connection: HubConnection, name: string): Promise<void> {
  const username = name.trim().toLowerCase();
  const accounts = await connection.command('config/auth/list');
  const holder = accounts.find((account) => account.username === username);
  if (holder) await connection.command('config/auth/delete', { user_id: holder.id });
  else await connection.command('config/auth_provider/homeassistant/delete', { username });
  const { id } = await currentUser(connection);
  await connection.command('config/auth_provider/homeassistant/admin_change_username', {
    user_id: id,
    username,
  });
}

async function transferPerson(connection: HubConnection, from: string, to: string): Promise<void> {
  const persons = await personsOf(connection);
  const theirs = persons.find(({ user_id: user }) => user === from);
  if (!theirs) return;
  if (persons.some(({ user_id: user }) => user === to)) {
    await connection.command('person/delete', { person_id: theirs.id });
  } else {
    await connection.command('person/update', { person_id: theirs.id, user_id: to });
  }
}

/** None while the hub has not loaded its persons, or has none at all. */
async function personsOf(connection: HubConnection): Promise<readonly PersonRecord[]> {
  try {
    return (await connection.command('person/list')).storage;
  } catch (error) {
    if (error instanceof HubRejected && error.code === 'unknown_command') return [];
    throw error;
  }
}
