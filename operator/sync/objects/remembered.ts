import type { HubClient } from '../../client/hub-client';
import type { Child } from './child';

// State between reconciles. All of it is optional, since a restart of the operator loses it.

/** The state of each hub, by its client. A new client starts with new state. */
export abstract class PerClient<S> {
  private readonly states = new WeakMap<HubClient, S>();

  /** The state of the hub of a resource. */
  of(client: HubClient, { metadata: { namespace }, spec: { hubRef } }: Child): S {
    return this.ofHub(client, { namespace, name: hubRef.name });
  }

  ofHub(client: HubClient, { namespace, name }: { readonly namespace: string; readonly name: string }): S {
    let state = this.states.get(client);
    if (!state) {
      state = this.create(client, namespace, name);
      this.states.set(client, state);
    }
    return state;
  }

  /**
   * The existing state of a hub.
   *
   * @returns undefined when no resource of the hub was reconciled yet
   */
  find(client: HubClient): S | undefined {
    return this.states.get(client);
  }

  protected abstract create(client: HubClient, namespace: string, hubName: string): S;
}

/** The state of each resource of one hub, by its uid. */
export class PerResource<S> {
  private readonly states = new Map<string, S>();

  constructor(private readonly create: () => S) {}

  get(uid: string): S {
    let state = this.states.get(uid);
    if (!state) {
      state = this.create();
      this.states.set(uid, state);
    }
    return state;
  }

  /**
   * The existing state of a resource.
   *
   * @returns undefined when there is none
   */
  find(uid: string): S | undefined {
    return this.states.get(uid);
  }

  values(): Iterable<S> {
    return this.states.values();
  }

  delete(uid: string): void {
    this.states.delete(uid);
  }
}
