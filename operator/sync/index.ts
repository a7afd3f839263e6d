import type { CustomResource } from '../kinds/resource';
import type { SyncModule } from '../runtime/sync-module';
import { communityModule } from './community';
import { configEntityModules } from './config-entities';
import { configurationModule } from './configuration';
import { hubModule } from './hub';
import { integrationModule } from './integration';
import { HubClients } from './hub-clients';
import { notForExternalHubs } from './not-for-external-hubs';
import { notYetSupported } from './not-yet-supported';
import { registryModules } from './registry';
import { secretsModule } from './secrets';
import type { Services } from './services';

export interface SyncModules {
  of(kind: string): SyncModule<CustomResource>;
  /**
   * Starts no further write to a hub. Resolves when those in progress have ended and their reconciles know the result, or
   * a hub does not answer. The caller sets a deadline: a busy hub may take long.
   */
  drain(): Promise<void>;
  /** Closes the connections to all hubs. */
  close(): void;
}

/** The sync module of every kind that has one. */
export function syncModules(services: Services): SyncModules {
  const hubs = new HubClients(services);
  const configEntities = configEntityModules(services, hubs);
  const community = communityModule(services, hubs);
  const configuration = configurationModule(services, hubs);
  const integrations = integrationModule(services, hubs);
  const modules = new Map<string, SyncModule<CustomResource>>(
    Object.entries({
      Hub: hubModule(services, hubs, configuration.isLoading),
      HubConfiguration: notForExternalHubs(hubs, configuration.module),
      HubSecrets: notForExternalHubs(hubs, secretsModule(services)),
      HubCommunityRepository: notForExternalHubs(hubs, community.module),
      HubIntegration: integrations.module,
      ...configEntities.modules,
      ...registryModules(services, hubs),
    }),
  );
  return {
    of: (kind) => modules.get(kind) ?? notYetSupported,
    drain: async () => {
      await Promise.all([configEntities.drain(), integrations.drain()]);
    },
    close: () => {
      configuration.close();
      community.close();
      hubs.close();
    },
  };
}
