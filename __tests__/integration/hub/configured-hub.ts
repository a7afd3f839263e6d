import type { HubClient } from '../../../operator/client/hub-client';
import { getEntityState, stateOf } from '../../../operator/client/config-entities/states';
import { until } from '../../cluster';
import type { Home, Stored } from '../../cluster/home';

/** A Hub and the HubConfiguration of the same name: tests change the latter and observe the former. */
export class ConfiguredHub {
  private current: HubClient | undefined;

  constructor(
    private readonly home: Home,
    readonly name: string,
  ) {}

  /** The client that {@link connect} made. */
  get client(): HubClient {
    return this.current!;
  }

  /** Connects with the current token. */
  async connect(): Promise<HubClient> {
    return (this.current = await this.home.client(this.name));
  }

  /** Returns the uid of the pod. Throws while there is none. */
  async podUid(): Promise<string> {
    return (await this.home.get('pod', `${this.name}-0`)).metadata.uid;
  }

  /** Returns the generation of the StatefulSet, which each rollout raises by one. */
  async rollouts(): Promise<number> {
    return (await this.home.get('statefulset', this.name)).metadata.generation;
  }

  /** The status of the HubConfiguration. */
  async status(): Promise<NonNullable<Stored['status']>> {
    return (await this.home.get('hubconfiguration', this.name)).status!;
  }

  change(configuration: string, spec: object = {}): Promise<void> {
    return this.home.change('hubconfiguration', this.name, { configuration, ...spec });
  }

  /** Waits until the hub has loaded the current generation of the HubConfiguration. */
  async loaded(): Promise<void> {
    await this.home.ready('hubconfiguration', this.name, { reason: 'ConfigurationLoaded' });
  }

  /**
   * Waits for the state of an entity. The hub computes it some time after it has loaded the configuration,
   * and may not answer immediately after a restart.
   */
  async shows(entityId: string, expected: string): Promise<void> {
    await until(`${entityId} is ${expected}`, async () => {
      const state = await stateOf(this.client.rest, entityId);
      if (state === expected) return true;
      throw new Error(`it is ${state}`);
    });
  }

  /** Waits until an attribute has this value. */
  async showsAttribute(entityId: string, attribute: string, expected: unknown): Promise<void> {
    await until(`${attribute} of ${entityId}`, async () => {
      const entity = await getEntityState(this.client.rest, entityId);
      expect(entity?.attributes[attribute]).toEqual(expected);
      return true;
    });
  }
}
