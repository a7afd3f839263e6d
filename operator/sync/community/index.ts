import type { HubCommunityRepository } from '../../kinds';
import type { SyncModule } from '../../runtime/sync-module';
import type { HubClients } from '../hub-connection/hub-clients';
import type { Services } from '../services';
import { Installer } from './installer';
import { Preparations } from './preparation';
import { CommunityRemoval } from './removal';
import { CommunitySync } from './sync';
import { Targets } from './targets';

/** The sync module of HubCommunityRepository. */
export function communityModule(services: Services, hubs: HubClients) {
  const installer = new Installer(services);
  const preparations = new Preparations(services);
  const targets = new Targets(services);
  const sync = new CommunitySync(services, hubs, installer, preparations, targets);
  const removal = new CommunityRemoval(services, hubs, installer, preparations, targets);
  const module: SyncModule<HubCommunityRepository> = {
    sync: (resource, context) => sync.sync(resource, context),
    remove: (resource, context, successor) => removal.remove(resource, context, successor),
  };
  /** Aborts all downloads. */
  const close = () => preparations.close();
  return { module, close };
}
