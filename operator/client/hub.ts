import type { Clock } from '../clock';
import type { Logger } from '../log';
import { ConfigEntities, CONFIG_ENTITY_KINDS, type ConfigEntityKind } from './config-entities';
import { Components } from './components';
import { HubConnection } from './connection';
import { EntityRegistry } from './entity-registry';
import { HubFailed } from './errors';
import { ReloadLedger } from './own-reload-tracker';
import { Reloads } from './reloads';
import { Rest, type HubAddress } from './rest';
import { scrubber, type Scrub } from './redact';
import { callService, isComponentLoaded } from './services';
import { HubSignals } from './hub-events';
import { TokenGate } from './auth-backoff';

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
  /** Throws when this process may not change anything in the hub any more. */
  readonly mayWrite?: (() => void) | undefined;
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
      reload: (component) => this.#reload(component, ledger),
      isWriting: (component) => isConfigEntityKind(component) && this.entities.isWriting(component),
    });
  }

  /** From now on these values are masked in every text of the hub, instead of those given before. */
  protect(secrets: Iterable<string>): void {
    this.#scrub = scrubber([this.#token, ...secrets]);
  }

  /** Begins no write any more; resolves when what is under way has ended, reloads for it included. */
  async drain(): Promise<void> {
    await this.entities.drain();
    await this.reloads.idle();
  }

  close(): void {
    this.reloads.close();
    this.connection.close();
    this.rest.close();
  }

  async #reload(component: string, ledger: ReloadLedger): Promise<void> {
    const kind = CONFIG_ENTITY_KINDS.find((each) => each === component);
    if (kind) ledger.expect(kind);
    try {
      await callService(this.rest, component, 'reload');
    } catch (error) {
      // One that failed in the middle was announced before; all else never came that far.
      if (kind && !(error instanceof HubFailed)) ledger.cancel(kind);
      throw error;
    }
  }
}

function isConfigEntityKind(component: string): component is ConfigEntityKind {
  return CONFIG_ENTITY_KINDS.some((kind) => kind === component);
}
