import { FollowedCollection } from './connection/collection';
import type { HubConnection } from './connection/connection';
import type { RestClient } from './connection/rest';
import { listComponents } from './services';

/** The components that a hub has set up. A component stays loaded until the hub restarts. */
export class LoadedComponents {
  private readonly components: FollowedCollection<true>;

  constructor(rest: RestClient, connection: HubConnection) {
    this.components = new FollowedCollection<true>(connection, {
      name: 'components',
      fetch: async () => new Map((await listComponents(rest)).map((component) => [component, true])),
      subscribe: () =>
        connection.subscribeEvents('component_loaded', ({ component }) =>
          this.components.change(component, true),
        ),
    });
  }

  /**
   * Whether a component is loaded, such as `automation`, `scene` or `mqtt`. From then on, its services exist.
   */
  async isLoaded(component: string): Promise<boolean> {
    return (await this.components.get()).has(component);
  }
}
