import type { HubConnection } from './connection';
import type { RestClient } from './rest';
import { isComponentLoaded } from './services';

/** Which components of a hub are set up. One that is stays so until the hub restarts, and is not asked for again. */
export class LoadedComponents {
  private readonly rest: RestClient;
  private readonly loaded = new Map<string, Promise<boolean>>();

  constructor(rest: RestClient, connection: HubConnection) {
    this.rest = rest;
    connection.onLost(() => this.loaded.clear());
  }

  /** `automation`, `scene`, `mqtt`, …; its services exist from then on. */
  isLoaded(component: string): Promise<boolean> {
    let answer = this.loaded.get(component);
    if (!answer) this.loaded.set(component, (answer = this.ask(component)));
    return answer;
  }

  private async ask(component: string): Promise<boolean> {
    const forget = () => void this.loaded.delete(component);
    try {
      const loaded = await isComponentLoaded(this.rest, component);
      if (!loaded) forget();
      return loaded;
    } catch (error) {
      forget();
      throw error;
    }
  }
}
