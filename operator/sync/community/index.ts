import type { HubCommunityRepository } from '../../kinds';
import type { SyncModule } from '../../runtime/sync-module';
import type { HubClients } from '../hub-access/hub-clients';
import type { Services } from '../services';
import { Installer } from './installer';
import { Preparations } from './preparation';
import { CommunityRemoval } from './removal';
import { CommunitySync } from './sync';
import { Targets } from './targets';

export interface CommunityModule {
  readonly module: SyncModule<HubCommunityRepository>;
  /** Aborts downloads. */
  close(): void;
}

/** The sync module of HubCommunityRepository. */
export function communityModule(services: Services, hubs: HubClients): CommunityModule {
  const installer = new Installer(services);
  const preparations = new Preparations(services.clock);
  const targets = new Targets(services);
  const sync = new CommunitySync(services, hubs, installer, preparations, targets);
  const removal = new CommunityRemoval(services, hubs, installer, preparations, targets);
  return {
    module: {
      sync: (resource, context) => sync.sync(resource, context),
      remove: (resource, context) => removal.remove(resource, context),
    },
    close: () => preparations.close(),
  };
}
