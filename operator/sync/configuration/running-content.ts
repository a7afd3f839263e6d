import { timestamp } from '../../clock';
import type { Hub, HubConfiguration } from '../../kinds';
import { objectNames } from '../../kinds/object-names';
import { builtin } from '../../runtime/types';
import type { Pod } from '../hub/pod';
import { HUB_CONTAINER } from '../hub/owned-objects';
import type { Services } from '../services';
import type { Accepted, AcceptedConfigurations } from './record/accepted-configuration';
import { type Content, isSameMarker } from './generate/configuration-content';
import type { HubConfigMap } from './record/hub-config-map';
import type { MarkerVariables } from './generate/content-marker';
import { HASH_FILE, type RestartHashes } from './record/publish';
import { startedContent } from './start-verdict';

export interface HubStart {
  readonly resource: HubConfiguration;
  readonly hub: Hub;
  readonly content: Content;
  readonly accepted: Accepted | undefined;
  /** Whether the present pod was started for this decision. */
  readonly isPodOf: (restart: RestartHashes) => boolean;
  /** The marker in the hub; undefined: it has read a configuration without one. */
  readonly marker: MarkerVariables | undefined;
  readonly startId: string;
}

/**
 * The content that the present start of the hub has loaded, to compare a change with. The marker alone does not tell that: any reload
 * of scripts sets it, and reads files that came after the start.
 */
export class RunningContents {
  constructor(
    private readonly services: Pick<Services, 'applier' | 'cache' | 'clock'>,
    private readonly accepted: AcceptedConfigurations,
  ) {}

  /** Whether this start has loaded all of the desired content. */
  hasLoaded(start: HubStart): boolean {
    const { content, accepted, marker, startId, isPodOf } = start;
    if (accepted?.startId === startId || !isSameMarker(marker, content.marker)) return false;
    if (!accepted || this.hasBegunWith(start, content.marker)) return true;
    const { secrets } = content.restart;
    // With autoRestart: false, pods are not started for the secrets of now.
    return isPodOf(content.restart) && (secrets === undefined || secrets === content.marker.secrets);
  }

  /** Undefined: not known, so that nothing can be compared. */
  async find(start: HubStart): Promise<Accepted | undefined> {
    const { hub, content, accepted, marker, startId } = start;
    if (accepted && accepted.startId === startId) return accepted;
    const published = await this.published(start);
    if (published) {
      await this.accepted.set(hub, published);
      return published;
    }
    if (!accepted || !(isSameMarker(marker, accepted.marker) || isSameMarker(marker, content.marker)))
      return undefined;
    await this.accepted.set(hub, { ...startedWith(accepted, content), startId });
    return startedWith(accepted, content);
  }

  /** The files of the ConfigMap `<hub>-configuration`, if the hub has begun with them: no process has seen that start yet. */
  private async published(start: HubStart): Promise<Accepted | undefined> {
    const { resource, hub, content, accepted, marker, startId } = start;
    const { namespace, name } = hub.metadata;
    if (!marker || isSameMarker(marker, accepted?.marker ?? content.marker)) return undefined;
    // The values of other secrets are not known any more.
    if (marker.secrets !== content.marker.secrets) return undefined;
    const configMap = await this.services.applier.find<HubConfigMap>(
      builtin.ConfigMap,
      namespace,
      objectNames(name).configuration,
    );
    if (!configMap || !this.services.applier.isOurs(configMap, resource)) return undefined;
    const { [HASH_FILE]: hash, ...files } = configMap.data ?? {};
    if (hash !== marker.configuration || hash === content.marker.configuration) return undefined;
    if (!this.hasBegunWith(start, marker)) return undefined;
    return {
      files,
      marker,
      loaded: content.sectionsOf(files),
      pending: [],
      mustRestart: false,
      startId,
      warnings: accepted?.warnings ?? '',
      failedStart: accepted?.failedStart,
      sentSettings: accepted?.sentSettings,
      lastLoad: { method: 'restart', time: timestamp(this.services.clock.now()) },
    };
  }

  /** Whether the pod began with this content, nothing was loaded in it since, and its hub runs in its first start. */
  private hasBegunWith({ hub, accepted }: HubStart, marker: MarkerVariables): boolean {
    const { namespace, name } = hub.metadata;
    if (!isSameMarker(startedContent(this.services, namespace, name), marker)) return false;
    const pod = this.services.cache.get<Pod>(builtin.Pod.kind, namespace, objectNames(name).pod);
    const container = pod?.status?.containerStatuses?.find((each) => each.name === HUB_CONTAINER);
    if (container?.restartCount !== 0) return false;
    const { creationTimestamp } = pod!.metadata;
    const { lastLoad } = accepted ?? {};
    if (!lastLoad) return true;
    return creationTimestamp !== undefined && Date.parse(creationTimestamp) > Date.parse(lastLoad.time);
  }
}

/** After a start with the accepted files nothing is pending. Its sections are those of its files. */
function startedWith(accepted: Accepted, content: Content): Accepted {
  return {
    ...accepted,
    pending: [],
    mustRestart: false,
    loaded: accepted.pending.length > 0 ? content.sectionsOf(accepted.files) : accepted.loaded,
  };
}
