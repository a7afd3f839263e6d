import type { HubBlueprint } from '../../../kinds';
import type { SyncModule } from '../../../runtime/sync-module';
import type { HubClients } from '../../hub-connection/hub-clients';
import { childModule } from '../../objects/child-module';
import type { Services } from '../../services';
import { BlueprintContexts } from './contexts';
import { BlueprintSync } from './sync';

/** Returns the sync module of HubBlueprint. */
export const blueprintModule = (services: Services, hubs: HubClients): SyncModule<HubBlueprint> =>
  childModule(services, hubs, new BlueprintSync(services, new BlueprintContexts(services)));
