import type { Clock } from '../clock';
import type { Logger } from '../log';
import { ConfigEntities, CONFIG_ENTITY_KINDS, type ConfigEntityKind } from './config-entities';
import { Components } from './components';
import { HubConnection } from './connection';
import { EntityRegistry } from './entity-registry';
import { ReloadLedger } from './reload-ledger';
import { Reloads } from './reloads';
import { Rest, type HubAddress } from './rest';
import { scrubber, type Scrub } from './scrub';
import { callService, isComponentLoaded } from './services';
import { HubSignals } from './signals';
import { TokenGate } from './token-gate';

/** How to reach one hub, and as whom. */
export interface HubAccess extends HubAddress {
  /** A long-lived token. */
  readonly token: string;
}

export interface HubClientOptions extends HubAccess {
  readonly clock: Clock;
  readonly log: Logger;
  /** Values that no error message may hold; the token is always among them. */
  readonly secrets?: Iterable<string>;
}

/** Everything that we do with one hub through its API. Nothing is sent before the first use. */
export class HubClient {
  readonly rest: Rest;
  readonly connection: HubConnection;
  readonly entities: ConfigEntities;
  readonly entityRegistry: EntityRegistry;
  readonly components: Components;
  readonly reloads: Reloads;
  readonly signals: HubSignals;
  readonly #token: string;
  #scrub: Scrub;

  constructor(options: HubClientOptions) {
    const { token, clock, log } = options;
    this.#token = token;
    this.#scrub = scrubber([token, ...(options.secrets ?? [])]);
    const gate = new TokenGate(clock);
    this.rest = new Rest({ ...options, gate, scrub: (text) => this.#scrub(text) });
    this.connection = new HubConnection({ rest: this.rest, token, gate, clock, log });
    const ledger = new ReloadLedger(clock);
    this.entities = new ConfigEntities(this.rest, this.connection, ledger);
    this.entityRegistry = new EntityRegistry(this.connection);
    this.components = new Components(this.rest, this.connection);
    this.signals = new HubSignals(this.connection, ledger);
    this.reloads = new Reloads({
      clock,
      log,
      isLoaded: (component) => isComponentLoaded(this.rest, component),
      reload: (component) => {
        if (isConfigEntityKind(component)) ledger.expect(component);
        return callService(this.rest, component, 'reload');
      },
      isWriting: (component) => isConfigEntityKind(component) && this.entities.isWriting(component),
    });
  }

  /** From now on these values are masked in every text of the hub, instead of those given before. */
  protect(secrets: Iterable<string>): void {
    this.#scrub = scrubber([this.#token, ...secrets]);
  }

  close(): void {
    this.reloads.close();
    this.connection.close();
    this.rest.close();
  }
}

function isConfigEntityKind(component: string): component is ConfigEntityKind {
  return CONFIG_ENTITY_KINDS.some((kind) => kind === component);
}
