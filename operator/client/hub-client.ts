import type { Clock } from '../base/clock';
import { type RegistryType, registryTypes } from './connection/registry-types';
import type { Logger } from '../base/log';
import { Blueprints } from './blueprints';
import { ConfigEntities } from './config-entities/config-entities';
import { ConfigEntryRegistry } from './entries/config-entry-registry';
import { ConfigFlows } from './entries/config-flows';
import { FlowsInProgress } from './entries/flows-in-progress';
import { Translations } from './entries/translations';
import { LoadedComponents } from './loaded-components';
import { HubConnection } from './connection/connection';
import { CategoryRegistry } from './registries/category-registry';
import { DeviceSettings } from './registries/device-settings';
import { EntityRegistry } from './registries/entity-registry';
import { EntitySettings } from './registries/entity-settings';
import { KnownNames } from './registries/known-names';
import { LabelRegistry } from './registries/label-registry';
import { EntityRemoval } from './config-entities/entity-removal';
import { Registry } from './registries/registry';
import { Users } from './registries/users';
import { OwnReloadTracker } from './config-entities/own-reload-tracker';
import { Reloads } from './config-entities/reloads';
import { RepairIssues } from './setup/repair-issues';
import type { HubAddress } from './connection/hub-address';
import { RestClient } from './connection/rest';
import { redactor, type Redact } from './connection/redact';
import { callService, listComponents } from './services';
import { HubEvents } from './hub-events';
import { HubPresence } from './hub-presence';
import { AuthBackoff } from './connection/auth-backoff';
import { isConfigEntityKind } from './connection/config-entity';

/** The address of a hub and the token to authenticate with. */
export interface HubAccess extends HubAddress {
  /** A long-lived token. */
  readonly token: string;
}

interface HubClientOptions extends HubAccess {
  readonly clock: Clock;
  readonly log: Logger;
  /** Milliseconds until the hub must have answered a write or a reload. */
  readonly writeTimeout?: number | undefined;
  /** Values to mask in error messages; the token is always masked. */
  readonly secrets?: Iterable<string>;
  /** Throws when this process may no longer write to the hub. */
  readonly assertLeader?: (() => void) | undefined;
}

/** The API of one hub. Connections are opened at first use. */
export class HubClient {
  readonly rest: RestClient;
  readonly connection: HubConnection;
  readonly presence: HubPresence;
  readonly entities: ConfigEntities;
  readonly blueprints: Blueprints;
  readonly entityRegistry: EntityRegistry;
  readonly registries: Readonly<Record<RegistryType, Registry>>;
  readonly settings: Readonly<{ entity: EntitySettings; device: DeviceSettings }>;
  readonly labels: LabelRegistry;
  readonly categories: CategoryRegistry;
  readonly names: KnownNames;
  readonly users: Users;
  readonly repairIssues: RepairIssues;
  readonly configEntries: ConfigEntryRegistry;
  readonly flows: ConfigFlows;
  readonly flowsInProgress: FlowsInProgress;
  readonly translations: Translations;
  readonly components: LoadedComponents;
  readonly reloads: Reloads;
  readonly removal: EntityRemoval;
  readonly events: HubEvents;
  private readonly token: string;
  private readonly authBackoff: AuthBackoff;
  private redact: Redact;

  constructor(options: HubClientOptions) {
    const { token, clock, log } = options;
    this.token = token;
    this.redact = redactor([token, ...(options.secrets ?? [])]);
    const authBackoff = new AuthBackoff(clock, () => this.rest.isDown());
    this.authBackoff = authBackoff;
    this.rest = new RestClient({ ...options, authBackoff, redact: (text) => this.redact(text) });
    this.connection = new HubConnection({ rest: this.rest, token, authBackoff, clock, log });
    this.presence = new HubPresence(this.connection, clock);
    const ownReloads = new OwnReloadTracker(clock);
    this.entityRegistry = new EntityRegistry(this.connection);
    this.registries = Object.fromEntries(
      registryTypes.map((type) => [type, new Registry(this.connection, type)]),
    ) as Record<RegistryType, Registry>;
    this.settings = {
      entity: new EntitySettings(this.connection),
      device: new DeviceSettings(this.connection),
    };
    this.labels = new LabelRegistry(this.registries.label);
    this.categories = new CategoryRegistry(this.connection);
    this.names = new KnownNames(this.rest, this.connection);
    this.users = new Users(this.connection);
    this.entities = new ConfigEntities(this.rest, this.connection, this.entityRegistry, ownReloads, clock);
    this.blueprints = new Blueprints(this.connection, ownReloads, clock);
    this.repairIssues = new RepairIssues(this.connection);
    this.configEntries = new ConfigEntryRegistry(this.rest, this.connection);
    this.flows = new ConfigFlows(this.rest, clock);
    this.flowsInProgress = new FlowsInProgress(this.connection);
    this.translations = new Translations(this.connection);
    this.components = new LoadedComponents(this.rest, this.connection);
    this.events = new HubEvents(this.connection, ownReloads);
    this.reloads = new Reloads({
      clock,
      log,
      isLoaded: async (component) => (await listComponents(this.rest)).includes(component),
      reload: (component) => this.reload(component),
      isWriting: (component) => isConfigEntityKind(component) && this.entities.isWriting(component),
    });
    this.removal = new EntityRemoval(this, clock);
  }

  /** Replaces the values that are masked in every text of the hub. The token is always masked. */
  setSecrets(secrets: Iterable<string>): void {
    this.redact = redactor([this.token, ...secrets]);
  }

  /** Sends a rejected token once more, at the request of a person. Once for each request. */
  admitRejectedToken(request: string): void {
    this.authBackoff.admitOnRequest(request);
  }

  /**
   * Starts no further write. Resolves when the writes in flight, and the reloads that they request, have
   * ended.
   */
  async drain(): Promise<void> {
    await this.entities.drain();
    await this.reloads.waitUntilIdle();
  }

  close(): void {
    this.authBackoff.close();
    this.reloads.close();
    this.connection.close();
    this.rest.close();
  }

  private reload(component: string): Promise<void> {
    return isConfigEntityKind(component)
      ? this.entities.reload(component)
      : callService(this.rest, component, 'reload');
  }
}
