import type { HubAccess, HubClient } from '../client/hub';
import { Hubs } from '../client/hubs';
import { hub as definition, type Hub } from '../kinds';
import { defaulted } from '../kinds/schema';
import { DEPENDENCY_REQUEUE, POD_NOT_READY_REQUEUE } from '../limits';
import { type Outcome, waiting } from '../runtime/outcome';
import { conditionOf, isReady } from '../runtime/resource';
import { accessTo } from './hub/token';
import { Vigil } from './hub/vigil';
import type { Services } from './services';

/** A hub that can be talked to, or what a child waits for. */
export type Reached = { readonly hub: Hub; readonly client: HubClient } | { readonly outcome: Outcome };

/** The hubs as their children see them: by the name in `hubRef`, with the token of its Secret. */
export class HubClients {
  /** Tells the Hub when its hub gives another answer than before. */
  readonly vigil: Vigil;
  private readonly hubs: Hubs;

  constructor(private readonly services: Services) {
    this.hubs = new Hubs(services);
    this.vigil = new Vigil(services, (hub) => this.hubs.forget(keyOf(hub)));
  }

  /** The client of a hub; the same one as long as address and token stay. */
  client(hub: Hub, access: HubAccess): HubClient {
    return this.hubs.get(keyOf(hub), access);
  }

  close(): void {
    this.vigil.close();
    this.hubs.close();
  }

  find(namespace: string, name: string): Hub | undefined {
    return this.services.view.get<Hub>('Hub', namespace, name);
  }

  /** "A missing prerequisite is not an error": which one is missing, or the client. */
  async reach(namespace: string, name: string): Promise<Reached> {
    const hub = this.find(namespace, name);
    if (!hub)
      return {
        outcome: waiting(
          'HubNotFound',
          `Waiting for the Hub ${name}: there is none of that name.`,
          DEPENDENCY_REQUEUE,
        ),
      };
    const url = hub.status?.url ?? '';
    const found = await accessTo(this.services, hub, defaulted(definition.spec, hub.spec), url);
    if ('missing' in found) {
      const message = `Waiting for the API token of the Hub ${name}: ${found.missing}`;
      return { outcome: waiting('TokenNotAvailable', message, DEPENDENCY_REQUEUE) };
    }
    if (!url || !isReady(hub)) {
      const words = conditionOf(hub, 'Ready')?.message ?? 'it has not been looked at yet.';
      return {
        outcome: waiting('HubNotReady', `Waiting for the Hub ${name}: ${words}`, POD_NOT_READY_REQUEUE),
      };
    }
    return { hub, client: this.client(hub, found.access) };
  }
}

const keyOf = ({ metadata: { namespace, name } }: Hub): string => `${namespace}/${name}`;
