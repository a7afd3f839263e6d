import type { CustomResource } from '../kinds/resource';
import type { SyncModule } from '../runtime/sync-module';
import { communityModule } from './community';
import { configEntityModules } from './config-entities';
import { configurationModule } from './configuration';
import { blueprintModule } from './configuration/blueprint';
import { configurationInUse } from './configuration/record/recorder-secret';
import { hubModule } from './hub';
import { PodRestarts } from './hub-pod/pod-restarts';
import { integrationModule } from './integration';
import { HubClients } from './hub-connection/hub-clients';
import { notForExternalHubs } from './hub-connection/not-for-external-hubs';
import { registryModules } from './registry';
import { secretsModule } from './secrets';
import type { Services } from './services';

export interface SyncModules {
  /** @throws Error the kind has no sync module in this file */
  of(kind: string): SyncModule<CustomResource>;
  /**
   * Starts no further write to a hub. Resolves when the writes in progress have ended and their reconciles
   * know the result. Writes to a hub that does not respond are not waited for. The caller sets a deadline: a
   * busy hub may take long.
   */
  drain(): Promise<void>;
  /** Closes the connections to all hubs. */
  close(): void;
}

/** The sync modules of one folder: of a single kind, or of several similar kinds. */
interface KindModules {
  /** Sync modules by kind. */
  readonly modules: Readonly<Record<string, SyncModule<CustomResource>>>;
  /** Like {@link SyncModules.drain}, for the writes of this folder. */
  drain?(): Promise<void>;
  /** Aborts background work of the folder. Called before the connections to the hubs are closed. */
  close?(): void;
}

/** The sync modules of all kinds. */
export function syncModules(services: Services): SyncModules {
  const hubs = new HubClients(services);
  const all = modulesOfKinds(services, hubs);
  const byKind = new Map(all.flatMap(({ modules }) => Object.entries(modules)));
  return {
    of: (kind) => {
      const module = byKind.get(kind);
      if (!module)
        throw new Error(`cannot reconcile ${kind}: operator/sync/index.ts has no sync module for it`);
      return module;
    },
    drain: async () => {
      await Promise.all(all.map(async (each) => each.drain?.()));
    },
    close: () => {
      for (const each of all) each.close?.();
      hubs.close();
    },
  };
}

function modulesOfKinds(services: Services, hubs: HubClients): readonly KindModules[] {
  const restarts = new PodRestarts(services, hubs);
  hubs.holdWhile((hub) => restarts.isDue(hub));
  const configuration = configurationModule(services, hubs, restarts);
  const community = communityModule(services, hubs);
  const integration = integrationModule(services, hubs);
  const registry = registryModules(services, hubs);
  const configEntities = configEntityModules(services, hubs, registry.ownEntityOf);
  const { findLeftBehind, deliveryOf } = configEntities;
  const hub = hubModule(services, hubs, configuration, restarts, findLeftBehind, deliveryOf);
  return [
    { modules: { Hub: hub } },
    { ...configuration, modules: { HubConfiguration: notForExternalHubs(hubs, configuration.module) } },
    {
      modules: {
        HubSecrets: notForExternalHubs(hubs, secretsModule(services, configurationInUse(services))),
      },
    },
    { ...community, modules: { HubCommunityRepository: notForExternalHubs(hubs, community.module) } },
    { ...integration, modules: { HubIntegration: integration.module } },
    { modules: { HubBlueprint: blueprintModule(services, hubs) } },
    configEntities,
    registry,
  ];
}
