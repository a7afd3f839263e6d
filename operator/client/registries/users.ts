import type { UserRecord } from '../connection/api-types';
import { FollowedCollection } from '../connection/collection';
import type { HubConnection } from '../connection/connection';

const EVENTS = ['user_added', 'user_updated', 'user_removed'] as const;

/** The users of the hub, by the names with which they log in. */
export class Users {
  private readonly users: FollowedCollection<UserRecord>;
  private readonly listeners = new Set<() => void>();

  constructor(connection: HubConnection) {
    this.users = new FollowedCollection<UserRecord>(connection, {
      name: 'users',
      subscribe: () =>
        Promise.all(EVENTS.map((type) => connection.subscribeEvents(type, () => this.announce()))),
      fetch: async () =>
        new Map((await connection.command('config/auth/list')).map((user) => [user.id, user])),
    });
  }

  /**
   * The id of the user with this login name; undefined if there is none. The hub does not report that a user
   * gets a login or another login name, so the list is read for each call; calls at the same time share it.
   */
  async find(username: string): Promise<string | undefined> {
    const searched = normal(username);
    // A user without a login has no name or an empty one.
    if (searched === '') return undefined;
    return [...(await this.read())].find(([, { username: name }]) => normal(name ?? '') === searched)?.[0];
  }

  /** The login names by the ids of the users that have one. */
  async names(): Promise<ReadonlyMap<string, string>> {
    return new Map(
      [...(await this.read())].flatMap(([id, { username }]) => (username ? [[id, username]] : [])),
    );
  }

  /** Calls `listener` when a user appears, changes or goes, once {@link find} has resolved. */
  onChange(listener: () => void): void {
    this.listeners.add(listener);
  }

  private read(): Promise<ReadonlyMap<string, UserRecord>> {
    this.users.invalidate();
    return this.users.get();
  }

  private announce(): void {
    for (const listener of this.listeners) listener();
  }
}

/** The hub compares login names in lower case, without outer spaces. */
const normal = (username: string): string => username.trim().toLowerCase();
