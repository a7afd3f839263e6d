import { FLOW_REQUEST_LIMIT } from '../../base/limits';
import { undefinedIf } from '../../base/undefined-if';
import { FollowedCollection } from '../connection/collection';
import type { HubConnection } from '../connection/connection';
import { isNotFound, isRejected } from '../connection/errors';
import type { ConfigEntry, ConfigSubentry } from '../connection/flow-step';
import type { RestClient } from '../connection/rest';

/** Called when an entry was added, changed (including its state) or removed. */
type ConfigEntryListener = (entry: ConfigEntry) => void;

/** The config entries of a hub. They are read once and kept current by the hub's events. */
export class ConfigEntryRegistry {
  private readonly entries: FollowedCollection<ConfigEntry>;
  private readonly listeners = new Set<ConfigEntryListener>();

  constructor(
    private readonly rest: RestClient,
    private readonly connection: HubConnection,
  ) {
    this.entries = new FollowedCollection<ConfigEntry>(connection, {
      name: 'config entries',
      subscribe: () =>
        connection.subscribe('config_entries/subscribe', {}, (changes) => {
          for (const { type, entry } of changes) if (type !== null) this.onChanged(type, entry);
        }),
      fetch: async () => {
        const entries = await connection.command('config_entries/get');
        return new Map(entries.map((entry) => [entry.entry_id, entry]));
      },
    });
  }

  /** All entries, by id. */
  async all(): Promise<ReadonlyMap<string, ConfigEntry>> {
    return this.entries.get();
  }

  /** All entries as last known; undefined if they were not read yet. */
  get lastKnown(): ReadonlyMap<string, ConfigEntry> | undefined {
    return this.entries.lastKnown;
  }

  /** All entries, read again from the hub. */
  async refreshed(): Promise<ReadonlyMap<string, ConfigEntry>> {
    this.entries.invalidate();
    return this.entries.get();
  }

  onChange(listener: ConfigEntryListener): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  async setTitle(entryId: string, title: string): Promise<void> {
    await this.connection.command('config_entries/update', { entry_id: entryId, title });
  }

  /**
   * Enables or disables an entry. The hub unloads a disabled entry; if it cannot, the state becomes
   * `failed_unload`.
   */
  async setEnabled(entryId: string, enabled: boolean): Promise<void> {
    await this.connection.command(
      'config_entries/disable',
      { entry_id: entryId, disabled_by: enabled ? null : 'user' },
      { timeout: this.rest.writeTimeout },
    );
  }

  /**
   * Loads an entry again. The hub cancels that when the connection closes. An entry that cannot be unloaded
   * is not changed.
   */
  async reload(entryId: string): Promise<void> {
    const path = `/api/config/config_entries/entry/${entryId}/reload`;
    await undefinedIf(isRejected, this.rest.post(path, undefined, { timeout: FLOW_REQUEST_LIMIT }));
  }

  /** Whether the integration's manifest allows only one entry. */
  async isSingle(domain: string): Promise<boolean> {
    const request = this.connection.command('manifest/get', { integration: domain });
    const manifest = await undefinedIf(isRejected, request); // rejected if the hub lacks the integration
    return manifest?.single_config_entry === true;
  }

  /** Removes an entry with its devices and entities. An entry that does not exist is not an error. */
  async remove(entryId: string): Promise<void> {
    const path = `/api/config/config_entries/entry/${entryId}`;
    await undefinedIf(isNotFound, this.rest.delete(path, { timeout: this.rest.writeTimeout }));
  }

  subentries(entryId: string): Promise<readonly ConfigSubentry[]> {
    return this.connection.command('config_entries/subentries/list', { entry_id: entryId });
  }

  async setSubentryTitle(entryId: string, subentryId: string, title: string): Promise<void> {
    const fields = { entry_id: entryId, subentry_id: subentryId, title };
    await this.connection.command('config_entries/subentries/update', fields);
  }

  /** Removes a subentry. A subentry that does not exist is not an error. */
  async removeSubentry(entryId: string, subentryId: string): Promise<void> {
    const fields = { entry_id: entryId, subentry_id: subentryId };
    await undefinedIf(isNotFound, this.connection.command('config_entries/subentries/delete', fields));
  }

  private onChanged(type: 'added' | 'updated' | 'removed', entry: ConfigEntry): void {
    this.entries.change(entry.entry_id, type === 'removed' ? undefined : entry);
    for (const listener of this.listeners) listener(entry);
  }
}
