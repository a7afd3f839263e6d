import type { RegistryFields, RegistryRecord, RegistryUpdated } from '../connection/api-types';
import { FollowedCollection } from '../connection/collection';
import type { HubConnection } from '../connection/connection';
import { HubRejected, NotFound } from '../connection/errors';
import {
  type CollectionType,
  type ConfigRegistryType,
  configRegistryTypes,
  type RegistryPrefix,
  type RegistryType,
} from '../connection/registry-types';

/** The entries of a registry by id. */
export type RegistryEntries = ReadonlyMap<string, RegistryRecord>;

type OnUpdated = (action: RegistryUpdated['action'], id: string) => void;

/** The commands and events of one registry. */
interface RegistryProtocol {
  readonly prefix: RegistryPrefix;
  /** The field of a record that has its id. In commands the id is in `<type>_id`. */
  readonly idField: string;
  /**
   * Reports every change, including those by this connection, before the hub answers the command that made
   * the change.
   */
  subscribe(connection: HubConnection, onUpdated: OnUpdated): Promise<unknown>;
}

/**
 * Most reported changes that are stored while commands of the operator are in flight. If there are more, the
 * registry is read again.
 */
const MOST_REPORTED = 1_000;
/** Most characters of an id that is stored; after a change of a longer one the registry is read again. */
const LONGEST_ID = 256;

const ACTIONS = { added: 'create', updated: 'update', removed: 'remove' } as const;

const isConfigRegistry = (type: RegistryType): type is ConfigRegistryType =>
  configRegistryTypes.some((each) => each === type);

const configRegistry = (type: ConfigRegistryType): RegistryProtocol => ({
  prefix: `config/${type}_registry`,
  idField: `${type}_id`,
  subscribe: (connection, onUpdated) =>
    connection.subscribeEvents(`${type}_registry_updated`, (data) =>
      onUpdated(data.action, data[`${type}_id`] ?? ''),
    ),
});

const collection = (type: CollectionType): RegistryProtocol => ({
  prefix: type,
  idField: 'id',
  subscribe: (connection, onUpdated) =>
    connection.subscribe(`${type}/subscribe`, {}, (changes) => {
      for (const change of changes) onUpdated(ACTIONS[change.change_type], change[`${type}_id`] ?? '');
    }),
});

/**
 * One of the hub's registries or collections. It is read once and then kept current: from the answers to the
 * operator's own writes, and by reading it again after changes by other clients.
 */
export class Registry {
  private readonly collection: FollowedCollection<RegistryRecord>;
  private readonly listeners = new Set<() => void>();
  /** Number of commands of the operator that the hub has not answered. */
  private inFlight = 0;
  /**
   * Ids of the changes that the hub reported while commands were in flight. Changes that no answer accounts
   * for are by other clients.
   */
  private reported: string[] = [];
  private readonly protocol: RegistryProtocol;

  constructor(
    private readonly connection: HubConnection,
    private readonly type: RegistryType,
  ) {
    this.protocol = isConfigRegistry(type) ? configRegistry(type) : collection(type);
    const { protocol } = this;
    this.collection = new FollowedCollection<RegistryRecord>(connection, {
      name: `${type}s`,
      subscribe: () => protocol.subscribe(connection, (action, id) => this.onUpdated(action, id)),
      fetch: async () => {
        const answer = await connection.command(`${protocol.prefix}/list`);
        // The list of persons also has those of the hub's YAML.
        const records = ('storage' in answer ? answer.storage : answer).map((record) => this.withId(record));
        return new Map(records.map((record) => [this.entryIdOf(record), record]));
      },
    });
    connection.onReconnect(() => this.onExternalChange());
    connection.onMissedChanges(() => this.onExternalChange());
  }

  /** All entries, with all changes that the hub has reported so far. */
  entries(): Promise<RegistryEntries> {
    return this.collection.get();
  }

  /** Causes the registry to be read again before its next use. */
  invalidate(): void {
    this.collection.invalidate();
  }

  /** Calls `listener` when another client may have changed an entry. */
  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** @throws HubRejected `invalid_info` if the name is in use or a value is refused; `invalid_format` */
  create(fields: RegistryFields & { readonly name: string }): Promise<RegistryRecord> {
    return this.write('create', () => this.connection.command(`${this.protocol.prefix}/create`, fields));
  }

  /**
   * Changes fields of an entry; other fields keep their values, except in a helper, which the hub replaces,
   * and of a person the device trackers.
   * The hub drops unknown labels without an error, which only the answer shows.
   *
   * @throws HubRejected as for {@link create}; HubFailed if the hub does not know the id
   */
  update(id: string, fields: RegistryFields): Promise<RegistryRecord> {
    const command = { [`${this.type}_id`]: id, ...fields };
    return this.write('update', () => this.connection.command(`${this.protocol.prefix}/update`, command));
  }

  /**
   * Removes an entry, and the hub removes references to it. An unknown id is not an error: the entry was
   * removed before.
   */
  async remove(id: string): Promise<void> {
    const command = { [`${this.type}_id`]: id };
    try {
      await this.tracked(async () => {
        await this.connection.command(`${this.protocol.prefix}/delete`, command);
        this.dropReported('remove', id);
      });
    } catch (error) {
      const isGone =
        error instanceof NotFound || (error instanceof HubRejected && error.code === 'invalid_info');
      if (!isGone) throw error;
    }
    this.collection.change(id, undefined);
  }

  private write(action: 'create' | 'update', send: () => Promise<RegistryRecord>): Promise<RegistryRecord> {
    return this.tracked(async () => {
      const record = this.withId(await send());
      const id = this.entryIdOf(record);
      this.dropReported(action, id);
      this.collection.change(id, record);
      return record;
    });
  }

  /**
   * Runs a command that changes the registry. The hub reports a change before it answers the command that
   * made it. When all commands are answered, remaining reports are therefore about changes by another client.
   */
  private async tracked<T>(run: () => Promise<T>): Promise<T> {
    this.inFlight += 1;
    try {
      return await run();
    } catch (error) {
      // The hub may still execute the command, and a collection stores an entry before its entity fails. The
      // hub answers commands in order, so a list that is read afterwards includes the result.
      this.collection.invalidate();
      throw error;
    } finally {
      this.inFlight -= 1;
      if (this.inFlight === 0 && this.reported.length > 0) this.onExternalChange();
    }
  }

  private dropReported(action: RegistryUpdated['action'], id: string): void {
    const index = this.reported.indexOf(`${action} ${id}`);
    if (index >= 0) this.reported.splice(index, 1);
  }

  private onUpdated(action: RegistryUpdated['action'], id: string): void {
    const isOfOurs = this.inFlight > 0 && this.reported.length < MOST_REPORTED && id.length < LONGEST_ID;
    if (isOfOurs) this.reported.push(`${action} ${id}`);
    else this.onExternalChange();
  }

  private onExternalChange(): void {
    this.reported = [];
    this.collection.invalidate();
    for (const listener of this.listeners) listener();
  }

  /**
   * Adds the id to the record itself, because a copy of the largest possible list would take too much memory.
   */
  private withId(record: RegistryRecord): RegistryRecord {
    return Object.assign(record, { [`${this.type}_id`]: record[this.protocol.idField] });
  }

  private entryIdOf(record: RegistryRecord): string {
    return record[`${this.type}_id`] as string;
  }
}
