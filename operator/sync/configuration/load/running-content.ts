import { timestamp } from '../../../base/clock';
import type { HubConfiguration } from '../../../kinds';
import { objectNames } from '../../../kinds/object-names';
import type { Services } from '../../services';
import type { Content } from '../generate/generate';
import { isSameContent } from '../../hub-pod/content-hashes';
import type { ObservedUsable, UsableHub } from '../record/observe';
import type { ConfigurationRecord, ConfigurationRecords } from '../record/record';
import { findFiles } from '../record/stored-files';
import { readCapabilities } from './components';
import { decideReload, type ReloadPolicy } from './reload-decision';

/** The content that a hub should have. */
export interface DesiredContent {
  readonly resource: HubConfiguration;
  readonly content: Content;
  readonly policy: ReloadPolicy;
}

export interface RunningHub extends DesiredContent, UsableHub {
  readonly observed: ObservedUsable;
  readonly record: ConfigurationRecord | undefined;
}

/**
 * Finds the content that the present start of the hub has loaded, so that a change can be compared with it.
 * The marker alone is not sufficient: any reload of scripts loads it, and reads files that were written after
 * the start.
 */
export class RunningContents {
  constructor(
    private readonly services: Pick<Services, 'applier' | 'clock'>,
    private readonly records: ConfigurationRecords,
  ) {}

  /**
   * The record of the loaded content.
   *
   * @returns undefined when it is not known, so that nothing can be compared
   */
  async find(running: RunningHub): Promise<ConfigurationRecord | undefined> {
    const { hub, observed, record } = running;
    // A pod that fell back to former content does not read newly published files.
    if (observed.pod?.rejected) return undefined;
    const isSameStart = record?.start.id === observed.start.id;
    const found = isSameStart ? await this.afterCrash(running, record) : await this.ofNewStart(running);
    if (found && found !== record) await this.records.set(hub, found);
    return found;
  }

  /**
   * Marks sections that a reload may have loaded from files that another process published in this start.
   * Such sections count as different from any content.
   */
  private async afterCrash(running: RunningHub, record: ConfigurationRecord): Promise<ConfigurationRecord> {
    const { content, observed } = running;
    const hash = observed.published?.hash;
    if (hash === record.marker.configuration || hash === content.marker.configuration) return record;
    const published = await this.publishedFiles(running);
    if (!published) return record;
    const policy = { strategy: 'hot-reload', autoRestart: true } as const;
    const capabilities = await readCapabilities(running, record.loaded);
    const decision = decideReload(
      policy,
      record.loaded,
      await content.sectionsOf(published.files),
      capabilities,
    );
    if (decision.type !== 'hot-reload' || decision.reloads.length === 0) return record;
    const parts = decision.reloads.flatMap(({ sections }) => sections);
    const pending = [...new Set([...record.pending, ...parts])].sort();
    // A section without a digest differs from any content.
    const unknown = parts.map((part) => [part, { digest: '', secrets: {} }] as const);
    return { ...record, loaded: new Map([...record.loaded, ...unknown]), pending };
  }

  private async ofNewStart(running: RunningHub): Promise<ConfigurationRecord | undefined> {
    const { content, record, observed } = running;
    const { start, shown } = observed;
    const published = await this.begunWithPublished(running);
    if (published) return published;
    if (!record || !(isSameContent(shown, record.marker) || isSameContent(shown, content.marker)))
      return undefined;
    const loaded = record.pending.length > 0 ? await content.sectionsOf(record.files) : record.loaded;
    return { ...record, ...FRESH, loaded, start };
  }

  /**
   * The files of the ConfigMap `<hub>-configuration`, if the pod has started with them. No process has
   * recorded that start yet.
   */
  private async begunWithPublished(running: RunningHub): Promise<ConfigurationRecord | undefined> {
    const { content, record, observed } = running;
    const { start, shown, pod } = observed;
    if (!shown || isSameContent(shown, record?.marker ?? content.marker)) return undefined;
    // The values of former secrets are no longer known.
    if (shown.secrets !== content.marker.secrets || !isSameContent(pod?.begunWith, shown)) return undefined;
    const published = await this.publishedFiles(running);
    const hash = published?.marker.configuration;
    if (!published || hash !== shown.configuration || hash === content.marker.configuration) return undefined;
    return {
      ...record,
      ...FRESH,
      files: published.files,
      folders: published.folders,
      definitions: published.definitions,
      marker: shown,
      loaded: await content.sectionsOf(published.files),
      start,
      warnings: record?.warnings ?? '',
      lastLoad: { method: 'restart', time: timestamp(this.services.clock.now()) },
    };
  }

  private publishedFiles({ resource, hub }: RunningHub) {
    return findFiles(this.services, resource, objectNames(hub.metadata.name).configuration);
  }
}

/**
 * Fields of the record after a new start: no section is pending, and verdicts of the former start do not
 * count.
 */
const FRESH = { pending: [], rejected: undefined, replacedPod: undefined } as const;
