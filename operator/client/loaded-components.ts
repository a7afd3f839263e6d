import { FollowedCollection } from './connection/collection';
import type { HubConnection } from './connection/connection';
import type { RestClient } from './connection/rest';
import { listComponents } from './services';

/** The components that a hub has set up. A component stays loaded until the hub restarts. */
export class LoadedComponents {
  private readonly components: FollowedCollection<Set<string>>;

  constructor(rest: RestClient, connection: HubConnection) {
    this.components = new FollowedCollection(connection, {
      fetch: async () => new Set(await listComponents(rest)),
      subscribe: () =>
        connection.subscribeEvents('component_loaded', ({ component }) =>
          this.components.change((loaded) => loaded.add(component)),
        ),
    });
  }

  /** `automation`, `scene`, `mqtt`, …: its services exist once it is loaded. */
  async isLoaded(component: string): Promise<boolean> {
    return (await this.components.get()).has(component);
  }
}
