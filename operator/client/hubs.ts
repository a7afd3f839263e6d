import type { Clock } from '../clock';
import type { Logger } from '../log';
import { HubClient, type HubAccess } from './hub';

interface Entry {
  readonly access: HubAccess;
  readonly client: HubClient;
}

/** The clients of all hubs, one each; so one WebSocket, one set of lanes and one queue of reloads a hub. */
export class Hubs {
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #entries = new Map<string, Entry>();

  constructor({ clock, log }: { clock: Clock; log: Logger }) {
    this.#clock = clock;
    this.#log = log;
  }

  /**
   * The client of a hub. It stays the same as long as address and token do; otherwise the old one is closed and
   * whoever holds it sees its calls fail as unreachable.
   *
   * @param key `namespace/name`
   * @param secrets values to mask in the hub's texts from now on; absent: as before
   */
  get(key: string, access: HubAccess, secrets?: Iterable<string>): HubClient {
    const entry = this.#entries.get(key);
    if (entry && isSame(entry.access, access)) {
      if (secrets) entry.client.protect(secrets);
      return entry.client;
    }
    this.forget(key);
    const log = this.#log.child({ hub: key });
    const client = new HubClient({ ...access, secrets: secrets ?? [], clock: this.#clock, log });
    this.#entries.set(key, { access, client });
    return client;
  }

  /** Closes the client of a hub that is gone. */
  forget(key: string): void {
    this.#entries.get(key)?.client.close();
    this.#entries.delete(key);
  }

  /** Closes all. */
  close(): void {
    for (const key of [...this.#entries.keys()]) this.forget(key);
  }
}

function isSame(a: HubAccess, b: HubAccess): boolean {
  const fields = ['url', 'token', 'ca', 'localAddress', 'untrusted', 'allowLocal'] as const;
  return fields.every((field) => a[field] === b[field]);
}
