import type { HubClient } from '../../../client/hub-client';
import type { Hub } from '../../../kinds';
import type { Child } from '../../objects/child';
import type { Services } from '../../services';
import type { ConfigEntitySpec, EntityType } from '../entity-type';
import type { EntityContexts } from '../entity-contexts';
import { recordedId } from '../../objects/ownership';
import { LARGEST_TOTAL } from './assignment';
import type { Places } from '../places';

/** The delivery of a hub's objects, for its Hub. */
interface DeliveryState {
  /** Value of `status.delivery`. Null if all objects are delivered by the hub's API. */
  readonly status: {
    readonly files: number;
    readonly api: number;
    readonly configMaps: number;
    readonly bytes: number;
    readonly largestBytes: number;
  } | null;
  /** A sentence for the message of `Ready`. */
  readonly notice?: string;
  /** Milliseconds until the next reconcile, if that is sooner than the resync. */
  readonly after?: number;
}

/** Share of the limit above which the ConfigMaps are reported as nearly full. */
const NEARLY_FULL = 0.8;

/**
 * Milliseconds between two checks whether the empty ConfigMaps are gone. A ConfigMap stays until the removal
 * of its last definition has ended.
 */
const CLEAN_UP_POLL = 3_000;

/**
 * Counts the objects by their delivery, and restores or deletes the ConfigMaps if needed (rules.md,
 * "Delivery").
 */
export class DeliveryReport {
  private readonly cleaning = new WeakSet<Places>();

  constructor(
    private readonly services: Pick<Services, 'cache' | 'log' | 'requeue'>,
    private readonly contexts: Pick<EntityContexts, 'ofHub'>,
    private readonly entityTypes: readonly Pick<
      EntityType<Child, ConfigEntitySpec>,
      'type' | 'definition' | 'idField'
    >[],
  ) {}

  async of(hub: Hub, client: HubClient): Promise<DeliveryState> {
    const { places } = this.contexts.ofHub(client, hub.metadata);
    const { files } = places;
    await files.restore(hub);
    if (places.desired !== places.mounted && files.definitions.isEmpty) {
      this.cleanUp(hub, client, places);
      return { status: null, ...(files.exists && !files.isLeftAlone && { after: CLEAN_UP_POLL }) };
    }
    const { size } = files;
    const status = { ...this.counts(hub, places), ...size };
    if (size.bytes < NEARLY_FULL * LARGEST_TOTAL) return { status };
    const notice =
      `The definitions that are delivered as files take ${mebibytes(size.bytes)} of ${mebibytes(LARGEST_TOTAL)} MiB: ` +
      'beyond that none is added (DeliveryFull). Shorten some, or set spec.delivery to Api.';
    return { status, notice };
  }

  private counts({ metadata: { namespace, name } }: Hub, places: Places) {
    let [delivered, others] = [0, 0];
    for (const entityType of this.entityTypes) {
      for (const resource of this.services.cache.ofHub<Child>(entityType.definition.kind, namespace, name)) {
        const id = recordedId(entityType, resource);
        if (id === undefined) continue;
        if (places.whereIs(entityType.type, id) === places.mounted) delivered += 1;
        else others += 1;
      }
    }
    return { files: delivered, api: others };
  }

  /**
   * Removes empty ConfigMaps. This is done in the background, since it waits until the hub has read its files
   * again.
   */
  private cleanUp(hub: Hub, client: HubClient, places: Places): void {
    if (this.cleaning.has(places)) return;
    this.cleaning.add(places);
    const { kind, metadata } = hub;
    void places.files
      .removeAll(hub, client)
      .catch((error: unknown) => {
        const { namespace, name } = metadata;
        this.services.log.warn({ kind, namespace, name, error }, 'failed to remove empty ConfigMaps');
      })
      .finally(() => this.cleaning.delete(places));
  }
}

const mebibytes = (bytes: number): string => (bytes / 1_024 / 1_024).toFixed(1);
