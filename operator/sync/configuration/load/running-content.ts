import { timestamp } from '../../../base/clock';
import type { Hub, HubConfiguration } from '../../../kinds';
import { objectNames } from '../../../kinds/object-names';
import { builtin } from '../../../runtime/types';
import type { Services } from '../../services';
import type { Content } from '../generate/configuration-content';
import { isSameMarker } from '../generate/content-marker';
import type { Files } from '../generate/config-files';
import type { Sections } from '../generate/sections';
import type { Observed } from '../record/observe';
import { HASH_FILE } from '../record/publish';
import type { ConfigurationRecord, ConfigurationRecords, HubConfigMap, HubStart } from '../record/record';
import { decideReload, type HubCapabilities } from './reload-decision';

export interface RunningHub {
  readonly resource: HubConfiguration;
  readonly hub: Hub;
  readonly content: Content;
  readonly observed: Observed & { readonly start: HubStart };
  readonly record: ConfigurationRecord | undefined;
}

/**
 * The content that the present start of the hub has loaded, to compare a change with. The marker alone does not tell that: any
 * reload of scripts sets it, and reads files that came after the start.
 */
export class RunningContents {
  constructor(
    private readonly services: Pick<Services, 'applier' | 'clock'>,
    private readonly records: ConfigurationRecords,
  ) {}

  /** Undefined: not known, so that nothing can be compared. */
  async find(running: RunningHub, capabilities: (loaded: Sections) => Promise<HubCapabilities>) {
    const { observed, record } = running;
    // A pod that fell back does not read the files that are written for it.
    if (observed.pod?.rejected) return undefined;
    return record?.start.id === observed.start.id
      ? this.afterCrash(running, record, capabilities)
      : this.ofNewStart(running);
  }

  /** What another process has published in this start, and a reload may have loaded, differs from any content. */
  private async afterCrash(
    running: RunningHub,
    record: ConfigurationRecord,
    capabilities: (loaded: Sections) => Promise<HubCapabilities>,
  ): Promise<ConfigurationRecord> {
    const { hub, content, observed } = running;
    const hash = observed.published?.hash;
    if (hash === record.marker.configuration || hash === content.marker.configuration) return record;
    const published = await this.publishedFiles(running);
    if (!published) return record;
    const policy = { strategy: 'hot-reload', autoRestart: true } as const;
    const decision = decideReload(
      policy,
      record.loaded,
      content.sectionsOf(published.files),
      await capabilities(record.loaded),
    );
    if (decision.type !== 'hot-reload' || decision.reloads.length === 0) return record;
    const parts = decision.reloads.flatMap(({ sections }) => sections);
    const pending = [...new Set([...record.pending, ...parts])].sort();
    const unknown = { ...record, loaded: withUnknown(record.loaded, parts), pending };
    await this.records.set(hub, unknown);
    return unknown;
  }

  private async ofNewStart(running: RunningHub): Promise<ConfigurationRecord | undefined> {
    const { hub, content, record, observed } = running;
    const { start, shown } = observed;
    const published = await this.begunWithPublished(running);
    if (published) {
      await this.records.set(hub, published);
      return published;
    }
    if (!record || !(isSameMarker(shown, record.marker) || isSameMarker(shown, content.marker)))
      return undefined;
    const loaded = record.pending.length > 0 ? content.sectionsOf(record.files) : record.loaded;
    const current = { ...record, ...FRESH, loaded, start };
    await this.records.set(hub, current);
    return current;
  }

  /** The files of the ConfigMap `<hub>-configuration`, if the pod has begun with them: no process has seen that start yet. */
  private async begunWithPublished(running: RunningHub): Promise<ConfigurationRecord | undefined> {
    const { content, record, observed } = running;
    const { start, shown, pod } = observed;
    if (!shown || isSameMarker(shown, record?.marker ?? content.marker)) return undefined;
    // The values of other secrets are not known any more.
    if (shown.secrets !== content.marker.secrets || !isSameMarker(pod?.begunWith, shown)) return undefined;
    const published = await this.publishedFiles(running);
    if (published?.hash !== shown.configuration || published.hash === content.marker.configuration)
      return undefined;
    return {
      ...record,
      ...FRESH,
      files: published.files,
      marker: shown,
      loaded: content.sectionsOf(published.files),
      start,
      warnings: record?.warnings ?? '',
      lastLoad: { method: 'restart', time: timestamp(this.services.clock.now()) },
    };
  }

  private async publishedFiles({ resource, hub }: RunningHub) {
    const { applier } = this.services;
    const { namespace, name } = hub.metadata;
    const { configuration } = objectNames(name);
    const configMap = await applier.find<HubConfigMap>(builtin.ConfigMap, namespace, configuration);
    if (!configMap || !applier.isOurs(configMap, resource)) return undefined;
    const { [HASH_FILE]: hash, ...files } = configMap.data ?? {};
    return { hash, files: files as Files };
  }
}

/** After a start, nothing waits for one, and verdicts of the former one do not count. */
const FRESH = { pending: [], rejected: undefined, replacedPod: undefined } as const;

/** `sections`, with these parts as different from any content. */
const withUnknown = (sections: Sections, parts: readonly string[]): Sections =>
  new Map([...sections, ...parts.map((part) => [part, { digest: '', secrets: {} }] as const)]);
