import type { ConfigEntityKind } from '../../client/config-entities';
import type { HubClient } from '../../client/hub';
import type { Child } from '../child';
import type { Services } from '../services';
import { DriftWatch, type Watched } from './drift';
import type { ConfigSpec, Family } from './entity-type';
import { HubMemory } from './entity-cache';

/** What is known of a hub, and the watch over it. */
export interface KnownHub {
  readonly memory: HubMemory;
  readonly watch: DriftWatch;
}

/** What the watch has to know of a kind. */
type WatchedFamily = Pick<Family<Child, ConfigSpec>, 'type' | 'definition' | 'idField'>;

/** The hubs that resources of the family were worked for. What is known of one goes with its client. */
export class KnownHubs {
  readonly #hubs = new WeakMap<HubClient, KnownHub>();

  constructor(
    private readonly services: Services,
    private readonly families: readonly WatchedFamily[],
  ) {}

  /** The hub of a resource. */
  of(client: HubClient, { metadata, spec }: Child): KnownHub {
    let hub = this.#hubs.get(client);
    if (!hub) {
      const memory = new HubMemory(this.services.clock);
      const { namespace } = metadata;
      const resources = (kind: ConfigEntityKind) =>
        this.#resources(kind, namespace, spec.hubRef.name, memory);
      const { clock } = this.services;
      const log = this.services.log.child({ hub: `${namespace}/${spec.hubRef.name}` });
      hub = { memory, watch: new DriftWatch({ client, clock, log, resources }) };
      this.#hubs.set(client, hub);
    }
    return hub;
  }

  /** Something that went into the hub has not come to the notice of a pass yet. */
  hasNews(client: HubClient): boolean {
    return this.#hubs.get(client)?.memory.hasNews() ?? false;
  }

  *#resources(
    kind: ConfigEntityKind,
    namespace: string,
    hubName: string,
    memory: HubMemory,
  ): Generator<Watched> {
    const { definition, idField } = this.families.find(({ type }) => type === kind)!;
    for (const resource of this.services.view.list<Child>(definition.kind, namespace)) {
      if (resource.spec.hubRef.name !== hubName) continue;
      const { name, uid } = resource.metadata;
      yield {
        id: resource.status?.[idField] as string | undefined,
        memory: memory.of(uid),
        keptOff: 'enabled' in resource.spec && resource.spec.enabled === false,
        requeue: (priority) => this.services.requeue(definition.kind, namespace, name, priority),
      };
    }
  }
}
