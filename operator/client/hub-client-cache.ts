import type { Clock } from '../base/clock';
import type { Logger } from '../base/log';
import { HubClient, type HubAccess } from './hub-client';

interface HubClientCacheOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** Milliseconds until a hub must have answered a write or a reload. */
  readonly writeTimeout?: number;
  /** Throws when this process may no longer write to a hub. */
  readonly assertLeader?: () => void;
}

interface Entry {
  readonly access: HubAccess;
  readonly client: HubClient;
}

/**
 * One client per hub, so that each hub has one WebSocket, one set of write queues and one queue of reloads.
 */
export class HubClientCache {
  private readonly options: HubClientCacheOptions;
  private readonly entries = new Map<string, Entry>();

  constructor(options: HubClientCacheOptions) {
    this.options = options;
  }

  /**
   * The client of a hub. It is reused as long as address and token are unchanged. Otherwise the previous
   * client is closed, and calls to it fail with HubUnreachable.
   *
   * @param key `namespace/name/uid`
   * @param secrets values to mask in the hub's texts from now on; if absent, the masked values do not change
   */
  get(key: string, access: HubAccess, secrets?: Iterable<string>): HubClient {
    const entry = this.entries.get(key);
    if (entry && isSame(entry.access, access)) {
      if (secrets) entry.client.setSecrets(secrets);
      return entry.client;
    }
    this.forget(key);
    const { clock, assertLeader, writeTimeout } = this.options;
    const log = this.options.log.child({ hub: key.replace(/\/[^/]*$/, '') });
    const client = new HubClient({
      ...access,
      secrets: secrets ?? [],
      clock,
      log,
      assertLeader,
      writeTimeout,
    });
    this.entries.set(key, { access, client });
    return client;
  }

  /** The current client of a hub; undefined if there is none. */
  existing(key: string): HubClient | undefined {
    return this.entries.get(key)?.client;
  }

  get clients(): readonly HubClient[] {
    return [...this.entries.values()].map(({ client }) => client);
  }

  /** Closes the client of a deleted hub. */
  forget(key: string): void {
    this.entries.get(key)?.client.close();
    this.entries.delete(key);
  }

  close(): void {
    for (const key of [...this.entries.keys()]) this.forget(key);
  }
}

function isSame(a: HubAccess, b: HubAccess): boolean {
  const fields = ['url', 'token', 'ca', 'localAddress', 'untrusted', 'allowLocal'] as const;
  return fields.every((field) => a[field] === b[field]);
}
